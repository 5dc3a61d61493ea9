package backstophttp

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"backstop"
	"backstop/internal/testkit"
)

func TestAnAbortedCallSaysSo(t *testing.T) {
	for name, c := range map[string]struct {
		request string
		primary http.HandlerFunc
		begun   bool
	}{
		"before the headers":  {stream, answers("hang"), false},
		"before the token":    {stream, answers(voiceP.role(), "hang"), false},
		"in the stream":       {stream, answers(voiceP.role(), voiceP.say("a"), "hang"), true},
		"unary":               {unary, answers(voiceP.role(), voiceP.say("a"), "hang"), false},
		"during a backoff":    {unary, body(500, `{"error":{"message":"m"}}`), false},
		"while a rescue runs": {stream, answers(voiceP.role(), voiceP.say("a"), "fin"), true},
	} {
		t.Run(name, func(t *testing.T) {
			change := func(p *backstop.Plan) {
				p.Upstreams[0].Retry.Max, p.Upstreams[0].Retry.JitterMin, p.Upstreams[0].Retry.JitterMax = 1, 3*time.Second, 3*time.Second
			}
			in(t, setup{primary: c.primary, backup: answers("hang"), change: change}, func(h *house) {
				time.AfterFunc(time.Second, h.d.Abort)
				began := time.Now()
				p, ev := h.call(c.request)
				if took := time.Since(began); took != time.Second || ev.Failure == nil || ev.Failure.Code != backstop.CodeDraining {
					t.Errorf("after %s: %+v", took, ev)
				}
				if !strings.Contains(p.String(), `"code":"draining"`) || strings.Contains(p.String(), "[DONE]") || c.begun != (p.status == 200) || !c.begun && p.status != 503 {
					t.Errorf("status %d: %s", p.status, p)
				}
				if p, ev := h.call(c.request); ev.Failure == nil || p.status != 503 {
					t.Errorf("a call that came after: %+v", ev)
				}
			})
		})
	}
}

func TestARoomsRefusalIsNoAttempt(t *testing.T) {
	tools := `{"model":"m","stream":true,"tools":[{"type":"function","function":{"name":"f"}}],"messages":[{"role":"user","content":"hi"}]}`
	in(t, setup{primary: answers(voiceP.tells("P")...), backup: answers(voiceB.tells("B")...), change: func(p *backstop.Plan) { p.Upstreams[0].Quirks.NoTools = true }}, func(h *house) {
		p, ev := h.call(tools)
		h.want(p, 200, "backup")
		if ev.Calls() != 1 || len(ev.Skipped) != 1 || p.header.Get("X-Backstop-Attempts") != "1" || h.saw("primary") != 0 {
			t.Errorf("event %+v", ev)
		}
	})
}

func TestAUnaryCallerWhoReadsNothingIsCut(t *testing.T) {
	big := plainBody(strings.Repeat("x", 1<<20))
	for name, answer := range map[string]string{"large": big, "small": plainBody("x")} {
		in(t, setup{primary: body(200, answer), change: func(p *backstop.Plan) { p.Upstreams[0].Unary = backstop.UnaryPlain }}, func(h *house) {
			over := make(chan time.Time, 1)
			p := testkit.NewPipe()
			srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				h.d.Serve(r.Context(), w, &Call{Request: h.read(unary), ID: "req_1"})
			}), ConnState: func(_ net.Conn, s http.ConnState) {
				if s == http.StateClosed {
					over <- time.Now()
				}
			}}
			go func() { _ = srv.Serve(p) }()
			defer func() { _ = srv.Close(); _ = p.Close() }()
			conn, err := p.DialContext(context.Background(), "", "")
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = conn.Close() }()
			began := time.Now()
			_, _ = conn.Write([]byte("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"))
			if took := (<-over).Sub(began); took < writeLimit-time.Second || took > writeLimit+time.Second {
				t.Errorf("%s: the connection was closed after %s", name, took)
			}
			ev := h.events[0]
			if name == "large" && (ev.Outcome != backstop.Canceled || ev.Status != 499 || ev.Blocked < writeLimit-time.Second) {
				t.Errorf("event %+v", ev)
			}
		})
	}
}
