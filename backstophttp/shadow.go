package backstophttp

import (
	"sync"
	"time"

	"backstop"
	"backstop/wire"
)

const (
	shadowTokens = 64          // of a copy's answer, which is thrown away
	shadowSize   = 32 << 10    // of a copy
	shadowCount  = 64          // copies in all: at most 2 MiB
	shadowFresh  = time.Second // a copy that is younger need not be replaced
	shadowAge    = time.Hour   // an older copy is not used any more
)

// shadows keeps a recent call for each kind of probe at upstreams with `probe:
// shadow`. A copy is what went to that upstream, without any header or
// credential. It is only ever sent to the same upstream and model again, is
// never written anywhere, and ends with the driver.
type shadows struct {
	mu     sync.Mutex
	copies map[shadowKey]shadow
}

type shadowKey struct {
	upstream, model string
	stream, json    bool
}

type shadow struct {
	call wire.Outbound
	at   time.Time
}

func newShadows() *shadows { return &shadows{copies: map[shadowKey]shadow{}} }

func shadowOf(p *backstop.Probe) shadowKey {
	return shadowKey{p.Upstream.Name, p.Model, p.Stream, p.JSON}
}

// shadowed keeps what the attempt is about to send, if it may be sent again:
// text alone, with no tool and nothing that is stored.
func (r *run) shadowed(a *attempt, out *wire.Outbound) {
	u, q := a.step.Upstream, r.req
	switch {
	case u.Breaker.Probe != backstop.ProbeShadow,
		q.Op != wire.Chat, q.Tools, q.Stored, q.Pinned, q.Audio, q.Choices > 1,
		a.step.Splice, a.step.Reask != 0, a.room.Dialect() != u.Dialect,
		len(out.Body) > shadowSize:
		return
	}
	key := shadowKey{u.Name, a.step.Model, out.Stream, r.promised()}
	if r.d.shadows.fresh(key, time.Now()) || !wire.TextAlone(out.Body) {
		return
	}
	kept := *out
	a.copied = &kept
}

// answered puts the copy of an attempt that went well in its place.
func (r *run) answered(a *attempt, o *backstop.Outcome) {
	if o.Class == backstop.OK && a.copied != nil {
		key := shadowKey{a.step.Upstream.Name, a.step.Model, a.copied.Stream, r.promised()}
		r.d.shadows.put(key, shadow{*a.copied, time.Now()})
	}
	if o.Class != 0 { // a stream that is committed goes on
		a.copied = nil
	}
}

func (s *shadows) fresh(key shadowKey, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.copies[key]
	return ok && now.Sub(c.at) < shadowFresh
}

func (s *shadows) put(key shadowKey, c shadow) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.copies[key]; !known && len(s.copies) >= shadowCount {
		s.drop()
	}
	s.copies[key] = c
}

// drop makes room: the oldest copy goes.
func (s *shadows) drop() {
	var oldest shadowKey
	var at time.Time
	for k, c := range s.copies {
		if at.IsZero() || c.at.Before(at) {
			oldest, at = k, c.at
		}
	}
	delete(s.copies, oldest)
}

// take makes the request of a probe out of a copy; probe is the request that it
// replaces. It is false where there is no copy.
func (s *shadows) take(p *backstop.Probe, probe *wire.Outbound, now time.Time) (wire.Outbound, bool) {
	if p.Upstream.Breaker.Probe != backstop.ProbeShadow || p.Embed {
		return wire.Outbound{}, false
	}
	s.mu.Lock()
	c, ok := s.copies[shadowOf(p)]
	if ok && now.Sub(c.at) > shadowAge {
		delete(s.copies, shadowOf(p))
		ok = false
	}
	s.mu.Unlock()
	if !ok {
		return wire.Outbound{}, false
	}
	out := c.call
	out.Body, ok = wire.Shadow(c.call.Body, probe.Body, shadowTokens)
	return out, ok
}

// forget drops a copy that the upstream did not take: the next probe is
// synthetic.
func (s *shadows) forget(p *backstop.Probe) {
	s.mu.Lock()
	delete(s.copies, shadowOf(p))
	s.mu.Unlock()
}
