package breaker

import (
	"testing"
	"time"
)

// stand is a breaker with a clock that the test moves.
type stand struct {
	*Breaker
	t     *testing.T
	epoch time.Time
	now   time.Time
	moves []Transition
	hash  uint64
}

func stage(t *testing.T, cfg Config) *stand {
	t.Helper()
	s := &stand{t: t, epoch: time.Unix(1_700_000_000, 0)}
	s.now = s.epoch.Add(time.Second)
	cfg.Notify = func(tr Transition) { s.moves = append(s.moves, tr) }
	s.Breaker = New(cfg, s.epoch, 42)
	return s
}

func (s *stand) pass(d time.Duration) { s.now = s.now.Add(d) }

// admit asks for a call that must be let in.
func (s *stand) admit() Ticket {
	s.t.Helper()
	s.hash += golden
	t, ok := s.Allow(s.now, Watched, s.hash)
	if !ok {
		s.t.Fatalf("%s: a call was refused while %s", s.at(), s.Info(s.now).State)
	}
	return t
}

func (s *stand) refused() {
	s.t.Helper()
	if s.Ready(s.now) {
		s.t.Fatalf("%s: ready while %s", s.at(), s.Info(s.now).State)
	}
	if _, ok := s.Allow(s.now, Watched, 0); ok {
		s.t.Fatalf("%s: a call was admitted while %s", s.at(), s.Info(s.now).State)
	}
}

// call is one attempt that takes d and ends in r.
func (s *stand) call(d time.Duration, r Result) {
	s.t.Helper()
	t := s.admit()
	s.pass(d)
	s.Done(s.now, t, r, false)
}

func (s *stand) is(want State) {
	s.t.Helper()
	if got := s.Info(s.now).State; got != want {
		s.t.Fatalf("%s: %s, want %s; changes %v", s.at(), got, want, s.moves)
	}
}

func (s *stand) at() time.Duration { return s.now.Sub(s.epoch) }

// cause of the last change.
func (s *stand) cause(want string) {
	s.t.Helper()
	if len(s.moves) == 0 || s.moves[len(s.moves)-1].Cause != want {
		s.t.Fatalf("%s: changes %v, want the last for %q", s.at(), s.moves, want)
	}
}

// trip opens it with instant failures.
func (s *stand) trip() {
	s.t.Helper()
	for range 2 * maxRun {
		if s.Info(s.now).State == Open {
			return
		}
		s.call(time.Millisecond, Failure)
	}
	s.is(Open)
}

// probe passes the wait and takes the background probe.
func (s *stand) probe() Ticket {
	s.t.Helper()
	_, due, next := s.Due(s.now)
	if due || next.IsZero() {
		s.t.Fatalf("%s: due %v, next %v: want a wait", s.at(), due, next)
	}
	s.now = next
	t, due, _ := s.Due(s.now)
	if !due || !t.Probe() {
		s.t.Fatalf("%s: no background probe at the time that Due had named", s.at())
	}
	return t
}

// heal closes it by a background probe and a live one.
func (s *stand) heal() {
	s.t.Helper()
	t := s.probe()
	s.Probed(s.now, t, Success)
	s.is(HalfOpen)
	live := s.admit()
	s.Progress(s.now, live)
	s.is(Closed)
	s.Done(s.now, live, Success, false)
}
