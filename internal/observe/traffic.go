package observe

import (
	"math"
	"sync"
	"time"

	"backstop"
)

const (
	keptSeconds = 900 // 15 minutes
	mostTallies = 256 // upstreams; their names are config names, so this is no limit for anyone

	// farAhead is from when a clock that goes back was wrong before. Smaller
	// steps are those of a clock that is kept right.
	farAhead = time.Minute

	// A spread has a step for each 10 %, from 0.1 ms to ten minutes.
	spreadSteps = 166
	spreadFirst = 100 * time.Microsecond
	spreadRatio = 1.1
)

// Second is what ended in one second.
type Second struct {
	Time time.Time // its start

	Primary, Backup, Local int // calls by the tier that answered
	Failed                 int // calls that nobody answered
	Other                  int // rejected or canceled calls, which nobody was to answer, and what was passed on and is no call

	P50, P99           time.Duration // of the answered calls, to within 5 %; 0 = none
	First50, First99   time.Duration // of the time to their first token
	Repaired, Rescued  int           // answers whose JSON was repaired, streams that another tier went on with
	Attempts, Failures int           // upstream requests, and those among them that were no success
}

// Traffic remembers what each of the last seconds brought, in bounded memory.
// It costs a call a lock and a few additions.
type Traffic struct {
	mu    sync.Mutex
	ring  [keptSeconds]Second
	count int64 // of seconds that were ever begun
	now   Second
	all   spread
	first spread

	tallies map[string]*tally
}

// spread counts durations in steps.
type spread struct {
	n    int
	step [spreadSteps]uint32
}

func (s *spread) add(d time.Duration) {
	i := 0
	if d > spreadFirst {
		i = min(int(math.Log(float64(d)/float64(spreadFirst))/math.Log(spreadRatio)+0.5), spreadSteps-1)
	}
	s.step[i]++
	s.n++
}

// share is the duration below which a share of all lies.
func (s *spread) share(q float64) time.Duration {
	if s.n == 0 {
		return 0
	}
	left := int(math.Ceil(q * float64(s.n)))
	for i, n := range s.step {
		if left -= int(n); left <= 0 {
			return time.Duration(float64(spreadFirst) * math.Pow(spreadRatio, float64(i)))
		}
	}
	return time.Duration(float64(spreadFirst) * math.Pow(spreadRatio, spreadSteps-1))
}

func (t *Traffic) call(e *backstop.Event, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.roll(now)
	s := &t.now
	switch e.Tier {
	case "primary":
		s.Primary++
	case "backup":
		s.Backup++
	case "local":
		s.Local++
	default:
		if e.Outcome == backstop.Rejected || e.Outcome == backstop.Canceled || e.Op == backstop.OpPass {
			s.Other++
		} else {
			s.Failed++
		}
	}
	if e.Tier != "" {
		t.all.add(e.Duration)
		if e.FirstToken > 0 {
			t.first.add(e.FirstToken)
		}
	}
	if len(e.Repaired) > 0 {
		s.Repaired++
	}
	if e.Rescued == "spliced" || e.Rescued == "continued" {
		s.Rescued++
	}
	for i := range e.Attempts {
		s.Attempts++
		if e.Attempts[i].Outcome.Class != backstop.OK {
			s.Failures++
		}
		t.tally(e, &e.Attempts[i], now)
	}
}

// roll ends the running second if now lies in a later one. Seconds in which
// nothing happened are there as well. A clock that went back a little changes
// nothing; one that was far ahead and has been set right ends what was told by
// it, or nothing would be seen until the time had come again.
func (t *Traffic) roll(now time.Time) {
	second := now.Truncate(time.Second)
	if t.now.Time.IsZero() {
		t.now.Time = second
		return
	}
	if t.now.Time.Sub(second) > farAhead {
		t.count, t.all, t.first = 0, spread{}, spread{}
		t.now = Second{Time: second}
	}
	if !second.After(t.now.Time) {
		return
	}
	t.now.P50, t.now.P99 = t.all.share(0.5), t.all.share(0.99)
	t.now.First50, t.now.First99 = t.first.share(0.5), t.first.share(0.99)
	t.all, t.first = spread{}, spread{}
	if quiet := second.Sub(t.now.Time) / time.Second; quiet > keptSeconds {
		t.push(t.now)
		t.now = Second{Time: second.Add(-keptSeconds * time.Second)}
	}
	for t.now.Time.Before(second) {
		t.push(t.now)
		t.now = Second{Time: t.now.Time.Add(time.Second)}
	}
}

func (t *Traffic) push(s Second) {
	t.ring[t.count%keptSeconds] = s
	t.count++
}

// Seconds returns the finished seconds after a time, oldest first.
func (t *Traffic) Seconds(after, now time.Time) []Second {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.roll(now)
	if after.After(t.now.Time) { // by the clock as it was
		after = time.Time{}
	}
	n := min(t.count, keptSeconds)
	out := make([]Second, 0, n)
	for i := t.count - n; i < t.count; i++ {
		if s := t.ring[i%keptSeconds]; s.Time.After(after) {
			out = append(out, s)
		}
	}
	return out
}
