package server

import (
	"net/http"
	"time"
)

// smallTime is what a small body may take. An answer's time begins before the
// wait for a body that no handler has read, and must be longer.
const smallTime = writeTime / 2

// timed bounds the time of a handler's peers: net/http has no clock for a body,
// which it waits for even where no handler does, and none for an answer that
// nobody takes.
func timed(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rc := http.NewResponseController(w)
		if r.Body != http.NoBody {
			_ = rc.SetReadDeadline(time.Now().Add(smallTime))
		}
		h.ServeHTTP(&taken{w, rc}, r)
	})
}

// taken is a ResponseWriter whose writes have to be taken.
type taken struct {
	http.ResponseWriter
	rc *http.ResponseController
}

// Unwrap lets http.ResponseController reach the connection.
func (t *taken) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (t *taken) WriteHeader(status int) {
	t.limit()
	t.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (t *taken) Write(b []byte) (int, error) { return portioned(t.ResponseWriter, b) }

func (t *taken) limit() { _ = t.rc.SetWriteDeadline(time.Now().Add(writeTime)) }
