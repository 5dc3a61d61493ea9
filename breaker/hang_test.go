package breaker

import (
	"testing"
	"time"
)

const half = 2250 * time.Millisecond // suspicion age while nothing is known

func near(t *testing.T, got, want time.Duration) {
	t.Helper()
	if got < want || got > want+want/15 {
		t.Fatalf("%v, want %v to 1/15 more", got, want)
	}
}

// learn gives n first-token samples of d.
func (s *stand) learn(n int, d time.Duration) {
	s.t.Helper()
	var ts []Ticket
	for range n {
		ts = append(ts, s.admit())
	}
	s.pass(d)
	for _, t := range ts {
		s.Progress(s.now, t)
		s.Done(s.now, t, Success, false)
	}
}

func TestTheSuspicionAgeFollowsTheFirstTokens(t *testing.T) {
	for _, c := range []struct {
		name        string
		limit, x    time.Duration
		n           int
		want        time.Duration
		approximate bool
	}{
		{"nothing known", 4500 * time.Millisecond, 0, 0, half, false},
		{"nineteen samples are too few", 4500 * time.Millisecond, time.Second, 19, half, false},
		{"1.5 x p95", 4500 * time.Millisecond, time.Second, 20, 1500 * time.Millisecond, true},
		{"never below 1 s", 4500 * time.Millisecond, 100 * time.Millisecond, 20, time.Second, false},
		{"no evidence where the limit comes first", 4500 * time.Millisecond, 3100 * time.Millisecond, 20, 0, false},
		{"the floor shrinks with a short limit", 450 * time.Millisecond, time.Millisecond, 20, 100 * time.Millisecond, false},
		{"half of a short limit", 450 * time.Millisecond, 0, 0, 225 * time.Millisecond, false},
		{"the floor does not grow with a long limit", 120 * time.Second, time.Millisecond, 20, time.Second, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := card
			cfg.FirstToken = c.limit
			s := stage(t, cfg)
			s.learn(c.n, c.x)
			if got := s.Suspicion(); c.approximate {
				near(t, got, c.want)
			} else if got != c.want {
				t.Fatalf("%v, want %v", got, c.want)
			}
		})
	}
}

func TestFirstTokenTimesAreForgottenAfterFiveMinutes(t *testing.T) {
	s := stage(t, card)
	s.learn(100, time.Second)
	p95, n := s.FirstToken95()
	near(t, p95, time.Second)
	if n != 100 {
		t.Fatalf("%d samples", n)
	}
	s.pass(6 * time.Minute)
	s.Info(s.now)
	if p95, n = s.FirstToken95(); p95 != 0 || n != 0 || s.Suspicion() != half {
		t.Fatalf("p95 %v of %d samples, age %v", p95, n, s.Suspicion())
	}
}

func TestWaitingAttemptsOpenItAtExactlyTheNeededNumber(t *testing.T) {
	s := stage(t, card)
	var ts []Ticket
	for range 6 {
		ts = append(ts, s.admit())
		s.pass(20 * time.Millisecond)
	}
	s.pass(half - 6*20*time.Millisecond)
	for i, tk := range ts[:5] {
		if i < 4 && s.Suspect(s.now, tk) || i == 4 && !s.Suspect(s.now, tk) {
			t.Fatalf("attempt %d: wrong advice", i)
		}
		if s.Suspect(s.now, ts[0]) != (i == 4) {
			t.Fatal("asking again must not count again")
		}
		s.pass(20 * time.Millisecond)
	}
	s.is(Open)
	s.cause("hang")
	if at := s.moves[0].Time.Sub(s.epoch) - time.Second; at != half+80*time.Millisecond {
		t.Fatalf("opened %v after the first call", at)
	}
	if !s.Suspect(s.now, ts[5]) {
		t.Fatal("a call that is old enough must move over once it is open")
	}
	if s.Info(s.now).Waiting != 0 {
		t.Fatal("evidence outlives its generation")
	}
}

