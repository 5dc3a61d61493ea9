package backstop

import (
	"time"

	"backstop/breaker"
	"backstop/limit"
)

// unknownShare of the first-token limit is what an upstream without samples is
// expected to need (800 ms of 4500 ms).
const unknownShare = 0.18

// advance finds the next tier that may try, from the present one downwards.
func (c *Call) advance(now time.Time) Step {
	if now.Before(c.resume) {
		return Step{Kind: Wait, Until: c.resume}
	}
	for c.tier < len(c.route.Tiers) {
		t := &c.route.Tiers[c.tier]
		if t.Local != nil {
			if c.returns() {
				continue
			}
			if a := c.spare(); a != nil && a.outcome.Kind == KindJSON {
				c.finish(a) // a tool call that its caller may judge is worth more than a text of ours
				return c.last()
			}
			if step, ok := c.serve(now, t); ok {
				return step
			}
			c.tier++
			continue
		}
		if c.passed(c.tier) {
			c.descend(c.tier + 1)
			continue
		}
		step, why, until := c.try(now, t)
		if why == "" {
			return step
		}
		c.skip(now, t, why, until)
		if why == "parked" && c.origin == nil && c.sitsOut(now, t, until) {
			return Step{Kind: Wait, Until: c.resume}
		}
		c.descend(c.tier + 1)
	}
	if c.returns() {
		return c.advance(now)
	}
	if c.origin != nil {
		c.giveUp()
		return c.last()
	}
	if step, ok := c.lastWait(now); ok {
		return step
	}
	if a := c.spare(); a != nil {
		c.finish(a)
		return c.last()
	}
	if tier := c.lastHope(now); tier >= 0 {
		c.claims = true
		c.descend(tier)
		c.tier = tier
		if step, why, _ := c.try(now, &c.route.Tiers[tier]); why == "" {
			return step
		}
		c.tier = len(c.route.Tiers)
	}
	c.exhausted(now)
	return c.last()
}

// serve lets a local tier answer. It needs no time, so no deadline is asked.
func (c *Call) serve(now time.Time, t *Tier) (Step, bool) {
	if c.tooLong || c.origin != nil || !c.mayServe(t) || c.inexpressible() != nil {
		return Step{}, false
	}
	a := c.fresh(now)
	a.name, a.key = t.Name(), -1
	c.attempts = append(c.attempts, a)
	c.local = a
	return Step{Kind: Serve, Attempt: a.id, Tier: c.tier, Reason: c.reason()}, true
}

// mayServe reports whether a local tier may answer this call: embeddings never
// come from a template.
func (c *Call) mayServe(t *Tier) bool {
	return !c.req.NoLocal && !(c.req.Embed && t.Local.Template != nil)
}

// try admits an attempt at an upstream tier, or says why not: a limit, a park
// or an open breaker slides the call down, it never fails it by itself.
func (c *Call) try(now time.Time, t *Tier) (Step, string, time.Time) {
	s := c.e.byName[t.Upstream]
	sent := c.sent(t)
	switch {
	case c.spent >= MaxAttempts:
		return Step{}, "budget", time.Time{}
	case c.tooLong && t.Context <= c.context:
		return Step{}, "context", time.Time{}
	case c.req.Embed && !c.route.SameVectors && sent != c.sent(&c.route.Tiers[0]): // other vectors are not comparable
		return Step{}, "model", time.Time{}
	}
	m := s.model(sent)
	if left := c.deadline.Sub(now); c.origin == nil && (left <= 0 || (c.tier > 0 || c.spent > 0 || c.req.Timeout > 0) && left < c.expected(s, m)) {
		return Step{}, "deadline", time.Time{}
	}
	key, until := pick(now, s, m)
	if key < -1 {
		return Step{}, "parked", until
	}
	a := c.fresh(now)
	a.up, a.model, a.name, a.sent, a.key = s, m, t.Upstream, sent, key
	a.retry, a.waited, a.without, a.wake = c.retry, c.waited, c.without, c.req.Wake
	a.plain = c.plain || c.req.Embed || !c.req.Stream && (s.u.Unary == UnaryPlain || !c.req.Streamable) || m.plain.Load()
	if m.streams.Load() && c.req.Streamable && !c.req.Embed {
		a.plain = false
	}
	if c.watched(a) {
		a.age = c.gate(a).Suspicion()
	}
	if why, until := c.admit(now, t, a); why != "" {
		return Step{}, why, until
	}
	c.attempts = append(c.attempts, a)
	c.live, c.waited, c.retry = a, 0, false
	reask := c.reask
	c.reask = 0
	c.spent++
	if c.watched(a) && a.wake != nil {
		m.waiters.add(a)
	}
	return Step{Kind: Try, Attempt: a.id, Tier: c.tier, Upstream: s.u, Model: sent, Key: key, Plain: a.plain,
		Without: c.without, Probe: a.probe, Retry: a.retry, Reask: reask, Splice: c.origin != nil, Continue: c.continues}, "", time.Time{}
}

