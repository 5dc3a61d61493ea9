package breaker

import (
	"fmt"
	"testing"
	"time"
)

func TestOpensAtExactlyTheConfiguredFailure(t *testing.T) {
	for _, f := range []int{1, 2, 5, 12, 64} {
		for _, literal := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d failures, literal %v", f, literal), func(t *testing.T) {
				cfg := card
				cfg.Failures, cfg.Literal = f, literal
				s := stage(t, cfg)
				for i := range f - 1 {
					s.call(time.Millisecond, Failure)
					if s.Info(s.now).State != Closed {
						t.Fatalf("open after %d failures", i+1)
					}
				}
				last, extra := s.admit(), s.admit()
				s.Done(s.now, last, Failure, false)
				s.is(Open)
				s.cause("run")
				s.Done(s.now, extra, Failure, false)
				if len(s.moves) != 1 || s.moves[0].From != Closed || s.moves[0].To != Open {
					t.Fatalf("changes %v, want one", s.moves)
				}
				s.refused()
			})
		}
	}
}

func TestARunNeedsToBeWithinTheWindow(t *testing.T) {
	s := stage(t, card)
	for range 50 {
		s.call(0, Failure)
		s.pass(7600 * time.Millisecond) // five take 30.4 s
	}
	// Four at a time are never enough, however long it goes on. The base rate
	// learns meanwhile, so five quick ones are not enough any more either.
	s.is(Closed)
	for range 2 {
		s = stage(t, card)
		for range 4 {
			s.call(0, Failure)
			s.pass(7500 * time.Millisecond) // five take exactly 30 s
		}
		s.call(0, Failure)
		s.is(Open)
	}
}

func TestTheNeededRunGrowsWithTheBaseErrorRate(t *testing.T) {
	for _, c := range []struct{ failed, of, want int }{
		{0, 0, 5}, {0, 128, 5}, {1, 100, 5}, {6, 100, 6}, {12, 100, 7}, {32, 128, 12}, {64, 128, 24}, {128, 128, 64},
	} {
		var h history
		for i := range c.of {
			failed := uint64(0)
			if i*c.failed/c.of != (i+1)*c.failed/c.of {
				failed = 1
			}
			h.push(failed)
		}
		m := newMachine(card, 1)
		m.trip.past = h
		if got := m.needed(); got < c.want-1 || got > c.want+1 {
			t.Errorf("%d of %d failed: a run of %d is needed, want about %d", c.failed, c.of, got, c.want)
		}
	}
}

func TestTheShortScaleFollowsAnUpstreamThatGotWorse(t *testing.T) {
	var h history
	for range 128 {
		h.push(0)
	}
	before := h.share()
	for i := range 16 {
		h.push(uint64(i & 1))
	}
	if before != minShare || h.share() < 0.3 {
		t.Fatalf("base rate %v, then %v", before, h.share())
	}
}

func TestASuccessThatWasAdmittedBeforeTheTroubleDoesNotEndTheRun(t *testing.T) {
	s := stage(t, card)
	stale := s.admit()
	s.pass(time.Second)
	for range 4 {
		s.call(time.Millisecond, Failure)
	}
	s.Progress(s.now, stale)
	s.Done(s.now, stale, Success, false)
	if run := s.Info(s.now).Run; run != 4 {
		t.Fatalf("run %d, want 4", run)
	}
	s.call(time.Millisecond, Failure)
	s.is(Open)
}

func TestASuccessThatWasAdmittedAfterTheFirstFailedOneEndsTheRun(t *testing.T) {
	s := stage(t, card)
	first := s.admit()
	s.pass(time.Millisecond)
	fresh := s.admit()
	s.pass(time.Millisecond)
	s.Done(s.now, first, Failure, false)
	for range 3 {
		s.call(time.Millisecond, Failure)
	}
	s.Done(s.now, fresh, Success, false)
	if run := s.Info(s.now).Run; run != 0 {
		t.Fatalf("run %d, want 0", run)
	}
	for range 4 {
		s.call(time.Millisecond, Failure)
	}
	s.is(Closed)
}

// Long answers prove themselves only at their end, after many quick failures;
// their first tokens must count.
func TestAFirstTokenEndsARunOfFailuresWithoutOne(t *testing.T) {
	s := stage(t, card)
	for range 100 {
		for range 3 {
			s.call(time.Millisecond, Failure)
		}
		t := s.admit()
		s.pass(time.Second)
		s.Progress(s.now, t)
		s.pass(time.Millisecond)
		if s.Info(s.now).Run != 0 {
			s.t.Fatal("the run goes on")
		}
		s.Done(s.now, t, Success, false)
		s.pass(40 * time.Second)
	}
	s.is(Closed)
}

// Errors come at once, answers take their time: five failures among twenty
// calls of which fifteen still run are no run of five.
func TestQuickFailuresAmongUndecidedCallsNeedToBeMore(t *testing.T) {
	s := stage(t, card)
	var open []Ticket
	for range 5 {
		first := s.admit()
		for range 3 {
			open = append(open, s.admit())
		}
		s.pass(time.Millisecond)
		s.Done(s.now, first, Failure, false)
	}
	s.is(Closed)
	for _, tk := range open {
		s.Done(s.now, tk, Neutral, false)
	}
	s.call(time.Millisecond, Failure)
	s.is(Open)
}

func TestAStreamThatIsAlwaysCutOpensAlthoughTokensCome(t *testing.T) {
	s := stage(t, card)
	for i := range 5 {
		s.is(Closed)
		tk := s.admit()
		s.pass(time.Second)
		s.Progress(s.now, tk)
		s.Done(s.now, tk, Failure, false)
		if i == 4 {
			s.is(Open)
		}
	}
	s.cause("run")
}

