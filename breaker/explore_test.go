package breaker

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"
)

// The explorer plays every order of a few moves on the real step function and
// checks each edge (explore_rules_test.go), breadth first, so that what it
// finds is as short as can be. Jitter is no chance here: each setting is
// explored with the shortest and with the longest waits.
//
// BACKSTOP_PROOF=1 explores to a depth that takes minutes.

func proof() bool { return os.Getenv("BACKSTOP_PROOF") != "" }

// alphabet is every move of a setting; can says which of them mean something.
func alphabet(cfg Config, callers int) (all []move) {
	all = append(all, move{kind: mvTick, tick: tickBeat}, move{kind: mvTick, tick: tickShy}, move{kind: mvTick, tick: tickNext}, move{kind: mvTick, tick: tickAged})
	for i := range callers {
		all = append(all, move{kind: mvAllow, seat: i}, move{kind: mvProgress, seat: i})
		if cfg.Hang && !cfg.Literal {
			all = append(all, move{kind: mvSuspect, seat: i})
		}
		for r := Success; r <= Void; r++ {
			all = append(all, move{kind: mvDone, seat: i, result: r})
		}
	}
	all = append(all, move{kind: mvAllow, seat: 0, sight: Blind, hash: 1<<64 - 1}, move{kind: mvClaim, seat: 0},
		move{kind: mvDone, seat: 0, result: Failure, overload: true}, move{kind: mvPause},
		move{kind: mvForce, state: ForcedOpen}, move{kind: mvForce, state: ForcedClosed, span: 3 * time.Second}, move{kind: mvForce, state: Closed},
		move{kind: mvRestore, state: Open, span: time.Second, seat: 2})
	if !cfg.Live && !cfg.Literal {
		all = append(all, move{kind: mvDue}, move{kind: mvProgress, seat: probeSeat})
		for r := Success; r <= Void; r++ {
			all = append(all, move{kind: mvDone, seat: probeSeat, result: r})
		}
	}
	return all
}

// alike is true if an earlier free seat makes the same world.
func (w *world) alike(mv move) bool {
	if mv.kind != mvAllow {
		return false
	}
	for i := range mv.seat {
		if !w.seats[i].live {
			return true
		}
	}
	return false
}

// place is a state that was reached, as the way to it.
type place struct {
	parent int32
	mv     uint8
}

type search struct {
	t     *testing.T
	name  string
	root  world
	moves []move
	seen  map[uint64]struct{}
	all   []place
	edges int
	deep  int
	marks map[string]int // transitions by cause, so that nothing passes unplayed
}

// explore looks at up to most states.
func explore(t *testing.T, name string, root world, moves []move, most int) *search {
	s := &search{t: t, name: name, root: root, moves: moves, seen: map[uint64]struct{}{}, marks: map[string]int{}}
	s.add(-1, 0, &root)
	var at, to world
	depth := []int32{0}
	for i := 0; i < len(s.all) && len(s.all) < most; i++ {
		s.reach(int32(i), &at)
		s.deep = int(depth[i])
		for j, mv := range moves {
			if !at.can(mv) || at.alike(mv) {
				continue
			}
			e := along(&at, mv, &to)
			s.edges++
			if what := e.broken(); what != "" {
				t.Errorf("%s: %s\n%s", name, what, s.story(int32(i), mv))
				return s
			}
			for _, c := range e.got.v.changes[:e.got.v.n] {
				s.marks[c.to.String()+" "+c.cause]++
			}
			if s.add(int32(i), uint8(j), &to) {
				depth = append(depth, depth[i]+1)
				if what := heals(&to); what != "" {
					t.Errorf("%s: %s\n%s", name, what, s.story(int32(i), mv))
					return s
				}
			}
		}
	}
	return s
}

func (s *search) add(parent int32, mv uint8, w *world) bool {
	k := w.key()
	if _, there := s.seen[k]; there {
		return false
	}
	s.seen[k] = struct{}{}
	s.all = append(s.all, place{parent, mv})
	return true
}

// way lists the moves to a place.
func (s *search) way(i int32) (moves []move) {
	for ; s.all[i].parent >= 0; i = s.all[i].parent {
		moves = append(moves, s.moves[s.all[i].mv])
	}
	for a, b := 0, len(moves)-1; a < b; a, b = a+1, b-1 {
		moves[a], moves[b] = moves[b], moves[a]
	}
	return moves
}

// reach walks to a place again: that is cheaper than keeping 9 KiB of it.
func (s *search) reach(i int32, w *world) {
	*w = s.root
	for _, mv := range s.way(i) {
		w.do(mv)
	}
}

func (s *search) story(i int32, last move) string { return tell(s.root, append(s.way(i), last)) }

func tell(w world, moves []move) string {
	var b strings.Builder
	for i, mv := range moves {
		at := w.now
		g := w.do(mv)
		if len(moves)-i > 40 {
			continue
		}
		fmt.Fprintf(&b, "  %12s %-34s -> %-13s gen %d yes %v probe %d next %s\n", at, mv, w.m.mode, w.m.gen, g.yes, g.probe, g.next)
	}
	return b.String()
}

// setting is a configuration and a state to begin with.
type setting struct {
	name    string
	cfg     Config
	callers int
	root    func(w *world)
}

var small = Config{Failures: 2, Window: 4 * time.Second, Reset: 12 * time.Second, Hang: true, FirstToken: 900 * time.Millisecond}

