package limit

import (
	"sync/atomic"
	"time"
)

// Inflight bounds how many attempts run at the same time. The bound gives way
// to overload: it shrinks when the other side says so several times in a row
// and grows back with successes (AIMD: additive increase, multiplicative
// decrease). All methods are lock-free and safe for concurrent use.
type Inflight struct {
	count  atomic.Int64
	most   int64        // configured, 0 = unlimited and not adaptive
	bound  atomic.Int64 // in force, shrunkLeast..most
	run    atomic.Int64 // overload answers in a row
	shrunk atomic.Int64 // time of the last decrease, Unix nanoseconds
}

const (
	// overloadRun answers in a row are more than noise: at 5 % of overload
	// answers three in a row come once in 8,000.
	overloadRun = 3
	// shrinkEvery is the least time between two decreases: what the first one
	// did must show before the next.
	shrinkEvery = time.Second
	shrinkTo    = 0.7
	// shrunkLeast in flight are too few to be the cause of an overload.
	shrunkLeast = 16
)

// NewInflight returns a limit of most attempts at a time; 0 or less is no
// limit, and then attempts are only counted.
func NewInflight(most int) *Inflight {
	l := &Inflight{most: int64(max(most, 0))}
	l.bound.Store(l.most)
	return l
}

// Acquire takes a place and reports whether there was one. Each true is
// followed by exactly one [Inflight.Release].
func (l *Inflight) Acquire() bool {
	for {
		n := l.count.Load()
		if l.most > 0 && n >= l.bound.Load() {
			return false
		}
		if l.count.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// Release gives a place back. It reports false, and changes nothing, when no
// place was taken: a release too many is a bug of its caller, and must not
// let more attempts in than the limit says.
func (l *Inflight) Release() bool {
	for {
		n := l.count.Load()
		if n <= 0 {
			return false
		}
		if l.count.CompareAndSwap(n, n-1) {
			return true
		}
	}
}

// Count is the number of places taken.
func (l *Inflight) Count() int { return int(l.count.Load()) }

// Overload reports an answer at now that says that the other side is
// overloaded. The third in a row shrinks the bound to 0.7 of what is in
// flight, at most once a second and never below sixteen: with fewer under way
// their number cannot be the cause.
func (l *Inflight) Overload(now time.Time) {
	if l.most == 0 || l.run.Add(1) < overloadRun {
		return
	}
	last, at := l.shrunk.Load(), now.UnixNano()
	if at-last < int64(shrinkEvery) || !l.shrunk.CompareAndSwap(last, at) {
		return
	}
	if l.count.Load() < shrunkLeast {
		return
	}
	to := int64(shrinkTo * float64(min(l.bound.Load(), l.count.Load())))
	l.bound.Store(max(to, min(shrunkLeast, l.most)))
}

// Success reports a good answer: it ends a run of overload answers and, if at
// least half of the places are taken, adds one.
func (l *Inflight) Success() {
	if l.most == 0 {
		return
	}
	l.run.Store(0)
	if b := l.bound.Load(); b < l.most && 2*l.count.Load() >= b {
		l.bound.CompareAndSwap(b, b+1)
	}
}

// Bound is the limit in force, 0 = unlimited.
func (l *Inflight) Bound() int { return int(l.bound.Load()) }
