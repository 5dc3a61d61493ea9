package sim

import (
	"testing"
	"time"
)

// J8: a process that stands still for any time blames no upstream, whatever
// was under way.
func TestAProcessThatStandsStillOpensNothing(t *testing.T) {
	for _, long := range []time.Duration{time.Second, 4 * time.Second, 30 * time.Second, 10 * time.Minute} {
		for seed := range uint64(3) {
			s := outage("hang")
			s.Faults, s.Seed, s.Duration, s.Arrivals.Timeout = nil, seed+1, 5*time.Minute, 0
			w, err := newWorld(Pair(), s)
			if err != nil {
				t.Fatal(err)
			}
			w.checker = newChecker()
			w.pauseTimes(20, long)
			r, err := w.play()
			if err != nil {
				t.Fatal(err)
			}
			if r.Answered != r.Calls || len(r.Transitions) > 0 || r.Degraded > 0 {
				t.Errorf("pauses of %s: %d of %d answered, %d by the local tier, transitions %v", long, r.Answered, r.Calls, r.Degraded, r.Transitions)
			}
		}
	}
}

// And one that stands still in an outage still finds out about it.
func TestPausesDoNotHideAHang(t *testing.T) {
	s := outage("hang")
	w, err := newWorld(Pair(), s)
	if err != nil {
		t.Fatal(err)
	}
	w.pauseTimes(40, 2*time.Second)
	r, err := w.play()
	if err != nil {
		t.Fatal(err)
	}
	if r.Answered != r.Calls || r.Detect == nil || *r.Detect > 6*decimal {
		t.Errorf("%d of %d answered, detected after %v", r.Answered, r.Calls, r.Detect)
	}
}
