// Package backoff says how long to wait before a second try at the same
// upstream. There is no wait before a different upstream.
//
// Stability: stable.
package backoff

import (
	"math/bits"
	"time"
)

// Base is the width of the random part for the first retry; it doubles with
// each further one up to [Most].
const Base = 250 * time.Millisecond

// Most bounds the random part, however many retries came before.
const Most = 2 * time.Second

// Delay is the larger of two draws: one evenly from jitterMin..jitterMax (the
// floor that an operator sets, both ends included) and one evenly from
// 0..min(Most, Base x 2^n), the "full jitter" that spreads the retries of a
// storm best (Brooker, "Exponential Backoff And Jitter", 2015).
//
// n counts the retries already made at this upstream: 0 before the first.
// Negative durations and a negative n count as 0; a jitterMax below jitterMin
// counts as jitterMin. So the result lies in
// [jitterMin, max(jitterMax, Most)].
//
// rnd yields uniform 64-bit numbers; Delay asks it exactly twice, so a seeded
// source gives the same waits in every replay. Delay itself has no state.
func Delay(jitterMin, jitterMax time.Duration, n int, rnd func() uint64) time.Duration {
	jitterMin = max(jitterMin, 0)
	floor := jitterMin + below(max(jitterMax-jitterMin, 0), rnd())
	return max(floor, below(width(n), rnd()))
}

// width is min(Most, Base x 2^n) without overflow for any n.
func width(n int) time.Duration {
	w := Base
	for ; n > 0 && w < Most; n-- {
		w *= 2
	}
	return min(w, Most)
}

// below maps a uniform number onto 0..w, both ends included (Lemire's
// multiply-shift; its bias is below 2^-31 for waits of seconds).
func below(w time.Duration, random uint64) time.Duration {
	hi, _ := bits.Mul64(random, uint64(w)+1)
	return time.Duration(hi)
}
