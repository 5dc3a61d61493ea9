package backstop

import (
	"time"

	"backstop/breaker"
)

// Call is one caller request, accept to last byte. It is a state machine: ask
// [Call.Next] what to do, report with [Call.Observe] what happened. Not safe
// for concurrent use.
type Call struct {
	e        *Engine
	req      Request
	route    *Route
	began    time.Time
	deadline time.Time
	rng      uint64
	hash     uint64

	attempts []*attempt
	skips    []Skip
	live     *attempt // the attempt that runs, nil = none
	drop     *attempt // dropped, but the driver has not been told yet

	tier    int // rung to try next
	spent   int // upstream requests, at most MaxAttempts
	retries int // at the present tier
	resume  time.Time
	retry   bool // the next try is a second one at the same upstream
	waited  time.Duration
	napped  bool // a named delay was sat out once
	without []string
	plain   bool // ask the present tier for one body
	context int  // only tiers declared larger than this may take the call
	tooLong bool

	committed bool
	reasked   bool      // promised JSON was asked for a second time
	reask     AttemptID // the next try is that
	claims    bool      // nothing else can answer: the call may be an open breaker's probe
	origin    *Failure  // why the committed stream broke; nil = it did not
	broke     int       // the tier of that stream
	continues bool      // the rescuer is asked for the rest only
	local     *attempt  // a local tier that was asked
	answered  *attempt
	left      bool
	failure   *Failure
	done      bool
	ended     time.Time
}

// attempt is one try of a call, at an upstream or a local tier.
type attempt struct {
	id      AttemptID
	tier    int
	up      *upstreamState // nil = local
	model   *modelState
	name    string // answerer's name
	sent    string // model name that was sent
	key     int
	plain   bool
	probe   bool
	retry   bool
	without []string // parameters left out
	wake    func()
	slot    int // in the scope's list of waiters, -1 = not there

	began     time.Time
	age       time.Duration // suspicion age when it began: calls that are moved raise it for later ones
	clock     time.Time     // base of the clocks: began, or the end of a pause
	dialed    time.Time
	firstByte time.Time
	token     time.Time // first meaningful token
	last      time.Time // latest one
	seam      time.Time // a rescuer has caught up
	over      time.Time
	waited    time.Duration
	drip      dripFloor

	endpoint breaker.Ticket
	scope    breaker.Ticket // chat or embed
	quality  breaker.Ticket
	trial    breaker.Ticket
	judged   bool // the endpoint's ticket is done
	leases   []heldLease

	outcome  Outcome
	settled  bool
	noRescue bool // the caller has a part of it that nobody else can go on with
	unsent   bool // nothing was sent after all
	switched bool // from now on the model is asked plainly
}

type heldLease struct {
	p  *parks
	id parkID
}

// Next says what to do at time now. It is called after every mark, and when a
// Wait is over; calling it more often changes nothing.
func (c *Call) Next(now time.Time) Step {
	if a := c.drop; a != nil {
		c.drop = nil
		return Step{Kind: Drop, Attempt: a.id, Tier: a.tier, Outcome: a.outcome}
	}
	if c.done {
		return c.last()
	}
	if c.left {
		return c.leave(now)
	}
	if c.local != nil {
		return Step{Kind: Wait}
	}
	if a := c.live; a != nil {
		until, verdict := c.watch(now, a)
		if verdict == nil {
			return Step{Kind: Wait, Until: until}
		}
		verdict.InputTokens, verdict.OutputTokens = -1, -1
		c.settle(now, a, *verdict)
		c.after(now, a)
		return Step{Kind: Drop, Attempt: a.id, Tier: a.tier, Outcome: a.outcome}
	}
	return c.advance(now)
}

