package load

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// BenchmarkSustains500 shows the CPU that one call costs the generator and a
// trivial server together, at 500 calls a second.
func BenchmarkSustains500(b *testing.B) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = w.Write([]byte(`{"choices":[]}`))
	}))
	defer srv.Close()
	r, err := Run(b.Context(), Options{Rate: 500, Count: max(b.N, 2), URL: srv.URL, Timeout: 5 * time.Second,
		Body: func(int) []byte { return []byte(`{"prompt":"x"}`) }})
	if err != nil || r.Success() != 1 {
		b.Fatalf("%v %v", err, r.Errors())
	}
	l, lag := r.Latency(), r.Lag()
	b.ReportMetric(float64(l.P99.Microseconds()), "p99-us")
	b.ReportMetric(float64(lag.P99.Microseconds()), "lag-p99-us")
}