func TestAYoungCallStaysUntilItIsOldEnough(t *testing.T) {
	s := stage(t, card)
	young := s.admit()
	s.pass(time.Second)
	s.trip()
	if s.Suspect(s.now, young) {
		t.Fatal("moved at half the age")
	}
	s.pass(half)
	if !s.Suspect(s.now, young) {
		t.Fatal("not moved at the full age")
	}
}

func TestFailuresAndWaitingAttemptsAddUp(t *testing.T) {
	s := stage(t, card)
	a, b := s.admit(), s.admit()
	s.pass(half)
	for range 3 {
		s.call(0, Failure)
	}
	if s.Suspect(s.now, a) {
		t.Fatal("moved on 3 failures and one waiting")
	}
	s.is(Closed)
	if !s.Suspect(s.now, b) {
		t.Fatal("not moved on 3 failures and two waiting")
	}
	s.cause("hang")
}

func TestAnAttemptThatEndedWaitsNoLonger(t *testing.T) {
	s := stage(t, card)
	var ts []Ticket
	for range 5 {
		ts = append(ts, s.admit())
	}
	s.pass(half)
	for _, tk := range ts[:4] {
		s.Suspect(s.now, tk)
	}
	s.Done(s.now, ts[0], Neutral, false)
	s.Progress(s.now, ts[1])
	s.Suspect(s.now, ts[4])
	s.is(Closed)
	if w := s.Info(s.now).Waiting; w != 0 {
		t.Fatalf("%d waiting: an answer among calls of one instant clears them all", w)
	}
}

func TestAYoungerAnswerClearsTheOlderOnes(t *testing.T) {
	s := stage(t, card)
	s.learn(30, 800*time.Millisecond)
	var ts []Ticket
	for range 10 {
		ts = append(ts, s.admit())
		s.pass(time.Millisecond)
	}
	s.pass(s.Suspicion())
	for _, tk := range ts[:4] {
		s.Suspect(s.now, tk)
	}
	s.Progress(s.now, ts[5])
	for _, tk := range ts {
		s.Suspect(s.now, tk)
	}
	s.is(Closed)
	if w := s.Info(s.now).Waiting; w != 4 {
		t.Fatalf("%d waiting, want the 4 admitted after the answered one", w)
	}
}

func TestALateTokenHoldsTheAgeWhileTheQuantileIsUnknown(t *testing.T) {
	s := stage(t, card)
	tk := s.admit()
	s.pass(2500 * time.Millisecond)
	s.Progress(s.now, tk)
	if got := s.Suspicion(); got != 3750*time.Millisecond {
		t.Fatalf("age %v after a token that took 2.5 s, want 3.75 s", got)
	}
	s.learn(100, time.Second)
	near(t, s.Suspicion(), 1500*time.Millisecond)
}

func TestOneStragglerDoesNotHideAHang(t *testing.T) {
	s := stage(t, card)
	straggler := s.admit()
	s.learn(30, 500*time.Millisecond)
	s.pass(time.Second)
	s.Suspect(s.now, straggler)
	s.is(Closed)
	var ts []Ticket
	for range 5 {
		s.pass(time.Millisecond)
		ts = append(ts, s.admit())
	}
	s.pass(s.Suspicion())
	for _, tk := range ts {
		s.Suspect(s.now, tk)
	}
	s.is(Open)
}

func TestBlindAttemptsAreNoEvidence(t *testing.T) {
	s := stage(t, card)
	for range 100 {
		tk, _ := s.Allow(s.now, Blind, 1)
		s.pass(half)
		if s.Suspect(s.now, tk) {
			t.Fatal("a blind attempt was moved")
		}
		s.Progress(s.now, tk)
		s.Done(s.now, tk, Moved, false)
	}
	if _, n := s.FirstToken95(); n != 0 {
		t.Fatalf("%d samples from blind attempts", n)
	}
}