// Observe takes in what happened to attempt a, or with a = 0 to the call.
// Marks of attempts that are over change nothing.
func (c *Call) Observe(now time.Time, id AttemptID, m Mark) {
	if c.done {
		return
	}
	switch m.Kind {
	case Left:
		c.left = true
		return
	case Paused:
		c.paused(now)
		return
	case Aborted:
		c.abort(now)
		return
	case Committed:
		c.committed = true
	}
	a := c.attempt(id)
	if a == nil || a.settled {
		return
	}
	switch m.Kind {
	case Dialed:
		if a.dialed.IsZero() {
			a.dialed = now
		}
	case FirstByte:
		c.firstByte(now, a)
	case Progress:
		a.noRescue = a.noRescue || m.Outcome.NoRescue
		c.progress(now, a, m.Bytes)
	case Seam:
		a.seam = now
	case Ended:
		c.settle(now, a, m.Outcome)
		c.after(now, a)
	}
}

func (c *Call) attempt(id AttemptID) *attempt {
	if id < 1 || int(id) > len(c.attempts) {
		return nil
	}
	return c.attempts[id-1]
}

// firstByte settles the endpoint's share: it dialed and it answered.
func (c *Call) firstByte(now time.Time, a *attempt) {
	if a.dialed.IsZero() {
		a.dialed = now
	}
	if a.firstByte.IsZero() {
		a.firstByte = now
	}
	if a.up != nil && !a.judged {
		a.judged = true
		a.up.endpoint.Done(now, a.endpoint, breaker.Success, false)
	}
}

func (c *Call) progress(now time.Time, a *attempt, bytes int) {
	if a.up == nil {
		return
	}
	c.firstByte(now, a)
	if a.token.IsZero() {
		a.token = now
		a.model.spoke.Store(now.UnixNano())
		a.model.waiters.remove(a)
	}
	a.last = now
	a.drip.add(now, bytes)
	c.gate(a).Progress(now, a.scope)
	if a.quality.Probe() {
		a.model.quality.Progress(now, a.quality) // its lease runs on until the document is whole
	}
	if t := a.model.trial; t != nil {
		t.Progress(now, a.trial)
	}
}

// gate is the breaker of the attempt's work: chat or embeddings.
func (c *Call) gate(a *attempt) *breaker.Breaker {
	if c.req.Embed {
		return a.model.embed
	}
	return a.model.chat
}

// paused starts the clocks of the call anew: what passed while the process
// stood still is nobody's fault.
func (c *Call) paused(now time.Time) {
	if a := c.live; a != nil {
		a.clock = now
		if !a.last.IsZero() {
			a.last = now
		}
	}
	if c.answered == nil && !c.committed && now.After(c.deadline.Add(-time.Second)) {
		c.deadline = now.Add(c.route.Deadline)
	}
}

// after decides what follows the end of attempt a.
func (c *Call) after(now time.Time, a *attempt) {
	o := &a.outcome
	if a.up != nil && o.NotSent {
		c.unsent(a)
		return
	}
	if a.up == nil {
		c.local = nil
		if o.Class == OK {
			c.finish(now, a)
			return
		}
		c.tier = a.tier + 1
		return
	}
	c.live = nil
	deliverable := o.Class == OK || (o.Class == Refused && o.Status == 200 && !c.route.RefusalNext)
	switch {
	case deliverable:
		c.finish(now, a)
	case o.Class == Canceled && o.Kind == KindCaller:
		c.left = true
	case c.committed:
		c.rescue(now, a)
	default:
		c.follow(now, a)
	}
}

// random draws the next number of the call's own sequence.
func (c *Call) random() uint64 {
	c.rng += 0x9e3779b97f4a7c15
	return mix(c.rng)
}

func (c *Call) finish(now time.Time, a *attempt) {
	c.answered, c.done, c.ended = a, true, now
}

func (c *Call) fail(f *Failure) {
	c.failure, c.done = f, true
}

func (c *Call) last() Step {
	s := Step{Kind: Done, Failure: c.failure, Tier: -1}
	if a := c.answered; a != nil {
		s.Attempt, s.Tier, s.Outcome = a.id, a.tier, a.outcome
	}
	return s
}
