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
// caller's to change: the local tier does not hide that.
func (c *Call) inexpressible() *Failure {
	var first *attempt
	for i := range c.route.Tiers {
		if c.route.Tiers[i].Local != nil {
			continue
		}
		a := c.unsentAt(i)
		if a == nil {
			return nil
		}
		if first == nil {
			first = a
		}
		if c.req.NoFallback {
			break
		}
	}
	if first == nil {
		return nil
	}
	o := &first.outcome
	f := &Failure{Code: CodeInvalidRequest, Message: o.Message, Param: o.Param}
	if o.Status == CodeNotFound.Status() {
		f.Code = CodeNotFound
	}
	f.Status = f.Code.Status()
	return f
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
	c.ended = now
}

// leave ends a call whose caller is gone.
func (c *Call) leave(now time.Time) Step {
	if a := c.live; a != nil {
		c.settle(now, a, Outcome{Class: Canceled, Kind: KindCaller})
		c.live, c.rival = c.rival, nil
		return Step{Kind: Drop, Attempt: a.id, Tier: a.tier, Outcome: a.outcome}
	}
	c.local = nil
	c.fail(&Failure{Code: CodeCanceled, Status: CodeCanceled.Status(), Message: "the caller left"})
	c.ended = now
	return c.last()
}