func TestRareCutsAmongLongAnswersDoNotOpen(t *testing.T) {
	s := stage(t, card)
	// 50 a second, each answer takes 10 s; one of a hundred is cut after 1 s.
	var running []Ticket
	for i := range 60 * 50 {
		tk := s.admit()
		s.Progress(s.now, tk)
		running = append(running, tk)
		if i >= 600 && (i-50)%100 == 0 {
			s.Done(s.now, running[i-50], Failure, false)
		}
		if i >= 500 { // those that were cut have ended before
			s.Done(s.now, running[i-500], Success, false)
		}
		s.pass(20 * time.Millisecond)
	}
	s.is(Closed)
}

func TestNeutralOutcomesChangeNothing(t *testing.T) {
	for _, r := range []Result{Neutral, Moved, Void} {
		s := stage(t, card)
		for range 4 {
			s.call(0, Failure)
			for range 50 {
				s.call(0, r)
			}
		}
		if i := s.Info(s.now); i.Run != 4 || i.State != Closed {
			t.Fatalf("%v after neutral outcomes", i)
		}
		s.call(0, Failure)
		s.is(Open)
	}
}

func TestTheRateRuleNeedsTwentyOutcomesAndHalfOfThemFailed(t *testing.T) {
	s := stage(t, card)
	for i := range 9 {
		s.call(100*time.Millisecond, Success)
		s.call(100*time.Millisecond, Failure)
		if s.Info(s.now).State != Closed {
			t.Fatalf("open after %d outcomes", 2*i+2)
		}
	}
	s.call(100*time.Millisecond, Success)
	s.is(Closed)
	s.call(100*time.Millisecond, Failure)
	s.is(Open)
	s.cause("rate")
}

func TestTheRateRuleForgetsAfterTheWindow(t *testing.T) {
	s := stage(t, card)
	for range 100 {
		s.call(0, Success)
		s.call(0, Failure)
		s.pass(3500 * time.Millisecond) // 18 outcomes in 31 s
	}
	s.is(Closed)
}

func TestASlowBreakerLooksAtTheShareAlone(t *testing.T) {
	cfg := card
	cfg.Slow = true
	s := stage(t, cfg)
	for range 9 {
		s.call(time.Millisecond, Failure)
	}
	s.is(Closed)
	s.call(time.Millisecond, Failure)
	s.is(Open)
	s.cause("rate")
	if s.Suspicion() != 0 {
		t.Fatal("a slow breaker has hang evidence")
	}
}

func TestTheLiteralCardHasNoRateRuleAndDoesNotScale(t *testing.T) {
	cfg := card
	cfg.Literal = true
	s := stage(t, cfg)
	for range 200 {
		for range 4 {
			s.call(time.Millisecond, Failure)
		}
		s.call(time.Millisecond, Success)
	}
	s.is(Closed)
	for range 5 {
		s.call(time.Millisecond, Failure)
	}
	s.is(Open)
	if s.Suspicion() != 0 {
		t.Fatal("the literal card has hang evidence")
	}
}

func TestOutcomesThatArriveWhileOpenChangeNothing(t *testing.T) {
	s := stage(t, card)
	var late []Ticket
	for range 30 {
		late = append(late, s.admit())
	}
	s.trip()
	want := s.Info(s.now)
	for i, tk := range late {
		s.pass(10 * time.Millisecond)
		s.Done(s.now, tk, Result(i%3), i%2 == 0)
	}
	got := s.Info(s.now)
	if got.Since != want.Since || got.Until != want.Until || got.NextProbe != want.NextProbe || got.Gen != want.Gen || got.BaseRate != want.BaseRate {
		t.Fatalf("open: %+v\nafter late results: %+v", want, got)
	}
}

func TestResultsOfAnEarlierGenerationAreDropped(t *testing.T) {
	s := stage(t, card)
	var late []Ticket
	for range 30 {
		late = append(late, s.admit())
	}
	s.trip()
	s.heal()
	for _, tk := range late {
		s.Done(s.now, tk, Failure, false)
	}
	s.is(Closed)
	if run := s.Info(s.now).Run; run != 0 {
		t.Fatalf("run %d from late failures", run)
	}
}

func TestATicketEndsOnce(t *testing.T) {
	s := stage(t, card)
	for range 4 {
		tk := s.admit()
		for range 10 {
			s.Done(s.now, tk, Failure, false)
		}
	}
	if run := s.Info(s.now).Run; run != 4 {
		t.Fatalf("run %d, want 4", run)
	}
	var void Ticket
	s.Done(s.now, void, Failure, false)
	s.Progress(s.now, void)
	if s.Suspect(s.now, void) || void.Probe() || s.Info(s.now).Run != 4 {
		t.Fatal("a void ticket did something")
	}
}

func TestManyTicketsOfOneInstantAndHashAreToldApart(t *testing.T) {
	s := stage(t, card)
	var ts []Ticket
	for range 5000 {
		tk, _ := s.Allow(s.now, Watched, 7)
		ts = append(ts, tk)
	}
	for i, tk := range ts {
		s.Done(s.now, tk, Neutral, false)
		if tk.settle() != 0 || (i+1 < len(ts) && ts[i+1].flags() == 0) {
			t.Fatalf("ticket %d is mistaken for another", i)
		}
	}
	if n := len(*s.slots.Load()); n > 64*1024 {
		t.Fatalf("%d slots for 5000 tickets", n)
	}
}
