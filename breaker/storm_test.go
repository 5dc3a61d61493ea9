package breaker

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

const tick = 20 * time.Millisecond // one call each: 50 a second

// fate of one call: the time to its first token, or to its failure; a token
// that takes longer than the limit never comes.
type fate struct {
	after  time.Duration
	failed bool
}

const hang = time.Hour

type waiter struct {
	ticket Ticket
	at     time.Time
	end    int
	fate   fate
	asked  bool
	over   bool
}

// storm drives a breaker the way the engine does, tick by tick.
type storm struct {
	s       *stand
	draw    func(since time.Duration) fate
	waiting []*waiter
	ends    map[int][]*waiter
	n       int
	began   time.Time
	probe   *waiter
	lost    int           // calls that waited the whole limit
	longest time.Duration // wait of a call that moved over
}

func raise(t *testing.T, cfg Config, draw func(time.Duration) fate) *storm {
	s := stage(t, cfg)
	return &storm{s: s, draw: draw, ends: map[int][]*waiter{}, began: s.now}
}

func (w *storm) run(d time.Duration) {
	for range d / tick {
		w.background()
		w.finish()
		w.suspect()
		w.arrive()
		w.n++
		w.s.pass(tick)
	}
}

func (w *storm) start(tk Ticket) *waiter {
	f := w.draw(w.s.now.Sub(w.began))
	if f.after > card.FirstToken {
		f = fate{card.FirstToken, true}
	}
	c := &waiter{ticket: tk, at: w.s.now, fate: f, end: w.n + int(math.Ceil(float64(f.after)/float64(tick)))}
	w.ends[c.end] = append(w.ends[c.end], c)
	return c
}

func (w *storm) arrive() {
	w.s.hash += golden
	if tk, ok := w.s.Allow(w.s.now, Watched, w.s.hash); ok {
		w.waiting = append(w.waiting, w.start(tk))
	}
}

func (w *storm) background() {
	if tk, due, _ := w.s.Due(w.s.now); due {
		w.probe = w.start(tk)
	}
}

func (w *storm) finish() {
	for _, c := range w.ends[w.n] {
		if c.over {
			continue
		}
		c.over = true
		r := Success
		if c.fate.failed {
			r = Failure
			if c.fate.after == card.FirstToken {
				w.lost++
			}
		} else {
			w.s.Progress(w.s.now, c.ticket)
		}
		if c == w.probe {
			w.s.Probed(w.s.now, c.ticket, r)
		} else {
			w.s.Done(w.s.now, c.ticket, r, false)
		}
	}
	delete(w.ends, w.n)
}

func (w *storm) suspect() {
	age := w.s.Suspicion()
	open := w.s.Info(w.s.now).State != Closed
	kept := w.waiting[:0]
	for _, c := range w.waiting {
		if age > 0 && !c.over && w.s.now.Sub(c.at) >= age && (!c.asked || open) {
			c.asked = true
			if w.s.Suspect(w.s.now, c.ticket) {
				c.over = true
				w.longest = max(w.longest, w.s.now.Sub(c.at))
				w.s.Done(w.s.now, c.ticket, Moved, false)
			}
		}
		if !c.over {
			kept = append(kept, c)
		}
	}
	w.waiting = kept
}

func (w *storm) opened() (n int) {
	for _, m := range w.s.moves {
		if m.From == Closed {
			n++
		}
	}
	return n
}

// tokens are lognormal with a median of 0.6 s and a p95 of 1.5 s.
func tokens(r *rand.Rand) time.Duration {
	return time.Duration(0.6e9 * math.Exp(r.NormFloat64()*math.Log(2.5)/1.645))
}

func TestSteadySlowFirstTokensOpenItAtMostOnceAnHour(t *testing.T) {
	for _, x := range []time.Duration{2500, 3000, 4200} {
		w := raise(t, card, func(time.Duration) fate { return fate{after: x * time.Millisecond} })
		w.run(time.Hour)
		if n := w.opened(); n > 1 {
			t.Errorf("first tokens of %d ms: opened %d times: %v", x, n, w.s.moves)
		}
		w.s.is(Closed)
	}
}

func TestOrdinaryErrorsDoNotOpenIt(t *testing.T) {
	for _, c := range []struct {
		p    float64
		span time.Duration
	}{{0.01, 2 * time.Hour}, {0.03, 30 * time.Minute}, {0.05, 30 * time.Minute}} {
		r := rand.New(rand.NewPCG(1, uint64(c.p*1000)))
		w := raise(t, card, func(time.Duration) fate {
			if r.Float64() < c.p {
				return fate{after: tick, failed: true}
			}
			return fate{after: tokens(r)}
		})
		w.run(c.span)
		if n := w.opened(); n > 0 {
			t.Errorf("%.0f %% errors opened it %d times in %v", 100*c.p, n, c.span)
		}
	}
}

func TestInstantErrorsOpenItAfterFiveCalls(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	w := raise(t, card, func(d time.Duration) fate {
		if d >= time.Minute {
			return fate{after: tick, failed: true}
		}
		return fate{after: tokens(r)}
	})
	w.run(61 * time.Second)
	if w.opened() != 1 {
		t.Fatalf("changes %v", w.s.moves)
	}
	w.s.cause("run")
	if d := w.s.moves[0].Time.Sub(w.began) - time.Minute; d > 6*tick {
		t.Fatalf("seen after %v", d)
	}
}

func TestATotalHangFromAColdStartIsSeenWithinTheAgeAndFiveCalls(t *testing.T) {
	w := raise(t, card, func(time.Duration) fate { return fate{after: hang} })
	w.run(10 * time.Second)
	if len(w.s.moves) != 1 {
		t.Fatalf("changes %v", w.s.moves)
	}
	w.s.cause("hang")
	if d := w.s.moves[0].Time.Sub(w.began); d < half || d > half+5*tick {
		t.Fatalf("seen after %v", d)
	}
	if w.lost > 0 || w.longest > half+6*tick {
		t.Fatalf("%d calls waited to the limit, the longest move took %v", w.lost, w.longest)
	}
}

func TestAHangOfAKnownUpstreamIsSeenAndItsEndToo(t *testing.T) {
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 7))
		const from, to = 10 * time.Minute, 15 * time.Minute
		w := raise(t, card, func(d time.Duration) fate {
			if d >= from && d < to {
				return fate{after: hang}
			}
			return fate{after: tokens(r)}
		})
		w.run(from)
		if n := w.opened(); n != 0 {
			t.Fatalf("seed %d: opened before the hang: %v", seed, w.s.moves)
		}
		age := w.s.Suspicion()
		w.run(to - from)
		seen := w.s.moves[0].Time.Sub(w.began) - from
		if seen > age+10*tick {
			t.Errorf("seed %d: seen after %v at an age of %v", seed, seen, age)
		}
		w.run(25 * time.Second)
		w.s.is(Closed)
		before := w.opened()
		w.run(20 * time.Minute)
		if w.opened() != before {
			t.Errorf("seed %d: opened again: %v", seed, w.s.moves)
		}
	}
}
