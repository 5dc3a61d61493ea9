package backstophttp

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"backstop"
)

func TestAHealthyStreamPassesByteForByte(t *testing.T) {
	in(t, setup{primary: answers(good("hello")...), backup: answers(good("B")...)}, func(h *house) {
		p, ev := h.call(stream)
		h.want(p, 200, "primary")
		if got, want := p.String(), strings.Join(good("hello"), ""); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
		if ct := p.header.Get("Content-Type"); ct != "text/event-stream" {
			t.Errorf("content type %q", ct)
		}
		if ev.Outcome != backstop.OK || !ev.Committed || ev.Calls() != 1 || ev.Status != 200 || ev.Op != "chat" || ev.Reason != "" {
			t.Errorf("event %+v", ev)
		}
	})
}

func TestAPlainBodyPassesByteForByte(t *testing.T) {
	in(t, setup{primary: body(200, plainBody("hello")), change: func(p *backstop.Plan) { p.Upstreams[0].Unary = backstop.UnaryPlain }}, func(h *house) {
		p, ev := h.call(unary)
		h.want(p, 200, "primary")
		if p.String() != plainBody("hello") {
			t.Errorf("got %q", p)
		}
		if strings.Contains(h.bodies["primary"], "stream") {
			t.Errorf("sent %q", h.bodies["primary"])
		}
		if ev.InputTokens != 10 || ev.OutputTokens != 5 || p.header.Get("Content-Type") != "application/json" || p.header.Get("X-Backstop-Attempts") != "1" {
			t.Errorf("event %+v, headers %v", ev, p.header)
		}
	})
}

func TestAUnaryCallIsAskedAsAStreamAndPutTogether(t *testing.T) {
	in(t, setup{primary: answers(role, token("he"), "wait:1s", token("llo"), finish("stop"), done)}, func(h *house) {
		p, ev := h.call(unary)
		h.want(p, 200, "primary")
		if text, reason, ok := h.d.options.Rooms[backstop.OpenAI].Content([]byte(p.String())); text != "hello" || reason != "stop" || !ok {
			t.Errorf("got %q", p)
		}
		if !strings.Contains(h.bodies["primary"], `"stream":true`) || ev.Stream || ev.FirstToken > time.Second {
			t.Errorf("sent %q, event %+v", h.bodies["primary"], ev)
		}
	})
}

func TestSilenceGoesToTheBackup(t *testing.T) {
	silences := map[string]http.HandlerFunc{
		"before the headers":  func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"after the headers":   answers(": \n", "hang"),
		"after the role":      answers(role, "hang"),
		"behind comments":     answers(role, ": ping\n\n", "wait:2s", ": ping\n\n", "wait:2s", ": ping\n\n", "hang"),
		"behind blank lines":  answers("\n", "wait:1s", "\n", "wait:1s", "\n", "hang"),
		"behind empty deltas": answers(role, token(""), "wait:3s", token(""), "wait:3s", token("late"), "hang"),
	}
	for name, primary := range silences {
		for form, request := range map[string]string{"stream": stream, "unary": unary} {
			t.Run(name+", "+form, func(t *testing.T) {
				in(t, setup{primary: primary, backup: answers(good("B")...)}, func(h *house) {
					began := time.Now()
					p, ev := h.call(request)
					h.want(p, 200, "backup")
					if took := time.Since(began); took < 4*time.Second || took > 4600*time.Millisecond {
						t.Errorf("took %s", took)
					}
					if p.first < 4*time.Second {
						t.Errorf("the status was sent after %s", p.first)
					}
					if strings.Contains(p.String(), "late") || ev.Calls() != 2 || ev.Attempts[0].Outcome.Reason() != "hang/first_token" || p.header.Get("X-Backstop-Reason") != "hang" {
						t.Errorf("event %+v, headers %v, body %s", ev, p.header, p)
					}
				})
			})
		}
	}
}

