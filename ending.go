package backstop

import (
	"time"

	"backstop/budget"
)

// unsent takes back an attempt that its upstream could not be asked for: it
// costs nothing and counts as a tier that was passed over.
func (c *Call) unsent(a *attempt) {
	a.unsent = true
	c.spent--
	if a == c.rival {
		c.rival = nil
		c.live.up.budget.Refund(budget.Cost)
		return
	}
	if c.apart(a); c.live != nil {
		return
	}
	c.skips = append(c.skips, Skip{Tier: a.tier, Upstream: a.name, Why: a.outcome.Class.String(), At: a.began.Sub(c.began)})
	c.descend(a.tier + 1)
}

// inexpressible is the error of a call that no upstream of its route can be
// asked at all, with the first one's reason; nil if one can. Such a call is its
// caller's to change: neither the local tier nor an open breaker hides that.
func (c *Call) inexpressible() *Failure {
	var first *Outcome
	for i := range c.route.Tiers {
		if c.route.Tiers[i].Local != nil {
			continue
		}
		o := c.cannot(i)
		if o == nil {
			return nil
		}
		if first == nil {
			first = o
		}
		if c.req.NoFallback {
			break
		}
	}
	if first == nil {
		return nil
	}
	f := &Failure{Code: CodeInvalidRequest, Message: first.Message, Param: first.Param}
	if first.Status == CodeNotFound.Status() {
		f.Code = CodeNotFound
	}
	f.Status = f.Code.Status()
	return f
}

// cannot is why the upstream of a tier cannot be asked, nil if it can. One that
// stood aside has not been tried.
func (c *Call) cannot(tier int) *Outcome {
	if a := c.unsentAt(tier); a != nil {
		return &a.outcome
	}
	if c.req.Refuses == nil {
		return nil
	}
	for _, s := range c.skips {
		if s.Tier != tier {
			continue
		}
		switch s.Why {
		case "open", "parked", "rate", "full":
			t := &c.route.Tiers[tier]
			return c.req.Refuses(c.e.byName[t.Upstream].u, c.sent(t))
		}
	}
	return nil
}

// unsentAt is the attempt at a tier whose upstream could not be asked.
func (c *Call) unsentAt(tier int) *attempt {
	for _, a := range c.attempts {
		if a.tier == tier && a.unsent && a.outcome.Class == Rejected {
			return a
		}
	}
	return nil
}

// abort ends a call because the process goes down.
func (c *Call) abort(now time.Time) {
	for _, a := range [...]*attempt{c.live, c.rival} {
		if a != nil {
			c.settle(now, a, Outcome{Class: Canceled, Kind: KindShutdown})
			c.drops = append(c.drops, a)
		}
	}
	c.live, c.rival = nil, nil
	c.local = nil
	c.fail(&Failure{Code: CodeDraining, Status: CodeDraining.Status(), Message: "the gateway is going down; send the call again"})
}

// leave ends a call whose caller is gone.
func (c *Call) leave(now time.Time) Step {
	if a := c.live; a != nil {
		c.settle(now, a, Outcome{Class: Canceled, Kind: KindCaller})
		c.live, c.rival = c.rival, nil
		return Step{Kind: Drop, Attempt: a.id, Tier: a.tier, Outcome: &a.outcome}
	}
	c.local = nil
	c.fail(&Failure{Code: CodeCanceled, Status: CodeCanceled.Status(), Message: "the caller left"})
	return c.last()
}
