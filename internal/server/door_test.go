package server

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"backstop"
	"backstop/backstophttp"
	"backstop/secret"
)

func TestEveryHeaderFormGivesTheSameVerdictEverywhere(t *testing.T) {
	b := serve(t, Options{}, testCallers()...)
	forms := []string{"Authorization: Bearer ", "X-Api-Key: ", "Api-Key: ", "X-Goog-Api-Key: "}
	states := []struct {
		name, key string
		good      bool
	}{
		{"own", webKey, true}, {"old", oldKey, true}, {"none", "", false}, {"wrong", "wrong-0123456789abcdef", false},
		{"prefix", webKey[:len(webKey)-1], false}, {"longer", webKey + "x", false}, {"other case", strings.ToUpper(webKey), false},
	}
	spots := []struct {
		method, path string
		good         int
	}{
		{"POST", "/v1/chat/completions", 200}, {"POST", "/api/agent", 200}, {"GET", "/v1/models", 200},
		{"GET", "/nowhere", 404}, {"POST", "/v1/messages", 200}, {"POST", "/v1/responses", 200}, {"POST", "/v1beta/models/gpt-4o:generateContent", 200},
		{"POST", "/v1/files", 404}, {"PATCH", "/v1/models", 405}, {"OPTIONS", "/v1/models", 204},
	}
	for _, form := range forms {
		for _, state := range states {
			for _, at := range spots {
				want := 401
				if state.good {
					want = at.good
				}
				body := chat
				switch at.path {
				case "/api/agent":
					body = `{"prompt":"hi"}`
				case "/v1/messages":
					body = gptMessages
				case "/v1/responses":
					body = gptInput
				case "/v1beta/models/gpt-4o:generateContent":
					body = contents
				}
				if r := b.do(at.method, at.path, body, form+state.key); r.status != want {
					t.Errorf("%s%s on %s %s = %d, want %d", form, state.name, at.method, at.path, r.status, want)
				}
			}
		}
	}
}

func TestTwoDifferentKeysAreRefused(t *testing.T) {
	b := serve(t, Options{}, testCallers()...)
	open := serve(t, Options{})
	for _, c := range []struct {
		name    string
		headers []string
		status  int
	}{
		{"the same key twice", []string{"Authorization: Bearer " + webKey, "X-Api-Key: " + webKey}, 200},
		{"lower-case scheme", []string{"Authorization: bearer " + webKey}, 200},
		{"an empty second", []string{"Authorization: Bearer " + webKey, "X-Api-Key: "}, 200},
		{"two callers' keys", []string{"Authorization: Bearer " + webKey, "X-Api-Key: " + jobKey}, 401},
		{"a good and a bad", []string{"Authorization: Bearer " + webKey, "X-Goog-Api-Key: sk-other"}, 401},
		{"a bad and a good", []string{"Authorization: Bearer sk-other", "Api-Key: " + webKey}, 401},
		{"one header twice", []string{"X-Api-Key: " + webKey, "X-Api-Key: " + jobKey}, 401},
		{"another scheme", []string{"Authorization: Basic " + webKey}, 401},
		{"another scheme beside a good key", []string{"Authorization: Basic eA==", "X-Api-Key: " + webKey}, 401},
		{"no scheme", []string{"Authorization: " + webKey}, 200},
	} {
		if r := b.do("POST", "/v1/chat/completions", chat, c.headers...); r.status != c.status {
			t.Errorf("%s: %d, want %d", c.name, r.status, c.status)
		}
	}
	open.want(open.do("POST", "/v1/chat/completions", chat, "Authorization: Bearer a", "X-Api-Key: b"), 401)
	open.want(open.do("POST", "/v1/chat/completions", chat, "Authorization: Bearer anything"), 200)
	b.want(b.do("GET", "/v1/models?key="+webKey, ""), 401)
	b.want(b.do("GET", "/v1/models?key="+webKey, "", "Api-Key: "+webKey), 401)
	b.want(b.do("GET", "/v1/models?k%65y="+webKey, ""), 401)
	b.want(b.do("GET", "/v1/models?monkey=1", "", "Api-Key: "+webKey), 200)
}

