package breaker

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// The lock-free methods must look as if each happened at one instant between
// its call and its return: for every recorded history of goroutines that use
// one breaker there must be an order of its operations, true to what followed
// what, in which the world of the explorer says the same (Wing and Gong,
// "Testing and Verifying Concurrent Objects", 1993).

// op is one operation of a history.
type op struct {
	mv         move
	now        time.Duration
	start, end int64 // of the history's own clock
	got        got
}

const (
	linearSpan  = 12 // operations of a history at most
	linearHands = 4  // goroutines
)

// tape is a history: what goroutines do to a breaker that has been through pre.
type tape struct {
	cfg   Config
	pre   []timedMove
	hands [][]timedMove
	ops   []op
	moves []Transition
	last  machine
}

type timedMove struct {
	move
	now time.Duration
}

// hand is one user of the breaker with the tickets that it has.
type hand struct {
	b     *Breaker
	seats [seatCount]Ticket
}

// do is world.do on the breaker itself.
func (h *hand) do(m timedMove) got {
	b, now := h.b, h.b.epoch.Add(m.now)
	given := func(t Ticket, ok bool) got {
		if !ok {
			return got{}
		}
		h.seats[m.seat] = t
		return got{yes: true, gen: t.gen(), probe: t.probe()}
	}
	switch m.kind {
	case mvAllow:
		return given(b.Allow(now, m.sight, m.hash))
	case mvClaim:
		return given(b.Claim(now, m.sight, m.hash))
	case mvProgress:
		b.Progress(now, h.seats[m.seat])
	case mvSuspect:
		return got{yes: b.Suspect(now, h.seats[m.seat])}
	case mvDone:
		b.Done(now, h.seats[m.seat], m.result, m.overload)
	case mvDue:
		t, ok, next := b.Due(now)
		g := given(t, ok)
		if !next.IsZero() {
			g.next = next.Sub(b.epoch)
		}
		return g
	case mvForce:
		b.Force(now, m.state, m.span)
	case mvPause:
		b.Pause(now)
	}
	return got{}
}

// play records the history.
func (h *tape) play(epoch time.Time) {
	var told sync.Mutex
	cfg := h.cfg
	cfg.Notify = func(t Transition) { told.Lock(); h.moves = append(h.moves, t); told.Unlock() }
	b := New(cfg, epoch, 9)
	first := &hand{b: b}
	for _, m := range h.pre {
		first.do(m)
	}
	var clock, met atomic.Int64
	var wait sync.WaitGroup
	each := make([][]op, len(h.hands))
	for i, list := range h.hands {
		wait.Go(func() {
			me := &hand{b: b, seats: first.seats}
			each[i] = make([]op, 0, len(list))
			for n, m := range list {
				met.Add(1)
				for met.Load() < int64((n+1)*len(h.hands)) { // side by side, again and again
					runtime.Gosched()
				}
				o := op{mv: m.move, now: m.now, start: clock.Add(1)}
				o.got = me.do(m)
				o.end = clock.Add(1)
				each[i] = append(each[i], o)
			}
		})
	}
	wait.Wait()
	h.ops = slices.Concat(each...)
	h.last = b.m
}

// linear looks for an order of the operations that explains the history.
func (h *tape) linear() bool {
	w := world{m: newMachine(h.cfg, 9)}
	for _, m := range h.pre {
		w.now = m.now
		w.do(m.move)
	}
	return h.extend(&w, 0)
}

// extend tries every operation that began before all that are left have ended.
func (h *tape) extend(w *world, done uint) bool {
	first := int64(1 << 62)
	for i, o := range h.ops {
		if done>>i&1 == 0 {
			first = min(first, o.end)
		}
	}
	if done == 1<<len(h.ops)-1 {
		return same(&w.m, &h.last) && w.m.hang.age() == h.last.hang.age() && w.m.hang.youngest == h.last.hang.youngest
	}
	for i, o := range h.ops {
		if done>>i&1 == 1 || o.start > first {
			continue
		}
		next := *w
		next.now = o.now
		g := next.do(o.mv)
		if g.yes == o.got.yes && g.gen&genMask == o.got.gen && g.probe == o.got.probe && g.next == o.got.next && h.extend(&next, done|1<<i) {
			return true
		}
	}
	return false
}

