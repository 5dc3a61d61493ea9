package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"backstop"
	"backstop/backstophttp"
)

func TestTheAgentAsksAChat(t *testing.T) {
	for _, c := range []struct {
		name, body string
		plane      Plane
		want       string
	}{
		{"a prompt", `{"prompt":"hi <b>"}`, Plane{},
			`{"model":"gpt-4o","messages":[{"role":"user","content":"hi <b>"}]}`},
		{"everything", `{"prompt":"hi","system":"be nice","model":"m","stream":true,"json":false,"temperature":2}`, Plane{},
			`{"model":"m","messages":[{"role":"system","content":"be nice"},{"role":"user","content":"hi"}],"stream":true}`},
		{"json", `{"prompt":"hi","json":true}`, Plane{},
			`{"model":"gpt-4o","messages":[{"role":"system","content":"` + jsonLine + `"},{"role":"user","content":"hi"}],"response_format":{"type":"json_object"}}`},
		{"json by the plane", `{"prompt":"hi","json":false}`, Plane{Agent: Agent{JSON: true}},
			`{"model":"gpt-4o","messages":[{"role":"system","content":"` + jsonLine + `"},{"role":"user","content":"hi"}],"response_format":{"type":"json_object"}}`},
		{"json below a system text", `{"prompt":"hi","system":"S","json":true,"model":null,"schema":null}`, Plane{},
			`{"model":"gpt-4o","messages":[{"role":"system","content":"S\n\n` + jsonLine + `"},{"role":"user","content":"hi"}],"response_format":{"type":"json_object"}}`},
		{"a schema", `{"prompt":"hi","schema":{"type":"object","required":["b","a"]}}`, Plane{},
			`{"model":"gpt-4o","messages":[{"role":"user","content":"hi"}],"response_format":{"json_schema":{"name":"answer","schema":{"type":"object","required":["b","a"]}},"type":"json_schema"}}`},
		{"the configured model", `{"prompt":"hi"}`, Plane{Agent: Agent{Model: "cheap"}},
			`{"model":"cheap","messages":[{"role":"user","content":"hi"}]}`},
		{"a pattern's tier", `{"prompt":"hi"}`, Plane{Plan: &backstop.Plan{Routes: []backstop.Route{{Model: "deep*", Tiers: []backstop.Tier{{}, {Model: "qwen"}, {Model: "deepseek-chat"}}}}}},
			`{"model":"deepseek-chat","messages":[{"role":"user","content":"hi"}]}`},
	} {
		if c.plane.Plan == nil {
			c.plane.Plan = testPlan()
		}
		got, f := agentBody([]byte(c.body), &plane{Plane: c.plane, agent: agentModel(&c.plane)})
		if f != nil || string(got) != c.want {
			t.Errorf("%s: %s, %v, want %s", c.name, got, f, c.want)
		}
	}
}

var badAsks = []string{
	``, ` `, `null`, `[]`, `"hi"`, `{`, `{"prompt"`, `{"prompt":"hi"`, `{"prompt":"hi"}{}`, `{"prompt":"hi"} x`, `{"prompt":"hi",}`,
	`{}`, `{"prompt":""}`, `{"prompt":"  \n"}`, `{"prompt":null}`, `{"prompt":5}`, `{"prompt":["hi"]}`, `{"prompt":{"a":1}}`,
	`{"prompt":"hi","prompt":"ho"}`, `{"prompt":"hi","Prompt":"ho"}`, `{"PROMPT":"hi"}`, `{"prompt":"hi","stream":"true"}`, `{"prompt":"hi","stream":1}`,
	`{"prompt":"hi","json":"yes"}`, `{"prompt":"hi","schema":"{}"}`, `{"prompt":"hi","schema":[]}`, `{"prompt":"hi","schema":true}`,
	`{"prompt":"hi","model":7}`, `{"prompt":"hi","system":false}`, `{"prompt":"hi","Stream":true}`, `{"prompt":"hi","x":}`,
	"{\"prompt\":\"hi\xff\"}", "{\"prompt\":\"a\nb\"}", "\xEF\xBB\xBF{\"prompt\":\"hi\"}", `{"prompt":"hi","\u0070rompt":"ho"}`,
	`{"prompt":"hi","x":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`,
}

