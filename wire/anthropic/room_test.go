package anthropic

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"backstop"
	"backstop/sse"
	"backstop/wire"
)

const simple = `{"model":"claude-sonnet-4-5","max_tokens":100,"messages":[{"role":"user","content":"hi"}]}`

func read(t testing.TB, body string) *wire.Request {
	t.Helper()
	r, fail := Room{}.Read(wire.Chat, []byte(body))
	if fail != nil {
		t.Fatalf("%s: %v", body, fail)
	}
	return r
}

func TestARequestIsReadStrictly(t *testing.T) {
	for name, c := range map[string]struct{ body, param, says string }{
		"no body":                   {` `, "", "empty"},
		"no object":                 {`[1]`, "", "not a JSON object"},
		"two objects":               {simple + simple, "", "not valid JSON"},
		"broken UTF-8":              {"{\"model\":\"\xff\"}", "", "UTF-8"},
		"model is missing":          {`{"max_tokens":1,"messages":[{}]}`, "model", "missing"},
		"model is no string":        {`{"model":1,"max_tokens":1,"messages":[{}]}`, "model", "string"},
		"model is given twice":      {`{"model":"a","model":"b","max_tokens":1,"messages":[{}]}`, "model", "twice"},
		"model in another case":     {`{"Model":"a","max_tokens":1,"messages":[{}]}`, "model", "lower case"},
		"an escaped name counts":    {`{"model":"a","mod\u0065l":"b","max_tokens":1,"messages":[{}]}`, "model", "twice"},
		"max_tokens is missing":     {`{"model":"a","messages":[{}]}`, "max_tokens", "missing"},
		"max_tokens is broken":      {`{"model":"a","max_tokens":1.5,"messages":[{}]}`, "max_tokens", "whole"},
		"max_tokens is zero":        {`{"model":"a","max_tokens":0,"messages":[{}]}`, "max_tokens", "at least 1"},
		"messages are missing":      {`{"model":"a","max_tokens":1}`, "messages", "missing"},
		"messages are empty":        {`{"model":"a","max_tokens":1,"messages":[]}`, "messages", "empty"},
		"a message is no object":    {`{"model":"a","max_tokens":1,"messages":[1]}`, "messages", "object"},
		"stream is no boolean":      {`{"model":"a","max_tokens":1,"messages":[{}],"stream":"yes"}`, "stream", "true or false"},
		"system is a number":        {`{"model":"a","max_tokens":1,"messages":[{}],"system":1}`, "system", "string"},
		"tools are no array":        {`{"model":"a","max_tokens":1,"messages":[{}],"tools":{}}`, "tools", "array"},
		"tool_choice is a word":     {`{"model":"a","max_tokens":1,"messages":[{}],"tool_choice":"any"}`, "tool_choice", "object"},
		"a format without a schema": {`{"model":"a","max_tokens":1,"messages":[{}],"output_config":{"format":{"type":"json_schema","schema":1}}}`, "output_config.format.schema", "object"},
	} {
		t.Run(name, func(t *testing.T) {
			r, fail := Room{}.Read(wire.Chat, []byte(c.body))
			if fail == nil || fail.Param != c.param || !strings.Contains(fail.Message, c.says) || fail.Status != 400 {
				t.Errorf("%+v, %+v", r, fail)
			}
		})
	}
}

func TestWhatACallNeedsIsRead(t *testing.T) {
	r := read(t, `{"model":"m","max_tokens":7,"stream":true,"messages":[{"role":"user","content":"12345678"}],"tools":[{"name":"f"}],"output_config":{"format":{"type":"json_schema","schema":{"type":"object"}}}}`)
	if r.Model != "m" || r.MaxTokens != 7 || !r.Stream || !r.Tools || r.Promise.Kind != wire.PromiseSchema || string(r.Promise.Schema) != `{"type":"object"}` || r.InputSize < 2 {
		t.Errorf("%+v", r)
	}
	if r := read(t, strings.Replace(simple, `"max_tokens":100`, `"max_tokens":100,"output_format":{"type":"json_schema","schema":{}}`, 1)); r.Promise.Kind != wire.PromiseSchema {
		t.Errorf("the older name of the format: %+v", r.Promise)
	}
	if r, fail := (Room{}).Read(wire.CountTokens, []byte(`{"model":"m","messages":[{"role":"user","content":"hi"}]}`)); fail != nil || r.Stream {
		t.Errorf("counting: %+v %v", r, fail)
	}
}