// watched reports whether the first token of an attempt can be seen.
func (c *Call) watched(a *attempt) bool { return !a.plain && !c.req.Embed }

// admit asks limits and breakers, cheapest and most reversible first.
func (c *Call) admit(now time.Time, t *Tier, a *attempt) (why string, until time.Time) {
	s, m := a.up, a.model
	gate := c.gate(a)
	ask := []*breaker.Breaker{s.endpoint, gate}
	if c.req.JSON && !c.req.Embed {
		a.model.doubts.heard(now, c.who, c.req.Schema)
		ask = append(ask, m.quality)
	}
	for _, b := range ask {
		if !c.claims && !b.Ready(now) {
			return "open", b.Until(now)
		}
	}
	if !c.leases(now, a) {
		return "parked", time.Time{}
	}
	if !s.inflight.Acquire() {
		a.release()
		return "full", time.Time{}
	}
	if !c.pays(now, t, a) {
		s.inflight.Release()
		a.release()
		return "rate", time.Time{}
	}
	if b := c.enter(now, a); b != nil {
		s.inflight.Release()
		a.refund()
		a.release()
		return "open", b.Until(now)
	}
	a.probe = a.scope.Probe() || a.endpoint.Probe() || a.quality.Probe()
	return "", time.Time{}
}

// pays takes one attempt from the upstream's rate limit and from the tier's,
// which is there to slide calls down: the last tier has none.
func (c *Call) pays(now time.Time, t *Tier, a *attempt) bool {
	limits := [...]*limit.Rate{a.up.rate, nil}
	if c.lower() {
		limits[1] = a.up.tierLimit(t)
	}
	for i, r := range limits {
		if r == nil {
			continue
		}
		if !r.Allow(now) {
			a.refund()
			return false
		}
		a.paid[i] = r
	}
	return true
}

// refund gives back what an attempt that was not made has paid.
func (a *attempt) refund() {
	for i, r := range a.paid {
		if r != nil {
			r.Refund()
			a.paid[i] = nil
		}
	}
}

// enter takes the breakers' tickets; a refusal after a race voids the earlier
// ones. It returns the breaker that refused.
func (c *Call) enter(now time.Time, a *attempt) *breaker.Breaker {
	sight := breaker.Blind
	if c.watched(a) {
		sight = breaker.Watched
	}
	allow := (*breaker.Breaker).Allow
	if c.claims {
		allow = (*breaker.Breaker).Claim
	}
	var ok bool
	if a.endpoint, ok = allow(a.up.endpoint, now, breaker.Blind, c.hash); !ok {
		return a.up.endpoint
	}
	gate := c.gate(a)
	if a.scope, ok = allow(gate, now, sight, c.hash); !ok {
		a.up.endpoint.Done(now, a.endpoint, breaker.Void, false)
		return gate
	}
	if t := a.model.trial; t != nil && !c.req.Embed {
		a.trial, _ = t.Allow(now, sight, c.hash)
	}
	if c.req.JSON && !c.req.Embed {
		if a.quality, ok = allow(a.model.quality, now, breaker.Blind, c.hash); !ok {
			a.up.endpoint.Done(now, a.endpoint, breaker.Void, false)
			gate.Done(now, a.scope, breaker.Void, false)
			if t := a.model.trial; t != nil {
				t.Done(now, a.trial, breaker.Void, false)
			}
			return a.model.quality
		}
	}
	return nil
}

// lower reports whether a tier below the present one could answer instead.
func (c *Call) lower() bool {
	if c.req.NoFallback {
		return false
	}
	for i := c.tier + 1; i < len(c.route.Tiers); i++ {
		t := &c.route.Tiers[i]
		if t.Local == nil || c.mayServe(t) {
			return true
		}
	}
	return false
}

// enoughSamples is from when a p95 first token counts as known.
const enoughSamples = 20

// expected is the p95 time to a first token of a model, 0 while it is unknown:
// what nobody knows forbids no attempt.
func (c *Call) expected(s *upstreamState, m *modelState) time.Duration {
	b := m.chat
	if c.req.Embed {
		b = m.embed
	}
	if d, n := b.FirstToken95(); n >= enoughSamples {
		return min(d, s.u.Timeouts.FirstToken)
	}
	return 0
}

// reserved is the time that an attempt leaves for the tier below it: what that
// is expected to need, or a guess.
func (c *Call) reserved(s *upstreamState, m *modelState) time.Duration {
	if d := c.expected(s, m); d > 0 {
		return d
	}
	return time.Duration(unknownShare * float64(s.u.Timeouts.FirstToken))
}

func (c *Call) skip(now time.Time, t *Tier, why string, until time.Time) {
	s := Skip{Tier: c.tier, Upstream: t.Upstream, Why: why, At: now.Sub(c.began)}
	if !until.IsZero() {
		s.Until = until.Sub(now)
	}
	if why == "parked" {
		s.Kind, s.Status = c.parkedFor(now, t, until)
	}
	c.skips = append(c.skips, s)
}
