package backstop

import (
	"time"

	"backstop/budget"
)

// A hedge is a second attempt of a call beside one whose first token is late:
// an early move to the next tier that does not give the slow one up. The first
// meaningful token decides; the other attempt is dropped at once.
//
// There is at most one a call. It is paid from the retry budget of the
// upstream that is waited for: its successes earn what its slowness costs, and
// while it is down nothing is earned, so a dead upstream cannot double the load
// on the next one. A probe is not hedged, nor is the trial of a park: the call
// that is to find out whether an upstream is back must hear what it says.

// hedgeShare times the p95 first token is `hedge: {after: auto}`.
const hedgeShare = 1.5

// hedgeAt is when the running attempt gets a hedge, zero = never.
func (c *Call) hedgeAt() time.Time {
	h, a := &c.route.Hedge, c.live
	switch {
	case h.After <= 0 && !h.Auto,
		c.hedged, !a.token.IsZero(), a.probe, len(a.leases) > 0,
		c.committed, c.origin != nil, c.spent >= MaxAttempts,
		c.req.Once, c.req.Retrying, c.req.NoFallback:
		return time.Time{}
	}
	after, limit := h.After, a.up.u.Timeouts.FirstToken
	if h.Auto {
		after = limit / 2
		if p95 := c.expected(a.up, a.model); p95 > 0 {
			after = time.Duration(hedgeShare * float64(p95))
		}
	}
	if after >= limit {
		return time.Time{}
	}
	return a.clock.Add(after)
}

// hedge starts the second attempt at the next tier that may serve. Whether it
// finds one or not, the call does not ask again.
func (c *Call) hedge(now time.Time) (Step, bool) {
	main, place := c.live, c.rung
	c.hedged = true
	if !main.up.budget.Withdraw(budget.Cost) {
		return Step{}, false
	}
	for i := main.tier + 1; i < len(c.route.Tiers); i++ {
		t := &c.route.Tiers[i]
		if t.Local != nil || t.Upstream == main.name {
			continue
		}
		c.rung = rung{tier: i}
		step, why, _ := c.try(now, t)
		c.rung = place
		if why == "" {
			c.live, c.rival = main, c.live
			c.rival.hedge, step.Hedge = true, true
			return step, true
		}
	}
	main.up.budget.Refund(budget.Cost)
	return Step{}, false
}

// other is the attempt that runs beside a, nil = none.
func (c *Call) other(a *attempt) *attempt {
	if a == c.rival {
		return c.live
	}
	return c.rival
}

// wins makes a the call's attempt, because it has the first token.
func (c *Call) wins(now time.Time, a *attempt) {
	loser := c.other(a)
	if a == c.rival {
		c.live, c.rung = a, rung{tier: a.tier}
	}
	c.rival = nil
	c.lose(now, loser)
}

// lose drops an attempt that another one made needless. That says nothing
// about its upstream except that it had no token so far.
func (c *Call) lose(now time.Time, a *attempt) {
	c.settle(now, a, Outcome{Class: Canceled, Kind: KindHedge, InputTokens: -1, OutputTokens: -1})
	c.drops = append(c.drops, a)
}

// apart takes an attempt that is over out of those that run.
func (c *Call) apart(a *attempt) {
	switch a {
	case c.rival:
		c.rival = nil
	case c.live:
		if c.live, c.rival = c.rival, nil; c.live != nil {
			c.rung = rung{tier: c.live.tier}
		}
	}
}

// beside decides what a failure means while another attempt runs.
func (c *Call) beside(now time.Time, a *attempt) {
	o, tiers := &a.outcome, c.route.Tiers
	known := tiers[a.tier].Context
	switch {
	case a.tier > c.live.tier:
		a.passed = true // its tier has had its turn
	case o.Kind == KindContext && (known == 0 || tiers[c.live.tier].Context <= known):
		c.lose(now, c.live)
		c.live = nil
		c.follow(now, a)
	case o.Kind == KindContext:
		c.context, c.tooLong = max(c.context, known), true
	case c.learn(a), o.Param != "", c.goesOn(o):
		// the other one goes on alone
	default:
		c.verdict(a)
	}
}

// returns goes back, once, to the tier whose attempt a hedge made needless: what
// won has failed since, no other upstream is left, and what the slow one would
// have answered nobody knows.
func (c *Call) returns() bool {
	if !c.hedged || c.returned || c.spent >= MaxAttempts {
		return false
	}
	for _, a := range c.attempts {
		if a.hedge || a.unsent || a.outcome.Kind != KindHedge {
			continue
		}
		for _, b := range c.attempts {
			b.passed = b.tier != a.tier
		}
		c.returned = true
		c.descend(a.tier)
		return true
	}
	return false
}

// passed reports whether a tier has had its turn although the call is not below
// it yet.
func (c *Call) passed(tier int) bool {
	if !c.hedged {
		return false
	}
	for _, a := range c.attempts {
		if a.passed && a.tier == tier {
			return true
		}
	}
	return false
}

// neverSent takes a hedge back that was dropped before it could be sent.
func (c *Call) neverSent(a *attempt) {
	if a != nil && a.hedge && a.settled && !a.unsent && a.outcome.Kind == KindHedge {
		a.unsent = true
		c.spent--
	}
}
