package server

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"backstop"
	"backstop/secret"
)

const (
	gptMessages = `{"model":"gpt-4o","max_tokens":50,"messages":[{"role":"user","content":"hi"}]}`
	gptInput    = `{"model":"gpt-4o","input":"hi"}`
	contents    = `{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`
)

func TestEachDialectReachesTheDriverAtItsPaths(t *testing.T) {
	b := serve(t, Options{})
	for _, c := range []struct {
		path, body string
		dialect    backstop.Dialect
		op, model  string
		stream     bool
	}{
		{"/v1/chat/completions", chat, backstop.OpenAI, "chat", "gpt-4o", false},
		{"/v1/responses", gptInput, backstop.Responses, "responses", "gpt-4o", false},
		{"/responses", strings.Replace(gptInput, "{", `{"stream":true,`, 1), backstop.Responses, "responses", "gpt-4o", true},
		{"/v1/messages", gptMessages, backstop.Anthropic, "chat", "gpt-4o", false},
		{"/messages", strings.Replace(gptMessages, "{", `{"stream":true,`, 1), backstop.Anthropic, "chat", "gpt-4o", true},
		{"/v1/messages?beta=true", gptMessages, backstop.Anthropic, "chat", "gpt-4o", false},
		{"/v1/messages/count_tokens", gptMessages, backstop.Anthropic, "count_tokens", "gpt-4o", false},
		{"/v1beta/models/gpt-4o:generateContent", contents, backstop.Gemini, "chat", "gpt-4o", false},
		{"/v1beta/models/gpt-4o:streamGenerateContent?alt=sse", contents, backstop.Gemini, "chat", "gpt-4o", true},
		{"/v1/models/gpt-4o:generateContent", contents, backstop.Gemini, "chat", "gpt-4o", false},
		{"/v1/models/qwen-max:streamGenerateContent", contents, backstop.Gemini, "chat", "qwen-max", true},
		{"/v1beta/models/team/big:generateContent", contents, backstop.Gemini, "chat", "team/big", false},
		{"/v1beta/models/team%2Fbig:generateContent", contents, backstop.Gemini, "chat", "team/big", false},
		{"/v1beta/models/gpt-4o:countTokens", contents, backstop.Gemini, "count_tokens", "gpt-4o", false},
	} {
		r := b.do("POST", c.path, c.body)
		if r.status != 200 {
			t.Errorf("POST %s: %d %s", c.path, r.status, r.body)
			continue
		}
		got := b.runner.last(t)
		q := got.Request
		if got.Array != (c.stream && q.Dialect == backstop.Gemini && !strings.HasSuffix(c.path, "?alt=sse")) {
			t.Errorf("POST %s: array %v", c.path, got.Array)
		}
		if q.Dialect != c.dialect || string(q.Op) != c.op || got.Op != c.op || q.Model != c.model || q.Stream != c.stream || string(q.Body) != c.body {
			t.Errorf("POST %s: %s %s %s, stream %v", c.path, q.Dialect, q.Op, q.Model, q.Stream)
		}
	}
}

func TestWhoAsksForAnArrayIsRefusedInOne(t *testing.T) {
	b := serve(t, Options{}, testCallers()...)
	for path, array := range map[string]bool{
		"/v1beta/models/gpt-4o:streamGenerateContent":          true,
		"/v1beta/models/gpt-4o:streamGenerateContent?alt=sse":  false,
		"/v1beta/models/gpt-4o:streamGenerateContent?$alt=sse": false,
		"/v1beta/models/gpt-4o:generateContent":                false,
	} {
		if r := b.do("POST", path, contents); r.status != 401 || strings.HasPrefix(string(r.body), "[{") != array || !json.Valid([]byte(r.body)) {
			t.Errorf("%s: %d %s", path, r.status, r.body)
		}
	}
}