func (h *tape) String() string {
	var b strings.Builder
	for _, m := range h.pre {
		fmt.Fprintf(&b, "  before %12s %s\n", m.now, m.move)
	}
	for _, o := range h.ops {
		fmt.Fprintf(&b, "  %3d-%-3d %12s %-28s yes %v gen %d probe %d next %s\n", o.start, o.end, o.now, o.mv, o.got.yes, o.got.gen, o.got.probe, o.got.next)
	}
	fmt.Fprintf(&b, "  then %s gen %d %+v\n", h.last.mode, h.last.gen, h.last.trial)
	return b.String()
}

// draw makes a history of a few hands that begin where something is about to
// happen.
func draw(seed uint64) *tape {
	r := rand.New(rand.NewPCG(seed, 11))
	h := &tape{cfg: small}
	h.cfg.Live = r.IntN(5) == 0
	now := time.Second
	before := func(kind moveKind, result Result, seat int) {
		h.pre = append(h.pre, timedMove{move{kind: kind, seat: seat, result: result}, now})
	}
	fail := func() { before(mvAllow, 0, 0); before(mvDone, Failure, 0) }
	switch r.IntN(4) {
	case 0:
		fail() // one short of opening
	case 1:
		fail()
		fail() // open, and a probe is due
		now += 16 * time.Second
	case 2:
		fail()
		fail()
		now += 2 * time.Second
		before(mvDue, 0, probeSeat)
		before(mvDone, Success, probeSeat) // half-open, unless callers probe
		now += 10 * time.Millisecond
	}
	hands := 2 + r.IntN(linearHands-1)
	for i := range hands {
		h.hands = append(h.hands, h.hand(r, i, linearSpan/hands, now))
	}
	return h
}

// hand makes the operations of one goroutine; each has a seat of its own, so
// that the world tells their tickets apart.
func (h *tape) hand(r *rand.Rand, i, n int, now time.Duration) (list []timedMove) {
	prober := i == 0 && r.IntN(2) == 0
	out := false
	for range n {
		now += time.Duration(r.IntN(3)) * 300 * time.Millisecond
		mv := move{seat: i}
		switch {
		case prober:
			mv.seat = probeSeat
			if mv.kind = mvDue; out {
				mv.kind, mv.result = mvDone, Result(r.IntN(5))
			}
			out = !out
		case !out:
			mv.kind, out = mvAllow, true
			if r.IntN(6) == 0 {
				mv.kind = mvClaim
			}
			mv.sight = Sight(r.IntN(5) / 4)
		default:
			switch r.IntN(8) {
			case 0, 1:
				mv.kind = mvProgress
			case 2:
				mv.kind = mvSuspect
			case 3:
				mv.kind = mvPause
				if r.IntN(2) == 0 {
					mv.kind, mv.state = mvForce, []State{ForcedOpen, ForcedClosed, Closed}[r.IntN(3)]
				}
			default:
				mv.kind, mv.result = mvDone, Result(r.IntN(5))
				if r.IntN(3) > 0 {
					mv.result = Result(r.IntN(2))
				}
				out = r.IntN(6) == 0 // else it is not known to be over, and ends twice
			}
		}
		list = append(list, timedMove{mv, now})
	}
	return list
}

func TestConcurrentHistoriesAreLinear(t *testing.T) {
	seeds := 1000
	if proof() {
		seeds = 50_000
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0))))
	overlaps, moved := 0, 0
	for seed := range uint64(seeds) {
		h := draw(seed)
		h.play(time.Unix(1_700_000_000, 0))
		if !h.linear() {
			t.Fatalf("seed %d: no order of these operations explains what they returned\n%s", seed, h)
		}
		for _, a := range h.ops {
			for _, b := range h.ops {
				if a.start < b.start && b.start < a.end {
					overlaps++
				}
			}
		}
		moved += len(h.moves)
		gens := map[uint32]bool{}
		for _, m := range h.moves {
			if gens[m.Gen] {
				t.Fatalf("seed %d: two changes of generation %d", seed, m.Gen)
			}
			gens[m.Gen] = true
		}
	}
	t.Logf("%d histories, %d pairs of operations at the same time, %d changes of state", seeds, overlaps, moved)
	if moved == 0 {
		t.Error("nothing ever changed its state")
	}
}
