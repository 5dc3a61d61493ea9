package server

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"testing"

	"backstop"
	"backstop/backstophttp"
	"backstop/wire"
)

// BenchmarkCall is the server's own share of a call: door, headers, body. The
// room, the driver and the socket are not in it.
func BenchmarkCall(b *testing.B) {
	s := New(Options{Rooms: map[backstop.Dialect]Room{backstop.OpenAI: quickRoom{}}, Log: slog.New(slog.DiscardHandler)})
	s.Swap(&Plane{Plan: testPlan(), Runner: quickRunner{}, Callers: testCallers()})
	body := []byte(padded(1 << 10))
	req, _ := http.NewRequest("POST", "http://localhost/v1/chat/completions", nil)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+webKey)
	req.Header.Set("User-Agent", "OpenAI/JS 7.59.0")
	req.ContentLength = int64(len(body))
	from := bytes.NewReader(body)
	req.Body = io.NopCloser(from)
	w := newRecorder()
	b.ReportAllocs()
	for b.Loop() {
		from.Reset(body)
		clear(w.header)
		s.ServeHTTP(w, req)
	}
}

func BenchmarkFramingScan(b *testing.B) {
	in := []byte(okHead + "User-Agent: OpenAI/JS\r\nAuthorization: Bearer x\r\nAccept: application/json\r\n" + sized(padded(1<<10)))
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	var f framing
	for b.Loop() {
		for rest := in; len(rest) > 0; {
			n, _ := f.pass(rest)
			rest = rest[n:]
		}
	}
}

// quickRoom and quickRunner do nothing, so that only the server is measured.
type (
	quickRoom   struct{ room }
	quickRunner struct{}
)

func (quickRoom) Read(_ wire.Op, body []byte) (*wire.Request, *backstop.Failure) {
	return &wire.Request{Model: "gpt-4o", Body: body}, nil
}

func (quickRunner) Serve(context.Context, http.ResponseWriter, *backstophttp.Call) *backstop.Event {
	return nil
}
