package limit

import (
	"os"
	"testing"
	"time"
)

// Every order of some waits and attempts, to a depth; times may go back, as
// they do among goroutines. After each admission every interval that ends or
// begins there is checked.
func TestEveryOrderOfAttemptsKeepsTheBoundOfTheRate(t *testing.T) {
	depth := 8
	if os.Getenv("BACKSTOP_PROOF") != "" {
		depth = 10
	}
	epoch := time.Unix(1_700_000_000, 0)
	for _, c := range []struct {
		perSecond float64
		burst     int
	}{{10, 1}, {10, 3}, {3, 2}} {
		first := NewRate(c.perSecond, c.burst, epoch)
		gap := time.Duration(first.gap)
		waits := []time.Duration{0, gap / 3, gap, gap*time.Duration(c.burst) + 1, -gap / 2}
		edges := 0
		var visit func(next int64, now time.Duration, admitted []time.Duration, left int)
		visit = func(next int64, now time.Duration, admitted []time.Duration, left int) {
			for _, d := range waits {
				edges++
				at := now + d
				r := &Rate{gap: first.gap, slack: first.slack, epoch: epoch}
				r.next.Store(next)
				wait := r.Wait(epoch.Add(at))
				if !r.Allow(epoch.Add(at)) {
					if wait <= 0 || r.next.Load() != next {
						t.Fatalf("refused at %s although the wait is %s, or something was taken", at, wait)
					}
					if wait > 1 && r.Allow(epoch.Add(at+wait-1)) || !r.Allow(epoch.Add(at+wait)) {
						t.Fatalf("refused at %s for %s, which is not when it is admitted", at, wait)
					}
					if left > 1 && d != 0 {
						visit(next, at, admitted, left-1)
					}
					continue
				}
				if wait != 0 {
					t.Fatalf("admitted at %s although the wait is %s", at, wait)
				}
				if all := append(admitted, at); bounded(t, all, gap, c.burst) && left > 1 {
					visit(r.next.Load(), at, all, left-1)
				}
			}
		}
		visit(-farthest, 0, make([]time.Duration, 0, depth), depth)
		t.Logf("%v/s, burst %d: %d edges", c.perSecond, c.burst, edges)
	}
}

// bounded checks every interval between the newest admission and another one.
func bounded(t *testing.T, all []time.Duration, gap time.Duration, burst int) bool {
	last := all[len(all)-1]
	for _, other := range all {
		from, to, n := min(other, last), max(other, last), 0
		for _, at := range all {
			if at >= from && at <= to {
				n++
			}
		}
		if time.Duration(n-burst)*gap > to-from {
			t.Fatalf("%d admitted within %s: %v", n, to-from, all)
		}
	}
	return true
}

// place is an Inflight as data; since is the time since the last decrease,
// at most shrinkEvery.
type place struct {
	count, bound, run int64
	since             time.Duration
}

// All states of small limits are reached, and every move is tried from each.
func TestEveryReachableInflightKeepsItsBound(t *testing.T) {
	states, edges := 0, 0
	now := time.Unix(1_700_000_000, 0)
	for _, most := range []int64{0, 1, 2, shrunkLeast, shrunkLeast + 1, 24, 40} {
		start := place{bound: most, since: shrinkEvery}
		seen, queue := map[place]bool{start: true}, []place{start}
		for ; len(queue) > 0; queue = queue[1:] {
			for name, move := range map[string]func(*Inflight) bool{
				"acquire": (*Inflight).Acquire, "release": (*Inflight).Release, "success": func(l *Inflight) bool { l.Success(); return true },
				"overload": func(l *Inflight) bool { l.Overload(now); return true }, "half a second": nil,
			} {
				edges++
				next, ok := queue[0].after(most, now, move)
				if what := queue[0].wrong(name, ok, next, most); what != "" {
					t.Fatalf("limit %d: %s of %+v gave %v, %+v: %s", most, name, queue[0], ok, next, what)
				}
				if !seen[next] && next.count <= max(most, 3) {
					seen[next] = true
					queue = append(queue, next)
				}
			}
		}
		states += len(seen)
	}
	t.Logf("%d states, %d edges, all that there are", states, edges)
}

// after makes a move from p; nil lets half a second pass.
func (p place) after(most int64, now time.Time, move func(*Inflight) bool) (place, bool) {
	if move == nil {
		p.since = min(p.since+shrinkEvery/2, shrinkEvery)
		return p, true
	}
	l := &Inflight{most: most}
	l.count.Store(p.count)
	l.bound.Store(p.bound)
	l.run.Store(p.run)
	l.shrunk.Store(now.Add(-p.since).UnixNano())
	ok := move(l)
	since := min(time.Duration(now.UnixNano()-l.shrunk.Load()), shrinkEvery)
	return place{l.count.Load(), l.bound.Load(), min(l.run.Load(), overloadRun), since}, ok
}

func (p place) wrong(name string, ok bool, next place, most int64) string {
	room := most == 0 || p.count < p.bound
	switch {
	case next.count < 0:
		return "less than nothing runs"
	case next.bound > most || next.bound < min(most, shrunkLeast):
		return "the bound is out of bounds"
	case name == "acquire" && (ok != room || ok && next.count != p.count+1 || !ok && next != p):
		return "a place was given or refused wrongly"
	case name == "release" && (ok != (p.count > 0) || ok && next.count != p.count-1 || !ok && next != p):
		return "a place came back wrongly"
	case name != "acquire" && name != "release" && next.count != p.count:
		return "the count moved"
	case next.bound < p.bound && (name != "overload" || p.run+1 < overloadRun || p.since < shrinkEvery || p.count < shrunkLeast):
		return "it shrank without cause"
	case next.bound > p.bound && (name != "success" || next.bound > p.bound+1) && name != "overload":
		return "it grew without cause"
	case name == "overload" && next.bound > p.bound:
		return "an overload made room"
	}
	return ""
}
