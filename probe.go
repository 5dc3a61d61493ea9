package backstop

import (
	"time"

	"backstop/breaker"
)

// Probe is a background call that finds out whether an open upstream is back.
type Probe struct {
	ID       uint64
	Upstream *Upstream
	Model    string
	Scope    string    // endpoint | model | quality | embed
	Began    time.Time // when Due started it
	Key      int
	Stream   bool
	JSON     bool
	Embed    bool
	Limit    time.Duration // first meaningful token
	Lease    time.Duration // the whole probe; after it the result is void

	gate   *breaker.Breaker
	ticket breaker.Ticket
	state  *upstreamState
}

// Due starts the next background probe that is due. The driver calls it when
// its one timer fires and after each transition, until ok is false; next is
// when to ask again, zero = nothing is pending.
func (e *Engine) Due(now time.Time) (p Probe, ok bool, next time.Time) {
	for _, s := range e.ups {
		for _, g := range s.gates() {
			t, due, at := g.b.Due(now)
			if due {
				if p, ok := e.probe(now, s, g, t); ok {
					return p, true, now
				}
				g.b.Unprobed(now, t)
				_, _, at = g.b.Due(now)
			}
			if !at.IsZero() && (next.IsZero() || at.Before(next)) {
				next = at
			}
		}
	}
	return Probe{}, false, next
}

// gate is one breaker of an upstream with the shape of its probes.
type gate struct {
	b     *breaker.Breaker
	scope string
	m     *modelState
}

// gates lists the breakers of an upstream in a fixed order.
func (s *upstreamState) gates() []gate {
	list := s.scopes()
	out := make([]gate, 0, 1+3*len(list))
	out = append(out, gate{s.endpoint, "endpoint", nil})
	for _, m := range list {
		out = append(out, gate{m.chat, "model", m}, gate{m.quality, "quality", m}, gate{m.embed, "embed", m})
	}
	return out
}

// probe gives a probe the shape (stream, JSON mode) of the calls that its
// scope stands for; false = it cannot be made, because every key is parked.
func (e *Engine) probe(now time.Time, s *upstreamState, g gate, t breaker.Ticket) (Probe, bool) {
	m := g.m
	if m == nil {
		if m = s.latest(); m == nil {
			return Probe{}, false
		}
	}
	key, _ := pick(now, s, m)
	if key == noKey {
		return Probe{}, false
	}
	first := s.u.Timeouts.FirstToken
	return Probe{
		ID: e.probes.Add(1), Upstream: s.u, Model: m.name, Scope: g.scope, Began: now, Key: key,
		Stream: g.scope != "embed" && s.u.Unary != UnaryPlain && !m.plain.Load(),
		JSON:   g.scope == "quality", Embed: g.scope == "embed",
		Limit: first, Lease: min(first+time.Second, max(s.u.Breaker.Reset, first)),
		gate: g.b, ticket: t, state: s,
	}, true
}

// ProbeToken reports the first meaningful token of a background probe: its
// time is a sample of the upstream's first-token time.
func (e *Engine) ProbeToken(now time.Time, p Probe) {
	if p.gate != nil {
		p.gate.Progress(now, p.ticket)
	}
}

// Probed reports how a background probe ended.
func (e *Engine) Probed(now time.Time, p Probe, o Outcome) {
	if p.gate == nil {
		return
	}
	if o.Park != ParkNone {
		t, id := parkOf(p.state, max(p.Key, 0), p.Model, &o)
		t.set(now, id, &o, p.Began)
	}
	switch r := probeResult(p.Scope, &o); r {
	case breaker.Void:
		p.gate.Unprobed(now, p.ticket)
	default:
		p.gate.Probed(now, p.ticket, r)
	}
}

// probeResult maps a probe's outcome onto the one scope it was made for. Void
// means that it could not be made: our tiny call itself was rejected, so only
// a caller's call can tell.
func probeResult(scope string, o *Outcome) breaker.Result {
	switch {
	case o.Class == OK:
		return breaker.Success
	case scope == "endpoint":
		if o.Counts == CountsEndpoint {
			return breaker.Failure
		}
		if o.Class == Canceled {
			return breaker.Neutral
		}
		return breaker.Success // it was reached, whatever it said
	case o.Class == Rejected || o.Class == Refused:
		return breaker.Void
	case scope == "quality" && o.Counts != CountsQuality, o.Counts == CountsNone:
		return breaker.Neutral
	}
	return breaker.Failure
}