func TestARefusalIsToldInTheDialectOfItsPath(t *testing.T) {
	b := serve(t, Options{MaxBody: 2 << 10}, testCallers()...)
	shapes := map[string]func(status int, body map[string]any) bool{
		"/v1/responses": func(_ int, m map[string]any) bool { return textAt(m, "error", "code") != "" },
		"/v1/messages": func(_ int, m map[string]any) bool {
			return m["type"] == "error" && textAt(m, "error", "type") != "" && m["request_id"] != ""
		},
		"/v1/messages/count_tokens": func(_ int, m map[string]any) bool { return m["type"] == "error" },
		"/v1beta/models/gpt-4o:generateContent": func(status int, m map[string]any) bool {
			e, _ := m["error"].(map[string]any)
			return e["code"] == float64(status) && textAt(m, "error", "status") != ""
		},
	}
	for path, shaped := range shapes {
		for name, c := range map[string]struct {
			body   string
			key    string
			kind   string
			status int
		}{
			"without a key":         {"{}", "", "application/json", 401},
			"another media type":    {"{}", webKey, "text/plain", 415},
			"too large":             {`{"x":"` + strings.Repeat("y", 3<<10) + `"}`, webKey, "application/json", 413},
			"no JSON":               {"{", webKey, "application/json", 400},
			"a model without route": {strings.NewReplacer("gpt-4o", "none").Replace(`{"model":"none","max_tokens":5,"input":"x","messages":[{"role":"user","content":"x"}],"contents":[{"parts":[{"text":"x"}]}]}`), webKey, "application/json", 404},
		} {
			at := path
			if c.status == 404 {
				at = strings.Replace(at, "gpt-4o", "none", 1)
			}
			r := b.do("POST", at, c.body, "X-Api-Key: "+c.key, "Content-Type: -", "Content-Type: "+c.kind)
			var m map[string]any
			if r.status != c.status || json.Unmarshal([]byte(r.body), &m) != nil || !shaped(r.status, m) || r.header.Get("X-Should-Retry") != "false" {
				t.Errorf("%s, %s: %d %s", path, name, r.status, r.body)
			}
		}
	}
}

func textAt(m map[string]any, path ...string) string {
	for _, name := range path[:len(path)-1] {
		m, _ = m[name].(map[string]any)
	}
	s, _ := m[path[len(path)-1]].(string)
	return s
}

func TestEveryDialectGetsItsAnswerFromAnUpstreamOfAnother(t *testing.T) {
	b := live(t, goodStream)
	for _, c := range []struct{ path, body, want string }{
		{"/v1/responses", gptInput, `"type":"output_text"`},
		{"/v1/responses", strings.Replace(gptInput, "{", `{"stream":true,`, 1), "event: response.completed"},
		{"/v1/messages", gptMessages, `"content":[{"type":"text","text":"hello there"}]`},
		{"/v1/messages", strings.Replace(gptMessages, "{", `{"stream":true,`, 1), "event: message_stop"},
		{"/v1beta/models/any:generateContent", contents, `"text":"hello there"`},
		{"/v1beta/models/any:streamGenerateContent?alt=sse", contents, `"finishReason":"STOP"`},
	} {
		r := b.do("POST", c.path, c.body)
		if r.status != 200 || !strings.Contains(r.body, c.want) || r.header.Get("X-Backstop-Tier") != "primary" {
			t.Errorf("POST %s: %d %v\n%s", c.path, r.status, r.header, r.body)
		}
	}
	r := b.do("POST", "/v1/messages/count_tokens", gptMessages)
	if r.status != 404 || !strings.Contains(r.body, `"not_found_error"`) {
		t.Errorf("count_tokens: %d %s", r.status, r.body)
	}
}