func TestABadAskIsRefusedInTheAgentsShape(t *testing.T) {
	b := serve(t, Options{})
	for _, bad := range badAsks {
		r := b.do("POST", "/api/agent", bad)
		var out struct {
			Error struct{ Code, Message, Request_id string }
		}
		if r.status != 400 || json.Unmarshal([]byte(r.body), &out) != nil || out.Error.Code != "invalid_request" ||
			out.Error.Message == "" || out.Error.Request_id != r.header.Get("X-Request-Id") {
			t.Errorf("%.60s: %d %s", bad, r.status, r.body)
		}
	}
	if b.runner.count() != 0 {
		t.Error("a bad ask reached the driver")
	}
	b.Swap(&Plane{Plan: &backstop.Plan{Routes: []backstop.Route{{Model: "*"}}}, Runner: b.runner})
	b.want(b.do("POST", "/api/agent", `{"prompt":"hi"}`), 400)
	b.want(b.do("POST", "/api/agent", `{"prompt":"hi","model":"any"}`), 200)
}

func TestTheArticlesCallerReadsTheText(t *testing.T) {
	b := serve(t, Options{})
	r := b.do("POST", "/api/agent", `{"prompt":"hi"}`, "X-Request-Id: id-1")
	want := `{"id":"id-1","output":"hello","choices":[{"index":0,"text":"hello","finish_reason":"stop"}],"tier":"primary","upstream":"one","model":"m","fallback":false,"truncated":false,"attempts":1}`
	if r.status != 200 || r.body != want {
		t.Errorf("%d %s", r.status, r.body)
	}
	if r.header.Get("Content-Type") != "application/json" || r.header.Get("X-Backstop-Tier") != "primary" {
		t.Errorf("headers %v", r.header)
	}
	if c := b.runner.last(t); !c.Agent || c.Op != "agent" {
		t.Errorf("call %+v", c)
	}

	b.runner.answer = func(_ context.Context, w http.ResponseWriter, c *backstophttp.Call) *backstop.Event {
		body := chatBody(`{"a": 10000000000000000000001, "b": "<x>"}`, "length")
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		_, _ = w.Write(body)
		return &backstop.Event{ID: c.ID, Tier: "backup", Upstream: "two", Model: "n", Reason: "hang/first_token", Repaired: []string{"fence"}, Dropped: []string{"seed"}, Truncated: true,
			Attempts: make([]backstop.AttemptRecord, 2), Outcome: backstop.OK}
	}
	r = b.do("POST", "/api/agent", `{"prompt":"hi","json":true}`, "X-Request-Id: id-2")
	want = `{"id":"id-2","output":"{\"a\": 10000000000000000000001, \"b\": \"<x>\"}","json":{"a":10000000000000000000001,"b":"<x>"},` +
		`"choices":[{"index":0,"text":"{\"a\": 10000000000000000000001, \"b\": \"<x>\"}","finish_reason":"length"}],"tier":"backup","upstream":"two","model":"n",` +
		`"fallback":true,"reason":"hang/first_token","repaired":["fence"],"dropped":["seed"],"truncated":true,"attempts":2}`
	if r.body != want {
		t.Errorf("got  %s\nwant %s", r.body, want)
	}
	if r := b.do("POST", "/api/agent", `{"prompt":"hi"}`); strings.Contains(r.body, `"json"`) {
		t.Errorf("json that nobody promised: %s", r.body)
	}
}

func TestAnErrorOfTheDriverIsRetold(t *testing.T) {
	b := serve(t, Options{})
	for _, c := range []struct {
		name   string
		status int
		body   string
		event  *backstop.Event
		want   int
		code   string
	}{
		{"ours", 504, `{"error":{"message":"no token","type":"timeout_error","param":null,"code":"upstream_timeout"}}`, &backstop.Event{Failure: &backstop.Failure{Code: "upstream_timeout"}}, 504, "upstream_timeout"},
		{"an upstream's without code", 400, `{"error":{"message":"too long","code":null}}`, &backstop.Event{Failure: &backstop.Failure{Code: "upstream_rejected"}}, 400, "upstream_rejected"},
		{"an upstream's odd one", 422, `["x"]`, &backstop.Event{Failure: &backstop.Failure{Code: "upstream_rejected", Message: "m"}}, 422, "upstream_rejected"},
		{"a good status without text", 200, `{"x":1}`, &backstop.Event{Outcome: backstop.OK}, 502, "upstreams_exhausted"},
		{"nothing at all", 0, ``, &backstop.Event{Failure: &backstop.Failure{Code: "draining"}}, 503, "draining"},
	} {
		b.runner.answer = func(_ context.Context, w http.ResponseWriter, _ *backstophttp.Call) *backstop.Event {
			if c.status != 0 {
				w.Header().Set("X-Should-Retry", "false")
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.body))
			}
			return c.event
		}
		for _, ask := range []string{`{"prompt":"hi"}`, `{"prompt":"hi","stream":true}`} {
			r := b.do("POST", "/api/agent", ask)
			var out struct {
				Error struct{ Code, Message, Request_id string }
			}
			if r.status != c.want || json.Unmarshal([]byte(r.body), &out) != nil || out.Error.Code != c.code || out.Error.Request_id == "" {
				t.Errorf("%s: %d %s", c.name, r.status, r.body)
			}
		}
	}
}

