package load

import (
	"math"
	"time"
)

// Facts are what the checks look at. Fields of checks that are not made may
// stay empty.
type Facts struct {
	Cold Samples // the run from a cold start, the primary broken from its first call
	Open Samples // calls while the breaker is open

	// OpenAttempts are the requests that the broken upstream saw while its
	// breaker was open, Probes those of them that were background probes. Both
	// are -1 when not measured.
	OpenAttempts, Probes int

	Before, After Footprint // of the process, idle
	Slack         int       // goroutines and sockets that may be left over
}

// coldCalls is how many calls the cold-start numbers are about: ten seconds
// at 50 a second.
const coldCalls = 500

// ArticleCold is the article's test: the primary hangs for everybody from the
// first call on, nothing is known yet. Numbers are about the first 500 calls.
var ArticleCold = []Check{
	{What: "cold start: answered with HTTP 200", Op: ">=", Want: 1, Unit: Share, Got: func(f *Facts) float64 { return success(f.Cold) }},
	{What: "first 500 calls: slower than 4 s", Op: "<=", Want: 25, Unit: Count, Got: coldSlower(4 * time.Second)},
	{What: "first 500 calls: slower than 2.5 s", Op: "<=", Want: 125, Unit: Count, Got: coldSlower(2500 * time.Millisecond)},
	{What: "first 500 calls: attempts per call", Op: "<=", Want: 1.35, Unit: Ratio, Got: func(f *Facts) float64 { return f.Cold.First(coldCalls).MeanAttempts() }},
	{What: "cold start: p99 (shows the detection)", Unit: Seconds, Got: func(f *Facts) float64 { return p99(f.Cold) }},
}

// ArticleOpen is what holds once the breaker is open.
var ArticleOpen = []Check{
	{What: "open: answered with HTTP 200", Op: ">=", Want: 1, Unit: Share, Got: func(f *Facts) float64 { return success(f.Open) }},
	{What: "open: p99", Op: "<", Want: 0.020, Unit: Seconds, Got: func(f *Facts) float64 { return p99(f.Open) }},
	{What: "open: attempts per call", Op: "<=", Want: 1.01, Unit: Ratio, Got: func(f *Facts) float64 { return f.Open.MeanAttempts() }},
	{What: "open: degraded (answered by the local tier)", Unit: Share, Got: func(f *Facts) float64 { return f.Open.Tier("local") }},
}

// DeadPair is what holds when both upstreams are dead: the local tier answers
// everybody.
var DeadPair = []Check{
	{What: "both dead: answered with HTTP 200", Op: ">=", Want: 1, Unit: Share, Got: func(f *Facts) float64 { return success(f.Open) }},
	{What: "both dead: answered by the local tier", Op: ">=", Want: 1, Unit: Share, Got: func(f *Facts) float64 { return f.Open.Tier("local") }},
}

// OnlyProbes is what a broken upstream may see while its breaker is open.
var OnlyProbes = []Check{
	{What: "calls to the open upstream, probes apart", Op: "<=", Want: 0, Unit: Count, Got: func(f *Facts) float64 {
		if f.OpenAttempts < 0 || f.Probes < 0 {
			return math.NaN()
		}
		return float64(f.OpenAttempts - f.Probes)
	}},
}

// Aftermath is what must be left of a run: nothing. See [Settle].
var Aftermath = []Check{
	{What: "afterwards: sockets in CLOSE_WAIT", Op: "<=", Want: 0, Unit: Count, Optional: true, Got: func(f *Facts) float64 { return measured(f.After.CloseWait) }},
	{What: "afterwards: sockets above the start", Op: "<=", Want: 0, Unit: Count, Optional: true, Got: func(f *Facts) float64 {
		return left(f.Before.Sockets, f.After.Sockets, f.Slack)
	}},
	{What: "afterwards: goroutines above the start", Op: "<=", Want: 0, Unit: Count, Got: func(f *Facts) float64 {
		return left(f.Before.Goroutines, f.After.Goroutines, f.Slack)
	}},
}

// success is the share of HTTP 200 with a whole answer; no calls prove nothing.
func success(l Samples) float64 {
	if len(l) == 0 {
		return math.NaN()
	}
	return l.Success()
}

func p99(l Samples) float64 {
	if len(l) == 0 {
		return math.NaN()
	}
	return l.Latency().P99.Seconds()
}

// coldSlower counts the slow ones among the first 500 calls; fewer calls
// would pass too easily and count as not measured.
func coldSlower(d time.Duration) func(*Facts) float64 {
	return func(f *Facts) float64 {
		if len(f.Cold) < coldCalls {
			return math.NaN()
		}
		return float64(f.Cold.First(coldCalls).Slower(d))
	}
}

func measured(n int) float64 {
	if n < 0 {
		return math.NaN()
	}
	return float64(n)
}

// left is what is above the start, less the slack, never below 0.
func left(before, after, slack int) float64 {
	if before < 0 || after < 0 {
		return math.NaN()
	}
	return float64(max(0, after-before-slack))
}