func TestWithoutCallersOnlyThisMachineMayCall(t *testing.T) {
	b := serve(t, Options{})
	for _, c := range []struct {
		header string
		status int
	}{
		{"Host: localhost:3000", 200}, {"Host: LOCALHOST", 200}, {"Host: 127.0.0.1:3000", 200}, {"Host: 127.8.9.1", 200},
		{"Host: [::1]:3000", 200}, {"Host: [::1]", 200}, {"Host: [::ffff:127.0.0.1]:3000", 200},
		{"Host: evil.example", 403}, {"Host: evil.example:3000", 403}, {"Host: localhost.evil.example", 403}, {"Host: 127.0.0.1.evil.example", 403},
		{"Host: 10.0.0.1", 403}, {"Host: 0.0.0.0:3000", 403}, {"Host: 2130706433", 403},
		{"Origin: https://evil.example", 403}, {"Origin: null", 403}, {"Origin: http://localhost:3000", 403},
	} {
		if r := b.do("POST", "/v1/chat/completions", chat, c.header); r.status != c.status {
			t.Errorf("%s: %d, want %d: %s", c.header, r.status, c.status, r.body)
		}
		if r := b.do("GET", "/v1/models", "", c.header); r.status != c.status {
			t.Errorf("GET with %s: %d, want %d", c.header, r.status, c.status)
		}
	}
}

func TestABodyMustSayThatItIsJSON(t *testing.T) {
	b := serve(t, Options{})
	for media, status := range map[string]int{
		"application/json": 200, "application/json; charset=utf-8": 200, "Application/JSON": 200, "application/vnd.api+json": 200,
		"-": 415, "text/plain": 415, "application/x-www-form-urlencoded": 415, "multipart/form-data; boundary=x": 415,
		"text/plain; application/json": 415, "application/jsonp": 415,
	} {
		h := "Content-Type: " + media
		if r := b.do("POST", "/v1/chat/completions", chat, "Content-Type: -", h); r.status != status {
			t.Errorf("%s: %d, want %d", media, r.status, status)
		}
	}
	if n := b.runner.count(); n != 4 {
		t.Errorf("the driver saw %d calls", n)
	}
}

