package sim

import (
	"testing"
	"time"
)

// dip is scenario P12: a fifth of the capacity is gone for a minute, callers
// retry twice, and what was queued is worked on although its caller has left.
func dip() Scenario {
	s := outage("capacity:176")
	s.Duration = 15 * time.Minute
	s.Arrivals.Timeout, s.Arrivals.Retries = 10*time.Second, 2
	for i := range s.Upstreams {
		s.Upstreams[i].Tokens = Spread{200, 400}
	}
	s.Upstreams[0].Capacity, s.Upstreams[0].Over = 220, "queue"
	s.Faults[0].From, s.Faults[0].To = 5*time.Minute, 6*time.Minute
	return s
}

// The control: the same callers in front of the same upstream, through a plan
// that never opens, retries without a budget and has nobody to go to. The
// trigger is over after a minute, the outage is not. That is what the scenario
// would be no test without.
func TestADipInCapacityKeepsAPlanWithoutBudgetsDownAndNotOurs(t *testing.T) {
	r := verified(t, dip())
	if r.Answered != r.Calls || r.Recover == nil || *r.Recover > 30*decimal {
		t.Errorf("%d of %d answered, recovered after %v", r.Answered, r.Calls, r.Recover)
	}
	control := Pair()
	u := &control.Upstreams[0]
	u.Breaker.Failures, u.Breaker.Hang = 64, false
	u.Breaker.Literal, u.Breaker.Window = true, time.Millisecond // never 64 in a row within that
	u.Retry.Max, u.Retry.Budget = 3, 10
	control.Routes[0].Tiers = control.Routes[0].Tiers[:1]
	c, err := Run(control, dip())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("control: %d of %d answered, recovered after %v, amplification %v; ours: %v, %v", c.Answered, c.Calls, c.Recover, c.Amplification, r.Recover, r.Amplification)
	if lost := c.Calls - c.Answered; c.Recover != nil || lost < c.Calls/4 {
		t.Errorf("the control lost only %d of %d calls and recovered after %v: the scenario has no trigger", lost, c.Calls, c.Recover)
	}
}
