package sim

import (
	"testing"
	"time"
)

// BenchmarkRun reports calls per second of wall time.
func BenchmarkRun(b *testing.B) {
	for name, word := range map[string]string{"healthy": "ok", "hang": "hang"} {
		b.Run(name, func(b *testing.B) {
			s := outage(word)
			s.Duration = time.Hour
			b.ReportAllocs()
			calls := 0
			for b.Loop() {
				r, err := Run(Pair(), s)
				if err != nil {
					b.Fatal(err)
				}
				calls += r.Calls
			}
			b.ReportMetric(float64(calls)/b.Elapsed().Seconds(), "calls/s")
		})
	}
}
