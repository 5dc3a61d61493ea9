package server

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"backstop"
	"backstop/backstophttp"
	"backstop/secret"
	"backstop/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	webKey = "web-key-0123456789abcdef"
	oldKey = "old-key-0123456789abcdef"
	jobKey = "job-key-0123456789abcdef"
)

// room is a dialect room that knows just enough of OpenAI's.
type room struct{}

func (room) Read(op wire.Op, body []byte) (*wire.Request, *backstop.Failure) {
	var in struct {
		Model  string          `json:"model"`
		Stream bool            `json:"stream"`
		Format json.RawMessage `json:"response_format"`
	}
	if json.Unmarshal(body, &in) != nil || in.Model == "" {
		return nil, &backstop.Failure{Code: backstop.CodeInvalidRequest, Status: 400, Message: "bad body"}
	}
	r := &wire.Request{Dialect: backstop.OpenAI, Op: op, Model: in.Model, Stream: in.Stream, Body: body, Choices: 1}
	if in.Format != nil {
		r.Promise.Kind = wire.PromiseObject
	}
	return r, nil
}

func (room) Failure(f *backstop.Failure, id string) []byte {
	return marshal(map[string]any{"error": map[string]any{"message": f.Message, "type": "t", "param": nil, "code": f.Code}})
}

func (room) Content(body []byte) (string, string, bool) {
	var out struct {
		Choices []struct {
			Message struct{ Content string }
			Finish  string `json:"finish_reason"`
		}
	}
	if json.Unmarshal(body, &out) != nil || len(out.Choices) == 0 {
		return "", "", false
	}
	return out.Choices[0].Message.Content, out.Choices[0].Finish, true
}

// runner answers as told and remembers the calls.
type runner struct {
	mu     sync.Mutex
	calls  []*backstophttp.Call
	answer func(ctx context.Context, w http.ResponseWriter, c *backstophttp.Call) *backstop.Event
}

func (f *runner) Serve(ctx context.Context, w http.ResponseWriter, c *backstophttp.Call) *backstop.Event {
	f.mu.Lock()
	f.calls = append(f.calls, c)
	answer := f.answer
	f.mu.Unlock()
	if answer != nil {
		return answer(ctx, w, c)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Backstop-Tier", "primary")
	_, _ = w.Write(chatBody("hello", "stop"))
	return answered(c)
}

func (f *runner) last(t *testing.T) *backstophttp.Call {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.calls) == 0 {
		t.Fatal("the driver was not called")
	}
	return f.calls[len(f.calls)-1]
}

func (f *runner) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.calls)
}

func chatBody(text, finish string) []byte {
	return marshal(map[string]any{"id": "c1", "object": "chat.completion", "model": "m",
		"choices": []any{map[string]any{"index": 0, "message": map[string]any{"role": "assistant", "content": text}, "finish_reason": finish}}})
}

func answered(c *backstophttp.Call) *backstop.Event {
	return &backstop.Event{ID: c.ID, Tier: "primary", Upstream: "one", Model: "m", Outcome: backstop.OK, Status: 200,
		Attempts: []backstop.AttemptRecord{{Upstream: "one"}}}
}

func testPlan() *backstop.Plan {
	return &backstop.Plan{Routes: []backstop.Route{
		{Model: "gpt-4o"}, {Model: "claude-x"}, {Model: "gpt-4o"}, {Model: "team/big"}, {Model: "qwen-*"},
	}}
}

func testCallers() []Caller {
	return []Caller{
		{Name: "web", Keys: []secret.Value{secret.New(webKey), secret.New(oldKey)}, Local: true},
		{Name: "job", Keys: []secret.Value{secret.New(jobKey)}, Models: []string{"gpt-*"}},
	}
}

// bench is a server on a socket.
type bench struct {
	*Server
	t      *testing.T
	addr   string
	runner *runner
	mu     sync.Mutex
	events []*backstop.Event
	http   *http.Client
}

// rooms are the real ones.
func rooms() map[backstop.Dialect]Room {
	out := map[backstop.Dialect]Room{}
	for d, r := range backstophttp.Rooms() {
		out[d] = r
	}
	return out
}