func TestOnlyWhatMustChangeChanges(t *testing.T) {
	spaced := "{ \"model\" : \"claude\",\n \"max_tokens\":5, \"unknown\":{\"a\" :1}, \"messages\":[ {\"role\":\"user\",\"content\":\"hi\"} ] }"
	for name, c := range map[string]struct {
		body string
		u    backstop.Upstream
		s    backstop.Step
		want string
		path string
	}{
		"nothing":                      {spaced, backstop.Upstream{Unary: backstop.UnaryPlain}, backstop.Step{}, spaced, "/v1/messages"},
		"the model":                    {spaced, backstop.Upstream{Unary: backstop.UnaryPlain, BaseURL: "https://x/v1/"}, backstop.Step{Model: "other"}, strings.Replace(spaced, `"claude"`, `"other"`, 1), "/messages"},
		"the stream":                   {spaced, backstop.Upstream{Unary: backstop.UnaryStream, BaseURL: "https://x/anthropic"}, backstop.Step{}, strings.TrimSuffix(spaced, "}") + `,"stream":true}`, "/v1/messages"},
		"asked plainly":                {spaced, backstop.Upstream{Unary: backstop.UnaryStream}, backstop.Step{Plain: true}, spaced, "/v1/messages"},
		"a parameter":                  {spaced, backstop.Upstream{Unary: backstop.UnaryPlain}, backstop.Step{Without: []string{"unknown"}}, strings.Replace(spaced, "\"unknown\":{\"a\" :1}, ", "", 1), "/v1/messages"},
		"the last one":                 {`{"model":"a","max_tokens":1,"messages":[{}],"x":1}`, backstop.Upstream{Unary: backstop.UnaryPlain}, backstop.Step{Without: []string{"x"}}, `{"model":"a","max_tokens":1,"messages":[{}]}`, "/v1/messages"},
		"the last two":                 {`{"model":"a","max_tokens":1,"messages":[{}],"x":1, "y":2}`, backstop.Upstream{Unary: backstop.UnaryPlain, Quirks: backstop.Quirks{DropParams: []string{"x", "y"}}}, backstop.Step{}, `{"model":"a","max_tokens":1,"messages":[{}]}`, "/v1/messages"},
		"a renamed one":                {`{"model":"a","max_tokens":1,"messages":[{}],"x":1}`, backstop.Upstream{Unary: backstop.UnaryPlain, Quirks: backstop.Quirks{RenameParams: map[string]string{"x": "z"}, SetParams: map[string]any{"max_tokens": 9}}}, backstop.Step{}, `{"model":"a","max_tokens":9,"messages":[{}],"z":1}`, "/v1/messages"},
		"a too long id":                {`{"model":"a","max_tokens":1,"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"` + strings.Repeat("x", 70) + `"}]}]}`, backstop.Upstream{Unary: backstop.UnaryPlain}, backstop.Step{}, `{"model":"a","max_tokens":1,"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"` + wire.ToolID(strings.Repeat("x", 70)) + `"}]}]}`, "/v1/messages"},
		"thinking of us":               {`{"model":"a","max_tokens":1,"thinking":{"type":"enabled"},"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"backstop-unsigned"},{"type":"tool_use","id":"1"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"1"}]}]}`, backstop.Upstream{Unary: backstop.UnaryPlain}, backstop.Step{}, `{"model":"a","max_tokens":1,"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"1"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"1"}]}]}`, "/v1/messages"},
		"thinking of us, words behind": {`{"model":"a","max_tokens":1,"thinking":{"type":"enabled"},"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"backstop-unsigned"},{"type":"tool_use","id":"1"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"1"}]},{"role":"user","content":"b"}]}`, backstop.Upstream{Unary: backstop.UnaryPlain}, backstop.Step{}, `{"model":"a","max_tokens":1,"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"1"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"1"}]},{"role":"user","content":"b"}]}`, "/v1/messages"},
		"thinking alone":               {`{"model":"a","max_tokens":1,"messages":[{"role":"user","content":"a"}, {"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"backstop-unsigned"}]} ,{"role":"user","content":"b"}]}`, backstop.Upstream{Unary: backstop.UnaryPlain}, backstop.Step{}, `{"model":"a","max_tokens":1,"messages":[{"role":"user","content":"a"}, {"role":"user","content":"b"}]}`, "/v1/messages"},
	} {
		t.Run(name, func(t *testing.T) {
			r := read(t, c.body)
			c.s.Plain = c.s.Plain || c.u.Unary == backstop.UnaryPlain && !r.Stream // as the engine orders it
			out, cannot := Room{}.Outbound(r, &c.u, &c.s)
			if cannot != nil || string(out.Body) != c.want || out.Path != c.path {
				t.Errorf("%+v\n got %s %s\nwant %s %s", cannot, out.Path, out.Body, c.path, c.want)
			}
		})
	}
}

