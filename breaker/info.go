package breaker

import (
	"fmt"
	"time"
)

// State is what a breaker does with calls.
type State uint8

const (
	// Closed admits every call.
	Closed State = iota
	// Open admits none; background probes look whether the upstream is back.
	Open
	// HalfOpen admits one live call, the probe.
	HalfOpen
	// ForcedOpen admits none until changed.
	ForcedOpen
	// ForcedClosed admits every call and counts nothing until changed.
	ForcedClosed
)

var stateWords = [...]string{"closed", "open", "half-open", "forced-open", "forced-closed"}

// String is the word that logs, metrics and snapshots use.
func (s State) String() string {
	if int(s) < len(stateWords) {
		return stateWords[s]
	}
	return fmt.Sprintf("state %d", uint8(s))
}

// MarshalText is the word of String.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a word of String.
func (s *State) UnmarshalText(b []byte) error {
	for i, w := range stateWords {
		if string(b) == w {
			*s = State(i)
			return nil
		}
	}
	return fmt.Errorf("breaker state %.20q is unknown: use one of %v", b, stateWords)
}

// The causes of a transition.
const (
	causeRun      = "run"
	causeRate     = "rate"
	causeHang     = "hang"
	causeProbe    = "probe"
	causeLease    = "lease"
	causeForced   = "forced"
	causeRestored = "restored"
)

// Transition is a change of state.
type Transition struct {
	Time     time.Time
	From, To State
	// Cause: run, rate and hang opened it; probe is the outcome of one, lease
	// one that never ended; forced and restored are ours.
	Cause string
	// Gen grows with every change, so it orders transitions.
	Gen uint32
}

// Info is a picture of a breaker for people and dashboards.
type Info struct {
	State State
	Since time.Time // of the state
	Cause string    // of the state, "" before the first transition
	Gen   uint32

	Until     time.Time // when a refused call may be admitted, zero if calls are admitted
	NextProbe time.Time // next background probe, zero if none is planned
	Probing   bool      // a probe is running

	Run      int     // failures in a row, the longer one of those before and after the first token
	Needed   int     // run that opens the breaker, N(p); more while many younger attempts are undecided
	BaseRate float64 // p, 0.01 to 0.8
	Waiting  int     // attempts that are suspect at the moment, at most 64

	Suspicion    time.Duration // see Breaker.Suspicion
	FirstToken95 time.Duration
	Samples      int
}

// Info looks at the breaker at now.
func (b *Breaker) Info(now time.Time) Info {
	b.apply(now, event{kind: evLook})
	at := now.Sub(b.epoch)
	b.mu.Lock()
	defer b.mu.Unlock()
	m := &b.m
	i := Info{
		State: m.mode, Since: b.epoch.Add(m.since), Cause: m.cause, Gen: m.gen,
		Probing: m.trial.probe != probeNone,
		Run:     max(m.trip.early.n, m.trip.late.n), Needed: m.needed(), BaseRate: m.trip.past.share(),
		Waiting: m.hang.old(at), Suspicion: m.hang.age(),
	}
	i.FirstToken95, i.Samples = m.hang.samples.Value()
	if !m.ready(at) {
		i.Until = b.epoch.Add(max(m.until(at), at))
	}
	if m.mode == Open && !i.Probing && !m.callersProbe() {
		i.NextProbe = b.epoch.Add(m.trial.due)
	}
	return i
}

// Snapshot is what is worth keeping over a restart, with wall-clock times.
type Snapshot struct {
	Time  time.Time `json:"time"`            // when it was taken
	State State     `json:"state"`           // never closed
	Next  time.Time `json:"next,omitzero"`   // next probe, or the end of a forced state; zero = none
	Waits uint8     `json:"waits,omitempty"` // how far the waits have grown
}

// snapshotAge is how old a snapshot may be: an outage is forgotten after that.
const snapshotAge = 10 * time.Minute

// Snapshot takes a picture that [Breaker.Restore] understands; false if the
// breaker is closed and there is nothing to keep.
func (b *Breaker) Snapshot(now time.Time) (Snapshot, bool) {
	b.apply(now, event{kind: evLook})
	b.mu.Lock()
	defer b.mu.Unlock()
	m, s := &b.m, Snapshot{Time: now.Round(0)}
	s.State, s.Waits = m.mode, m.trial.nth
	wall := func(at time.Duration) time.Time { return now.Round(0).Add(at - now.Sub(b.epoch)) }
	switch m.mode {
	case Closed:
		return Snapshot{}, false
	case ForcedOpen, ForcedClosed:
		if m.held > 0 {
			s.Next = wall(m.held)
		}
	default:
		s.Next = wall(m.until(now.Sub(b.epoch)))
	}
	return s, true
}

// Restore puts a closed breaker where s left it: open with the next probe at
// its time, or forced. A snapshot of a closed breaker does nothing, and an
// automatic state from the future or older than 10 min neither, nor a forced
// one whose time is over.
func (b *Breaker) Restore(now time.Time, s Snapshot) {
	age, left := now.Round(0).Sub(s.Time.Round(0)), s.Next.Round(0).Sub(now.Round(0))
	switch s.State {
	case ForcedOpen, ForcedClosed:
		if s.Next.IsZero() {
			left = 0
		} else if left <= 0 {
			return
		}
		b.Force(now, s.State, left)
	case Open, HalfOpen:
		if age < 0 || age > snapshotAge {
			return
		}
		b.apply(now, event{kind: evRestore, span: max(left, 0), nth: s.Waits})
	}
}

func (m *machine) restore(e event, now time.Duration, v *verdict) {
	if m.mode != Closed {
		return
	}
	m.open(now, causeRestored, v)
	t, left := &m.trial, min(e.span, m.cfg.Reset)
	t.nth = min(e.nth, uint8(len(waits)-1))
	t.due = now + left
	t.live = m.fallback()
	if m.callersProbe() {
		t.live = now + left
	}
}
