package sim

import (
	"runtime"
	"testing"
	"time"
)

// BenchmarkRun is what one simulated call costs, the start of a run included:
// an hour of 50 calls/s is 180,000 of them. Allocations are those of the
// engine, one for a call with one attempt; the simulator's own are used again.
func BenchmarkRun(b *testing.B) {
	for _, word := range []string{"ok", "hang"} {
		b.Run(word, func(b *testing.B) {
			s := outage(word)
			s.Duration = time.Hour
			calls := 0
			var from, to runtime.MemStats
			runtime.ReadMemStats(&from)
			for b.Loop() {
				r, err := Run(Pair(), s)
				if err != nil {
					b.Fatal(err)
				}
				calls += r.Calls
			}
			runtime.ReadMemStats(&to)
			n := float64(calls)
			b.ReportMetric(float64(b.Elapsed())/n, "ns/call")
			b.ReportMetric(float64(to.Mallocs-from.Mallocs)/n, "allocs/call")
			b.ReportMetric(float64(to.TotalAlloc-from.TotalAlloc)/n, "B/call")
		})
	}
}