func serve(t *testing.T, o Options, callers ...Caller) *bench {
	t.Helper()
	b := &bench{t: t, runner: &runner{}, http: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
	o.Rooms = rooms()
	o.Rooms[backstop.OpenAI] = room{}
	o.Log = slog.New(slog.DiscardHandler)
	o.Observe = func(e *backstop.Event) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.events = append(b.events, e)
	}
	b.Server = New(o)
	b.Swap(&Plane{Plan: testPlan(), Runner: b.runner, Callers: callers})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b.addr = ln.Addr().String()
	done := make(chan error, 1)
	go func() { done <- b.Serve(ln) }()
	t.Cleanup(func() {
		_ = b.Close()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return b
}

// reply is an answer, read to its end.
type reply struct {
	status int
	header http.Header
	body   string
}

// do sends one request; headers are "name: value".
func (b *bench) do(method, path, body string, headers ...string) reply {
	b.t.Helper()
	req, err := http.NewRequest(method, "http://"+b.addr+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	if method == "POST" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			req.Host = value
			continue
		}
		if value == "-" {
			req.Header.Del(name)
			continue
		}
		req.Header.Add(name, value)
	}
	resp, err := b.http.Do(req)
	if err != nil {
		b.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatalf("%s %s: %v", method, path, err)
	}
	return reply{resp.StatusCode, resp.Header, string(data)}
}

func (b *bench) want(r reply, status int) {
	b.t.Helper()
	if r.status != status {
		b.t.Errorf("status %d, want %d: %s", r.status, status, r.body)
	}
}

const chat = `{"model":"gpt-4o","messages":[{"role":"user","content":"hi"}]}`

func TestACallReachesTheDriverWithWhatTheCallerAskedFor(t *testing.T) {
	b := serve(t, Options{}, testCallers()...)
	r := b.do("POST", "/v1/chat/completions", chat, "X-Api-Key: "+jobKey, "X-Request-Id: my.id-1",
		"X-Backstop-Timeout-Ms: 2500", "X-Backstop-No-Fallback: 1", "X-Stainless-Timeout: 600", "X-Stainless-Retry-Count: 1",
		"Traceparent: 00-1-2-01", "Cookie: secret", "X-Backstop-Upstream: evil")
	b.want(r, 200)
	c := b.runner.last(t)
	if c.ID != "my.id-1" || c.Caller != "job" || c.Op != "chat" || c.Timeout != 2500*time.Millisecond ||
		!c.NoFallback || !c.NoLocal || !c.Retrying || c.Agent {
		t.Errorf("call = %+v", c)
	}
	if string(c.Request.Body) != chat {
		t.Errorf("body changed: %s", c.Request.Body)
	}
	if len(c.Header) != 1 || c.Header.Get("Traceparent") == "" {
		t.Errorf("headers that pass: %v", c.Header)
	}
	if r.header.Get("X-Request-Id") != "my.id-1" || r.header.Get("Request-Id") != "my.id-1" {
		t.Errorf("ids: %v", r.header)
	}
}

func TestEveryAnswerHasAnIDAndIsNotStored(t *testing.T) {
	b := serve(t, Options{}, testCallers()...)
	for _, c := range []struct{ method, path, key string }{
		{"GET", "/healthz", ""}, {"GET", "/readyz", ""}, {"GET", "/v1/models", webKey}, {"GET", "/v1/models/none", webKey},
		{"POST", "/v1/chat/completions", webKey}, {"POST", "/v1/chat/completions", ""}, {"GET", "/nowhere", webKey},
		{"DELETE", "/v1/models", webKey}, {"OPTIONS", "/v1/chat/completions", webKey}, {"POST", "/v1/messages", webKey},
	} {
		r := b.do(c.method, c.path, chat, "Api-Key: "+c.key)
		id := r.header.Get("X-Request-Id")
		if len(id) != 26 || r.header.Get("Request-Id") != id || r.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s %s: id %q, %q; cache-control %q", c.method, c.path, id, r.header.Get("Request-Id"), r.header.Get("Cache-Control"))
		}
		if r.status >= 400 && (r.header.Get("Content-Type") != "application/json" || !json.Valid([]byte(r.body)) || r.header.Get("X-Should-Retry") != "false") {
			t.Errorf("%s %s: error without its shape: %v %s", c.method, c.path, r.header, r.body)
		}
	}
}

