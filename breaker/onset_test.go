package breaker

import (
	"math/rand/v2"
	"testing"
	"time"
)

// A part of the calls failing at once, from one moment on, is no outage: the
// others are answered, only later. Counted before any of them could be, the
// failures look like a run.
func TestASuddenShareOfInstantErrorsDoesNotOpenIt(t *testing.T) {
	for _, c := range []struct {
		p    float64
		most int // of 200
	}{{0.05, 0}, {0.1, 0}, {0.25, 2}} {
		opened := 0
		for seed := range uint64(200) {
			r := rand.New(rand.NewPCG(seed, 11))
			w := raise(t, card, func(d time.Duration) fate {
				if d >= 20*time.Second && r.Float64() < c.p {
					return fate{after: 2 * tick, failed: true}
				}
				return fate{after: tokens(r)}
			})
			w.run(60 * time.Second)
			if w.opened() > 0 {
				opened++
			}
		}
		if opened > c.most {
			t.Errorf("%.0f %% errors opened it in %d of 200 onsets, at most %d", 100*c.p, opened, c.most)
		}
	}
}

// Failures that take longer than first tokens do are believed after a few, as
// no call that would have been answered is undecided any more.
func TestSlowFailuresOfEveryCallAreSeenSoon(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	w := raise(t, card, func(d time.Duration) fate {
		if d >= time.Minute {
			return fate{after: 2 * time.Second, failed: true}
		}
		return fate{after: tokens(r)}
	})
	w.run(64 * time.Second)
	if w.opened() != 1 {
		t.Fatalf("changes %v", w.s.moves)
	}
	if d := w.s.moves[0].Time.Sub(w.began) - time.Minute; d > 2500*time.Millisecond {
		t.Fatalf("seen after %v", d)
	}
}

// After a close the books are empty. Errors come at once and answers take
// seconds, so the first outcomes are mostly errors, whatever their share is.
func TestTheRateRuleWaitsForTheAnswersThatAreUnderWay(t *testing.T) {
	s := stage(t, card)
	r := rand.New(rand.NewPCG(2, 2))
	// The upstream makes 30 % errors by habit, so a run needs to be long.
	for range 400 {
		s.call(time.Millisecond, map[bool]Result{true: Failure, false: Success}[r.Float64() < 0.3])
	}
	s.trip()
	s.Probed(s.now, s.probe(), Success)
	live := s.admit()
	s.Progress(s.now, live)
	s.is(Closed)
	type answer struct {
		ticket Ticket
		token  time.Time
		end    time.Time
	}
	var running []answer
	for range 20 * 30 { // 20 a second
		s.pass(50 * time.Millisecond)
		kept := running[:0]
		for _, a := range running {
			if !s.now.Before(a.token) {
				s.Progress(s.now, a.ticket)
			}
			if !s.now.Before(a.end) {
				s.Done(s.now, a.ticket, Success, false)
				continue
			}
			kept = append(kept, a)
		}
		running = kept
		tk := s.admit()
		if r.Float64() < 0.3 {
			s.Done(s.now, tk, Failure, false)
			continue
		}
		running = append(running, answer{tk, s.now.Add(600 * time.Millisecond), s.now.Add(4 * time.Second)})
	}
	s.is(Closed)
}