func settings() []setting {
	live, literal, five, slow := small, small, card, small
	live.Live = true
	literal.Literal, literal.Hang = true, false
	slow.Slow, slow.Hang = true, false
	return []setting{
		{"fresh", small, 3, nil},
		{"open", small, 2, func(w *world) { w.trip(2) }},
		{"half-open", small, 2, func(w *world) { w.trip(2); w.background() }},
		{"known", small, 3, func(w *world) { w.healthy(30) }},
		{"known and open", small, 2, func(w *world) { w.healthy(30); w.trip(2) }},
		{"flapping", small, 2, func(w *world) {
			for range flapLimit {
				w.trip(2)
				w.background()
				w.caller()
			}
		}},
		{"after an overload", small, 2, func(w *world) { w.overload(); w.background() }},
		{"forced", small, 2, func(w *world) { w.do(move{kind: mvForce, state: ForcedOpen, span: 5 * time.Second}) }},
		{"live", live, 3, nil},
		{"live and open", live, 3, func(w *world) { w.trip(2) }},
		{"literal", literal, 3, nil},
		{"literal and open", literal, 3, func(w *world) { w.trip(2) }},
		{"the card, one short", five, 3, func(w *world) { w.healthy(40); w.trip(4) }},
		{"slow, one short", slow, 3, func(w *world) { w.trip(9) }},
	}
}

func (c *setting) world(t *testing.T, rng uint64) world {
	w := world{m: newMachine(c.cfg, 1), now: 20 * time.Minute, rng: rng}
	if c.root != nil {
		c.root(&w)
	}
	for i := range w.seats {
		if w.seats[i].live {
			t.Fatalf("%s: the state to begin with has running tickets", c.name)
		}
	}
	return w
}

// trip lets n calls fail.
func (w *world) trip(n int) {
	for range n {
		w.now += 10 * time.Millisecond
		w.do(move{kind: mvAllow})
		w.do(move{kind: mvDone, result: Failure})
	}
}

// healthy lets n calls be answered after 200 ms.
func (w *world) healthy(n int) {
	for range n {
		w.do(move{kind: mvAllow})
		w.now += 200 * time.Millisecond
		w.do(move{kind: mvProgress})
		w.do(move{kind: mvDone})
	}
}

// background lets the next background probe succeed.
func (w *world) background() {
	w.now = w.m.trial.due
	w.do(move{kind: mvDue})
	w.do(move{kind: mvDone, seat: probeSeat})
}

// caller lets one be the probe that closes it.
func (w *world) caller() {
	w.do(move{kind: mvAllow})
	w.do(move{kind: mvProgress})
	w.do(move{kind: mvDone})
}

// overload trips it under load, so that a ramp follows.
func (w *world) overload() {
	for range 60 {
		w.now += 5 * time.Millisecond
		w.do(move{kind: mvAllow})
		w.do(move{kind: mvDone})
	}
	for w.m.mode == Closed {
		w.do(move{kind: mvAllow})
		w.do(move{kind: mvDone, result: Failure, overload: true})
	}
}

// extremes are seeds whose first draw is nearly the least and the greatest.
func extremes() (low, high uint64) {
	var m machine
	for seed := uint64(1); low == 0 || high == 0; seed++ {
		m.rng = seed
		switch u := m.random(1e6, 0, 1); {
		case u < 1000:
			low = seed
		case u > 999000:
			high = seed
		}
	}
	return low, high
}

func TestEveryOrderOfAFewMovesKeepsTheInvariants(t *testing.T) {
	most := 1000
	if proof() {
		most = 120_000
	}
	low, high := extremes()
	states, edges, marks := 0, 0, map[string]int{}
	for _, c := range settings() {
		for name, rng := range map[string]uint64{"short": low, "long": high} {
			s := explore(t, c.name+", "+name+" waits", c.world(t, rng), alphabet(c.cfg, c.callers), most)
			if t.Failed() {
				return
			}
			states, edges = states+len(s.all), edges+s.edges
			for k, n := range s.marks {
				marks[k] += n
			}
			if proof() {
				t.Logf("%-34s %8d states, %9d edges, depth %d", s.name, len(s.all), s.edges, s.deep)
			}
		}
	}
	t.Logf("%d states, %d edges; %v", states, edges, marks)
	for _, k := range []string{"open run", "open hang", "open rate", "open probe", "open lease", "open restored", "half-open probe", "closed probe", "closed forced", "forced-open forced", "forced-closed forced"} {
		if marks[k] == 0 {
			t.Errorf("the exploration never saw %q", k)
		}
	}
}

// Random walks go where breadth cannot: hundreds of moves deep.
func TestLongRandomWalksKeepTheInvariants(t *testing.T) {
	walks, length := 6, 400
	if proof() {
		walks, length = 600, 3000
	}
	steps := 0
	for _, c := range settings() {
		moves := append(alphabet(c.cfg, callerSeats), move{kind: mvTick, tick: tickYears})
		for i := range walks {
			r := rand.New(rand.NewPCG(uint64(i), 5))
			w, to, way := c.world(t, 0), world{}, []move(nil)
			for range length {
				mv := moves[r.IntN(len(moves))]
				if mv.kind == mvForce && r.IntN(8) > 0 || !w.can(mv) {
					continue
				}
				e := along(&w, mv, &to)
				way = append(way, mv)
				steps++
				what := e.broken()
				if what == "" && steps%16 == 0 {
					what = heals(&to)
				}
				if what != "" {
					t.Errorf("%s, walk %d: %s\n%s", c.name, i, what, tell(c.world(t, 0), way))
					break
				}
				w = to
			}
			if t.Failed() {
				return
			}
		}
	}
	t.Logf("%d moves", steps)
}
