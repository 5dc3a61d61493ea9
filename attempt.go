package backstop

import (
	"time"

	"backstop/breaker"
	"backstop/limit"
)

// rung is where a call stands on its way down the tiers.
type rung struct {
	tier    int // to try next
	retries int // at it
	resume  time.Time
	waited  time.Duration
	without []string
	retry   bool // the next try is a second one at the same upstream
	plain   bool // ask for one body
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
	over      time.Time
	waited    time.Duration
	gap       time.Duration // longest between two tokens
	drip      dripFloor

	endpoint breaker.Ticket
	scope    breaker.Ticket // chat or embed
	quality  breaker.Ticket
	trial    breaker.Ticket
	leases   []heldLease
	paid     [2]*limit.Rate // limits that it took one from
	outcome  Outcome

	plain    bool
	probe    bool
	retry    bool
	hedge    bool // it began beside another one
	seam     bool // a rescuer has caught up
	judged   bool // the endpoint's ticket is done
	settled  bool
	passed   bool // its tier has had its turn although the call may come by it again
	noRescue bool // the caller has a part of it that nobody else can go on with
	unsent   bool // nothing was sent after all
	switched bool // from now on the model is asked plainly
}

// fresh is an empty attempt with the next number. It is not among the call's
// attempts yet: one that is refused is made anew by the next.
func (c *Call) fresh(now time.Time) *attempt {
	var a *attempt
	if len(c.attempts) > 0 {
		a = &attempt{}
	} else {
		a = &c.first
		if a.id != 0 {
			*a = attempt{}
		}
		c.attempts = c.list[:0]
	}
	a.id, a.tier, a.began, a.clock, a.slot = AttemptID(len(c.attempts)+1), c.tier, now, now, -1
	return a
}

type heldLease struct {
	p  *parks
	id parkID
}