func TestPathsAreCompared(t *testing.T) {
	b := serve(t, Options{})
	for _, c := range []struct {
		method, path string
		status       int
		part         string
	}{
		{"POST", "/v1/chat/completions", 200, "hello"},
		{"POST", "/chat/completions", 200, "hello"},
		{"POST", "/v1/completions", 200, ""},
		{"POST", "/embeddings", 200, ""},
		{"POST", "/v1/chat/completions/", 404, `"code":"not_found"`},
		{"POST", "/v1/v1/chat/completions", 404, "nothing at this path"},
		{"POST", "/V1/chat/completions", 404, ""},
		{"POST", "/v1/../admin", 404, ""},
		{"GET", "/api/state", 404, `"request_id"`},
		{"GET", "/debug/pprof/", 404, ""},
		{"GET", "/metrics", 404, ""},
		{"GET", "/", 404, ""},
		{"GET", "/v1/chat/completions", 405, ""},
		{"ET", "/v1/models", 405, ""},
		{"PUT", "/api/agent", 405, `"request_id"`},
		{"POST", "/v1/models", 405, ""},
		{"POST", "/v1/responses", 400, `"param":"input"`},
		{"GET", "/v1/responses/resp_1", 404, `"code":"not_found"`},
		{"POST", "/v1/messages", 400, `"type":"invalid_request_error"`},
		{"POST", "/messages/count_tokens", 200, "hello"},
		{"POST", "/v1/messages/batches", 404, `"type":"not_found_error"`},
		{"GET", "/v1/messages", 405, `"type":"error"`},
		{"POST", "/v1beta/models/gemini-2:generateContent", 400, `"status":"INVALID_ARGUMENT"`},
		{"POST", "/v1beta/models/:generateContent", 404, `"status":"NOT_FOUND"`},
		{"POST", "/v1beta/models/gemini-2:embedContent", 404, `"status":"NOT_FOUND"`},
		{"POST", "/v1beta/models/gemini-2:batchGenerateContent", 404, `"status":"NOT_FOUND"`},
		{"POST", "/v1/models/gemini-2:predict", 404, "nothing at this path"},
		{"DELETE", "/v1/models/gpt-4o", 404, "nothing at this path"},
		{"GET", "/v1/models/gemini-2:streamGenerateContent", 405, `"error":{"code":405`},
		{"POST", "/v1/files", 404, "nothing at this path"},
		{"POST", "/v1beta/files", 404, `"status":"NOT_FOUND"`},
		{"OPTIONS", "/v1/chat/completions", 204, ""},
		{"HEAD", "/v1/models", 200, ""},
		{"HEAD", "/healthz", 200, ""},
	} {
		r := b.do(c.method, c.path, chat)
		if r.status != c.status || !strings.Contains(r.body, c.part) {
			t.Errorf("%s %s = %d %s, want %d with %s", c.method, c.path, r.status, r.body, c.status, c.part)
		}
		if (c.status == 405 || c.status == 204) && r.header.Get("Allow") == "" {
			t.Errorf("%s %s: no Allow header", c.method, c.path)
		}
		for name := range r.header {
			if strings.HasPrefix(name, "Access-Control") {
				t.Errorf("%s %s sends %s", c.method, c.path, name)
			}
		}
	}
}

func TestModelsAreListedInTheCallersDialect(t *testing.T) {
	b := serve(t, Options{}, testCallers()...)
	for _, c := range []struct {
		path    string
		headers []string
		status  int
		want    string
		not     string
	}{
		{"/v1/models", []string{"Api-Key: " + webKey}, 200, `"id":"gpt-4o","object":"model"`, "qwen"},
		{"/models", []string{"Api-Key: " + webKey}, 200, `"object":"list"`, "*"},
		{"/v1/models", []string{"Api-Key: " + jobKey}, 200, "gpt-4o", "claude-x"},
		{"/v1/models", []string{"Api-Key: " + webKey, "Anthropic-Version: 2023-06-01"}, 200, `"first_id":"gpt-4o"`, `"object"`},
		{"/v1beta/models", []string{"X-Goog-Api-Key: " + webKey}, 200, `"name":"models/claude-x"`, `"object"`},
		{"/v1/models/team/big", []string{"Api-Key: " + webKey}, 200, `"id":"team/big"`, ""},
		{"/v1beta/models/gpt-4o", []string{"Api-Key: " + webKey}, 200, `"models/gpt-4o"`, ""},
		{"/v1/models/claude-x", []string{"Api-Key: " + jobKey}, 404, "not_found", ""},
		{"/v1/models/qwen-1", []string{"Api-Key: " + webKey}, 404, "not_found", ""},
		{"/v1/models/claude-y", []string{"Api-Key: " + webKey, "Anthropic-Version: 1"}, 404, "not_found_error", ""},
	} {
		r := b.do("GET", c.path, "", c.headers...)
		if r.status != c.status || !strings.Contains(r.body, c.want) || c.not != "" && strings.Contains(r.body, c.not) {
			t.Errorf("GET %s %v = %d %s", c.path, c.headers, r.status, r.body)
		}
	}
	if n := strings.Count(b.do("GET", "/v1/models", "", "Api-Key: "+webKey).body, `"gpt-4o"`); n != 1 {
		t.Errorf("gpt-4o is listed %d times", n)
	}
}

