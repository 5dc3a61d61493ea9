package breaker

import (
	"encoding/json"
	"testing"
	"time"
)

// wait is the time to the next background probe.
func (s *stand) wait() time.Duration {
	s.t.Helper()
	_, due, next := s.Due(s.now)
	if due || next.IsZero() {
		s.t.Fatalf("%s: due %v, next %v", s.at(), due, next)
	}
	return next.Sub(s.now)
}

func within(t *testing.T, got, want time.Duration) {
	t.Helper()
	if got < want*9/10 || got > want*11/10 {
		t.Fatalf("%v, want %v +- 10 %%", got, want)
	}
}

func TestBackgroundProbesStartAfterFiveTenAndThenFifteenSeconds(t *testing.T) {
	for _, reset := range []time.Duration{5 * time.Minute, time.Minute, 6 * time.Second} {
		cfg := card
		cfg.Reset = reset
		s := stage(t, cfg)
		s.trip()
		for _, sec := range []time.Duration{5, 10, 15, 15, 15} {
			within(t, s.wait(), sec*min(reset, time.Minute)/60)
			tk := s.probe()
			s.pass(10 * time.Millisecond)
			s.Progress(s.now, tk) // a token alone is no success of a background probe
			s.is(Open)
			s.refused()
			s.Probed(s.now, tk, Failure)
			s.refused()
		}
	}
}

func TestABackgroundProbeAloneNeverCloses(t *testing.T) {
	s := stage(t, card)
	s.trip()
	tk := s.probe()
	s.Progress(s.now, tk)
	s.Probed(s.now, tk, Success)
	s.is(HalfOpen)
	s.pass(time.Hour)
	if _, due, next := s.Due(s.now); due || !next.IsZero() {
		t.Fatal("another background probe although the next step is a live one")
	}
	s.is(HalfOpen)
	live := s.admit()
	if !live.Probe() {
		t.Fatal("the call after a good background probe is not a probe")
	}
	s.refused()
	s.Progress(s.now, live)
	s.is(Closed)
	s.cause("probe")
	s.Done(s.now, live, Failure, false)
	if s.Info(s.now).Run != 0 {
		t.Fatal("the probe's ticket counts in the generation that it opened")
	}
	s.admit()
}

func TestALiveProbeThatFailsOpensWithALongerWait(t *testing.T) {
	for name, end := range map[string]func(*stand, Ticket){
		"failed":  func(s *stand, tk Ticket) { s.Done(s.now, tk, Failure, false) },
		"expired": func(s *stand, tk Ticket) { s.pass(5500 * time.Millisecond); s.refused() },
	} {
		t.Run(name, func(t *testing.T) {
			s := stage(t, card)
			s.trip()
			s.Probed(s.now, s.probe(), Success)
			began := s.now
			live := s.admit()
			end(s, live)
			s.is(Open)
			within(t, s.now.Sub(began)+s.wait(), 10*time.Second) // from the start of the probe
			s.Progress(s.now, live)
			s.Done(s.now, live, Success, false)
			s.is(Open)
		})
	}
}

// One first token in fifty is late on a good day, and the background probe had
// its answer: only a second late one is a reason to wait longer.
func TestOneLiveProbeThatMovesOverIsExcused(t *testing.T) {
	s := stage(t, card)
	s.trip()
	for i, wait := range []time.Duration{5 * time.Second, 10 * time.Second, 15 * time.Second} {
		s.Probed(s.now, s.probe(), Success)
		began := s.now
		s.Done(s.now, s.admit(), Moved, false)
		s.is(Open)
		if got := s.now.Sub(began) + s.wait(); got < wait*9/10 || got > wait*11/10 {
			t.Errorf("after %d that moved over: %s, want %s +- 10 %%", i+1, got, wait)
		}
	}
}

func TestASuspectLiveProbeMovesOver(t *testing.T) {
	s := stage(t, card)
	s.trip()
	s.Probed(s.now, s.probe(), Success)
	live := s.admit()
	s.pass(half - time.Millisecond)
	if s.Suspect(s.now, live) {
		t.Fatal("moved before the age")
	}
	s.pass(time.Millisecond)
	if !s.Suspect(s.now, live) {
		t.Fatal("not moved at the age")
	}
}

func TestABlindLiveProbeIsDecidedByItsEnd(t *testing.T) {
	s := stage(t, card)
	s.trip()
	s.Probed(s.now, s.probe(), Success)
	live, ok := s.Allow(s.now, Blind, 0)
	if !ok {
		t.Fatal("refused")
	}
	s.pass(5 * time.Second)
	s.Progress(s.now, live) // renews the lease
	s.pass(5 * time.Second)
	s.is(HalfOpen)
	s.Done(s.now, live, Success, false)
	s.is(Closed)
}