func streamed(chunks []string, failure *backstop.Failure) func(context.Context, http.ResponseWriter, *backstophttp.Call) *backstop.Event {
	return func(_ context.Context, w http.ResponseWriter, c *backstophttp.Call) *backstop.Event {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, chunk := range chunks {
			if _, err := w.Write([]byte(chunk)); err != nil {
				return &backstop.Event{ID: c.ID, Outcome: backstop.Canceled}
			}
			_ = http.NewResponseController(w).Flush()
		}
		e := answered(c)
		e.Failure = failure
		return e
	}
}

func delta(text string) string {
	return `data: {"choices":[{"index":0,"delta":{"content":` + string(marshal(text)) + `},"finish_reason":null}]}` + "\n\n"
}

func TestAStreamIsToldAsItComes(t *testing.T) {
	b := serve(t, Options{})
	end := `data: {"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}` + "\n\n"
	final := `data: {"id":"id-1","output":"a\n\ndata: [DONE]","choices":[{"index":0,"text":"a\n\ndata: [DONE]","finish_reason":"length"}],"tier":"primary","upstream":"one","model":"m","fallback":false,"truncated":false,"attempts":1}` + "\n\n"
	told := `data: {"delta":"a"}` + "\n\n" + `data: {"delta":"\n\ndata: [DONE]"}` + "\n\n"
	for _, c := range []struct {
		name   string
		chunks []string
		fail   *backstop.Failure
		want   string
	}{
		{"in events", []string{": keep-alive\n\n", `data: {"choices":[{"delta":{"role":"assistant","content":""}}]}` + "\n\n", delta("a"), delta("\n\ndata: [DONE]"), end, "data: [DONE]\n\n"},
			nil, ": keep-alive\n\n" + told + final + "data: [DONE]\n\n"},
		{"in bytes, with CRLF", strings.Split(strings.ReplaceAll(delta("a")+delta("\n\ndata: [DONE]")+end, "\n", "\r\n"), ""), nil, told + final + "data: [DONE]\n\n"},
		{"in one piece", []string{delta("a") + delta("\n\ndata: [DONE]") + end + "data: [DONE]\n\n"}, nil, told + final + "data: [DONE]\n\n"},
		{"with an error in it", []string{delta("a"), `data: {"error":{"message":"cut","code":"stream_incomplete"}}` + "\n\n", delta("late")}, &backstop.Failure{Code: "stream_incomplete"},
			`data: {"delta":"a"}` + "\n\n" + `data: {"error":{"code":"stream_incomplete","message":"cut","request_id":"id-1"}}` + "\n\n"},
		{"with a failure that left no frame", []string{delta("a")}, &backstop.Failure{Code: "stream_stalled", Message: "no token for 10 s"},
			`data: {"delta":"a"}` + "\n\n" + `data: {"error":{"code":"stream_stalled","message":"no token for 10 s","request_id":"id-1"}}` + "\n\n"},
	} {
		b.runner.answer = streamed(c.chunks, c.fail)
		r := b.do("POST", "/api/agent", `{"prompt":"hi","stream":true}`, "X-Request-Id: id-1")
		if r.status != 200 || r.header.Get("Content-Type") != "text/event-stream" || r.body != c.want {
			t.Errorf("%s: %d\ngot  %q\nwant %q", c.name, r.status, r.body, c.want)
		}
	}
}

