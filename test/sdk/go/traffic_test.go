package sdk

import (
	"bytes"
	"io"
	"net/http"
	"sync"
)

// traffic is what an SDK really sends: it counts requests and keeps what came
// back. It is the transport of one test.
type traffic struct {
	base    http.RoundTripper
	mu      sync.Mutex
	answers []seen
	// kept is called for a piece of an answer that holds a keep-alive.
	kept func()
}

// seen is one answer of the gateway.
type seen struct {
	status int
	header http.Header
}

func (t *traffic) RoundTrip(req *http.Request) (*http.Response, error) {
	answer, err := t.base.RoundTrip(req)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil {
		t.answers = append(t.answers, seen{})
		return nil, err
	}
	t.answers = append(t.answers, seen{status: answer.StatusCode, header: answer.Header})
	if t.kept != nil {
		answer.Body = &listened{ReadCloser: answer.Body, kept: t.kept}
	}
	return answer, nil
}

// all returns the answers so far.
func (t *traffic) all() []seen {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]seen(nil), t.answers...)
}

// listened is a body that is searched for keep-alives as it is read.
type listened struct {
	io.ReadCloser
	kept func()
}

func (l *listened) Read(b []byte) (int, error) {
	n, err := l.ReadCloser.Read(b)
	if piece := b[:n]; n > 0 && (bytes.Contains(piece, []byte(": keep-alive")) || blank(piece)) {
		l.kept()
	}
	return n, err
}

// blank reports whether a piece holds an empty event: more line ends than one
// event has.
func blank(piece []byte) bool {
	return len(bytes.TrimSpace(piece)) == 0 || bytes.Contains(piece, []byte("\n\n\n")) || bytes.Contains(piece, []byte("\r\n\r\n\r\n\r\n"))
}
