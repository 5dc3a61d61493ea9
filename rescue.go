package backstop

import "time"

// rescue decides what follows when a committed stream broke: one further tier
// may take it over, once, from the point that the caller has reached.
func (c *Call) rescue(a *attempt) {
	switch {
	case c.origin == nil && c.rescuable(a):
		c.origin, c.broke = c.broken(a), a.tier
		if a.outcome.Kind == KindContext {
			c.context, c.tooLong = c.route.Tiers[a.tier].Context, true
		}
		c.descend(a.tier + 1)
	case c.origin != nil && c.carriesOn(a):
		c.continues = true
		c.again(false)
	case c.origin != nil:
		c.giveUp()
	default:
		c.fail(c.broken(a))
	}
}

// rescuable reports whether the stream may be taken over at all.
func (c *Call) rescuable(a *attempt) bool {
	o := &a.outcome
	switch {
	case c.route.Stream.Rescue != "splice" && c.route.Stream.Rescue != "continue",
		!c.req.Rescuable, c.req.NoFallback, o.NoRescue, a.noRescue, o.Kind == KindTooLarge, c.spent >= MaxAttempts:
		return false
	}
	// As before the commit: a model that is gone is no fault of the caller's, and
	// what is too long here may have room elsewhere.
	other := o.Class == Rejected && (o.Kind == KindModel || o.Kind == KindContext && c.roomBelow(a.tier))
	return o.Class == Hang || o.Class == Broken || o.Class == Garbled || o.Class == Limited || other
}

// roomBelow reports whether a lower tier is declared larger than a declared one.
func (c *Call) roomBelow(tier int) bool {
	known := c.route.Tiers[tier].Context
	for i := tier + 1; known > 0 && i < len(c.route.Tiers); i++ {
		if c.route.Tiers[i].Context > known {
			return true
		}
	}
	return false
}

// carriesOn reports whether a rescuer whose text diverged is asked for the
// rest of the caller's text instead.
func (c *Call) carriesOn(a *attempt) bool {
	return a.outcome.Kind == KindDiverged && !c.continues && c.route.Stream.Rescue == "continue" && c.spent < MaxAttempts
}

// giveUp ends a call whose rescue failed with the reason why it was needed.
func (c *Call) giveUp() {
	for i := range c.route.Tiers {
		if i == c.broke || i < c.broke && !c.returned {
			continue
		}
		if words := c.tierStory(i); words != "" {
			c.origin.Message += "; " + c.tierName(i) + " " + c.route.Tiers[i].Name() + ": " + words
		}
	}
	c.fail(c.origin)
}

// rescued is the word for what became of a broken stream: spliced, continued,
// failed, or "" if none broke or none was to be rescued.
func (c *Call) rescued() string {
	switch {
	case c.origin == nil:
		return ""
	case c.answered == nil:
		return "failed"
	case c.continues:
		return "continued"
	}
	return "spliced"
}

// asksAgain plans the one second question for JSON that was promised and did
// not come: at the same upstream, at once, from the retry budget.
func (c *Call) asksAgain(now time.Time, a *attempt) bool {
	if !c.req.Reask || c.route.JSON.Invalid != "reask" || c.reasked || c.req.Retrying || c.spent >= MaxAttempts ||
		c.deadline.Sub(now) < c.expected(a.up, a.model) || !a.up.budget.Withdraw(1) {
		return false
	}
	c.reasked, c.reask = true, a.id
	c.again(a.plain)
	return true
}

// spare finds an answer that may be delivered, marked, because nothing better
// came.
func (c *Call) spare() *attempt {
	for _, a := range c.attempts {
		if a.up != nil && a.settled && (a.outcome.Spare || a.outcome.Class == Refused && a.outcome.Status == 200) {
			return a
		}
	}
	return nil
}

// lastHope is the tier that a call tries when no tier answers and none was
// even asked, because every breaker is open: the one that would probe first.
// -1 = none. Better one call that may be answered than none.
func (c *Call) lastHope(now time.Time) int {
	if c.claims || c.spent > 0 || c.inexpressible() != nil {
		return -1
	}
	best, at := -1, time.Duration(0)
	for _, s := range c.skips {
		if s.Why == "open" && (best < 0 || s.Until < at) {
			best, at = s.Tier, s.Until
		}
	}
	return best
}
