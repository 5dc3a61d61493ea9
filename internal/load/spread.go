package load

import (
	"math"
	"slices"
	"time"
)

// Spread is the distribution of some times. Quantiles are exact: the smallest
// time that at least that share of the calls does not exceed (nearest rank).
type Spread struct {
	N                                   int
	Mean, P50, P90, P99, P999, Min, Max time.Duration
}

// Latency is the spread of whole calls, failed ones included.
func (l Samples) Latency() Spread {
	return l.spread(func(s *Sample) time.Duration { return s.Latency })
}

// FirstToken is the spread of the times to the first token, over the calls
// that had one.
func (l Samples) FirstToken() Spread {
	return l.spread(func(s *Sample) time.Duration { return s.FirstToken })
}

// Lag is the spread of the generator's own lateness. If its p99 is not far
// below the latencies, the machine was too busy to measure them.
func (l Samples) Lag() Spread {
	return l.spread(func(s *Sample) time.Duration { return max(s.Lag, 1) })
}

// spread leaves out the zero times: those that never came.
func (l Samples) spread(of func(*Sample) time.Duration) Spread {
	times := make([]time.Duration, 0, len(l))
	sum := 0.0
	for i := range l {
		if t := of(&l[i]); t > 0 {
			times = append(times, t)
			sum += float64(t)
		}
	}
	n := len(times)
	if n == 0 {
		return Spread{}
	}
	slices.Sort(times)
	rank := func(q float64) time.Duration { return times[max(0, int(math.Ceil(q*float64(n)))-1)] }
	return Spread{
		N: n, Mean: time.Duration(sum / float64(n)), Min: times[0], Max: times[n-1],
		P50: rank(0.5), P90: rank(0.9), P99: rank(0.99), P999: rank(0.999),
	}
}
