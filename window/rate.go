package window

import "time"

// slots is one more than the parts of a window, so that the oldest part, of
// which some has already passed, is still there whole: thirty parts and one
// cover between 30 and 31 of them, while thirty alone would cover only 29 to 30.
const slots = 31

// Tally is a number of outcomes by kind. Heavy ones are bad ones too, so Heavy
// is never more than Bad.
type Tally struct {
	Good  uint32
	Bad   uint32
	Heavy uint32
}

// All is the number of outcomes.
func (t Tally) All() uint32 { return t.Good + t.Bad }

// Rate holds the outcomes of the last window in 31 buckets. The zero Rate is
// not usable, see [NewRate].
type Rate struct {
	width time.Duration // of one bucket
	end   time.Duration // of the newest bucket, exclusive
	head  int           // index of the newest bucket
	sum   Tally
	ring  [slots]Tally
}

// NewRate makes an empty window that covers at least span and at most span and
// a thirtieth of it. A span below 30 ns is taken as 30 ns.
func NewRate(span time.Duration) Rate {
	return Rate{width: max(span/(slots-1), 1)}
}

// Add counts t at now.
func (r *Rate) Add(now time.Duration, t Tally) {
	if now >= r.end {
		r.turn(now)
	}
	b := &r.ring[r.head]
	b.Good += t.Good
	b.Bad += t.Bad
	b.Heavy += t.Heavy
	r.sum.Good += t.Good
	r.sum.Bad += t.Bad
	r.sum.Heavy += t.Heavy
}

// Sum is what the window holds at now.
func (r *Rate) Sum(now time.Duration) Tally {
	if now >= r.end {
		r.turn(now)
	}
	return r.sum
}

// Reset forgets everything.
func (r *Rate) Reset() { *r = Rate{width: r.width} }

// turn moves the newest bucket to now and drops what fell out of the window.
func (r *Rate) turn(now time.Duration) {
	steps := int64((now-r.end)/r.width) + 1
	r.end += time.Duration(steps) * r.width
	if steps >= slots {
		r.sum, r.ring, r.head = Tally{}, [slots]Tally{}, 0
		return
	}
	for ; steps > 0; steps-- {
		r.head = (r.head + 1) % slots
		old := r.ring[r.head]
		r.sum.Good -= old.Good
		r.sum.Bad -= old.Bad
		r.sum.Heavy -= old.Heavy
		r.ring[r.head] = Tally{}
	}
}
