package openai

import (
	"encoding/json"
	"strings"
	"testing"

	"backstop"
	"backstop/wire"
)

func TestALocalAnswerHasWhatSDKsNeed(t *testing.T) {
	a := &wire.Answer{ID: "chatcmpl-1", Created: 7, Model: "backstop-template", Text: "busy, \"really\"\n", Note: wire.Note{Tier: "local", Upstream: "template", Reason: "open"}}
	tail := `,"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0},"x_backstop":{"tier":"local","upstream":"template","reason":"open"}}`
	want := `{"id":"chatcmpl-1","object":"chat.completion","created":7,"model":"backstop-template","choices":[{"index":0,"message":{"role":"assistant","content":"busy, \"really\"\n","refusal":null}` + tail
	if got := string(Room{}.Compose(&wire.Request{Op: wire.Chat}, a)); got != want {
		t.Errorf("chat:\n%s\nwant\n%s", got, want)
	}
	want = `{"id":"chatcmpl-1","object":"text_completion","created":7,"model":"backstop-template","choices":[{"index":0,"text":"busy, \"really\"\n"` + tail
	if got := string(Room{}.Compose(&wire.Request{Op: wire.Completion}, a)); got != want {
		t.Errorf("completion:\n%s\nwant\n%s", got, want)
	}
	if got := (Room{}).Compose(&wire.Request{Op: wire.Embedding}, a); got != nil {
		t.Errorf("embedding: %s", got)
	}
}

func TestALocalAnswerIsStreamed(t *testing.T) {
	r := streamRequest()
	body := Room{}.Compose(r, &wire.Answer{ID: "c1", Created: 1, Model: "m", Text: "busy", Note: wire.Note{Tier: "local"}})
	var got []string
	for _, data := range (Room{}).Explode(r, body) {
		got = append(got, string(data))
	}
	want := []string{
		ch(`{"role":"assistant","refusal":null}`, "null"),
		strings.Replace(tok("busy"), `"finish_reason"`, `"logprobs":null,"finish_reason"`, 1),
		strings.TrimSuffix(end("stop"), "}") + `,"x_backstop":{"tier":"local"}}`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := send(r, nil, got...); !strings.HasSuffix(got, "data: [DONE]\n\n") || strings.Count(got, "data: ") != 4 {
		t.Errorf("framed: %s", got)
	}
	for _, body := range []string{"", "x", "{}", `{"choices":null}`, `[]`} {
		if chunks := (Room{}).Explode(r, []byte(body)); chunks != nil {
			t.Errorf("%q became %s", body, chunks)
		}
	}
}

func TestTheTextOfAnAnswer(t *testing.T) {
	for _, c := range []struct {
		name, body, text, finish string
		ok                       bool
		replaced                 string
	}{
		{"a chat", `{"choices":[ {"message":{"content" : "a\n\"b\""},"finish_reason":"stop"}]}`, "a\n\"b\"", "stop", true, `{"choices":[ {"message":{"content" : "{}"},"finish_reason":"stop"}]}`},
		{"a legacy completion", `{"choices":[{"text":"a","finish_reason":"length"}]}`, "a", "length", true, `{"choices":[{"text":"{}","finish_reason":"length"}]}`},
		{"the first of two", `{"choices":[{"message":{"content":"a"}},{"message":{"content":"b"}}]}`, "a", "", true, `{"choices":[{"message":{"content":"{}"}},{"message":{"content":"b"}}]}`},
		{"parts", `{"choices":[{"message":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}}]}`, "ab", "", true, `{"choices":[{"message":{"content":"{}"}}]}`},
		{"a tool call", `{"choices":[{"message":{"content":null,"tool_calls":[]},"finish_reason":"tool_calls"}]}`, "", "tool_calls", false, `{"choices":[{"message":{"content":"{}","tool_calls":[]},"finish_reason":"tool_calls"}]}`},
		{"no content at all", `{"choices":[{"message":{}}]}`, "", "", false, `{"choices":[{"message":{}}]}`},
		{"no choices", `{"choices":[]}`, "", "", false, `{"choices":[]}`},
		{"no JSON", `<html>`, "", "", false, `<html>`},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, finish, ok := Room{}.Content([]byte(c.body))
			if text != c.text || finish != c.finish || ok != c.ok {
				t.Errorf("got %q %q %v", text, finish, ok)
			}
			if got := string(Room{}.Replace([]byte(c.body), "{}")); got != c.replaced {
				t.Errorf("replaced: %s", got)
			}
		})
	}
}

