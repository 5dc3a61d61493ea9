package mock_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"backstop/mock"
)

// sink is a writer without a recorder's cost.
type sink struct{ h http.Header }

func (s *sink) Header() http.Header         { return s.h }
func (s *sink) Write(b []byte) (int, error) { return len(b), nil }
func (s *sink) WriteHeader(int)             {}
func (s *sink) Flush()                      {}

// BenchmarkHealthyAnswer is what one attempt costs the mock, network apart:
// it must not be what a load test measures.
func BenchmarkHealthyAnswer(b *testing.B) {
	for name, stream := range map[string]bool{"plain": false, "stream": true} {
		b.Run(name, func(b *testing.B) {
			m := mock.New(mock.Options{})
			body := chatBody("ok", stream, "")
			b.ReportAllocs()
			for b.Loop() {
				r := httptest.NewRequest("POST", "/v1/chat/completions", io.NopCloser(strings.NewReader(body)))
				m.ServeHTTP(&sink{h: http.Header{}}, r)
			}
		})
	}
}
