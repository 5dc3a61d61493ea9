package backstop

import "time"

// maxNap is the longest delay named by an upstream that a call sits out when
// no other tier can answer.
const maxNap = 2 * time.Second

// noKey tells that every key of an upstream is parked.
const noKey = -2

// pick finds the first key that is not parked for the model; -1 is an
// upstream that needs none, noKey that all are parked until the given time.
func pick(now time.Time, s *upstreamState, m *modelState) (int, time.Time) {
	for _, id := range []parkID{{allKeys, m.name}, {allKeys, ""}} {
		if until, _ := s.keyPark.blocked(now, id); !until.IsZero() {
			return noKey, until
		}
	}
	if len(s.u.Keys) == 0 {
		if until := s.keyBlocked(now, 0, m.name); !until.IsZero() {
			return noKey, until
		}
		return -1, time.Time{}
	}
	var first time.Time
	for i := range s.u.Keys {
		until := s.keyBlocked(now, i, m.name)
		if until.IsZero() {
			return i, time.Time{}
		}
		if first.IsZero() || until.Before(first) {
			first = until
		}
	}
	return noKey, first
}

// keyBlocked is the latest park of a key for a model, zero = free.
func (s *upstreamState) keyBlocked(now time.Time, key int, model string) time.Time {
	a, _ := s.ratePark.blocked(now, s.rateID(key, model))
	if b, _ := s.keyPark.blocked(now, parkID{key, ""}); b.After(a) {
		return b
	}
	return a
}

// rateID names the rate-limit park of a key: limits belong to the account, so
// the keys of one account share it.
func (s *upstreamState) rateID(key int, model string) parkID {
	if s.u.Account != "" {
		key = allKeys
	}
	return parkID{key, model}
}

// freeKey finds another key of the attempt's upstream, -1 = none.
func (c *Call) freeKey(now time.Time, a *attempt) int {
	if c.spent >= MaxAttempts || len(a.up.u.Keys) < 2 || c.owesLast(now, a.tier) {
		return -1
	}
	key, _ := pick(now, a.up, a.model)
	return max(key, -1)
}

// leases claims the trials of parks that are over, so that one call finds out
// whether the limit is gone and the rest stay away.
func (c *Call) leases(now time.Time, a *attempt) bool {
	s, key := a.up, max(a.key, 0)
	lease := s.u.Timeouts.FirstToken + time.Second
	for _, h := range []heldLease{
		{s.ratePark, s.rateID(key, a.model.name)}, {s.keyPark, parkID{key, ""}},
		{s.keyPark, parkID{allKeys, a.model.name}}, {s.keyPark, parkID{allKeys, ""}},
	} {
		held, ok := h.p.take(now, h.id, lease)
		if !ok {
			a.release()
			return false
		}
		if held {
			a.leases = append(a.leases, h)
		}
	}
	return true
}

// release gives trials of parks back without a verdict.
func (a *attempt) release() {
	for _, h := range a.leases {
		h.p.release(h.id)
	}
	a.leases = nil
}

// sitsOut plans to wait for a parked tier although lower ones are free: only
// where the operator allowed it, and only for a delay that the upstream named.
func (c *Call) sitsOut(now time.Time, t *Tier, until time.Time) bool {
	s := c.e.byName[t.Upstream]
	d := until.Sub(now)
	if c.napped || c.req.Retrying || until.IsZero() || d > s.u.Retry.Wait || !c.parkNamed(now, t) {
		return false
	}
	d = c.named(d)
	if c.deadline.Sub(now)-d <= c.expected(s, s.model(c.sent(t))) {
		return false
	}
	c.napped, c.resume, c.waited = true, now.Add(d), d
	return true
}

// lastWait is the wait of a call that nothing else can answer: for the
// earliest named delay of at most maxNap, once.
func (c *Call) lastWait(now time.Time) (Step, bool) {
	if c.napped || c.spent >= MaxAttempts || c.req.Retrying || c.tooLong {
		return Step{}, false
	}
	best, at := -1, time.Time{}
	for i := range c.route.Tiers {
		t := &c.route.Tiers[i]
		if t.Local != nil || (c.req.NoFallback && i > 0) || !c.parkNamed(now, t) {
			continue
		}
		s := c.e.byName[t.Upstream]
		if key, until := pick(now, s, s.model(c.sent(t))); key == noKey && until.Sub(now) <= maxNap && (best < 0 || until.Before(at)) {
			best, at = i, until
		}
	}
	if best < 0 {
		return Step{}, false
	}
	s := c.e.byName[c.route.Tiers[best].Upstream]
	d := c.named(at.Sub(now))
	if c.deadline.Sub(now)-d <= c.expected(s, s.model(c.sent(&c.route.Tiers[best]))) || (c.tried(best) && !s.budget.Withdraw(1)) {
		return Step{}, false
	}
	c.descend(best)
	c.tier = best
	c.napped, c.resume, c.waited, c.retry = true, now.Add(d), d, c.tried(best)
	return Step{Kind: Wait, Until: c.resume}, true
}

func (c *Call) tried(tier int) bool {
	for _, a := range c.attempts {
		if a.tier == tier && a.up != nil {
			return true
		}
	}
	return false
}

func (c *Call) sent(t *Tier) string {
	if t.Model != "" {
		return t.Model
	}
	return c.req.Model
}

// parkNamed reports whether the time of a tier's park came from the upstream.
func (c *Call) parkNamed(now time.Time, t *Tier) bool {
	for _, h := range c.parksOf(t) {
		if until, named := h.p.blocked(now, h.id); !until.IsZero() && named {
			return true
		}
	}
	return false
}

// parkedFor is what the park of a tier that ends at a time is for, and the
// status of the answer that set it.
func (c *Call) parkedFor(now time.Time, t *Tier, end time.Time) (Kind, int) {
	for _, h := range c.parksOf(t) {
		if until, _ := h.p.blocked(now, h.id); !until.IsZero() && until.Equal(end) {
			return h.p.cause(h.id)
		}
	}
	return "", 0
}

// parksOf lists the parks that may keep a call from a tier.
func (c *Call) parksOf(t *Tier) []heldLease {
	s := c.e.byName[t.Upstream]
	m := s.model(c.sent(t))
	ids := []heldLease{{s.keyPark, parkID{allKeys, m.name}}, {s.keyPark, parkID{allKeys, ""}}}
	for i := 0; i < max(len(s.u.Keys), 1); i++ {
		ids = append(ids, heldLease{s.ratePark, s.rateID(i, m.name)}, heldLease{s.keyPark, parkID{i, ""}})
	}
	return ids
}

// droppable reports whether a call still means the same without a parameter.
func droppable(param string) bool {
	switch param {
	case "", "model", "messages", "prompt", "input", "contents", "tools", "tool_choice", "functions", "function_call",
		"response_format", "text", "stream", "n", "system", "instructions", "max_tokens", "max_completion_tokens", "max_output_tokens":
		return false
	}
	for i := 0; i < len(param); i++ {
		switch param[i] {
		case '.', '[', ']', '/', ' ':
			return false // a part of a parameter, such as messages[0].content
		}
	}
	return true
}