func TestAStreamThatForgetsItsLastBlankLineGetsThatAndNoOther(t *testing.T) {
	last := strings.TrimRight(finish("stop"), "\n")
	for _, end := range []string{"", "\n", "\r", "\r\n"} {
		in(t, setup{primary: answers(role, token("a"), last+end)}, func(h *house) {
			p, _ := h.call(stream)
			if want := role + token("a") + last + "\n\n"; !strings.HasPrefix(p.String(), want) || !strings.HasSuffix(p.String(), done) || strings.Contains(p.String(), "\n\n\n") || strings.Contains(p.String(), "\r") {
				t.Errorf("after %q the caller got %q, want %q", end, p.String(), want)
			}
		})
	}
}

func TestFailuresBeforeTheFirstTokenGoToTheBackupAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		primary http.HandlerFunc
		outcome string
	}{
		"refused connection": {nil, "broken/dial"},
		"429":                {body(429, `{"error":{"type":"rate_limit_error","code":"rate_limit_exceeded","message":"m"}}`, "Retry-After", "60"), "limited/rate"},
		"503":                {body(503, `{"error":{"message":"down","type":"server_error"}}`), "broken"},
		"reset":              {answers("fin"), "broken/reset"},
		"cut after the role": {answers(role, "fin"), "broken/reset"},
		"error in 200":       {answers(role, `data: {"error":{"message":"busy","type":"server_error","code":"server_is_overloaded"}}`+"\n\n"), "broken"},
		"html":               {body(200, "<!DOCTYPE html><html></html>", "Content-Type", "text/html"), "garbled/html"},
		"empty stream":       {answers(": keep-alive\n\n", done), "garbled"},
		"no byte":            {body(200, ""), "garbled/empty"},
	} {
		for form, request := range map[string]string{"stream": stream, "unary": unary} {
			t.Run(name+", "+form, func(t *testing.T) {
				in(t, setup{primary: c.primary, backup: answers(good("B")...)}, func(h *house) {
					began := time.Now()
					p, ev := h.call(request)
					h.want(p, 200, "backup")
					if !strings.HasPrefix(ev.Attempts[0].Outcome.Reason(), c.outcome) || ev.Calls() != 2 || time.Since(began) > 100*time.Millisecond {
						t.Errorf("outcome %s, %d attempts, %s", ev.Attempts[0].Outcome.Reason(), ev.Calls(), time.Since(began))
					}
				})
			})
		}
	}
}

func TestAfterTheCommitAnErrorIsOneFrameAndNoCleanEnd(t *testing.T) {
	for name, c := range map[string]struct {
		script []string
		code   string
		after  time.Duration
	}{
		"cut":                {[]string{role, token("a"), token("b"), "fin"}, "stream_incomplete", 0},
		"clean end too soon": {[]string{role, token("a"), token("b")}, "stream_incomplete", 0},
		"stall":              {[]string{role, token("a"), token("b"), "hang"}, "stream_stalled", 10 * time.Second},
		"comments only":      {[]string{role, token("a"), token("b"), ": x\n\n", "wait:4s", ": x\n\n", "wait:4s", ": x\n\n", "hang"}, "stream_stalled", 10 * time.Second},
		"error event":        {[]string{role, token("a"), token("b"), `data: {"error":{"message":"m","type":"server_error","code":"server_is_overloaded"}}` + "\n\n"}, "upstream_unavailable", 0},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, setup{primary: answers(c.script...), backup: answers(good("B")...), change: rescue("off")}, func(h *house) {
				began := time.Now()
				p, ev := h.call(stream)
				if textOf(p.String()) != "ab" || !strings.Contains(p.String(), `"code":"`+c.code+`"`) || strings.Contains(p.String(), "[DONE]") || strings.Contains(p.String(), `"stop"`) {
					t.Errorf("got %s", p)
				}
				if took := time.Since(began); took < c.after || took > c.after+100*time.Millisecond {
					t.Errorf("took %s", took)
				}
				if h.saw("backup") != 0 || !ev.Committed || ev.Failure == nil || ev.Status != 200 {
					t.Errorf("event %+v, backup saw %d", ev, h.saw("backup"))
				}
			})
		})
	}
}

