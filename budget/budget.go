// Package budget bounds second tries at an upstream by its successes, so that
// retries cannot multiply the load on something that is already failing.
//
// Stability: stable.
package budget

import (
	"math"
	"sync/atomic"
)

// Cap is the most tokens a bucket holds, and what it starts with.
const Cap = 10

// Costs of a withdrawal: a retry after an attempt that ran into a time limit
// has already cost the upstream more than one that failed at once.
const (
	Cost             = 1
	CostAfterTimeout = 2
)

// unit is one token in fixed point. Millionths keep a ratio such as 0.1 exact,
// so a long run adds up to the token.
const unit = 1_000_000

// Bucket is a token bucket that only successes refill. All methods are
// lock-free and safe for concurrent use.
//
// At any time the tokens withdrawn are at most Cap + ratio x successes.
type Bucket struct {
	tokens  atomic.Int64 // in units
	deposit int64        // per success, in units
}

// New returns a full bucket that gains ratio tokens for each success: 0.1
// means that a tenth of the successes may be retried in the long run. A ratio
// above [Cap] counts as Cap; zero, a negative number or NaN make a bucket that
// is empty for ever, which turns retries off.
func New(ratio float64) *Bucket {
	b := &Bucket{}
	if !(ratio > 0) {
		return b
	}
	b.deposit = int64(math.Round(min(ratio, Cap) * unit))
	b.tokens.Store(Cap * unit)
	return b
}

// Deposit adds the share of one success.
func (b *Bucket) Deposit() {
	for {
		have := b.tokens.Load()
		// A full bucket is the normal state of a healthy upstream: no write,
		// so no cache line moves between cores.
		next := min(have+b.deposit, Cap*unit)
		if next == have || b.tokens.CompareAndSwap(have, next) {
			return
		}
	}
}

// Withdraw takes cost tokens and reports whether they were there; if not,
// nothing is taken. Withdraw before sleeping, so that calls which wait for
// their retry cannot all count on the same token. A cost below 1 is free.
func (b *Bucket) Withdraw(cost int) bool {
	if cost < 1 {
		return true
	}
	if cost > Cap {
		return false
	}
	for {
		have := b.tokens.Load()
		next := have - int64(cost)*unit
		if next < 0 {
			return false
		}
		if b.tokens.CompareAndSwap(have, next) {
			return true
		}
	}
}

// Refund gives back what a withdrawal took for something that was not done
// after all.
func (b *Bucket) Refund(cost int) {
	for {
		have := b.tokens.Load()
		next := min(have+int64(max(cost, 0))*unit, Cap*unit)
		if next <= have || b.tokens.CompareAndSwap(have, next) {
			return
		}
	}
}

// Remaining is the number of tokens in the bucket, between 0 and [Cap].
func (b *Bucket) Remaining() float64 { return float64(b.tokens.Load()) / unit }