func TestHangOffSeesNoHang(t *testing.T) {
	cfg := card
	cfg.Hang = false
	s := stage(t, cfg)
	for range 100 {
		if tk := s.admit(); s.Suspect(s.now.Add(time.Minute), tk) {
			t.Fatal("moved")
		}
	}
	s.is(Closed)
	if s.Suspicion() != 0 {
		t.Fatal("an age without evidence")
	}
}

func TestAnAttemptLeftWithoutATokenIsASampleOfItsAge(t *testing.T) {
	s := stage(t, card)
	for range 20 {
		s.call(2*time.Second, Moved)
	}
	p95, n := s.FirstToken95()
	near(t, p95, 2*time.Second)
	if n != 20 {
		t.Fatalf("%d samples", n)
	}
	s.call(2*time.Second, Neutral)
	s.call(2*time.Second, Failure)
	if _, n := s.FirstToken95(); n != 20 {
		t.Fatal("neutral ends and failures are no samples")
	}
}

func TestALateTokenHoldsTheAgeForFiveMinutes(t *testing.T) {
	s := stage(t, card)
	s.learn(30, 800*time.Millisecond)
	late := s.admit()
	s.trip()
	s.pass(2 * time.Second)
	if s.Suspicion() >= 2*time.Second {
		t.Fatal("the age is no test")
	}
	s.Progress(s.now, late)
	if got := s.Suspicion(); got < 3*time.Second || got > 3100*time.Millisecond {
		t.Fatalf("age %v after a token that took 2 s, want 3 s", got)
	}
	s.pass(299 * time.Second)
	s.Info(s.now)
	if s.Suspicion() < 3*time.Second {
		t.Fatal("forgotten before five minutes")
	}
	s.pass(2 * time.Second)
	s.Info(s.now)
	if s.Suspicion() >= 3*time.Second {
		t.Fatal("held for more than five minutes")
	}
}

func TestAProbesLateTokenSwitchesTheEvidenceOff(t *testing.T) {
	s := stage(t, card)
	s.trip()
	tk := s.probe()
	s.pass(3100 * time.Millisecond)
	s.Progress(s.now, tk)
	s.Probed(s.now, tk, Success)
	if s.Suspicion() != 0 {
		t.Fatalf("age %v, want none: 1.5 x 3.1 s is over the limit", s.Suspicion())
	}
	live := s.admit()
	s.pass(4 * time.Second)
	if s.Suspect(s.now, live) {
		t.Fatal("the live probe was moved although such waits are known to be normal")
	}
	s.Progress(s.now, live)
	s.is(Closed)
}

func TestTheTailOfAKnownUpstreamLeavesTheAgeAlone(t *testing.T) {
	s := stage(t, card)
	s.learn(100, time.Second)
	tail := s.admit()
	s.pass(4 * time.Second)
	s.Progress(s.now, tail)
	near(t, s.Suspicion(), 1500*time.Millisecond)
}

func TestAPausedProcessOpensNothing(t *testing.T) {
	s := stage(t, card)
	var ts []Ticket
	for range 20 {
		ts = append(ts, s.admit())
	}
	s.pass(half)
	for _, tk := range ts[:4] {
		s.Suspect(s.now, tk)
	}
	s.pass(time.Hour)
	s.Pause(s.now)
	if s.Info(s.now).Waiting != 0 {
		t.Fatal("pending evidence outlived the pause")
	}
	for _, tk := range ts {
		s.Suspect(s.now, tk)
	}
	s.is(Closed)
	for _, tk := range ts {
		s.Progress(s.now, tk)
	}
	if _, n := s.FirstToken95(); n != 0 {
		t.Fatalf("%d samples that include the pause", n)
	}
}

func TestAPauseRenewsTheLeaseOfAProbe(t *testing.T) {
	s := stage(t, card)
	s.trip()
	tk := s.probe()
	s.pass(5 * time.Second)
	s.Pause(s.now)
	s.pass(5 * time.Second)
	s.Probed(s.now, tk, Success)
	s.is(HalfOpen)
}
