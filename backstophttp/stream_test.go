package backstophttp

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"backstop"
	"backstop/internal/testkit"
)

func TestHeadersThatGoEarlyNameNobodyAndTheLastChunkDoes(t *testing.T) {
	slow := func(p *backstop.Plan) {
		p.Upstreams[0].Timeouts.FirstToken = 12 * time.Second
		p.Upstreams[0].Breaker.Hang = false
		p.Routes[0].Stream.Keepalive = 5 * time.Second
	}
	for name, backup := range map[string]http.HandlerFunc{
		"a stream": answers(voiceB.tells("B")...),
		"a body":   body(200, plainBody("B")),
		"nobody":   body(503, `{"error":{"message":"down"}}`),
	} {
		for form, request := range map[string]string{"usage on": streamUsage, "usage off": stream} {
			in(t, setup{primary: answers("hang"), backup: backup, change: slow}, func(h *house) {
				p, ev := h.call(request)
				for _, header := range []string{"Tier", "Upstream", "Model", "Reason", "Attempts"} {
					if got := p.header.Get("X-Backstop-" + header); got != "" {
						t.Errorf("%s: X-Backstop-%s is %q before anybody answered", name, header, got)
					}
				}
				if p.header.Get("X-Request-Id") != "req_1" || p.first != 5*time.Second {
					t.Errorf("headers %v after %s", p.header, p.first)
				}
				g := understand(t, p.String())
				tier, text := "backup", "B"
				if name == "nobody" {
					tier, text = "local", "busy"
				}
				if g.text != text || !g.noted || g.note.Tier != tier || g.note.Rescued || g.note.Reason == "" || ev.Tier != tier {
					t.Errorf("%s, %s: %+v\n%s", name, form, g, p)
				}
				if request == stream && strings.Contains(p.String(), `"choices":[]`) {
					t.Errorf("%s: a chunk without a choice for a caller who asked for none: %s", name, p)
				}
			})
		}
	}
}

func TestMalformedEventsAreOnRecord(t *testing.T) {
	bad := "data: {\"oops\n\n"
	for form, request := range map[string]string{"stream": stream, "unary": unary} {
		in(t, setup{primary: answers(role, bad, token("a"), bad, finish("stop"), done)}, func(h *house) {
			if _, ev := h.call(request); ev.Outcome != backstop.OK || ev.Attempts[0].Outcome.Malformed != 2 {
				t.Errorf("%s: %+v", form, ev.Attempts)
			}
		})
	}
}

func TestASlowDripIsCutByItsContentBytes(t *testing.T) {
	drips := func(piece string) http.HandlerFunc {
		script := []string{voiceP.role()}
		for range 30 {
			script = append(script, piece, "wait:1s")
		}
		return answers(append(script, voiceP.end("stop"), done)...)
	}
	escaped := voiceP.delta(`{"content":"\u4e2d\u6587"}`, "null") // six bytes of text
	for name, c := range map[string]struct {
		piece string
		floor int
		cut   bool
	}{
		"below the floor":              {voiceP.say("123456"), 8, true},
		"above the floor":              {voiceP.say("123456"), 4, false},
		"off":                          {voiceP.say("1"), 0, false},
		"escapes count as their text":  {escaped, 8, true},
		"and as no less":               {escaped, 4, false},
		"reasoning counts":             {voiceP.think("123456"), 4, false},
		"comments and heads do not":    {": comment comment comment\n\n" + voiceP.say("1"), 2, true},
		"a long event without content": {voiceP.say("") + voiceP.say("1"), 2, true},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, setup{primary: drips(c.piece), change: func(p *backstop.Plan) {
				p.Upstreams[0].Timeouts.Drip = c.floor
				p.Routes[0].Tiers = p.Routes[0].Tiers[:1]
			}}, func(h *house) {
				began := time.Now()
				p, ev := h.call(stream)
				if cut := ev.Failure != nil; cut != c.cut || cut && (ev.Attempts[0].Outcome.Kind != backstop.KindDrip || time.Since(began) > 11*time.Second) {
					t.Errorf("after %s: %+v\n%s", time.Since(began), ev, p)
				}
			})
		})
	}
}