func TestACallerMayOnlyAskForItsModels(t *testing.T) {
	b := serve(t, Options{}, testCallers()...)
	claude := `{"model":"claude-x"}`
	b.want(b.do("POST", "/v1/chat/completions", claude, "Api-Key: "+webKey), 200)
	b.want(b.do("POST", "/v1/chat/completions", claude, "Api-Key: "+jobKey), 403)
	b.want(b.do("POST", "/api/agent", `{"prompt":"x","model":"claude-x"}`, "Api-Key: "+jobKey), 403)
	b.want(b.do("POST", "/v1/chat/completions", chat, "Api-Key: "+jobKey), 200)
	r := b.do("POST", "/v1/chat/completions", `{"model":"none\u0000"}`, "Api-Key: "+webKey)
	b.want(r, 404)
	if strings.Contains(r.body, "\x00") {
		t.Errorf("raw control byte in %q", r.body)
	}
	if err := b.Shutdown(t.Context()); err != nil { // every record is in by then
		t.Fatal(err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	var refused []*backstop.Event
	for _, e := range b.events {
		if e.Outcome == backstop.Rejected {
			refused = append(refused, e)
		}
	}
	if len(b.events) != 5 || len(refused) != 3 || refused[0].Asked != "claude-x" || refused[0].Caller != "job" || refused[1].Op != "agent" {
		t.Errorf("events %+v", b.events)
	}
}

func TestACallerOverItsLimitsIsToldWhenToComeAgain(t *testing.T) {
	now := time.Now()
	hold := make(chan struct{})
	entered := make(chan struct{}, 1)
	b := serve(t, Options{Clock: func() time.Time { return now }},
		Caller{Name: "slow", Keys: []secret.Value{secret.New(webKey)}, Rate: 0.25},
		Caller{Name: "few", Keys: []secret.Value{secret.New(jobKey)}, Inflight: 1})
	b.want(b.do("POST", "/v1/chat/completions", chat, "Api-Key: "+webKey), 200)
	r := b.do("POST", "/v1/chat/completions", chat, "Api-Key: "+webKey)
	b.want(r, 429)
	if r.header.Get("Retry-After") != "4" || r.header.Get("Retry-After-Ms") != "4000" || r.header.Get("X-Should-Retry") != "true" {
		t.Errorf("headers %v", r.header)
	}
	if r.header.Get("X-Backstop-Tier") != "" {
		t.Error("a tier on an answer before routing")
	}

	b.runner.answer = func(ctx context.Context, w http.ResponseWriter, c *backstophttp.Call) *backstop.Event {
		entered <- struct{}{}
		<-hold
		_, _ = w.Write([]byte("{}"))
		return answered(c)
	}
	first := make(chan int, 1)
	go func() { first <- b.do("POST", "/v1/chat/completions", chat, "Api-Key: "+jobKey).status }()
	<-entered
	b.want(b.do("POST", "/v1/chat/completions", chat, "Api-Key: "+jobKey), 429)
	close(hold)
	if s := <-first; s != 200 {
		t.Errorf("the first call got %d", s)
	}
	b.want(b.do("POST", "/v1/chat/completions", chat, "Api-Key: "+jobKey), 200)
}

func TestJunkInOurHeadersIsTheCallersMistakeAndInOthersIsIgnored(t *testing.T) {
	b := serve(t, Options{})
	for _, bad := range []string{
		"X-Backstop-Timeout-Ms: 0", "X-Backstop-Timeout-Ms: -5", "X-Backstop-Timeout-Ms: 1.5", "X-Backstop-Timeout-Ms: soon",
		"X-Backstop-Timeout-Ms: 99999999999999999999", "X-Backstop-No-Fallback: maybe", "X-Backstop-No-Local: 2",
	} {
		if r := b.do("POST", "/v1/chat/completions", chat, bad); r.status != 400 {
			t.Errorf("%s: %d", bad, r.status)
		}
	}
	for _, c := range []struct {
		headers []string
		timeout time.Duration
		again   bool
	}{
		{nil, 0, false},
		{[]string{"X-Stainless-Timeout: 600"}, 600 * time.Second, false},
		{[]string{"X-Stainless-Timeout: 60", "X-Stainless-Read-Timeout: 1.5"}, 1500 * time.Millisecond, false},
		{[]string{"X-Stainless-Timeout: 2", "X-Backstop-Timeout-Ms: 9000"}, 2 * time.Second, false},
		{[]string{"X-Stainless-Timeout: NOT_GIVEN", "X-Stainless-Retry-Count: x"}, 0, false},
		{[]string{"X-Stainless-Timeout: NaN", "X-Stainless-Read-Timeout: -1", "X-Stainless-Retry-Count: -1"}, 0, false},
		{[]string{"X-Stainless-Timeout: 1e300", "X-Stainless-Retry-Count: 2"}, longest, true},
		{[]string{"X-Stainless-Timeout: +Inf", "X-Stainless-Retry-Count: 0"}, longest, false},
		{[]string{"X-Stainless-Timeout: 1e-30"}, time.Millisecond, false},
		{[]string{"X-Backstop-Timeout-Ms: 9223372036854775807"}, longest, false},
	} {
		b.want(b.do("POST", "/v1/chat/completions", chat, c.headers...), 200)
		if got := b.runner.last(t); got.Timeout != c.timeout || got.Retrying != c.again {
			t.Errorf("%v: timeout %s, again %v", c.headers, got.Timeout, got.Retrying)
		}
	}
}

func TestOnlySomeSDKsGetDressedErrors(t *testing.T) {
	b := serve(t, Options{})
	agents := map[string]string{
		"ai/7.0.173 ai-sdk/provider-utils/4": "ai", "ai-sdk/openai/4": "ai", "langchainjs-openai/1.0.0": "langchain",
		"OpenAI/JS 7.59.0": "", "airtable/1": "", "": "",
	}
	for agent := range agents {
		b.do("POST", "/v1/chat/completions", chat, "User-Agent: "+agent)
		if h := b.runner.last(t).Hint; h != "" {
			t.Errorf("%s got the hint %q although errors are fixed", agent, h)
		}
	}
	b.Swap(&Plane{Plan: testPlan(), Runner: b.runner, Adaptive: true})
	for agent, want := range agents {
		b.do("POST", "/v1/chat/completions", chat, "User-Agent: "+agent)
		if h := b.runner.last(t).Hint; h != want {
			t.Errorf("%s got the hint %q, want %q", agent, h, want)
		}
	}
}