func TestAStreamThatProgressesIsNeverCut(t *testing.T) {
	script := []string{role}
	for range 120 {
		script = append(script, token("x"), "wait:9s")
	}
	script = append(script, finish("stop"), done)
	in(t, setup{primary: answers(script...)}, func(h *house) {
		p, ev := h.call(stream)
		h.want(p, 200, "primary")
		if textOf(p.String()) != strings.Repeat("x", 120) || !strings.HasSuffix(p.String(), done) || ev.Outcome != backstop.OK {
			t.Errorf("event %+v", ev)
		}
		if n := strings.Count(p.String(), ": keep-alive"); n != 0 {
			t.Errorf("%d keep-alives although every gap was shorter", n)
		}
	})
}

func TestACompleteStreamThatStaysOpenIsASuccess(t *testing.T) {
	for form, request := range map[string]string{"stream": stream, "unary": unary} {
		t.Run(form, func(t *testing.T) {
			in(t, setup{primary: answers(role, token("a"), finish("stop"), "hang")}, func(h *house) {
				p, ev := h.call(request)
				h.want(p, 200, "primary")
				if ev.Outcome != backstop.OK || ev.Failure != nil || request == stream && !strings.HasSuffix(p.String(), done) {
					t.Errorf("event %+v\n%s", ev, p)
				}
			})
		})
	}
}

func TestMalformedEventsAreDroppedUpToABound(t *testing.T) {
	bad := "data: {\"oops\n\n"
	in(t, setup{primary: answers(role, token("a"), bad, token("b"), finish("stop"), done)}, func(h *house) {
		p, _ := h.call(stream)
		h.want(p, 200, "primary")
		if textOf(p.String()) != "ab" || strings.Contains(p.String(), "oops") || !strings.HasSuffix(p.String(), done) {
			t.Errorf("got %s", p)
		}
	})
	in(t, setup{primary: answers(role, token("a"), strings.Repeat(bad, 17), token("b"), finish("stop"), done)}, func(h *house) {
		if p, ev := h.call(stream); ev.Failure == nil || strings.Contains(p.String(), "[DONE]") {
			t.Errorf("got %s", p)
		}
	})
}

func TestKeepalivesGoOutBeforeAndAfterTheCommit(t *testing.T) {
	slow := func(p *backstop.Plan) {
		p.Upstreams[0].Timeouts.FirstToken, p.Upstreams[0].Timeouts.Idle = time.Minute, time.Minute
		p.Upstreams[0].Breaker.Hang = false
		p.Routes[0].Stream.Keepalive = 5 * time.Second
	}
	in(t, setup{primary: answers("wait:18s", role, token("a"), "wait:6s", token("b"), finish("stop"), done), change: slow}, func(h *house) {
		p, _ := h.call(stream)
		if n := strings.Count(p.String(), ": keep-alive\n\n"); n != 4 || p.first != 5*time.Second || textOf(p.String()) != "ab" || p.status != 200 {
			t.Errorf("%d comments, first at %s\n%s", n, p.first, p)
		}
	})
	in(t, setup{primary: answers("wait:18s", "fin"), change: slow}, func(h *house) {
		h.plan.Routes[0].Tiers = h.plan.Routes[0].Tiers[:1]
		p, ev := h.call(stream)
		if p.status != 200 || !strings.Contains(p.String(), `"error"`) || strings.Contains(p.String(), "[DONE]") || ev.Failure == nil {
			t.Errorf("status %d\n%s", p.status, p)
		}
	})
	in(t, setup{primary: answers("wait:18s", role, token("a"), finish("stop"), done), change: slow}, func(h *house) {
		if p, _ := h.call(unary); strings.Contains(p.String(), "keep-alive") || p.first < 18*time.Second {
			t.Errorf("a unary caller got %s after %s", p, p.first)
		}
	})
}