func TestOtherPathsGoToTheUpstreamThatTakesThem(t *testing.T) {
	var got *http.Request
	var sent string
	b := live(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got, sent = r, string(body)
		switch r.URL.Path {
		case "/v1/files/none":
			w.Header().Set("Set-Cookie", "a=b")
			w.WriteHeader(404)
			_, _ = io.WriteString(w, `{"error":{"message":"no file for up-secret-key","type":"invalid_request_error","param":null,"code":null}}`)
		case "/v1/moved":
			http.Redirect(w, r, "http://169.254.169.254/", http.StatusFound)
		case "/v1/locked":
			w.WriteHeader(401)
			_, _ = io.WriteString(w, "the key up-secret-key is wrong")
		default:
			w.Header().Set("Content-Type", "audio/mpeg")
			w.Header().Set("Server", "theirs")
			_, _ = io.WriteString(w, "sound")
		}
	}, func(u *backstop.Upstream) { u.Passthrough = true })
	r := b.do("POST", "/v1/audio/speech?x=1&key2=v", "--b\r\n", "Content-Type: -", "Content-Type: multipart/form-data; boundary=b", "X-Secret: s", "Openai-Beta: o")
	if r.status != 200 || r.body != "sound" || r.header.Get("Content-Type") != "audio/mpeg" || r.header.Get("Server") != "" || r.header.Get("X-Backstop-Upstream") != "one" || r.header.Get("X-Request-Id") == "" {
		t.Errorf("%d %v %s", r.status, r.header, r.body)
	}
	if got.URL.RequestURI() != "/v1/audio/speech?x=1&key2=v" || sent != "--b\r\n" || got.Header.Get("Authorization") != "Bearer up-secret-key" ||
		got.Header.Get("Content-Type") != "multipart/form-data; boundary=b" || got.Header.Get("X-Secret") != "" || got.Header.Get("Openai-Beta") != "o" {
		t.Errorf("sent %s with %v: %q", got.URL, got.Header, sent)
	}
	for path, want := range map[string]struct {
		status int
		part   string
	}{
		"/v1/files":      {200, "sound"},
		"/v1/files/none": {404, "[secret]"},
		"/v1/moved":      {502, "upstream_unavailable"},
		"/v1/locked":     {502, "upstream_auth"},
		"/v1/a%2fb":      {200, ""},
		"/v1/a//b":       {400, "invalid_request"},
		"/v1/../x":       {400, "invalid_request"},
		"/v1/a%3Fb":      {400, "invalid_request"},
		"/files":         {404, "/api/agent\""}, // no word on what nothing could change
		"/v1beta/files":  {404, "/v1beta/models; other paths need an upstream of their dialect with passthrough: true\",\"status\":\"NOT_FOUND\""},
		"/v1/models":     {200, `"object":"list"`},
	} {
		r := b.do("GET", path, "")
		if r.status != want.status || !strings.Contains(r.body, want.part) || strings.Contains(r.body, "up-secret-key") || r.header.Get("Set-Cookie") != "" || r.header.Get("Location") != "" {
			t.Errorf("GET %s: %d %v %s", path, r.status, r.header, r.body)
		}
	}
	if err := b.Shutdown(t.Context()); err != nil { // every record is in by then
		t.Fatal(err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	passed := func(e *backstop.Event) bool {
		return e.Op == "pass" && e.Upstream == "one" && e.Outcome == backstop.OK && e.Status == 200
	}
	if !slices.ContainsFunc(b.events, passed) {
		t.Errorf("events %+v", b.events)
	}
}

func TestACallerOfSomeModelsReachesNoOtherPath(t *testing.T) {
	asked := 0
	b := live(t, func(w http.ResponseWriter, _ *http.Request) {
		asked++
		_, _ = io.WriteString(w, "{}")
	}, func(u *backstop.Upstream) { u.Passthrough = true })
	p := b.plane.Load().Plane
	plan := *p.Plan
	plan.Routes = []backstop.Route{plan.Routes[0]}
	plan.Routes[0].Model, p.Plan = "gpt-4o", &plan
	p.Callers = []Caller{
		{Name: "some", Keys: []secret.Value{secret.New("some-key-0123456789")}, Models: []string{"gpt-*"}},
		{Name: "all", Keys: []secret.Value{secret.New("all-key-0123456789")}, Models: []string{"gpt-*", "*"}},
	}
	b.Swap(&p)
	for _, path := range []string{"/v1/chat/completions/", "/v1/images/generations", "/v1/batches"} {
		if r := b.do("POST", path, `{"model":"dear"}`, "Authorization: Bearer some-key-0123456789"); r.status != http.StatusNotFound || asked != 0 || !strings.Contains(r.body, "; other paths are for callers that may use all models\"") {
			t.Errorf("%s of a caller of some models: %d, %d upstream requests", path, r.status, asked)
		}
	}
	if r := b.do("POST", "/v1/batches", `{"model":"dear"}`, "Authorization: Bearer all-key-0123456789"); r.status != http.StatusOK || asked != 1 {
		t.Errorf("of a caller of all models: %d, %d upstream requests", r.status, asked)
	}
}