func TestGapsBetweenTokensAreReported(t *testing.T) {
	var mu sync.Mutex
	var gaps []string
	o := Options{Gap: func(upstream string, d time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		gaps = append(gaps, fmt.Sprint(upstream, " ", d))
	}}
	primary := answers(voiceP.role(), "wait:1s", voiceP.say("a"), "wait:2s", voiceP.say("b"), ": x\n\n", "wait:3s", voiceP.say("c"), voiceP.end("stop"), done)
	in(t, setup{primary: primary, options: o}, func(h *house) {
		h.call(stream)
		if got := strings.Join(gaps, ", "); got != "primary 2s, primary 3s, primary 0s" {
			t.Errorf("gaps %s", got)
		}
	})
}

// listener lets callers reach the driver through a connection in memory.
func (h *house) listener() (*testkit.Pipe, func()) {
	p := testkit.NewPipe()
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		h.d.Serve(r.Context(), w, &Call{Request: h.read(string(b)), ID: "req_1"})
	})}
	go func() { _ = srv.Serve(p) }()
	return p, func() { _ = srv.Close(); _ = p.Close() }
}

func TestAReaderThatReadsNothingHoldsTheUpstreamBackAndIsCut(t *testing.T) {
	var taken atomic.Int64
	var freed chan struct{}
	piece := []byte(voiceP.say(strings.Repeat("x", 64<<10)))
	primary := func(w http.ResponseWriter, r *http.Request) {
		defer close(freed)
		_, _ = io.WriteString(w, voiceP.role())
		for range 200 << 20 / len(piece) {
			n, err := w.Write(piece)
			if taken.Add(int64(n)); err != nil {
				return
			}
		}
	}
	in(t, setup{primary: primary, change: func(p *backstop.Plan) { p.Routes[0].Stream.Rescue = "off" }}, func(h *house) {
		freed = make(chan struct{})
		p, stop := h.listener()
		defer stop()
		conn, err := p.DialContext(context.Background(), "", "")
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = conn.Close() }()
		began := time.Now()
		_, _ = fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(stream), stream)
		<-freed
		if took := time.Since(began); took < writeLimit-time.Second || took > writeLimit+time.Second {
			t.Errorf("the upstream was freed after %s", took)
		}
		if n := taken.Load(); n > 1<<20 {
			t.Errorf("%d bytes were taken from the upstream", n)
		}
		synctest.Wait()
		if len(h.events) != 1 || h.events[0].Outcome != backstop.Canceled || h.events[0].Attempts[0].Outcome.Counts != backstop.CountsNone {
			t.Errorf("events %+v", h.events)
		}
	})
}

func TestEachEventLeavesWhenItComes(t *testing.T) {
	script := []string{voiceP.role()}
	for range 20 {
		script = append(script, "wait:200ms", voiceP.say("x"))
	}
	in(t, setup{primary: answers(append(script, voiceP.end("stop"), done)...)}, func(h *house) {
		p, stop := h.listener()
		defer stop()
		c := &http.Client{Transport: &http.Transport{DialContext: p.DialContext}}
		defer c.CloseIdleConnections()
		req, _ := http.NewRequest("POST", "http://x/", strings.NewReader(stream))
		req.Header.Set("Accept-Encoding", "gzip")
		began := time.Now()
		resp, err := c.Do(req)
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = resp.Body.Close() }()
		for name, want := range map[string]string{"Content-Type": "text/event-stream", "X-Accel-Buffering": "no", "Content-Encoding": "", "Content-Length": ""} {
			if got := resp.Header.Get(name); got != want {
				t.Errorf("%s is %q", name, got)
			}
		}
		if got := resp.Header.Get("Cache-Control"); !strings.Contains(got, "no-cache, no-transform") {
			t.Errorf("Cache-Control is %q", got)
		}
		b := make([]byte, 64<<10)
		for i := 1; i <= 20; i++ {
			if n, _ := resp.Body.Read(b); !strings.Contains(string(b[:n]), `"x"`) || time.Since(began) != time.Duration(i)*200*time.Millisecond {
				t.Errorf("token %d after %s: %s", i, time.Since(began), b[:n])
			}
		}
		_, _ = io.Copy(io.Discard, resp.Body)
	})
}