func TestACallerWhoLeavesCancelsTheAttempt(t *testing.T) {
	for name, script := range map[string][]string{
		"before the headers": {"hang"},
		"before the token":   {role, "hang"},
		"in the stream":      {role, token("a"), "wait:1s", token("b"), "hang"},
	} {
		t.Run(name, func(t *testing.T) {
			freed := make(chan time.Time, 1)
			primary := func(w http.ResponseWriter, r *http.Request) {
				if script[0] != "hang" {
					w.Header().Set("Content-Type", "text/event-stream")
				}
				act(w, r, script)
				freed <- time.Now()
			}
			in(t, setup{primary: primary, backup: answers(good("B")...)}, func(h *house) {
				ctx, cancel := context.WithCancel(context.Background())
				left := time.Now().Add(2 * time.Second)
				time.AfterFunc(2*time.Second, cancel)
				_, ev := h.serve(ctx, &Call{Request: h.read(stream), ID: "req_1"})
				if at := <-freed; at.Sub(left) > 100*time.Millisecond {
					t.Errorf("the upstream was freed %s late", at.Sub(left))
				}
				if ev.Outcome != backstop.Canceled || h.saw("backup") != 0 || ev.Calls() != 1 || ev.Attempts[0].Outcome.Class != backstop.Canceled {
					t.Errorf("event %+v", ev)
				}
			})
		})
	}
}

func TestACallerWhoCannotBeWrittenToIsGone(t *testing.T) {
	in(t, setup{primary: answers(role, token("a"), "wait:1s", token("b"), "hang")}, func(h *house) {
		p := newPage()
		p.broken = true
		ev := h.d.Serve(context.Background(), p, &Call{Request: h.read(stream), ID: "req_1"})
		if ev.Outcome != backstop.Canceled || ev.Status != 499 {
			t.Errorf("event %+v", ev)
		}
	})
}

func TestASlowReaderIsNotTheUpstreamsFault(t *testing.T) {
	in(t, setup{primary: answers(role, token("a"), token("b"), "wait:8s", token("c"), finish("stop"), done)}, func(h *house) {
		p := newPage()
		p.stall = 9 * time.Second
		ev := h.d.Serve(context.Background(), p, &Call{Request: h.read(stream), ID: "req_1"})
		if ev.Outcome != backstop.OK || textOf(p.String()) != "abc" {
			t.Errorf("event %+v\n%s", ev, p)
		}
	})
}

func TestTheTemplateAnswersWhenBothAreDead(t *testing.T) {
	for form, request := range map[string]string{"stream": stream, "unary": unary} {
		t.Run(form, func(t *testing.T) {
			in(t, setup{}, func(h *house) {
				p, ev := h.call(request)
				h.want(p, 200, "local")
				if !strings.Contains(p.String(), "busy") || ev.Tier != "local" || p.header.Get("X-Backstop-Upstream") != "template" {
					t.Errorf("event %+v\n%s", ev, p)
				}
				if request == stream && !strings.HasSuffix(p.String(), done) {
					t.Errorf("got %s", p)
				}
			})
		})
	}
}

func TestWithoutALocalTierTheErrorHasTheDialectsShape(t *testing.T) {
	in(t, setup{primary: body(503, `{"error":{"message":"down"}}`), backup: body(429, `{"error":{"message":"m","code":"rate_limit_exceeded"}}`, "Retry-After", "60")}, func(h *house) {
		p, ev := h.serve(context.Background(), &Call{Request: h.read(stream), ID: "req_1", NoLocal: true})
		h.want(p, 503, "backup")
		var got struct {
			Error struct{ Message, Type, Code string }
		}
		if err := json.Unmarshal([]byte(p.String()), &got); err != nil || got.Error.Code != "upstreams_exhausted" {
			t.Errorf("%v\n%s", err, p)
		}
		if p.header.Get("X-Should-Retry") != "false" || p.header.Get("Retry-After") != "10" || p.header.Get("Retry-After-Ms") != "10000" || p.header.Get("Content-Type") != "application/json" {
			t.Errorf("headers %v", p.header)
		}
		if ev.Status != 503 || ev.Failure == nil {
			t.Errorf("event %+v", ev)
		}
	})
}

