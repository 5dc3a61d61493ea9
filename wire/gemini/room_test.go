package gemini

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"backstop"
	"backstop/sse"
	"backstop/wire"
)

const simple = `{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`

// read reads a body as the server does: model and streaming come from the path.
func read(t testing.TB, body string, stream bool) *wire.Request {
	t.Helper()
	r, fail := Room{}.Read(wire.Chat, []byte(body))
	if fail != nil {
		t.Fatalf("%s: %v", body, fail)
	}
	r.Model, r.Stream = "gemini-2.5-flash", stream
	return r
}

func TestARequestIsReadStrictly(t *testing.T) {
	config := func(s string) string { return `{"contents":[{}],"generationConfig":{` + s + `}}` }
	for name, c := range map[string]struct{ body, param, says string }{
		"no body":                         {` `, "", "empty"},
		"no object":                       {`[1]`, "", "not a JSON object"},
		"two objects":                     {simple + simple, "", "not valid JSON"},
		"broken UTF-8":                    {"{\"contents\":\"\xff\"}", "", "UTF-8"},
		"contents are missing":            {`{}`, "contents", "missing"},
		"contents are null":               {`{"contents":null}`, "contents", "missing"},
		"contents are empty":              {`{"contents":[]}`, "contents", "empty"},
		"contents are a text":             {`{"contents":"hi"}`, "contents", "array"},
		"a content is no object":          {`{"contents":[1]}`, "contents", "object"},
		"contents are given twice":        {`{"contents":[{}],"contents":[{}]}`, "contents", "twice"},
		"both spellings":                  {`{"contents":[{}],"generationConfig":{},"generation_config":{}}`, "generationConfig", "twice"},
		"another case":                    {`{"contents":[{}],"GenerationConfig":{}}`, "generationConfig", "another way"},
		"an escaped name counts":          {`{"contents":[{}],"\u0063ontents":[{}]}`, "contents", "twice"},
		"a config is given twice":         {config(`"maxOutputTokens":1,"max_output_tokens":2`), "generationConfig.maxOutputTokens", "twice"},
		"a config in another case":        {config(`"MaxOutputTokens":1`), "generationConfig.maxOutputTokens", "another way"},
		"generationConfig is a list":      {`{"contents":[{}],"generationConfig":[]}`, "generationConfig", "object"},
		"maxOutputTokens is broken":       {config(`"maxOutputTokens":1.5`), "generationConfig.maxOutputTokens", "whole"},
		"maxOutputTokens is zero":         {config(`"maxOutputTokens":0`), "generationConfig.maxOutputTokens", "at least 1"},
		"candidateCount is a crowd":       {config(`"candidateCount":1000000`), "generationConfig.candidateCount", "whole"},
		"temperature is a word":           {config(`"temperature":"hot"`), "generationConfig.temperature", "number"},
		"responseLogprobs is a number":    {config(`"responseLogprobs":1`), "generationConfig.responseLogprobs", "true or false"},
		"stopSequences are a text":        {config(`"stopSequences":"x"`), "generationConfig.stopSequences", "array"},
		"thinkingConfig is a number":      {config(`"thinkingConfig":1`), "generationConfig.thinkingConfig", "object"},
		"responseSchema is a text":        {config(`"responseMimeType":"application/json","responseSchema":"x"`), "generationConfig.responseSchema", "object"},
		"responseMimeType is an object":   {config(`"responseMimeType":{}`), "generationConfig.responseMimeType", "string"},
		"systemInstruction is a text":     {`{"contents":[{}],"system_instruction":"x"}`, "systemInstruction", "object"},
		"tools are a word":                {`{"contents":[{}],"tools":"x"}`, "tools", "array"},
		"toolConfig is a list":            {`{"contents":[{}],"toolConfig":[]}`, "toolConfig", "object"},
		"the model in the body is no one": {`{"contents":[{}],"model":1}`, "model", "string"},
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
	r := read(t, `{"contents":{"parts":{"text":"12345678"}},"tools":{"functionDeclarations":[{"name":"f"}]},"generation_config":{"max_output_tokens":"7","candidate_count":2,"response_logprobs":true,
		"response_modalities":["AUDIO"],"response_mime_type":"application/json","response_json_schema":{"type":"object"}}}`, true)
	if r.MaxTokens != 7 || r.Choices != 2 || !r.Logprobs || !r.Audio || !r.Tools || string(r.Promise.Schema) != `{"type":"object"}` || r.InputSize < 2 {
		t.Errorf("%+v", r)
	}
	for config, want := range map[string]string{
		`{"responseMimeType":"application/json"}`: `{}`,
		`{"responseMimeType":"application/json","responseSchema":{"type":"STRING","nullable":true,"enum":["a"]}}`:                      `{"type":["string","null"],"enum":["a",null]}`,
		`{"responseMimeType":"application/json","responseSchema":{"type":"ARRAY","max_items":"3","items":{"type":"INTEGER"}}}`:         `{"type":"array","maxItems":3,"items":{"type":"integer"}}`,
		`{"responseMimeType":"application/json","responseSchema":{"nullable":true,"anyOf":[{"type":"STRING"}]}}`:                       `{"anyOf":[{"type":"string"},{"type":"null"}]}`,
		`{"responseMimeType":"application/json","responseSchema":{"type":"OBJECT","properties":{"nullable":{"type":"BOOLEAN"}}}}`:      `{"type":"object","properties":{"nullable":{"type":"boolean"}}}`,
		`{"responseMimeType":"application/json","responseSchema":` + strings.Repeat(`{"items":`, 99) + `{}` + strings.Repeat(`}`, 100): `{}`,
		`{"responseMimeType":"text/plain","responseSchema":{"type":"STRING"}}`:                                                         ``,
		`{"responseMimeType":"text/x.enum","responseSchema":{"type":"STRING","enum":["a"]}}`:                                           ``,
	} {
		if r := read(t, `{"contents":[{}],"generationConfig":`+config+`}`, false); string(r.Promise.Schema) != want || (r.Promise.Kind != wire.PromiseNone) != (want != "") {
			t.Errorf("%s: %+v %s", config, r.Promise.Kind, r.Promise.Schema)
		}
	}
	for body, ok := range map[string]bool{
		simple: true, `{"generateContentRequest":{"contents":[{}]}}`: true, `{}`: false,
	} {
		if r, fail := (Room{}).Read(wire.CountTokens, []byte(body)); (fail == nil) != ok {
			t.Errorf("counting %s: %+v %v", body, r, fail)
		}
	}
}

func TestModelAndStreamingGoIntoThePath(t *testing.T) {
	for _, c := range []struct {
		base, model string
		stream      bool
		want        string
	}{
		{"https://generativelanguage.googleapis.com", "gemini-2.5-flash", false, "/v1beta/models/gemini-2.5-flash:generateContent"},
		{"https://generativelanguage.googleapis.com/v1/", "models/gemini-2.5-flash", true, "/models/gemini-2.5-flash:streamGenerateContent?alt=sse"},
		{"https://x/v1alpha", "tunedModels/a-1", false, "/tunedModels/a-1:generateContent"},
		{"https://x-aiplatform.googleapis.com/v1/projects/p/locations/l/publishers/google", "gemini-2.5-pro", false, "/models/gemini-2.5-pro:generateContent"},
		{"https://x-aiplatform.googleapis.com/v1/projects/p/locations/l", "publishers/google/models/gemini-2.5-pro@001", false, "/publishers/google/models/gemini-2.5-pro@001:generateContent"},
		{"https://x", "slow:20s", true, "/v1beta/models/slow:20s:streamGenerateContent?alt=sse"},
		{"https://x", "../../v1/files", false, ""},
		{"https://x", "..", false, ""},
		{"https://x", "models/..", false, ""},
		{"https://x", "models/a/b", false, ""},
		{"https://x", "publishers/google/../../other", false, ""},
		{"https://x", "publishers//x", false, ""},
		{"https://x", "google/gemini", false, ""},
		{"https://x", "a?key=1", false, ""},
		{"https://x", "a#b", false, ""},
		{"https://x", "a%2e%2e", false, ""},
		{"https://x", "a b", false, ""},
		{"https://x", "a\r\nb", false, ""},
		{"https://x", "ä", false, ""},
		{"https://x", strings.Repeat("a", 600), false, ""},
	} {
		r := read(t, simple, c.stream)
		r.Model = c.model
		out, cannot := Room{}.Outbound(r, &backstop.Upstream{BaseURL: c.base}, &backstop.Step{Plain: !c.stream})
		if (cannot != nil) != (c.want == "") || cannot == nil && (out.Path != c.want || out.Stream != c.stream || string(out.Body) != simple) {
			t.Errorf("%s at %s: %+v %+v", c.model, c.base, out, cannot)
		}
		if cannot != nil && (cannot.Param != "model" || !cannot.NextTier) {
			t.Errorf("%+v", cannot)
		}
	}
	count, _ := Room{}.Read(wire.CountTokens, []byte(`{"generateContentRequest":{"model":"models/a","contents":[{}]}}`))
	out, cannot := Room{}.Outbound(count, &backstop.Upstream{}, &backstop.Step{Model: "b"})
	if cannot != nil || out.Path != "/v1beta/models/b:countTokens" || out.Stream || string(out.Body) != `{"generateContentRequest":{"model":"models/b","contents":[{}]}}` {
		t.Errorf("%+v %s %+v", out, out.Body, cannot)
	}
}

func TestOnlyWhatMustChangeChanges(t *testing.T) {
	spaced := "{ \"contents\" : [ {\"parts\":[ {\"text\":\"hi\"} ] } ],\n \"unknown\":{\"a\" :1}, \"generation_config\":{ \"seed\":1, \"topK\" : 4 } } \n"
	ours := `{"contents":[{"role":"model","parts":[{"functionCall":{"name":"f"},"thoughtSignature":"c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="}]},{"parts":[{"text":"a"}]}]}`
	theirs := strings.Replace(ours, "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I=", "c2ln", 1)
	quirk := func(q backstop.Quirks) backstop.Upstream { return backstop.Upstream{Quirks: q} }
	for name, c := range map[string]struct {
		body string
		u    backstop.Upstream
		s    backstop.Step
		want string
	}{
		"nothing":                       {spaced, backstop.Upstream{}, backstop.Step{Model: "other"}, spaced},
		"a parameter":                   {spaced, backstop.Upstream{}, backstop.Step{Without: []string{"unknown"}}, strings.Replace(spaced, "\"unknown\":{\"a\" :1}, ", "", 1)},
		"a parameter within":            {spaced, backstop.Upstream{}, backstop.Step{Without: []string{"generationConfig.seed"}}, strings.Replace(spaced, "\"seed\":1, ", "", 1)},
		"one of them alone":             {spaced, backstop.Upstream{}, backstop.Step{Without: []string{"top_k"}}, strings.Replace(spaced, ", \"topK\" : 4", "", 1)},
		"all of them":                   {spaced, backstop.Upstream{}, backstop.Step{Without: []string{"generationConfig", "seed"}}, strings.Replace(spaced, ", \"generation_config\":{ \"seed\":1, \"topK\" : 4 }", "", 1)},
		"a renamed one":                 {spaced, quirk(backstop.Quirks{RenameParams: map[string]string{"unknown": "known", "seed": "random_seed"}}), backstop.Step{}, strings.NewReplacer(`"unknown"`, `"known"`, `"seed"`, `"randomSeed"`).Replace(spaced)},
		"a set one":                     {spaced, quirk(backstop.Quirks{SetParams: map[string]any{"top_k": 9, "labels": "x"}}), backstop.Step{}, strings.NewReplacer(" : 4", " : 9", " } \n", " ,\"labels\":\"x\"} \n").Replace(spaced)},
		"a set one without a config":    {simple, quirk(backstop.Quirks{SetParams: map[string]any{"generation_config.seed": 1, "temperature": 0.5}}), backstop.Step{}, simple[:len(simple)-1] + `,"generationConfig":{"seed":1,"temperature":0.5}}`},
		"the contents stay":             {spaced, quirk(backstop.Quirks{DropParams: []string{"contents"}, SetParams: map[string]any{"contents": 1}}), backstop.Step{}, spaced},
		"a model in the body":           {`{"model":"models/gemini-2.5-flash","contents":[{}]}`, backstop.Upstream{}, backstop.Step{Model: "other"}, `{"model":"models/other","contents":[{}]}`},
		"the same model in the body":    {`{"model":"gemini-2.5-flash","contents":[{}]}`, backstop.Upstream{}, backstop.Step{}, `{"model":"gemini-2.5-flash","contents":[{}]}`},
		"our word for a signature":      {ours, backstop.Upstream{}, backstop.Step{Model: "gemini-2.5-pro"}, strings.Replace(ours, `,"thoughtSignature":"c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="`, "", 1)},
		"one that is demanded":          {ours, backstop.Upstream{}, backstop.Step{Model: "gemini-3-pro"}, ours},
		"a signature of the vendor's":   {theirs, backstop.Upstream{}, backstop.Step{Model: "gemini-2.5-pro"}, theirs},
		"our word for one in the other": {strings.Replace(ours, "thoughtS", "thought_s", 1), backstop.Upstream{}, backstop.Step{Model: "x"}, strings.Replace(ours, `,"thoughtSignature":"c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="`, "", 1)},
	} {
		t.Run(name, func(t *testing.T) {
			out, cannot := Room{}.Outbound(read(t, c.body, false), &c.u, &c.s)
			if cannot != nil || string(out.Body) != c.want {
				t.Errorf("%+v\n got %s\nwant %s", cannot, out.Body, c.want)
			}
		})
	}
}

func TestWhatAnUpstreamCannotTakeIsNotDropped(t *testing.T) {
	r := read(t, `{"contents":[{}],"tools":[{"functionDeclarations":[{"name":"f"}]}],"generationConfig":{"responseMimeType":"application/json"}}`, false)
	for _, without := range []string{"tools", "contents", "generation_config", "response_mime_type", "generationConfig.responseJsonSchema", "generation_config.response_schema"} {
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
		if fail != nil || r.MaxTokens > 1024 || out.Stream != p.Stream || strings.Contains(out.Path, "alt=sse") != p.Stream {
			t.Errorf("%s %s %+v", out.Path, out.Body, fail)
		}
	}
}

func TestErrorsHaveTheDialectsShape(t *testing.T) {
	native := `{"error":{"code":404,"message":"m","status":"NOT_FOUND"}}`
	for _, c := range []struct {
		f    backstop.Failure
		want string
	}{
		{backstop.Failure{Code: backstop.CodeUpstreamTimeout, Message: "late"}, `{"error":{"code":504,"message":"late","status":"DEADLINE_EXCEEDED","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"upstream_timeout","domain":"backstop","metadata":{"request_id":"req_1"}}]}}`},
		{backstop.Failure{Code: backstop.CodeInvalidRequest, Message: "x", Param: "contents"}, `{"error":{"code":400,"message":"x","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"invalid_request","domain":"backstop","metadata":{"request_id":"req_1","param":"contents"}}]}}`},
		{backstop.Failure{Code: backstop.CodeRateLimited, RetryAfter: 90 * time.Second}, `{"error":{"code":429,"message":"the request failed","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"rate_limited","domain":"backstop","metadata":{"request_id":"req_1"}},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"10s"}]}}`},
		{backstop.Failure{Code: backstop.CodeUpstreamUnavailable, Status: 529}, `{"error":{"code":529,"message":"the request failed","status":"UNAVAILABLE","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"upstream_unavailable","domain":"backstop","metadata":{"request_id":"req_1"}}]}}`},
		{backstop.Failure{Code: backstop.CodeUpstreamRejected, Status: 404, From: backstop.Gemini, Body: []byte(native)}, native},
	} {
		got := string(Room{}.Failure(&c.f, "req_1"))
		if got != c.want || !json.Valid([]byte(got)) {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestALocalAnswerIsAnAnswer(t *testing.T) {
	a := &wire.Answer{ID: "m1", Model: "backstop-template", Text: "busy\n", Note: wire.Note{Tier: "local"}}
	body := Room{}.Compose(nil, a)
	want := `{"candidates":[{"content":{"parts":[{"text":"busy\n"}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":0,"candidatesTokenCount":0,"totalTokenCount":0},"modelVersion":"backstop-template","responseId":"m1","x_backstop":{"tier":"local"}}`
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
	if stream = append(stream, w.Close(nil)...); string(stream) != "data: "+want+"\n\n" {
		t.Errorf("%s", stream)
	}
}

func TestTextIsReplacedInPlace(t *testing.T) {
	body := `{"a":1,"candidates":[{"content":{"parts":[{"text":"","thought":true}, {"text":"one"} ,{"text":"two"},{"text":"3","thoughtSignature":"s"}]},"finishReason":"MAX_TOKENS" }] }`
	want := `{"a":1,"candidates":[{"content":{"parts":[{"text":"","thought":true}, {"text":"new\n"},{"text":"","thoughtSignature":"s"}]},"finishReason":"MAX_TOKENS" }] }`
	if got := string(Room{}.Replace([]byte(body), "new\n")); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if text, finish, ok := (Room{}).Content([]byte(body)); text != "onetwo3" || finish != "length" || !ok {
		t.Errorf("%q %q %v", text, finish, ok)
	}
	if got := string(Room{}.Annotate([]byte(body), &wire.Note{Stale: 3})); !json.Valid([]byte(got)) || !strings.HasSuffix(got, `,"x_backstop":{"stale":3}}`) {
		t.Errorf("%s", got)
	}
	for body, want := range map[string]string{
		`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f"}}]},"finishReason":"STOP"}]}`:      "tool_calls",
		`{"promptFeedback":{"blockReason":"SAFETY"}}`:                                                       "content_filter",
		`{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"SAFETY"}]}`:                     "content_filter",
		`{"candidates":[{"content":{"parts":[{"text":"a","thought":true}]},"finishReason":"STOP"}],"a":""}`: "stop",
	} {
		if _, finish, ok := (Room{}).Content([]byte(body)); ok || finish != want {
			t.Errorf("%s: %q %v", body, finish, ok)
		}
	}
}

func TestPiecesAreMendedOneByOne(t *testing.T) {
	body := []byte(`{"candidates":[{"content":{"parts":[{"text":"a"},{"text":"b"}]},"finishReason":"STOP"},{"index":1,"content":{"parts":[{"text":"talk"},{"functionCall":{"name":"f","args":{"a":1}}},{"functionCall":{"name":"g"}}]},"finishReason":"STOP"}]}`)
	list := Room{}.Pieces(body)
	if len(list) != 3 || list[0].Text != "ab" || list[0].Call != wire.NoCall || list[1].Text != `{"a":1}` || list[1].Choice != 1 || list[2].Call != 1 || list[2].Text != "" || list[1].Finish != "STOP" {
		t.Fatalf("%+v", list)
	}
	if got := (Room{}).Mend(body, list); !bytes.Equal(got, body) {
		t.Errorf("%s", got)
	}
	list[0].Text, list[0].Cut, list[1].Text = `{"x":1}`, true, `{"a":"1"}`
	want := `{"candidates":[{"content":{"parts":[{"text":"{\"x\":1}"}]},"finishReason":"MAX_TOKENS"},{"index":1,"content":{"parts":[{"text":"talk"},{"functionCall":{"name":"f","args":{"a":"1"}}},{"functionCall":{"name":"g"}}]},"finishReason":"STOP"}]}`
	if got := string(Room{}.Mend(body, list)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestAFurtherQuestionAndTheRestOfAnAnswerAreAsked(t *testing.T) {
	r := read(t, `{"contents": {"parts":{"text":"hi"}} }`, false)
	more, no := Room{}.Ask(r, "once more\n")
	if want := `{"contents": [{"parts":{"text":"hi"}},{"role":"user","parts":[{"text":"once more\n"}]}] }`; no != nil || string(more.Body) != want {
		t.Errorf("%+v %s", no, more.Body)
	}
	r = read(t, simple, true)
	more, no = Room{}.Continue(r, &backstop.Upstream{Quirks: backstop.Quirks{Prefill: true}}, "m", []byte("Hel"))
	if want := `{"contents":[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"text":"Hel"}]}]}`; no != nil || string(more.Body) != want || !more.Stream {
		t.Errorf("%+v %s", no, more.Body)
	}
	more, no = Room{}.Continue(r, &backstop.Upstream{}, "m", []byte("Hel"))
	if no != nil || !strings.Contains(string(more.Body), "cut off") || !json.Valid(more.Body) {
		t.Errorf("%+v %s", no, more.Body)
	}
	if _, no := (Room{}).Continue(r, &backstop.Upstream{}, "m", []byte(" ")); no == nil {
		t.Error("nothing was continued")
	}
}