func TestANoteIsAddedToABody(t *testing.T) {
	n := &wire.Note{Repaired: []string{"fence"}, Truncated: true}
	for in, want := range map[string]string{
		`{"a":1 }`:                         `{"a":1 ,"x_backstop":{"repaired":["fence"],"truncated":true}}`,
		`{}`:                               `{"x_backstop":{"repaired":["fence"],"truncated":true}}`,
		`{"x_backstop":{"stale":1},"a":2}`: `{"x_backstop":{"repaired":["fence"],"truncated":true},"a":2}`,
		`[1]`:                              `[1]`,
	} {
		if got := string(Room{}.Annotate([]byte(in), n)); got != want {
			t.Errorf("%s became %s", in, got)
		}
	}
	if got := string(Room{}.Annotate([]byte(`{"a":1}`), nil)); got != `{"a":1}` {
		t.Errorf("without a note: %s", got)
	}
}

func TestErrorAnswers(t *testing.T) {
	own := `{ "error": {"message":"bad x","type":"invalid_request_error","param":"x","code":null} }`
	for _, c := range []struct {
		name string
		f    backstop.Failure
		want string
	}{
		{"a timeout", backstop.Failure{Code: backstop.CodeUpstreamTimeout, Message: "primary: no token for 4500 ms"}, `{"error":{"message":"primary: no token for 4500 ms","type":"timeout_error","param":null,"code":"upstream_timeout"}}`},
		{"a named parameter", backstop.Failure{Code: backstop.CodeInvalidRequest, Message: "n \"bad\"", Param: "n"}, `{"error":{"message":"n \"bad\"","type":"invalid_request_error","param":"n","code":"invalid_request"}}`},
		{"exhausted", backstop.Failure{Code: backstop.CodeUpstreamsExhausted}, `{"error":{"message":"the request failed","type":"server_error","param":null,"code":"upstreams_exhausted"}}`},
		{"an upstream's own words", backstop.Failure{Code: backstop.CodeUpstreamRejected, Body: []byte(own), From: backstop.OpenAI}, own},
		{"another dialect's words", backstop.Failure{Code: backstop.CodeUpstreamRejected, Message: "bad x", Body: []byte(own), From: backstop.Anthropic}, `{"error":{"message":"bad x","type":"invalid_request_error","param":null,"code":"upstream_rejected"}}`},
		{"a body that no SDK reads", backstop.Failure{Code: backstop.CodeUpstreamRejected, Message: "bad x", Body: []byte(`{"error":"bad x"}`), From: backstop.OpenAI}, `{"error":{"message":"bad x","type":"invalid_request_error","param":null,"code":"upstream_rejected"}}`},
		{"a number for a code", backstop.Failure{Code: backstop.CodeUpstreamRejected, Message: "bad x", Body: []byte(`{"error":{"message":"bad x","code":400}}`), From: backstop.OpenAI}, `{"error":{"message":"bad x","type":"invalid_request_error","param":null,"code":"upstream_rejected"}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := string(Room{}.Failure(&c.f, "id")); got != c.want {
				t.Errorf("got %s", got)
			}
		})
	}
	w := Room{}.Writer(streamRequest())
	got := string(w.Failure(&backstop.Failure{Body: []byte("{\n\"error\":{\"message\":\"m\"}}"), From: backstop.OpenAI}, ""))
	if got != "data: {\"error\":{\"message\":\"m\"}}\n\n" {
		t.Errorf("in a stream: %q", got)
	}
}

func TestEveryCodeHasAType(t *testing.T) {
	for code, want := range map[backstop.Code]string{
		backstop.CodeRateLimited: "rate_limit_error", backstop.CodeUnauthorized: "authentication_error",
		backstop.CodeForbidden: "permission_error", backstop.CodeNotFound: "not_found_error", backstop.CodeConfigError: "server_error",
	} {
		var e struct{ Error struct{ Type, Code string } }
		if err := json.Unmarshal(Room{}.Failure(&backstop.Failure{Code: code}, ""), &e); err != nil || e.Error.Type != want || e.Error.Code != string(code) {
			t.Errorf("%s: %+v %v", code, e, err)
		}
	}
}