func TestANeutralLiveProbeGivesTheSlotBackWithAGrowingDelay(t *testing.T) {
	s := stage(t, card)
	s.trip()
	s.Probed(s.now, s.probe(), Success)
	for _, ms := range []time.Duration{0, 100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000, 5000, 5000, 5000, 5000} {
		live := s.admit()
		s.Done(s.now, live, Neutral, false)
		s.is(HalfOpen)
		if ms > 0 {
			s.pass(ms*time.Millisecond - 1)
			s.refused()
			s.pass(1)
		}
	}
	s.Done(s.now, s.admit(), Success, false)
	s.is(Closed)
}

func TestAVoidLiveProbeGivesTheSlotBackAtOnce(t *testing.T) {
	s := stage(t, card)
	s.trip()
	s.Probed(s.now, s.probe(), Success)
	for range 20 {
		s.Done(s.now, s.admit(), Void, false)
	}
	s.is(HalfOpen)
	s.Progress(s.now, s.admit())
	s.is(Closed)
}

func TestANeutralBackgroundProbeIsRepeatedSoon(t *testing.T) {
	s := stage(t, card)
	s.trip()
	s.Probed(s.now, s.probe(), Neutral)
	if w := s.wait(); w != 100*time.Millisecond {
		t.Fatalf("after %v, want 100 ms", w)
	}
	s.Probed(s.now, s.probe(), Neutral)
	if w := s.wait(); w != 200*time.Millisecond {
		t.Fatalf("after %v, want 200 ms", w)
	}
}

// A call probes only when nobody can do it in the background for a whole reset.
func TestALiveCallProbesWhenTheBackgroundCannotForAWholeReset(t *testing.T) {
	for name, tick := range map[string]func(*stand){
		"nobody asks": func(*stand) {},
		"no probe could be made": func(s *stand) {
			if tk, due, _ := s.Due(s.now); due {
				s.Unprobed(s.now, tk)
			}
		},
		"probes say nothing": func(s *stand) {
			if tk, due, _ := s.Due(s.now); due {
				s.Probed(s.now, tk, Neutral)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := stage(t, card)
			s.trip()
			opened := s.now
			for s.now.Sub(opened) < time.Minute {
				s.refused()
				tick(s)
				s.pass(50 * time.Millisecond)
			}
			s.pass(50 * time.Millisecond)
			if tk := s.admit(); !tk.Probe() {
				t.Fatal("not a probe")
			}
			s.is(HalfOpen)
			s.refused()
		})
	}
}

func TestFailedBackgroundProbesKeepCallersAway(t *testing.T) {
	s := stage(t, card)
	s.trip()
	for range 3000 {
		s.refused()
		if tk, due, _ := s.Due(s.now); due {
			s.pass(time.Second)
			s.Probed(s.now, tk, Failure)
		}
		s.pass(200 * time.Millisecond)
	}
}

func TestLiveProbesWaitAWholeReset(t *testing.T) {
	for _, literal := range []bool{false, true} {
		cfg := card
		cfg.Live, cfg.Literal = !literal, literal
		s := stage(t, cfg)
		s.trip()
		for range 5 {
			if _, due, next := s.Due(s.now); due || !next.IsZero() {
				t.Fatal("a background probe where calls are the probes")
			}
			until := s.Until(s.now).Sub(s.now)
			if until > time.Minute || until < 54*time.Second || literal && until != time.Minute {
				t.Fatalf("literal %v: the next probe after %v", literal, until)
			}
			s.pass(until - time.Millisecond)
			s.refused()
			s.pass(time.Millisecond)
			tk := s.admit()
			s.refused()
			s.pass(time.Second)
			s.Done(s.now, tk, Failure, false)
			s.is(Open)
		}
		s.pass(time.Minute)
		s.Done(s.now, s.admit(), Success, false)
		s.is(Closed)
	}
}

func TestAHungProbeNeverWedges(t *testing.T) {
	for _, mode := range []string{"background", "live", "literal"} {
		cfg := card
		cfg.Live, cfg.Literal = mode == "live", mode == "literal"
		s := stage(t, cfg)
		s.trip()
		probes := 0
		var hung []Ticket
		for range 24 * 360 { // a day; every probe hangs, nobody ever ends one
			s.pass(10 * time.Second)
			if tk, due, _ := s.Due(s.now); due {
				hung, probes = append(hung, tk), probes+1
			}
			if tk, ok := s.Allow(s.now, Watched, 0); ok {
				hung, probes = append(hung, tk), probes+1
			}
		}
		if probes < 1200 {
			t.Fatalf("%s: %d probes in a day", mode, probes)
		}
		for _, tk := range hung[:len(hung)-1] {
			s.Progress(s.now, tk)
			s.Done(s.now, tk, Success, false)
		}
		if st := s.Info(s.now).State; st == Closed {
			t.Fatalf("%s: expired probes closed it", mode)
		}
		s.pass(6 * time.Second)
		for range 100 { // the upstream is back
			s.pass(time.Second)
			if tk, due, _ := s.Due(s.now); due {
				s.Probed(s.now, tk, Success)
			}
			if tk, ok := s.Allow(s.now, Watched, 0); ok {
				s.Progress(s.now, tk)
			}
		}
		s.is(Closed)
	}
}

