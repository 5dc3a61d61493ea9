package backstop

import "time"

// unsent takes back an attempt that its upstream could not be asked for: it
// costs nothing and counts as a tier that was passed over.
func (c *Call) unsent(a *attempt) {
	c.live, a.unsent = nil, true
	c.spent--
	c.skips = append(c.skips, Skip{Tier: a.tier, Upstream: a.name, Why: a.outcome.Class.String()})
	c.descend(a.tier + 1)
}

// abort ends a call because the process goes down.
func (c *Call) abort(now time.Time) {
	if a := c.live; a != nil {
		c.settle(now, a, Outcome{Class: Canceled, Kind: KindShutdown})
		c.live, c.drop = nil, a
	}
	c.local = nil
	c.fail(&Failure{Code: CodeDraining, Status: CodeDraining.Status(), Message: "the gateway is going down; send the call again"})
	c.ended = now
}

// leave ends a call whose caller is gone.
func (c *Call) leave(now time.Time) Step {
	if a := c.live; a != nil {
		c.settle(now, a, Outcome{Class: Canceled, Kind: KindCaller})
		c.live = nil
		return Step{Kind: Drop, Attempt: a.id, Tier: a.tier, Outcome: a.outcome}
	}
	c.local = nil
	c.fail(&Failure{Code: CodeCanceled, Status: CodeCanceled.Status(), Message: "the caller left"})
	c.ended = now
	return c.last()
}
