package backstop

import "time"

// watch reads the clocks of the running attempt: it returns when to look
// again, or the verdict on an attempt whose time is up.
func (c *Call) watch(now time.Time, a *attempt) (time.Time, *Outcome) {
	t := &a.up.u.Timeouts
	until := time.Time{}
	due := func(at time.Time) bool {
		if !now.Before(at) {
			return true
		}
		if until.IsZero() || at.Before(until) {
			until = at
		}
		return false
	}
	if a.dialed.IsZero() && due(a.clock.Add(t.Connect)) {
		return until, &Outcome{Class: Broken, Kind: KindConnect, Counts: CountsEndpoint, NextTier: true}
	}
	if a.token.IsZero() {
		limit := c.firstLimit(a)
		if due(limit) {
			return until, c.hung(now, a, limit)
		}
		if c.moves(now, a, due) {
			return until, &Outcome{Class: Hang, Kind: KindMoved, NextTier: true}
		}
	} else {
		if c.origin != nil && !a.seam && due(a.clock.Add(t.FirstToken)) {
			return until, &Outcome{Class: Hang, Kind: KindTotal, NextTier: true} // too slow to the seam
		}
		if t.Idle > 0 && due(a.last.Add(t.Idle)) {
			return until, &Outcome{Class: Hang, Kind: KindIdle, Counts: CountsModel, NextTier: true}
		}
		if t.Drip > 0 && a.drip.slow(now, t.Drip, due) {
			return until, &Outcome{Class: Hang, Kind: KindDrip, Counts: CountsModel, NextTier: true}
		}
	}
	// A stream that the caller is reading is bounded by idle alone: a total
	// limit would cut healthy long answers (F-05).
	if t.Total > 0 && !c.committed && due(a.clock.Add(t.Total)) {
		return until, &Outcome{Class: Hang, Kind: KindTotal, NextTier: true}
	}
	return until, nil
}

// firstLimit is when the attempt must have shown its first meaningful token:
// its own limit, the deadline, and what the next tier needs to have a chance.
func (c *Call) firstLimit(a *attempt) time.Time {
	limit := a.clock.Add(a.up.u.Timeouts.FirstToken)
	if c.origin != nil {
		return limit // the deadline was met by the stream that broke
	}
	below := a.tier
	if b := c.other(a); b != nil {
		below = max(below, b.tier)
	}
	if next := c.nextUpstream(below); next != nil {
		reserve := c.reserved(next, next.model(c.nextModel(below))) + 20*time.Millisecond
		if at := c.deadline.Add(-reserve); at.Before(limit) {
			// Less than a quarter of its limit is no fair chance: then the attempt
			// keeps what the deadline leaves.
			if at.Sub(a.clock) >= limit.Sub(a.clock)/4 {
				return at
			}
		}
	}
	if c.deadline.Before(limit) {
		return c.deadline
	}
	return limit
}

// hung is the verdict on an attempt without a token. An attempt that our own
// deadline cut short before the suspicion age says nothing about the upstream.
func (c *Call) hung(now time.Time, a *attempt, limit time.Time) *Outcome {
	o := &Outcome{Class: Hang, Kind: KindFirstToken, Counts: CountsModel, NextTier: true}
	full := a.clock.Add(a.up.u.Timeouts.FirstToken)
	if limit.Before(full) && now.Sub(a.clock) < c.suspicion(a) {
		o.Counts = CountsNone
	}
	return o
}

// suspicion is the age from which silence is evidence, whether or not the
// hang rule is on.
func (c *Call) suspicion(a *attempt) time.Duration {
	if s := c.gate(a).Suspicion(); s > 0 {
		return s
	}
	return a.up.u.Timeouts.FirstToken / 2
}

// moves reports whether the attempt should be given up on hang evidence: it is
// older than the suspicion age and its breaker opened, and something else can
// answer.
func (c *Call) moves(now time.Time, a *attempt, due func(time.Time) bool) bool {
	if !c.watched(a) || c.origin != nil {
		return false
	}
	if a.age <= 0 || !due(a.clock.Add(a.age)) {
		return false
	}
	gate := c.gate(a)
	if t := a.model.trial; t != nil {
		t.Suspect(now, a.trial)
	}
	return (gate.Suspect(now, a.scope) || !gate.Ready(now)) && (c.other(a) != nil || c.hasNext(now, a.tier))
}

// hasNext reports whether a tier below could take the call right now.
func (c *Call) hasNext(now time.Time, tier int) bool {
	if c.req.NoFallback {
		return false
	}
	for i := tier + 1; i < len(c.route.Tiers); i++ {
		t := &c.route.Tiers[i]
		if t.Local != nil {
			if c.mayServe(t) {
				return true
			}
			continue
		}
		if c.spent < MaxAttempts && !c.passed(i) && c.couldTake(now, i) {
			return true
		}
	}
	return false
}

// couldTake reports whether an upstream tier could take the call right now.
func (c *Call) couldTake(now time.Time, tier int) bool {
	t := &c.route.Tiers[tier]
	if c.passed(tier) || c.tooLong && t.Context <= c.context || c.req.Embed && !c.route.SameVectors && c.sent(t) != c.sent(&c.route.Tiers[0]) {
		return false
	}
	s := c.e.byName[t.Upstream]
	m := s.model(c.sent(t))
	if c.deadline.Sub(now) < c.expected(s, m) {
		return false
	}
	key, _ := pick(now, s, m)
	return key != noKey && s.endpoint.Ready(now) && m.chat.Ready(now)
}

// owesLast reports whether the one request that a call has left belongs to a
// tier below: however many keys or retries an upstream has, it is no use to ask
// it for the fourth time while another, that was not asked yet, could answer.
func (c *Call) owesLast(now time.Time, tier int) bool {
	if c.spent != MaxAttempts-1 || c.req.NoFallback {
		return false
	}
	for i := tier + 1; i < len(c.route.Tiers); i++ {
		if c.route.Tiers[i].Local == nil && !c.passed(i) && c.couldTake(now, i) {
			return true
		}
	}
	return false
}

func (c *Call) nextUpstream(tier int) *upstreamState {
	if i := c.nextRung(tier); i >= 0 {
		return c.e.byName[c.route.Tiers[i].Upstream]
	}
	return nil
}

func (c *Call) nextModel(tier int) string { return c.sent(&c.route.Tiers[c.nextRung(tier)]) }

// nextRung is the next upstream tier, -1 = none.
func (c *Call) nextRung(tier int) int {
	if c.req.NoFallback {
		return -1
	}
	for i := tier + 1; i < len(c.route.Tiers); i++ {
		if c.route.Tiers[i].Local == nil && !c.passed(i) {
			return i
		}
	}
	return -1
}

// dripSpan is the time over which the drip floor is judged.
const dripSpan = 10 * time.Second

// dripFloor counts content bytes in one span after another.
type dripFloor struct {
	from  time.Time
	bytes int
}

func (d *dripFloor) add(now time.Time, bytes int) {
	if d.from.IsZero() {
		d.from = now
	}
	d.bytes += bytes
}

// slow reports whether a full span went by with fewer than floor bytes a
// second.
func (d *dripFloor) slow(now time.Time, floor int, due func(time.Time) bool) bool {
	if d.from.IsZero() || !due(d.from.Add(dripSpan)) {
		return false
	}
	if d.bytes < floor*int(dripSpan/time.Second) {
		return true
	}
	d.from, d.bytes = now, 0
	due(now.Add(dripSpan))
	return false
}
