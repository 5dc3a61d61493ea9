package backstop

import "time"

// Requests that are no calls, such as uploads, go to one upstream as they are.
// They have no breaker and no other tier, but a key that was refused is refused
// for them as well, so they pick theirs here and say what came of it.
//
// What a key is not allowed to do outside of calls says nothing about calls,
// and any caller could bring it about by asking for it. So these requests stay
// away from keys that calls found parked, but park them for each other alone,
// and a wall that only they ran into makes another key the better one, no more.

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
	walled := -1
	for i := range max(len(s.u.Keys), 1) {
		at := s.passBlocked(now, i)
		wall, _ := s.keyPark.blocked(now, parkID{i, passages})
		switch {
		case !at.IsZero():
			until = sooner(until, at)
		case wall.IsZero():
			return s.keyAt(i), time.Time{}
		case walled < 0:
			walled = i
		}
	}
	if walled >= 0 {
		return s.keyAt(walled), time.Time{}
	}
	return -1, until
}

// keyAt is the index of a key as a step names it: -1 where there is none.
func (s *upstreamState) keyAt(i int) int { return min(i, len(s.u.Keys)-1) }

// passBlocked is the latest park that keeps such requests from a key, zero =
// none does.
func (s *upstreamState) passBlocked(now time.Time, key int) time.Time {
	rate, _ := s.ratePark.blocked(now, s.rateID(key, passages))
	if wall, _ := s.keyPark.blocked(now, parkID{key, ""}); wall.After(rate) {
		return wall
	}
	return rate
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
