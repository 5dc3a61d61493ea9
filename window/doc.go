// Package window counts and ranks what happened lately: [Rate] keeps good and
// bad outcomes of the last window, [Quantile] a high quantile of durations.
// Both are plain values of fixed size: copying one copies its memory, nothing
// is allocated after the start, and nobody but the caller knows the time.
//
// Times are durations since an epoch that the caller chooses and never
// changes. A time before the newest one seen counts as the newest, so callers
// that race for a lock need not sort themselves.
//
// Neither type may be used by two goroutines at once.
//
// Stability: experimental until v1.
package window