func TestACallerWhoLeavesDuringABackoffIsNotTriedFor(t *testing.T) {
	in(t, setup{primary: body(500, `{"error":{"message":"m"}}`), change: func(p *backstop.Plan) {
		p.Upstreams[0].Retry.Max, p.Upstreams[0].Retry.JitterMin, p.Upstreams[0].Retry.JitterMax = 1, 3*time.Second, 3*time.Second
		p.Routes[0].Tiers = p.Routes[0].Tiers[:1]
	}}, func(h *house) {
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(time.Second, cancel)
		began := time.Now()
		_, ev := h.serve(ctx, &Call{Request: h.read(stream), ID: "req_1"})
		if time.Since(began) != time.Second || h.saw("primary") != 1 || ev.Outcome != backstop.Canceled {
			t.Errorf("after %s, %d requests, %+v", time.Since(began), h.saw("primary"), ev)
		}
	})
}

func TestBlanksWithoutEndAreNoAnswer(t *testing.T) {
	for form, request := range map[string]string{"stream": stream, "unary": unary} {
		in(t, setup{primary: body(200, strings.Repeat(" \n", maxBlanks)), backup: answers(voiceB.tells("B")...)}, func(h *house) {
			p, ev := h.call(request)
			h.want(p, 200, "backup")
			if got := ev.Attempts[0].Outcome.Reason(); got != "garbled/empty" {
				t.Errorf("%s: %s", form, got)
			}
		})
	}
}

func TestAnErrorBehindTheFinishReasonChangesNothing(t *testing.T) {
	late := `data: {"error":{"message":"m","type":"server_error","code":"server_is_overloaded"}}` + "\n\n"
	for form, request := range map[string]string{"stream": stream, "unary": unary} {
		in(t, setup{primary: answers(append(voiceP.starts([]string{"a"}), voiceP.end("stop"), late)...), backup: answers(voiceB.tells("B")...)}, func(h *house) {
			p, ev := h.call(request)
			if ev.Outcome != backstop.OK || ev.Upstream != "primary" || request == stream && understand(t, p.String()).text != "a" {
				t.Errorf("%s: %+v\n%s", form, ev, p)
			}
		})
	}
}

// pausing is a caller who takes nothing for a while.
type pausing struct {
	*page
	writes int
}

func (p *pausing) Write(b []byte) (int, error) {
	if p.writes++; p.writes == 3 {
		time.Sleep(8 * time.Second)
	}
	return p.page.Write(b)
}

// What a caller did not take is not what its upstream did not send.
func TestACallerWhoPausesIsNoDrip(t *testing.T) {
	script := []string{voiceP.role()}
	for range 30 {
		script = append(script, voiceP.say("123456"), "wait:500ms")
	}
	primary := answers(append(script, voiceP.end("stop"), done)...)
	in(t, setup{primary: primary, change: func(p *backstop.Plan) { p.Upstreams[0].Timeouts.Drip = 8 }}, func(h *house) {
		p := &pausing{page: newPage()}
		ev := h.d.Serve(context.Background(), p, &Call{Request: h.read(stream), ID: "req_1", Caller: "web"})
		if ev.Outcome != backstop.OK || h.saw("backup") != 0 {
			t.Errorf("%+v\n%s", ev.Attempts, p)
		}
	})
}
