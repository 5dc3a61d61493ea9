package sim

import (
	"slices"
	"testing"
	"time"
)

// Lines, wheel and heap are there for speed: what comes out is the order of the
// times, and at one instant the order of the plans.
func TestEventsComeInTheOrderOfTheirTimesAndPlans(t *testing.T) {
	spans := map[string]time.Duration{
		"all at one instant":    0,
		"within a slot":         100,
		"within seconds":        5 * time.Second,
		"beyond the wheel":      time.Minute,
		"minutes apart":         time.Hour,
		"farther than any call": 1000 * time.Hour,
	}
	for name, span := range spans {
		t.Run(name, func(t *testing.T) {
			q, d, now := &queue{}, roll(1, uint64(span)), int64(0)
			var planned, came []event
			plan := func() {
				e := event{at: now + int64(d.between(0, span)), kind: kind(d.next() % uint64(onProbe+1)), n: int32(len(planned))}
				if d.next()%8 == 0 {
					e.at = now
				}
				q.push(e)
				e.seq = uint64(len(planned) + 1)
				planned = append(planned, e)
			}
			for len(planned) < 5000 {
				for range d.next() % 5 {
					plan()
				}
				if e, ok := q.next(); ok {
					now = e.at
					came = append(came, e)
				}
			}
			for e, ok := q.next(); ok; e, ok = q.next() {
				came = append(came, e)
			}
			slices.SortFunc(planned, func(a, b event) int {
				if a.before(&b) {
					return -1
				}
				return 1
			})
			if !slices.Equal(came, planned) {
				t.Fatal("not in order")
			}
		})
	}
}

// What a run keeps follows the calls under way, not the virtual time.
func TestALongRunKeepsNoMoreThanAShortOne(t *testing.T) {
	plan := Pair()
	plan.Upstreams[0].Limits.Rate = 20 // of 50: the traffic is never back
	s := outage("500")
	s.Duration = 2 * time.Hour
	w, err := newWorld(plan, s)
	if err != nil {
		t.Fatal(err)
	}
	w.checker = newChecker()
	if _, err := w.play(); err != nil {
		t.Fatal(err)
	}
	kept := map[string]int{
		"runs": len(w.stock.runs), "plays": len(w.stock.plays), "nodes": len(w.q.wheel.nodes), "heap": cap(w.q.heap),
	}
	for i := range w.q.lines {
		kept["line"] = max(kept["line"], cap(w.q.lines[i].list))
	}
	for _, g := range w.checker.scopes {
		kept["proof"] = max(kept["proof"], cap(g.proof))
	}
	if e := w.tally.current(); e.backAt != 0 || w.tally.calls-e.gone > 60_000 {
		t.Errorf("of %d calls, %d were let go of before the traffic was back", w.tally.calls, e.gone)
	}
	for what, n := range kept {
		if n > 3*mostLate {
			t.Errorf("%d %s are kept after %d calls", n, what, w.calls)
		}
	}
}