func TestHealthNeedsNoKeyAndReadinessFollowsThePhase(t *testing.T) {
	b := serve(t, Options{}, testCallers()...)
	for _, path := range []string{"/healthz", "/livez", "/health", "/readyz"} {
		b.want(b.do("GET", path, "", "Host: pod.example", "Origin: https://evil.example"), 200)
	}
	b.want(b.do("POST", "/healthz", "{}"), 405)
	b.SetPhase(Draining)
	b.want(b.do("GET", "/readyz", ""), 503)
	b.want(b.do("GET", "/healthz", ""), 200)
	b.want(b.do("POST", "/v1/chat/completions", chat, "Api-Key: "+webKey), 200)
	b.SetPhase(Refusing)
	r := b.do("POST", "/v1/chat/completions", chat, "Api-Key: "+webKey)
	b.want(r, 503)
	if !strings.Contains(r.body, `"draining"`) {
		t.Errorf("body %s", r.body)
	}
	b.want(b.do("POST", "/v1/chat/completions", chat), 401)
}

func TestWithoutAPlaneNothingIsServed(t *testing.T) {
	s := New(Options{Log: slog.New(slog.DiscardHandler)})
	for path, status := range map[string]int{"/healthz": 200, "/readyz": 503, "/v1/models": 503} {
		w := newRecorder()
		req, _ := http.NewRequest("GET", "http://localhost"+path, nil)
		s.ServeHTTP(w, req)
		if w.status != status {
			t.Errorf("GET %s = %d, want %d", path, w.status, status)
		}
	}
}

func TestASwapTakesEffectForTheNextCallAndKeepsTheLimitsMemory(t *testing.T) {
	now := time.Now()
	limited := Caller{Name: "web", Keys: []secret.Value{secret.New(webKey)}, Rate: 1}
	b := serve(t, Options{Clock: func() time.Time { return now }}, limited)
	b.want(b.do("POST", "/v1/chat/completions", chat, "Api-Key: "+webKey), 200)
	b.Swap(&Plane{Plan: testPlan(), Runner: b.runner, Callers: []Caller{limited}})
	b.want(b.do("POST", "/v1/chat/completions", chat, "Api-Key: "+webKey), 429)
	limited.Rate = 2
	b.Swap(&Plane{Plan: testPlan(), Runner: b.runner, Callers: []Caller{limited}})
	b.want(b.do("POST", "/v1/chat/completions", chat, "Api-Key: "+webKey), 200)
	b.Swap(&Plane{Plan: testPlan(), Runner: b.runner, Callers: testCallers()[1:]})
	b.want(b.do("POST", "/v1/chat/completions", chat, "Api-Key: "+webKey), 401)
}

// newRecorder is a ResponseWriter without a connection.
func newRecorder() *recorder { return &recorder{header: http.Header{}} }

type recorder struct {
	header http.Header
	status int
	body   []byte
}

func (r *recorder) Header() http.Header { return r.header }
func (r *recorder) WriteHeader(s int)   { r.status = s }
func (r *recorder) Write(p []byte) (int, error) {
	r.body = append(r.body, p...)
	return len(p), nil
}

func TestRequestIDsAreHarmlessAndSortByTime(t *testing.T) {
	now := time.UnixMilli(1_800_000_000_000)
	for _, bad := range []string{"", "a b", "a\nb", "é", "a/b", `"`, strings.Repeat("x", 129)} {
		if id := requestID(bad, now); id == bad || !harmless(id) {
			t.Errorf("%q became %q", bad, id)
		}
	}
	good := strings.Repeat("x", 128)
	if id := requestID(good, now); id != good {
		t.Errorf("%q became %q", good, id)
	}
	before := ""
	seen := map[string]bool{}
	for i := range 1000 {
		id := requestID("", now.Add(time.Duration(i)*time.Millisecond))
		if id <= before || seen[id] {
			t.Fatalf("%s after %s", id, before)
		}
		before, seen[id] = id, true
	}
}
