package backstop

import (
	"time"

	"backstop/backoff"
)

// follow picks the way on after a failed attempt that the caller saw nothing of.
func (c *Call) follow(now time.Time, a *attempt) {
	o, u := &a.outcome, a.up.u
	switch {
	case c.learn(a):
		c.again(!a.plain)
	case o.Class == Rejected && o.Param != "" && !o.Absent && len(c.without) == 0 && droppable(o.Param):
		c.without = []string{o.Param}
		c.again(a.plain)
	case o.Class == Garbled && o.Kind == KindJSON && c.asksAgain(now, a):
	case o.Class == Garbled && o.Kind == KindJSON && c.route.JSON.Invalid == "error":
		c.verdict(a)
	case o.Kind == KindContext:
		c.context, c.tooLong = max(c.context, c.route.Tiers[a.tier].Context), true
		if c.context == 0 {
			c.verdict(a)
			return
		}
		c.descend(a.tier + 1)
	case !c.goesOn(o):
		c.verdict(a)
	case o.Class == Limited && o.Park == ParkKey && c.freeKey(now, a) >= 0:
		c.again(a.plain)
	case c.retries < u.Retry.Max && o.RetrySame && (a.token.IsZero() || a.plain) && !c.req.Retrying && c.nap(now, a, c.backoff(u)):
	case !c.napped && o.HasHint && o.Hint > 0 && o.Hint <= u.Retry.Wait && !c.req.Retrying && c.nap(now, a, c.named(o.Hint)):
		c.napped = true // once: the attempts that are left are for who is free
	default:
		c.descend(a.tier + 1)
	}
}

// learn remembers that an upstream's model wants to be asked in the other form,
// a stream or one body, and reports whether it said so.
func (c *Call) learn(a *attempt) bool {
	o := &a.outcome
	switch {
	case o.Class == Rejected && o.NoStream && !a.plain:
		a.switched = a.model.plain.CompareAndSwap(false, true)
	case o.Class == Rejected && o.OnlyStream && a.plain && c.req.Streamable && !c.req.Embed:
		a.model.streams.Store(true)
	default:
		return false
	}
	return true
}

// goesOn reports whether an outcome lets another tier try.
func (c *Call) goesOn(o *Outcome) bool {
	if o.Class == Refused {
		return c.route.RefusalNext
	}
	return o.NextTier
}

// again tries the present tier once more at once: another key, one parameter
// less, or one body instead of a stream. It is no retry in the sense of the
// budget, because the upstream told us what to change.
func (c *Call) again(plain bool) { c.plain, c.resume, c.retry = plain, time.Time{}, false }

// descend goes to a lower tier.
func (c *Call) descend(tier int) {
	c.tier, c.retries, c.plain, c.retry = tier, 0, false, false
	c.resume, c.without = time.Time{}, nil
	if c.req.NoFallback {
		c.tier = len(c.route.Tiers)
	}
}

// nap plans a second try at the same upstream after a delay, if a permit, the
// attempts left and the deadline allow it.
func (c *Call) nap(now time.Time, a *attempt, d time.Duration) bool {
	left := c.deadline.Sub(now) - d
	if c.spent >= MaxAttempts || left <= c.expected(a.up, a.model) || c.owesLast(now, a.tier) {
		return false
	}
	cost := 1
	if a.outcome.Class == Hang || a.outcome.Kind == KindTimeout {
		cost = 2
	}
	if !a.up.budget.Withdraw(cost) {
		return false
	}
	c.retries++
	c.resume, c.retry, c.waited, c.plain = now.Add(d), true, d, a.plain
	return true
}

// backoff is the jittered wait before a second try at the same upstream.
func (c *Call) backoff(u *Upstream) time.Duration {
	return backoff.Delay(u.Retry.JitterMin, u.Retry.JitterMax, c.retries, c.random)
}

// named is a delay that the upstream named, with up to 10 % on top so that the
// calls it parked do not come back in step.
func (c *Call) named(d time.Duration) time.Duration {
	return d + time.Duration(c.random()%uint64(d/10+1))
}