func TestAnExpiredLeaseIsAFailureAndFreesTheSlot(t *testing.T) {
	for _, c := range []struct{ first, reset, lease time.Duration }{
		{4500 * time.Millisecond, time.Minute, 5500 * time.Millisecond},
		{4500 * time.Millisecond, 2 * time.Second, 2 * time.Second},
		{0, 30 * time.Second, 30 * time.Second},
	} {
		cfg := card
		cfg.FirstToken, cfg.Reset = c.first, c.reset
		s := stage(t, cfg)
		s.trip()
		tk := s.probe()
		_, _, next := s.Due(s.now)
		if next.Sub(s.now) != c.lease {
			t.Fatalf("lease %v, want %v", next.Sub(s.now), c.lease)
		}
		s.now = next
		if _, due, again := s.Due(s.now); due || !again.After(s.now) {
			t.Fatal("an expired lease must start a new wait")
		}
		s.Probed(s.now, tk, Success)
		s.is(Open)
	}
}

func TestWaitsShrinkAgainOnlyAfterHalfAMinuteAndTwentySuccesses(t *testing.T) {
	for _, c := range []struct {
		calls int
		each  time.Duration
		want  time.Duration
	}{
		{19, 2 * time.Second, 15 * time.Second},
		{30, 900 * time.Millisecond, 15 * time.Second},
		{20, 2 * time.Second, 5 * time.Second},
	} {
		s := stage(t, card)
		s.trip()
		s.Probed(s.now, s.probe(), Failure)
		s.heal()
		for range c.calls {
			s.call(c.each, Success)
		}
		s.trip()
		within(t, s.wait(), c.want)
	}
}

func TestThreeTripsSoonAfterACloseMakeEveryWaitAReset(t *testing.T) {
	s := stage(t, card)
	s.trip()
	for i := range 4 {
		if i == 3 {
			if w := s.wait(); w < 54*time.Second || w > time.Minute {
				t.Fatalf("wait %v after three flaps, want a reset", w)
			}
			s.pass(time.Second)
			s.refused()
		}
		s.heal()
		s.pass(time.Second)
		s.trip()
	}
	s.heal()
	for range 300 {
		s.call(2*time.Second, Success)
	}
	s.trip()
	within(t, s.wait(), 5*time.Second)
}

// overload opens it with overload answers at the given pace.
func (s *stand) overload(pace time.Duration) {
	for range 2000 {
		s.hash += golden
		tk, ok := s.Allow(s.now, Watched, s.hash)
		if !ok {
			break
		}
		s.pass(pace)
		s.Done(s.now, tk, Failure, true)
	}
	s.is(Open)
}

func TestARampFollowsATripForOverloadUnderLoad(t *testing.T) {
	for _, c := range []struct {
		name string
		busy time.Duration
		pace time.Duration
		mark bool
		want bool
	}{
		{"overload at 50 a second", 20 * time.Millisecond, 20 * time.Millisecond, true, true},
		{"overload at 5 a second", 200 * time.Millisecond, 200 * time.Millisecond, true, false},
		{"other failures at 50 a second", 20 * time.Millisecond, 20 * time.Millisecond, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := stage(t, card)
			for range 31 * int(time.Second/c.busy) {
				s.call(c.busy, Success)
			}
			if c.mark {
				s.overload(c.pace)
			} else {
				s.trip()
			}
			s.heal()
			for _, at := range []float64{0, 5, 10, 19.9, 20} {
				n := 0
				for range 2000 {
					s.hash += golden
					if tk, ok := s.Allow(s.now, Watched, s.hash); ok {
						n++
						s.Done(s.now, tk, Void, false)
					}
				}
				share, want := float64(n)/2000, min(1, 0.1+0.9*at/20)
				if !c.want {
					want = 1
				}
				if share < want-0.03 || share > want+0.03 {
					t.Errorf("%.1f s after the close %.2f of the calls are admitted, want %.2f", at, share, want)
				}
				s.pass(time.Duration((map[float64]float64{0: 5, 5: 5, 10: 9.9, 19.9: 0.1}[at]) * float64(time.Second)))
			}
		})
	}
}

