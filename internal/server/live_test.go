package server

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"backstop"
	"backstop/backstophttp"
	"backstop/secret"
)

// live is a server over the real driver and dialect room, with one upstream
// that answers as told and a template behind it.
func live(t *testing.T, upstream http.HandlerFunc, change ...func(*backstop.Upstream)) *bench {
	t.Helper()
	up := httptest.NewServer(upstream)
	t.Cleanup(up.Close)
	u := backstop.DefaultUpstream()
	u.Name, u.BaseURL, u.AllowPrivate = "one", up.URL+"/v1", true
	u.Timeouts.FirstToken, u.Retry.Max = 300*time.Millisecond, 0
	u.Keys = []secret.Value{secret.New("up-secret-key")}
	for _, c := range change {
		c(&u)
	}
	route := backstop.DefaultRoute()
	route.Model, route.Deadline = "*", time.Minute
	route.Tiers = []backstop.Tier{{Upstream: "one", Model: "m"}, {Local: &backstop.Local{Template: &backstop.Template{Text: "busy", JSON: []byte(`{"busy":true}`)}}}}
	plan := &backstop.Plan{Upstreams: []backstop.Upstream{u}, Routes: []backstop.Route{route}}
	d, err := backstophttp.NewDriver(plan, backstophttp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close(t.Context()) })
	b := &bench{t: t, http: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
	b.Server = New(Options{Rooms: rooms(), Log: slog.New(slog.DiscardHandler), Observe: func(e *backstop.Event) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.events = append(b.events, e)
	}})
	b.Swap(&Plane{Plan: plan, Runner: d})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b.addr = ln.Addr().String()
	done := make(chan error, 1)
	go func() { done <- b.Serve(ln) }()
	t.Cleanup(func() { _ = b.Close(); <-done })
	return b
}

// goodStream is an upstream that says "hello there" as a stream or a body.
func goodStream(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if !strings.Contains(string(body), `"stream":true`) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(chatBody("hello there", "stop"))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, text := range []string{"hello", " there"} {
		fmt.Fprintf(w, `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":%q},"finish_reason":null}]}`+"\n\n", text)
	}
	io.WriteString(w, `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
}

func TestTheWholeWayToAnUpstreamAndBack(t *testing.T) {
	b := live(t, goodStream)
	for _, c := range []struct{ path, body, want string }{
		{"/v1/chat/completions", chat, `"content":"hello there"`},
		{"/v1/chat/completions", strings.Replace(chat, `{`, `{"stream":true,`, 1), `data: [DONE]`},
		{"/api/agent", `{"prompt":"hi","model":"x"}`, `"choices":[{"index":0,"text":"hello there","finish_reason":"stop"}],"tier":"primary","upstream":"one","model":"m","fallback":false`},
		{"/api/agent", `{"prompt":"hi","stream":true}`, `data: {"delta":"hello"}` + "\n\n" + `data: {"delta":" there"}` + "\n\n" + `data: {"id":`},
	} {
		r := b.do("POST", c.path, c.body)
		if r.status != 200 || !strings.Contains(r.body, c.want) || r.header.Get("X-Backstop-Tier") != "primary" || r.header.Get("X-Backstop-Attempts") != "1" {
			t.Errorf("POST %s %s: %d %v\n%s", c.path, c.body, r.status, r.header, r.body)
		}
	}
}

func TestTheLastTierSpeaksToTheAgentToo(t *testing.T) {
	b := live(t, func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body); <-r.Context().Done() })
	var out answer
	r := b.do("POST", "/api/agent", `{"prompt":"hi"}`)
	if err := json.Unmarshal([]byte(r.body), &out); err != nil || r.status != 200 || out.Output != "busy" || out.Tier != "local" || !out.Fallback || !strings.HasPrefix(out.Reason, "hang") || out.Attempts != 1 {
		t.Errorf("%d %s %v", r.status, r.body, err)
	}
	r = b.do("POST", "/api/agent", `{"prompt":"hi","json":true}`)
	out = answer{}
	if err := json.Unmarshal([]byte(r.body), &out); err != nil || string(out.JSON) != `{"busy":true}` {
		t.Errorf("%d %s %v", r.status, r.body, err)
	}
	r = b.do("POST", "/api/agent", `{"prompt":"hi","stream":true}`)
	if r.status != 200 || !strings.HasPrefix(r.body, `data: {"delta":"busy"}`) || !strings.HasSuffix(r.body, "data: [DONE]\n\n") {
		t.Errorf("%d %q", r.status, r.body)
	}
	r = b.do("POST", "/api/agent", `{"prompt":"hi"}`, "X-Backstop-No-Local: 1")
	if r.status < 500 || !strings.HasPrefix(r.body, `{"error":{"code":"upstream`) || !strings.Contains(r.body, r.header.Get("X-Request-Id")) || r.header.Get("X-Should-Retry") != "false" {
		t.Errorf("%d %v %s", r.status, r.header, r.body)
	}
}