func TestWhatAnUpstreamCannotTakeIsNotDropped(t *testing.T) {
	r := read(t, `{"model":"m","max_tokens":7,"messages":[{}],"tools":[{"name":"f"}],"output_format":{"type":"json_schema","schema":{}}}`)
	for _, without := range []string{"tools", "output_format", "max_tokens", "messages"} {
		if _, o := (Room{}).Outbound(r, &backstop.Upstream{}, &backstop.Step{Without: []string{without}}); o == nil || !o.NextTier || o.Param != without {
			t.Errorf("without %s: %+v", without, o)
		}
	}
	if _, o := (Room{}).Outbound(r, &backstop.Upstream{Quirks: backstop.Quirks{NoTools: true}}, &backstop.Step{}); o == nil {
		t.Error("tools were sent")
	}
}

func TestAProbeIsTiny(t *testing.T) {
	for _, p := range []backstop.Probe{{Model: "m"}, {Model: "m", Stream: true, JSON: true}} {
		out := Room{}.Probe(&p)
		r, fail := Room{}.Read(wire.Chat, out.Body)
		if fail != nil || r.MaxTokens > 16 || r.Stream != p.Stream || out.Stream != p.Stream {
			t.Errorf("%s %+v", out.Body, fail)
		}
	}
}

func TestErrorsHaveTheDialectsShape(t *testing.T) {
	for _, c := range []struct {
		f    backstop.Failure
		want string
	}{
		{backstop.Failure{Code: backstop.CodeUpstreamTimeout, Message: "late"}, `{"type":"error","error":{"type":"timeout_error","message":"late","code":"upstream_timeout"},"request_id":"req_1"}`},
		{backstop.Failure{Code: backstop.CodeInvalidRequest, Message: "x", Param: "n"}, `{"type":"error","error":{"type":"invalid_request_error","message":"x","code":"invalid_request","param":"n"},"request_id":"req_1"}`},
		{backstop.Failure{Code: backstop.CodeUpstreamUnavailable, Status: 529}, `{"type":"error","error":{"type":"overloaded_error","message":"the request failed","code":"upstream_unavailable"},"request_id":"req_1"}`},
		{backstop.Failure{Code: backstop.CodeUpstreamRejected, Status: 404, From: backstop.Anthropic, Body: []byte(`{"type":"error","error":{"type":"not_found_error","message":"m"}}`)}, `{"type":"error","error":{"type":"not_found_error","message":"m"}}`},
		{backstop.Failure{Code: backstop.CodeUpstreamRejected, Status: 404, Message: "m", From: backstop.OpenAI, Body: []byte(`{"error":{"message":"m"}}`)}, `{"type":"error","error":{"type":"not_found_error","message":"m","code":"upstream_rejected"},"request_id":"req_1"}`},
	} {
		if got := string(Room{}.Failure(&c.f, "req_1")); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestALocalAnswerIsAMessage(t *testing.T) {
	a := &wire.Answer{ID: "m1", Model: "backstop-template", Text: "busy\n", Note: wire.Note{Tier: "local"}}
	body := Room{}.Compose(nil, a)
	want := `{"id":"m1","type":"message","role":"assistant","model":"backstop-template","content":[{"type":"text","text":"busy\n"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":0,"output_tokens":0},"x_backstop":{"tier":"local"}}`
	if string(body) != want {
		t.Fatalf("got  %s\nwant %s", body, want)
	}
	if (Room{}).Compose(&wire.Request{Op: wire.CountTokens}, a) != nil {
		t.Error("a count was made up")
	}
	text, finish, ok := Room{}.Content(body)
	if text != "busy\n" || finish != "stop" || !ok {
		t.Errorf("%q %q %v", text, finish, ok)
	}
	w := Room{}.Writer(nil)
	var stream []byte
	for _, data := range (Room{}).Explode(nil, body) {
		stream = append(stream, w.Event(&sse.Event{Data: data}, &wire.Signal{Kind: wire.Token})...)
	}
	stream = append(stream, w.Close(nil)...)
	checkCaller(t, stream, true)
	if !bytes.Contains(stream, []byte(`{"type":"message_stop","x_backstop":{"tier":"local"}}`)) {
		t.Errorf("%s", stream)
	}
}

func TestTextIsReplacedInPlace(t *testing.T) {
	body := `{"a":1,"content":[{"type":"thinking","thinking":"x"}, {"type":"text","text":"one"} ,{"type":"text","text":"two"}],"stop_reason":"max_tokens" }`
	want := `{"a":1,"content":[{"type":"thinking","thinking":"x"}, {"type":"text","text":"new\n"}],"stop_reason":"max_tokens" }`
	if got := string(Room{}.Replace([]byte(body), "new\n")); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if text, finish, ok := (Room{}).Content([]byte(body)); text != "onetwo" || finish != "length" || !ok {
		t.Errorf("%q %q %v", text, finish, ok)
	}
	if got := string(Room{}.Annotate([]byte(body), &wire.Note{Stale: 3})); !json.Valid([]byte(got)) || !strings.HasSuffix(got, `,"x_backstop":{"stale":3}}`) {
		t.Errorf("%s", got)
	}
}