func TestFailuresInARampOpenItAtTheConfiguredNumber(t *testing.T) {
	s := stage(t, card)
	for range 1000 {
		s.call(20*time.Millisecond, Success)
	}
	s.overload(20 * time.Millisecond)
	s.heal()
	if !s.Until(s.now).IsZero() || !s.Ready(s.now) {
		t.Fatal("a ramp is a closed state")
	}
	failed := 0
	for s.Info(s.now).State == Closed {
		s.hash += golden
		if tk, ok := s.Allow(s.now, Watched, s.hash); ok {
			s.Done(s.now, tk, Failure, true)
			failed++
		}
		s.pass(time.Millisecond)
	}
	if failed != 5 {
		t.Fatalf("open after %d failures in the ramp, want 5", failed)
	}
}

func TestForcedStatesHoldUntilTheirTimeOrAChange(t *testing.T) {
	s := stage(t, card)
	s.Force(s.now, ForcedOpen, time.Minute)
	s.cause("forced")
	s.is(ForcedOpen)
	if u := s.Until(s.now).Sub(s.now); u != time.Minute {
		t.Fatalf("until %v", u)
	}
	s.pass(time.Minute - 1)
	s.refused()
	s.pass(1)
	if !s.Ready(s.now) {
		t.Fatal("not ready at the end of a forced state")
	}
	s.admit()
	s.is(Closed)

	s.Force(s.now, ForcedClosed, 0)
	for range 1000 {
		s.call(time.Second, Failure)
	}
	s.is(ForcedClosed)
	s.Force(s.now, Closed, 0)
	s.is(Closed)
	if s.Info(s.now).Run != 0 {
		t.Fatal("a forced state counted")
	}

	s.trip()
	n := len(s.moves)
	s.Force(s.now, Closed, 0)
	s.Force(s.now, HalfOpen, 0)
	if len(s.moves) != n {
		t.Fatal("letting go of nothing changed something")
	}
	s.Force(s.now, ForcedClosed, time.Second)
	s.admit()
	s.pass(time.Second)
	s.Due(s.now)
	s.is(Closed)
}

func TestASnapshotSurvivesARestart(t *testing.T) {
	s := stage(t, card)
	if _, ok := s.Snapshot(s.now); ok {
		t.Fatal("a closed breaker has nothing to save")
	}
	s.trip()
	s.Probed(s.now, s.probe(), Failure)
	want := s.wait()
	snap, ok := s.Snapshot(s.now)
	if !ok {
		t.Fatal("nothing to save")
	}
	text, err := json.Marshal(snap)
	if err != nil {
		t.Fatal(err)
	}
	var back Snapshot
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		later time.Duration
		open  bool
	}{{3 * time.Second, true}, {9 * time.Minute, true}, {11 * time.Minute, false}, {-time.Hour, false}} {
		r := stage(t, card)
		r.now = s.now.Add(c.later)
		r.Restore(r.now, back)
		if !c.open {
			r.is(Closed)
			continue
		}
		r.is(Open)
		r.cause("restored")
		r.refused()
		tk, due, next := r.Due(r.now)
		if left := max(want-c.later, 0); left == 0 != due || !due && next.Sub(r.now) != left {
			t.Fatalf("%v later: due %v, next %v, want %v", c.later, due, next.Sub(r.now), left)
		}
		r.Probed(r.now, tk, Success)
	}
}

func TestAForcedStateSurvivesARestart(t *testing.T) {
	s := stage(t, card)
	s.Force(s.now, ForcedOpen, time.Hour)
	snap, _ := s.Snapshot(s.now)
	r := stage(t, card)
	r.now = s.now.Add(30 * time.Minute)
	r.Restore(r.now, snap)
	r.is(ForcedOpen)
	r.pass(30 * time.Minute)
	r.is(Closed)

	var st State
	if err := st.UnmarshalText([]byte("ajar")); err == nil {
		t.Fatal("an unknown state was read")
	}
}

func TestUntilIsWhenARefusedCallMayCome(t *testing.T) {
	s := stage(t, card)
	if !s.Until(s.now).IsZero() {
		t.Fatal("a closed breaker has a time")
	}
	s.trip()
	within(t, s.Until(s.now).Sub(s.now), 5*time.Second)
	s.Probed(s.now, s.probe(), Success)
	if !s.Until(s.now).IsZero() {
		t.Fatal("a free slot has a time")
	}
	s.admit()
	if u := s.Until(s.now).Sub(s.now); u != 5500*time.Millisecond {
		t.Fatalf("until %v, want the lease", u)
	}
}
