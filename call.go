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
	who      uint64 // hash of the caller

	attempts []*attempt
	first    attempt // the memory of the first one, and of the list while it has one: most calls
	list     [1]*attempt
	skips    []Skip
	live     *attempt   // the attempt that runs, nil = none
	rival    *attempt   // the one that runs beside it, nil = none: hedge.go
	drops    []*attempt // dropped, but the driver has not been told yet

	rung
	spent    int       // upstream requests, at most MaxAttempts
	context  int       // only tiers declared larger than this may take the call
	reask    AttemptID // the next try is that
	origin   *Failure  // why the committed stream broke; nil = it did not
	broke    int       // the tier of that stream
	local    *attempt  // a local tier that was asked
	answered *attempt
	failure  *Failure

	// Flags, together because that saves room: it is most of what a call costs.
	napped    bool // a named delay was sat out once
	hedged    bool // a hedge was started, or could not be
	returned  bool // to the tier that lost to it
	tooLong   bool
	committed bool
	reasked   bool // promised JSON was asked for a second time
	claims    bool // nothing else can answer: the call may be an open breaker's probe
	continues bool // the rescuer is asked for the rest only
	left      bool
	done      bool
}

// Next says what to do at time now. It is called after every mark, and when a
// Wait is over; calling it more often changes nothing.
func (c *Call) Next(now time.Time) Step {
	if len(c.drops) > 0 {
		a := c.drops[0]
		c.drops = c.drops[1:]
		return Step{Kind: Drop, Attempt: a.id, Tier: a.tier, Outcome: &a.outcome}
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
	if c.live != nil {
		return c.attend(now)
	}
	return c.advance(now)
}

// attend looks after the attempts that run.
func (c *Call) attend(now time.Time) Step {
	until := time.Time{}
	for _, a := range [...]*attempt{c.live, c.rival} {
		if a == nil {
			continue
		}
		at, verdict := c.watch(now, a)
		if verdict != nil {
			verdict.InputTokens, verdict.OutputTokens = -1, -1
			c.settle(now, a, *verdict)
			c.after(now, a)
			return Step{Kind: Drop, Attempt: a.id, Tier: a.tier, Outcome: &a.outcome}
		}
		until = sooner(until, at)
	}
	if at := c.hedgeAt(); !at.IsZero() {
		if now.Before(at) {
			until = sooner(until, at)
		} else if step, ok := c.hedge(now); ok {
			return step
		}
	}
	return Step{Kind: Wait, Until: until}
}

// sooner is the earlier of two times, of which zero is none.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// Observe takes in what happened to attempt a, or with a = 0 to the call.
// Marks of attempts that are over change nothing.
func (c *Call) Observe(now time.Time, id AttemptID, m Mark) {
	if m.Kind == Ended && m.Outcome.NotSent {
		c.neverSent(c.attempt(id))
	}
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
		a.seam = true
	case Ended:
		c.settle(now, a, m.Outcome)
		c.after(now, a)
	}
}

// Runs reports whether an attempt is one that the call still waits for. What
// comes of any other must not reach the caller.
func (c *Call) Runs(id AttemptID) bool {
	a := c.attempt(id)
	return a != nil && !a.settled && !c.done
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
		if c.rival != nil {
			c.wins(now, a)
		}
		a.token = now
		a.model.spoke.Store(now.UnixNano())
		a.model.waiters.remove(a)
	}
	if !a.last.IsZero() {
		a.gap = max(a.gap, now.Sub(a.last))
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
	for _, a := range [...]*attempt{c.live, c.rival} {
		if a == nil {
			continue
		}
		a.clock = now
		if !a.last.IsZero() {
			a.last = now
		}
		a.drip = dripFloor{}
	}
	if c.answered == nil && !c.committed && now.After(c.deadline.Add(-time.Second)) {
		c.deadline = now.Add(c.bound())
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
			c.finish(a)
			return
		}
		c.tier = a.tier + 1
		return
	}
	c.apart(a)
	deliverable := o.Class == OK || (o.Class == Refused && o.Status == 200 && !c.route.RefusalNext)
	switch {
	case deliverable:
		c.finish(a)
	case o.Class == Canceled && o.Kind == KindCaller:
		c.left = true
	case c.committed:
		c.rescue(a)
	case c.live != nil:
		c.beside(now, a)
	default:
		c.follow(now, a)
	}
	if b := c.live; b != nil && c.done {
		c.live = nil
		c.lose(now, b)
	}
}

// random draws the next number of the call's own sequence.
func (c *Call) random() uint64 {
	c.rng += 0x9e3779b97f4a7c15
	return mix(c.rng)
}

func (c *Call) finish(a *attempt) {
	c.answered, c.done = a, true
}

func (c *Call) fail(f *Failure) {
	c.failure, c.done = f, true
}

func (c *Call) last() Step {
	s := Step{Kind: Done, Failure: c.failure, Tier: -1}
	if a := c.answered; a != nil {
		s.Attempt, s.Tier, s.Outcome = a.id, a.tier, &a.outcome
	}
	return s
}
