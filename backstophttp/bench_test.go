package backstophttp

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"backstop"
	"backstop/sse"
	"backstop/wire"
	"backstop/wire/openai"
)

// fronts are the ways to an upstream that are compared: none, a stock
// ReverseProxy, and this package.
func fronts(b *testing.B, upstream http.HandlerFunc, unary backstop.Unary) map[string]http.Handler {
	up := httptest.NewServer(upstream)
	b.Cleanup(up.Close)
	at, _ := url.Parse(up.URL)
	proxy := &httputil.ReverseProxy{
		ErrorLog:      log.New(io.Discard, "", 0),
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(at) },
		FlushInterval: -1,
		Transport:     &http.Transport{MaxIdleConnsPerHost: 1024, DisableCompression: true},
	}
	p := pair(func(p *backstop.Plan) {
		for i := range p.Upstreams {
			p.Upstreams[i].BaseURL, p.Upstreams[i].AllowPrivate, p.Upstreams[i].Unary = up.URL+"/v1", true, unary
			p.Upstreams[i].Limits = backstop.Limits{}
		}
	})
	d, err := NewDriver(p, Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = d.Close(context.Background()) })
	room := openai.Room{}
	return map[string]http.Handler{
		"direct": upstream, "reverseproxy": proxy,
		"backstop": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body := make([]byte, r.ContentLength)
			if _, err := io.ReadFull(r.Body, body); err != nil {
				b.Error(err)
			}
			q, f := room.Read(wire.Chat, body)
			if f != nil {
				b.Error(f)
			}
			d.Serve(r.Context(), w, &Call{Request: q, ID: "req_1", Caller: "bench", Header: r.Header})
		}),
	}
}

func prompt(stream string) []byte {
	return []byte(fmt.Sprintf(`{"model":"m",%s"messages":[{"role":"user","content":%q}]}`, stream, strings.Repeat("word ", 205)))
}

func BenchmarkUnaryPlain(b *testing.B) {
	answer := plainBody(strings.Repeat("word ", 150))
	up := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, answer)
	}
	through(b, fronts(b, up, backstop.UnaryPlain), prompt(""))
}

func BenchmarkStream100(b *testing.B) {
	event := token(strings.Repeat("x", 80))
	up := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		flush := w.(http.Flusher).Flush
		for range 100 {
			_, _ = io.WriteString(w, event)
			flush()
		}
		_, _ = io.WriteString(w, finish("stop")+done)
	}
	through(b, fronts(b, up, backstop.UnaryStream), prompt(`"stream":true,"stream_options":{"include_usage":true},`))
}

func through(b *testing.B, fronts map[string]http.Handler, request []byte) {
	for _, name := range []string{"direct", "reverseproxy", "backstop"} {
		b.Run(name, func(b *testing.B) {
			srv := httptest.NewServer(fronts[name])
			defer srv.Close()
			c := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1024, DisableCompression: true}}
			defer c.CloseIdleConnections()
			b.ReportAllocs()
			b.SetParallelism(16)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					resp, err := c.Post(srv.URL+"/v1/chat/completions", "application/json", bytes.NewReader(request))
					if err != nil {
						b.Error(err)
						return
					}
					_, _ = io.Copy(io.Discard, resp.Body)
					_ = resp.Body.Close()
				}
			})
		})
	}
}

// BenchmarkChunkLatency reports how long a token takes from the upstream's
// write to the caller's read, with 64 streams of 100 tokens a second, and how
// long the first one does from the caller's request.
func BenchmarkChunkLatency(b *testing.B) {
	const streams, tokens, every = 64, 200, 10 * time.Millisecond
	up := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		flush := w.(http.Flusher).Flush
		for range tokens {
			_, _ = io.WriteString(w, token(strconv.FormatInt(time.Now().UnixNano(), 10)))
			flush()
			time.Sleep(every)
		}
		_, _ = io.WriteString(w, finish("stop")+done)
	}
	all := fronts(b, up, backstop.UnaryStream)
	for _, name := range []string{"direct", "reverseproxy", "backstop"} {
		b.Run(name, func(b *testing.B) {
			srv := httptest.NewServer(all[name])
			defer srv.Close()
			c := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1024, DisableCompression: true}}
			defer c.CloseIdleConnections()
			for range b.N {
				var mu sync.Mutex
				var gaps, firsts []time.Duration
				var callers sync.WaitGroup
				for i := range streams {
					callers.Go(func() {
						time.Sleep(time.Duration(i) * every / streams)
						first, mine := listenTo(b, c, srv.URL)
						mu.Lock()
						defer mu.Unlock()
						gaps, firsts = append(gaps, mine...), append(firsts, first)
					})
				}
				callers.Wait()
				report(b, "chunk", gaps)
				report(b, "first", firsts)
			}
		})
	}
}

// listenTo reads a stream whose tokens are the times at which they were written.
func listenTo(b *testing.B, c *http.Client, url string) (first time.Duration, all []time.Duration) {
	began := time.Now()
	resp, err := c.Post(url+"/v1/chat/completions", "application/json", bytes.NewReader(prompt(`"stream":true,`)))
	if err != nil {
		b.Error(err)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	events := sse.NewReader(resp.Body, 0)
	for {
		ev, err := events.Next()
		if err != nil {
			return first, all
		}
		_, rest, _ := bytes.Cut(ev.Data, []byte(`"content":"`))
		text, _, _ := bytes.Cut(rest, []byte(`"`))
		if at, err := strconv.ParseInt(string(text), 10, 64); err == nil {
			if all = append(all, time.Since(time.Unix(0, at))); first == 0 {
				first = time.Since(began)
			}
		}
	}
}

func report(b *testing.B, what string, all []time.Duration) {
	slices.Sort(all)
	for _, p := range []int{50, 99} {
		b.ReportMetric(float64(all[len(all)*p/100])/1e3, fmt.Sprintf("%s-p%d-us", what, p))
	}
}

// BenchmarkIdleStreams reports the memory of one open stream that waits for
// its next token, both ends in one process; the direct figure is what the
// caller's and the upstream's ends cost.
func BenchmarkIdleStreams(b *testing.B) {
	event := token("x")
	hold := make(chan struct{})
	up := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, event)
		w.(http.Flusher).Flush()
		select {
		case <-hold:
		case <-r.Context().Done():
		}
	}
	all := fronts(b, up, backstop.UnaryStream)
	for _, name := range []string{"direct", "reverseproxy", "backstop"} {
		b.Run(name, func(b *testing.B) {
			srv := httptest.NewServer(all[name])
			defer srv.Close()
			const n = 500
			for range b.N {
				heap0, stack0 := memory()
				var open []*http.Response
				tr := &http.Transport{DisableCompression: true}
				for range n {
					resp, err := (&http.Client{Transport: tr}).Post(srv.URL+"/v1/chat/completions", "application/json", bytes.NewReader(prompt(`"stream":true,`)))
					if err != nil {
						b.Fatal(err)
					}
					_, _ = resp.Body.Read(make([]byte, len(event)))
					open = append(open, resp)
				}
				heap, stack := memory()
				b.ReportMetric(float64(heap-heap0)/n/1024, "heap-KiB/stream")
				b.ReportMetric(float64(stack-stack0)/n/1024, "stack-KiB/stream")
				for _, resp := range open {
					_ = resp.Body.Close()
				}
				tr.CloseIdleConnections()
			}
		})
	}
}

func memory() (heap, stack int64) {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse), int64(m.StackInuse)
}
