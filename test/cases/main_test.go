package cases

import (
	"flag"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain lets more cases run side by side than there are processors, for
// they mostly wait, and fails if a goroutine is left at the end.
func TestMain(m *testing.M) {
	flag.Parse()
	chosen := false
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "test.parallel" })
	if !chosen {
		_ = flag.Set("test.parallel", "8")
	}
	goleak.VerifyTestMain(gauged{m})
}

// gauged measures how late timers fire while the tests run.
type gauged struct{ m *testing.M }

func (g gauged) Run() int {
	stop := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() { lateness.measure(stop) })
	code := g.m.Run()
	close(stop)
	done.Wait()
	return code
}

// lateness is how late a timer of this process fired, by time: on a busy
// machine a limit cannot be kept better than that.
var lateness gauge

type gauge struct {
	mu    sync.Mutex
	late  []overshoot
	worst time.Duration
}

// busyLate is how late a timer is only where others want the processors as well.
const busyLate = 20 * time.Millisecond

// busy reports whether this run has shared its machine so far: then a
// goroutine may wait for its turn although no timer is late just now.
func (g *gauge) busy() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.worst > busyLate
}

type overshoot struct {
	at time.Time
	by time.Duration
}

const gaugeStep = 5 * time.Millisecond

func (g *gauge) measure(stop <-chan struct{}) {
	for {
		began := time.Now()
		select {
		case <-time.After(gaugeStep):
		case <-stop:
			return
		}
		if by := time.Since(began) - gaugeStep; by > 2*time.Millisecond {
			g.mu.Lock()
			g.late = append(g.late, overshoot{time.Now(), by})
			g.worst = max(g.worst, by)
			g.mu.Unlock()
		}
	}
}

// since is the worst lateness from a moment on.
func (g *gauge) since(t time.Time) (worst time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := len(g.late) - 1; i >= 0 && g.late[i].at.After(t); i-- {
		worst = max(worst, g.late[i].by)
	}
	return worst
}

// pace says how many seconds of the page pass in one second of the test.
type pace float64

// usual is the pace of all cases that do not say otherwise: 4.5 s are 900 ms.
const usual pace = 5

func (p pace) sec(s float64) time.Duration {
	return time.Duration(s / float64(p) * float64(time.Second))
}

// patience bounds every wait for a condition.
const patience = 30 * time.Second

// eventually waits until a condition holds.
func eventually(t testing.TB, what string, holds func() bool) bool {
	t.Helper()
	return before(t, patience, what, holds)
}

// before waits until a condition holds, at most for the limit and what the
// machine itself comes late; on a busy one it waits for the state alone.
func before(t testing.TB, limit time.Duration, what string, holds func() bool) bool {
	t.Helper()
	began := time.Now()
	for !holds() {
		if took := time.Since(began); took > limit+slack(began) && (!lateness.busy() || took > patience) {
			t.Errorf("not within %s: %s", limit, what)
			return false
		}
		time.Sleep(2 * time.Millisecond)
	}
	return true
}

// slack is what a time may be off on this machine since a moment: the machine
// is shared, and a timer that fires in time is only the beginning of the work.
func slack(since time.Time) time.Duration {
	if raced {
		return patience
	}
	return 150*time.Millisecond + 6*lateness.since(since)
}

// near checks a duration that ended just now: 10 % where the machine was quiet
// meanwhile, and more, but never the double, where it was busy.
func near(t testing.TB, what string, got, want time.Duration) {
	t.Helper()
	since := time.Now().Add(-got - 100*time.Millisecond)
	over := 60 * time.Millisecond
	if late := lateness.since(since); late > 0 || raced {
		over = want/2 + slack(since)
	}
	if got < want*9/10 || got > want*11/10+over {
		t.Errorf("%s after %s, want %s ± 10 %% (and %s of this machine)", what, got.Round(time.Millisecond), want, over.Round(time.Millisecond))
	}
}

// atOnce is far below every limit and delay of the cases, and far above what
// a busy machine needs for an answer.
const atOnce = 200 * time.Millisecond

// below checks that something that ended just now took no longer than a limit.
func below(t testing.TB, what string, got, limit time.Duration) {
	t.Helper()
	if over := slack(time.Now().Add(-got - 100*time.Millisecond)); got > limit+over {
		t.Errorf("%s took %s, limit %s (and %s of this machine)", what, got.Round(time.Millisecond), limit, over.Round(time.Millisecond))
	}
}
