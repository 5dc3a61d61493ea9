package breaker

import (
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"backstop/window"
)

// digest mixes what tells two worlds apart into 64 bits. Times enter as
// distances from now and generations as "present or past", so that worlds
// that will behave alike are one. What windows will still drop is told by how
// they look a quarter, a half and three quarters of a window later.
type digest uint64

func (d *digest) num(x uint64) {
	z := uint64(*d) ^ x
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	*d = digest(z ^ z>>31 + golden)
}

func (d *digest) bit(b bool) {
	if b {
		d.num(1)
	} else {
		d.num(2)
	}
}

const longAgo = 11 * time.Minute // nothing in a breaker looks further back

// rel enters a time; longer ago than matters is one class.
func (d *digest) rel(now, t time.Duration) {
	d.num(uint64(min(max(now-t, -longAgo), longAgo)))
}

func (w *world) key() uint64 {
	d := digest(1)
	m, now := &w.m, w.now
	d.num(uint64(m.mode))
	d.rel(now, m.since)
	d.rel(now, m.held)
	d.bit(m.held > 0)
	d.trip(&m.trip, now, m.cfg.Window)
	d.hang(&m.hang, now)
	d.trial(&m.trial, now)
	d.seats(w)
	for _, t := range w.failed[:w.nFailed] {
		d.rel(now, t)
	}
	return uint64(d)
}

func (d *digest) trip(v *evidence, now, span time.Duration) {
	for _, s := range []*streak{&v.early, &v.late} {
		d.num(uint64(s.n))
		for i := range s.n {
			f := s.ring[(s.head+i)%maxRun]
			d.rel(now, f.done)
			d.rel(now, f.at)
		}
	}
	d.num(v.past.lo)
	d.num(v.past.hi)
	d.num(uint64(v.past.n))
	d.num(math.Float64bits(v.past.long))
	d.num(math.Float64bits(v.past.seen))
	rate := v.rate
	for i := range time.Duration(4) {
		t := rate.Sum(now + i*span/4)
		d.num(uint64(t.Good))
		d.num(uint64(t.Bad))
		d.num(uint64(t.Heavy))
	}
}

func (d *digest) hang(h *suspicion, now time.Duration) {
	p95, n := h.samples.Value()
	d.num(uint64(p95))
	d.num(uint64(n))
	d.num(uint64(h.s))
	d.num(uint64(h.base))
	d.num(uint64(h.held))
	d.bit(h.frozen)
	d.bit(h.unsure)
	if h.held > 0 {
		d.rel(now, h.heldEnd)
	}
	d.rel(now, h.youngest)
	d.rel(now, h.voided)
	d.bit(h.moved.slow)
	for _, a := range h.moved.age[:h.moved.n] {
		d.num(uint64(a))
	}
	ats := slices.Clone(h.waiting.at[:h.waiting.n])
	slices.Sort(ats)
	d.num(uint64(len(ats)))
	for _, at := range ats {
		d.rel(now, at)
	}
}

func (d *digest) trial(t *trial, now time.Duration) {
	d.num(uint64(t.probe))
	for _, at := range []time.Duration{t.lease, t.due, t.live, t.slot, t.started, t.before, t.tripped} {
		d.rel(now, at)
	}
	d.num(uint64(t.nth)<<40 | uint64(t.neutral)<<32 | uint64(t.wins)<<8 | uint64(t.flaps))
	d.bit(t.recovered)
	d.bit(t.heavy)
	d.bit(t.ramp)
	d.bit(t.excused)
}

// seats enter in an order of their own: callers are alike.
func (d *digest) seats(w *world) {
	var keys [seatCount]uint64
	for i := range w.seats {
		p := &w.seats[i]
		if !p.live {
			continue
		}
		k := digest(7)
		k.rel(w.now, p.ticket.at)
		k.num(p.ticket.bits & 7)
		k.num(p.flags())
		k.bit(w.m.owns(p.ticket))
		keys[i] = uint64(k)
	}
	slices.Sort(keys[:])
	for _, k := range keys {
		d.num(k)
	}
}

// A field that the digest does not know would make different worlds one.
func TestTheDigestKnowsEveryField(t *testing.T) {
	for _, c := range []struct {
		of   any
		want int
	}{
		{machine{}, 10}, {evidence{}, 4}, {streak{}, 3}, {history{}, 5}, {suspicion{}, 14}, {trial{}, 16}, {Ticket{}, 3}, {window.Tally{}, 3},
	} {
		if n := reflect.TypeOf(c.of).NumField(); n != c.want {
			t.Errorf("%T has %d fields, the digest was written for %d: enter the new one in explore_key_test.go", c.of, n, c.want)
		}
	}
}
