package backstop

import "time"

// Requests that are no calls, such as uploads, go to one upstream as they are.
// They have no breaker and no other tier, but a key that was refused is refused
// for them as well, so they pick theirs here and say what came of it.
//
// What a key is not allowed to do outside of calls says nothing about calls,
// and any caller could bring it about by asking for it. So these requests stay
// away from keys that calls found parked, but park them for each other alone.

// passages stands in the tables of parks where a model's name would.
const passages = "(passthrough)"

// PassKey is the key for a request that is passed on to an upstream: an index
// into its Keys, -1 = it needs none. A time that is not zero says that there is
// none until then. It is safe for concurrent use.
func (e *Engine) PassKey(now time.Time, upstream string) (key int, until time.Time) {
	s := e.byName[upstream]
	if s == nil {
		return -1, time.Time{}
	}
	if until, _ := s.keyPark.blocked(now, parkID{allKeys, ""}); !until.IsZero() {
		return -1, until
	}
	for i := range max(len(s.u.Keys), 1) {
		at := s.passBlocked(now, i)
		if at.IsZero() {
			return min(i, len(s.u.Keys)-1), time.Time{}
		}
		until = sooner(until, at)
	}
	return -1, until
}

// passBlocked is the latest park of a key for such requests, zero = free.
func (s *upstreamState) passBlocked(now time.Time, key int) (until time.Time) {
	for _, h := range [...]heldLease{
		{s.ratePark, s.rateID(key, passages)}, {s.keyPark, parkID{key, passages}}, {s.keyPark, parkID{key, ""}},
	} {
		if at, _ := h.p.blocked(now, h.id); at.After(until) {
			until = at
		}
	}
	return until
}

// Passed takes in what came of such a request that began at a time with a key
// of PassKey. It is safe for concurrent use.
func (e *Engine) Passed(now time.Time, upstream string, key int, began time.Time, o *Outcome) {
	s := e.byName[upstream]
	if s == nil {
		return
	}
	key = max(key, 0)
	rate, wall := s.rateID(key, passages), parkID{key, passages}
	switch {
	case o.Class == OK:
		s.ratePark.clear(rate, began)
		s.keyPark.clear(wall, began)
	case o.Class != Limited || o.Park != ParkKey: // nothing that another key would change
	case o.Kind == KindRate:
		s.ratePark.set(now, rate, o, began)
	default:
		s.keyPark.set(now, wall, o, began)
	}
}
