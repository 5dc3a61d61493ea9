package limit

import "sync/atomic"

// Inflight bounds how many attempts run at the same time. All methods are
// lock-free and safe for concurrent use.
type Inflight struct {
	count atomic.Int64
	most  int64 // 0 = unlimited
}

// NewInflight returns a limit of most attempts at a time; 0 or less is no
// limit, and then attempts are only counted.
func NewInflight(most int) *Inflight { return &Inflight{most: int64(max(most, 0))} }

// Acquire takes a place and reports whether there was one. Each true is
// followed by exactly one [Inflight.Release].
func (l *Inflight) Acquire() bool {
	for {
		n := l.count.Load()
		if l.most > 0 && n >= l.most {
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
