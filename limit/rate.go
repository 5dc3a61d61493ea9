// Package limit bounds how much may be asked of an upstream: attempts per
// second and attempts at the same time. What exceeds a limit is refused at
// once; nothing here queues or sleeps.
//
// Stability: stable.
package limit

import (
	"math"
	"sync/atomic"
	"time"
)

// farthest bounds every time and tolerance inside a Rate, so that their sums
// cannot overflow. It is about 73 years of nanoseconds.
const farthest = int64(1) << 61

// Rate admits a number of attempts per second with a burst. It is the generic
// cell rate algorithm (ITU-T I.371) in one word: the theoretical arrival time
// of the next attempt. All methods are lock-free and safe for concurrent use,
// also when their times arrive out of order.
//
// In any interval of t seconds at most perSecond x t + burst attempts are
// admitted.
type Rate struct {
	next  atomic.Int64 // theoretical arrival time, ns since epoch
	gap   int64        // ns per attempt; 0 = no limit
	slack int64        // how far next may run ahead of now, gap x burst
	epoch time.Time
}

// NewRate returns a limit with its whole burst available. Times are counted
// from epoch, which should carry a monotonic reading as time.Now does; steps
// of the wall clock then change nothing.
//
// perSecond of 0 (or less, or NaN) is no limit. A burst below 1 counts as 1:
// without it nothing would ever be admitted.
func NewRate(perSecond float64, burst int, epoch time.Time) *Rate {
	r := &Rate{epoch: epoch}
	r.next.Store(-farthest)
	if !(perSecond > 0) || math.IsInf(perSecond, 1) {
		return r
	}
	// Rounded up: a limit may be a nanosecond too strict, never too lax.
	r.gap = farthest
	if ns := math.Ceil(float64(time.Second) / perSecond); ns < float64(farthest) {
		r.gap = int64(ns)
	}
	r.slack = r.gap * min(int64(max(burst, 1)), farthest/r.gap)
	return r
}

// Allow takes one attempt at now and reports whether it is within the limit;
// if not, nothing is taken.
func (r *Rate) Allow(now time.Time) bool {
	if r.gap == 0 {
		return true
	}
	at := r.since(now)
	for {
		next := r.next.Load()
		after := max(next, at) + r.gap
		if after-at > r.slack {
			return false
		}
		if r.next.CompareAndSwap(next, after) {
			return true
		}
	}
}

// Refund gives one attempt back that Allow took and that was not made after
// all. Never call it otherwise: it would let one more through than the limit.
func (r *Rate) Refund() {
	if r.gap > 0 {
		r.next.Add(-r.gap)
	}
}

// Wait is how long after now the next attempt would be within the limit, 0 =
// it is now. Asking takes nothing and reserves nothing.
func (r *Rate) Wait(now time.Time) time.Duration {
	if r.gap == 0 {
		return 0
	}
	return time.Duration(max(r.next.Load()+r.gap-r.slack-r.since(now), 0))
}

func (r *Rate) since(now time.Time) int64 {
	return min(max(int64(now.Sub(r.epoch)), -farthest), farthest)
}