func TestAHintDressesTheFinalError(t *testing.T) {
	for hint, want := range map[string]int{"": 503, "ai": 424, "langchain": 429} {
		in(t, setup{}, func(h *house) {
			p, _ := h.serve(context.Background(), &Call{Request: h.read(unary), ID: "req_1", NoLocal: true, Hint: hint})
			if p.status != want || hint == "langchain" && p.header.Get("Retry-After") != "" {
				t.Errorf("hint %q: status %d, headers %v", hint, p.status, p.header)
			}
		})
	}
}

func TestACallersMistakeIsPassedOnWordForWord(t *testing.T) {
	mistake := `{"error":{"message":"bad image","type":"invalid_request_error","param":"messages","code":null}}`
	in(t, setup{primary: body(400, mistake), backup: answers(good("B")...)}, func(h *house) {
		p, _ := h.call(stream)
		h.want(p, 400, "primary")
		if p.String() != mistake || h.saw("backup") != 0 || p.header.Get("X-Should-Retry") != "false" {
			t.Errorf("got %s", p)
		}
	})
}

func TestOneBodyInsteadOfAStreamIsTakenApart(t *testing.T) {
	in(t, setup{primary: body(200, plainBody("whole"))}, func(h *house) {
		p, _ := h.call(stream)
		h.want(p, 200, "primary")
		if textOf(p.String()) != "whole" || !strings.HasSuffix(p.String(), done) {
			t.Errorf("got %s", p)
		}
	})
}

func TestAStreamWithTheWrongContentTypeIsRecognised(t *testing.T) {
	in(t, setup{primary: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		act(w, r, good("hello"))
	}}, func(h *house) {
		p, _ := h.call(stream)
		h.want(p, 200, "primary")
		if textOf(p.String()) != "hello" {
			t.Errorf("got %s", p)
		}
	})
}

func TestAModelWithoutARouteIs404(t *testing.T) {
	in(t, setup{change: func(p *backstop.Plan) { p.Routes[0].Model = "gpt-*" }}, func(h *house) {
		p, ev := h.call(unary)
		if p.status != 404 || p.header.Get("X-Backstop-Tier") != "" || p.header.Get("X-Request-Id") != "req_1" || ev.Failure.Code != backstop.CodeNotFound {
			t.Errorf("status %d, headers %v", p.status, p.header)
		}
	})
}

func TestAStormOfHangsOpensTheBreakerAndProbesCloseItAgain(t *testing.T) {
	var healthy atomic.Bool
	primary := func(w http.ResponseWriter, r *http.Request) {
		if healthy.Load() {
			answers(good("P")...)(w, r)
			return
		}
		<-r.Context().Done()
	}
	in(t, setup{primary: primary, backup: answers(good("B")...)}, func(h *house) {
		for range 100 {
			go h.call(stream)
			time.Sleep(20 * time.Millisecond)
		}
		time.Sleep(5 * time.Second)
		before := h.saw("primary")
		began := time.Now()
		if p, ev := h.call(stream); ev.Tier != "backup" || p.header.Get("X-Backstop-Reason") != "open" || time.Since(began) > 20*time.Millisecond {
			t.Errorf("event %+v", ev)
		}
		healthy.Store(true)
		time.Sleep(20 * time.Second)
		if n := h.saw("primary"); n == before {
			t.Error("no background probe was sent")
		}
		p, _ := h.call(stream)
		h.want(p, 200, "primary")
		synctest.Wait()
		h.mu.Lock()
		defer h.mu.Unlock()
		last := h.turns[len(h.turns)-1]
		if last.To != "closed" {
			t.Errorf("transitions %+v", h.turns)
		}
	})
}
