//go:build unix

package backstophttp

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"backstop"
	"backstop/wire"
)

// BenchmarkDialects compares the cost of a call whose upstream speaks another
// dialect with that of one whose upstream speaks the caller's, both ends in one
// process: 1 KiB asked and 1 KiB answered, as one body and as a stream of 20
// pieces.
func BenchmarkDialects(b *testing.B) {
	pieces := make([]string, 20)
	for i := range pieces {
		pieces[i] = strings.Repeat("word ", 10)
	}
	for _, form := range []string{"unary", "stream"} {
		for _, from := range []backstop.Dialect{backstop.OpenAI, backstop.Anthropic, backstop.Gemini, backstop.Responses} {
			for _, to := range []backstop.Dialect{backstop.OpenAI, backstop.Anthropic, backstop.Gemini, backstop.Responses} {
				if to == backstop.Responses && from != to {
					continue
				}
				b.Run(form+"/"+string(from)+"-"+string(to), func(b *testing.B) {
					up, caller := fixtureOf(to), fixtureOf(from)
					answer := up.plain(up.tells(pieces...))
					if form == "stream" {
						answer = strings.Join(up.tells(pieces...), "")
					}
					p := question(form == "stream")
					p.Turns[0].Parts[0].Text = strings.Repeat("word ", 205)
					across(b, caller, up, caller.asks(b, p), answer)
				})
			}
		}
	}
}

func across(b *testing.B, caller, up fixture, request *wire.Request, answer string) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, answer)
	}))
	defer upstream.Close()
	plan := pair(func(p *backstop.Plan) {
		speak(up, up)(p)
		p.Upstreams[0].BaseURL, p.Upstreams[0].AllowPrivate = upstream.URL+"/v1", true
		if !request.Stream {
			p.Upstreams[0].Unary = backstop.UnaryPlain
		}
	})
	d, err := NewDriver(plan, Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = d.Close(b.Context()) }()
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		q, f := caller.room.Read(request.Op, body)
		if f != nil {
			b.Error(f)
			return
		}
		q.Model, q.Stream = "m", request.Stream
		d.Serve(r.Context(), w, &Call{Request: q, ID: "req_1", Caller: "bench", Header: r.Header})
	}))
	defer front.Close()
	c := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1024, DisableCompression: true}}
	defer c.CloseIdleConnections()
	b.ReportAllocs()
	b.SetParallelism(16)
	began := spentCPU(b)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			resp, err := c.Post(front.URL, "application/json", bytes.NewReader(request.Body))
			if err != nil {
				b.Error(err)
				return
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			if _ = resp.Body.Close(); resp.StatusCode != http.StatusOK || resp.Header.Get("X-Backstop-Tier") != "primary" {
				b.Errorf("%d %v", resp.StatusCode, resp.Header)
			}
		}
	})
	b.ReportMetric(float64((spentCPU(b)-began).Microseconds())/float64(b.N), "cpu-us/op")
}

// spentCPU is the process's CPU time: a machine with other work to do does not
// change it much.
func spentCPU(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