func TestAnAnswerTooLargeIsAnErrorAndNotAPartOfIt(t *testing.T) {
	b := serve(t, Options{})
	megabyte := strings.Repeat("x", 1<<20)
	var chunks []string
	for range 9 {
		chunks = append(chunks, delta(megabyte))
	}
	b.runner.answer = streamed(chunks, nil)
	r := b.do("POST", "/api/agent", `{"prompt":"hi","stream":true}`)
	if !strings.Contains(r.body, `"code":"event_too_large"`) || strings.Contains(r.body, "[DONE]") {
		t.Errorf("stream ends with %q", r.body[len(r.body)-200:])
	}
	b.runner.answer = func(_ context.Context, w http.ResponseWriter, c *backstophttp.Call) *backstop.Event {
		_, _ = w.Write(chatBody(strings.Repeat(megabyte, 9), "stop"))
		return answered(c)
	}
	r = b.do("POST", "/api/agent", `{"prompt":"hi"}`)
	if r.status != 502 || !strings.Contains(r.body, `"code":"event_too_large"`) {
		t.Errorf("%d %.200s", r.status, r.body)
	}
}

// FuzzAsk holds the parser against encoding/json: what passes means the same
// to both, and the chat body that is made of it says it again.
func FuzzAsk(f *testing.F) {
	for _, seed := range badAsks[:len(badAsks)-1] {
		f.Add([]byte(seed))
	}
	f.Add([]byte(`{"prompt":"hi","system":"s","model":"m","json":true,"schema":{"a":1},"stream":true,"x":[1,{"prompt":2}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		a, bad := parseAsk(body)
		if bad != nil {
			if bad.Status != 400 || bad.Message == "" || !utf8.ValidString(bad.Message) {
				t.Fatalf("refusal %+v", bad)
			}
			return
		}
		var ref struct {
			Prompt, System, Model string
			JSON, Stream          bool
			Schema                json.RawMessage
		}
		if err := json.Unmarshal(body, &ref); err != nil {
			t.Fatalf("encoding/json refuses %q: %v", body, err)
		}
		if a.prompt != ref.Prompt || a.system != ref.System || a.model != ref.Model || a.json != ref.JSON || a.stream != ref.Stream {
			t.Fatalf("%q was read as %+v, encoding/json reads %+v", body, a, ref)
		}
		a.model = "m"
		var out struct {
			Messages []struct{ Role, Content string }
			Stream   bool
		}
		if err := json.Unmarshal(a.chat(false), &out); err != nil {
			t.Fatal(err)
		}
		if last := out.Messages[len(out.Messages)-1]; last.Content != ref.Prompt || last.Role != "user" || out.Stream != ref.Stream {
			t.Fatalf("%q became %+v", body, out)
		}
	})
}

// FuzzTelling: what the agent tells of a stream does not depend on how the
// driver's writes are cut, and every frame of it is one line of JSON.
func FuzzTelling(f *testing.F) {
	f.Add([]byte(delta("a")+": c\n\n"+delta("b\n\ndata: x")+"data: [DONE]\n\n"), uint16(7))
	f.Add([]byte("data: {\"choices\":[{\"delta\":{\"content\":\"\\ud800\"}}]}\r\n\r\ndata:{\"error\":{}}\n\n"), uint16(1))
	f.Fuzz(func(t *testing.T, in []byte, cut uint16) {
		tell := func(parts ...[]byte) string {
			w := newRecorder()
			w.header.Set("Content-Type", "text/event-stream")
			a := newAgentWriter(w, room{}, "id", true)
			for _, p := range parts {
				if _, err := a.Write(p); err != nil {
					t.Fatal(err)
				}
			}
			a.finish(&backstop.Event{ID: "id", Tier: "primary", Outcome: backstop.OK})
			return string(w.body)
		}
		at := min(int(cut), len(in))
		whole := tell(in)
		if cut := tell(in[:at], in[at:]); cut != whole {
			t.Fatalf("cut at %d: %q, whole %q", at, cut, whole)
		}
		for line := range strings.Lines(whole) {
			line = strings.TrimSuffix(line, "\n")
			data, ok := strings.CutPrefix(line, "data: ")
			if line != "" && line[0] != ':' && (!ok || data != "[DONE]" && !json.Valid([]byte(data))) {
				t.Fatalf("frame %q of %q", line, in)
			}
		}
	})
}
