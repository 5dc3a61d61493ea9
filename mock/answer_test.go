package mock_test

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"backstop/mock"
)

func TestAHealthyAnswerIsTheSameForAPrompt(t *testing.T) {
	_, a := overSockets(t, mock.Options{Name: "a"})
	_, b := overSockets(t, mock.Options{Name: "b"})
	_, other := overSockets(t, mock.Options{Seed: 7})
	plain, stream := a.chat("m", false, "", patient), b.chat("another", true, "", patient)
	if read(plain.body).text != read(stream.body).text {
		t.Errorf("two servers and two ways of asking differ:\n%s\n%s", read(plain.body).text, read(stream.body).text)
	}
	if again := a.chat("m", false, "", patient); again.body != plain.body {
		t.Errorf("asked twice:\n%s\n%s", plain.body, again.body)
	}
	if g := other.chat("m", false, "", patient); read(g.body).text == read(plain.body).text {
		t.Error("another seed gives the same text")
	}
	if !strings.Contains(plain.body, `"system_fingerprint":"mock-a"`) || !strings.Contains(stream.body, `"model":"another"`) {
		t.Errorf("name or model are missing: %s", plain.body)
	}
	for _, model := range []string{"stall@20", "cut@20"} {
		part := read(a.chat(model, true, "", impatient).body)
		if part.tokens != 20 || !strings.HasPrefix(read(plain.body).text, part.text) {
			t.Errorf("%s does not begin like the healthy answer: %+v", model, part)
		}
	}
}

func TestAStreamHonoursItsOptions(t *testing.T) {
	_, p := overSockets(t, mock.Options{})
	with := read(p.chat("m", true, `,"stream_options":{"include_usage":true}`, patient).body)
	without := read(p.chat("m", true, "", patient).body)
	if with.usage["completion_tokens"] != 48.0 || with.usage["total_tokens"] != with.usage["prompt_tokens"].(float64)+48 {
		t.Errorf("usage %v", with.usage)
	}
	if without.usage != nil || with.events != without.events+1 || with.text != without.text {
		t.Errorf("%+v\n%+v", with, without)
	}
	cut := read(p.chat("m", true, `,"max_completion_tokens":7`, patient).body)
	if cut.tokens != 7 || cut.finish != "length" || !cut.done {
		t.Errorf("%+v", cut)
	}
}

func TestSeveralChoicesAreToldApart(t *testing.T) {
	_, p := overSockets(t, mock.Options{Tokens: 9})
	var plain struct {
		Choices []struct {
			Index   int
			Message struct{ Content string }
		}
		Usage map[string]int
	}
	decode(t, p.chat("m", false, `,"n":3`, patient).body, &plain)
	if len(plain.Choices) != 3 || plain.Choices[0].Message == plain.Choices[2].Message || plain.Usage["completion_tokens"] != 27 {
		t.Fatalf("%+v", plain)
	}
	texts := map[int]string{}
	for line := range strings.SplitSeq(p.chat("m", true, `,"n":3`, patient).body, "\n") {
		var e struct {
			Choices []struct {
				Index int
				Delta struct{ Content string }
			}
		}
		if data, ok := strings.CutPrefix(line, "data: {"); ok {
			decode(t, "{"+data, &e)
			for _, c := range e.Choices {
				texts[c.Index] += c.Delta.Content
			}
		}
	}
	for i, c := range plain.Choices {
		if texts[i] != c.Message.Content {
			t.Errorf("choice %d: plain %q, stream %q", i, c.Message.Content, texts[i])
		}
	}
}

func TestLogprobsComeForEachToken(t *testing.T) {
	_, p := overSockets(t, mock.Options{Tokens: 5})
	g := p.chat("m", false, `,"logprobs":true,"top_logprobs":2`, patient)
	var a struct {
		Choices []struct {
			Logprobs struct {
				Content []struct {
					Token string
					Top   []any `json:"top_logprobs"`
				}
			}
		}
	}
	decode(t, g.body, &a)
	c := a.Choices[0].Logprobs.Content
	if len(c) != 5 || len(c[0].Top) != 2 || c[0].Token != "On" {
		t.Errorf("%+v", c)
	}
	if s := p.chat("m", true, `,"logprobs":true`, patient); strings.Count(s.body, `"logprobs":{"content":[{`) != 5 {
		t.Errorf("%s", s.body)
	}
	if g := p.post("/v1/completions", `{"model":"m","prompt":"x","logprobs":2}`, patient); !strings.Contains(g.body, `"text_offset":[0,2,`) {
		t.Errorf("%s", g.body)
	}
	if s := p.post("/v1/completions", `{"model":"m","prompt":"x","logprobs":2,"stream":true}`, patient); !strings.Contains(s.body, `"text_offset":[0]`) || !strings.Contains(s.body, `"text_offset":[2]`) {
		t.Errorf("%s", s.body)
	}
}

func TestPromisedJSONIsValid(t *testing.T) {
	_, p := overSockets(t, mock.Options{})
	for name, format := range map[string]string{
		"object": `{"type":"json_object"}`,
		"schema": `{"type":"json_schema","json_schema":{"name":"x","schema":{"type":"object","required":["city","n","tags","kind","who"],
			"properties":{"city":{"type":"string","minLength":30},"n":{"type":"integer","minimum":5},"skip":{"type":"string"},
			"tags":{"type":"array","minItems":2,"items":{"type":"number","exclusiveMinimum":0}},"kind":{"enum":["b","a"]},
			"who":{"$ref":"#/$defs/who"}},"$defs":{"who":{"type":["object","null"],"required":["ok"],"properties":{"ok":{"anyOf":[{"type":"boolean"},{"type":"null"}]}}}}}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			for _, stream := range []bool{false, true} {
				s := read(p.chat("m", stream, `,"response_format":`+format, patient).body)
				var v map[string]any
				decode(t, s.text, &v)
				if s.finish != "stop" || len(v) == 0 {
					t.Errorf("%+v", s)
				}
				if name == "schema" {
					checkCity(t, v)
				}
			}
		})
	}
	if s := read(p.chat("m", true, jsonAsked+`,"max_tokens":16`, patient).body); !json.Valid([]byte(s.text)) || s.finish != "stop" {
		t.Errorf("a probe of 16 tokens must get whole JSON: %+v", s)
	}
}

func checkCity(t *testing.T, v map[string]any) {
	t.Helper()
	tags, _ := v["tags"].([]any)
	who, _ := v["who"].(map[string]any)
	if len(v["city"].(string)) != 30 || v["n"] != 5.0 || len(tags) != 2 || tags[0] != 1.0 || v["kind"] != "b" || who["ok"] != true || v["skip"] != nil {
		t.Errorf("%v", v)
	}
}

func TestAForcedToolIsCalled(t *testing.T) {
	_, p := overSockets(t, mock.Options{})
	const tools = `,"tools":[{"type":"function","function":{"name":"clock","parameters":{"type":"object","required":["zone"],"properties":{"zone":{"type":"string"}}}}},
		{"type":"function","function":{"name":"mail"}}]`
	for _, c := range []struct{ choice, name, args string }{
		{`"auto"`, "", ""},
		{`"required"`, "clock", `{"zone":`},
		{`{"type":"function","function":{"name":"mail"}}`, "mail", `{}`},
	} {
		for _, stream := range []bool{false, true} {
			g := p.chat("m", stream, tools+`,"tool_choice":`+c.choice, patient)
			s := read(g.body)
			if c.name == "" {
				whole(t, g, s)
				continue
			}
			if s.finish != "tool_calls" || !strings.HasPrefix(s.args, c.args) || !json.Valid([]byte(s.args)) || strings.Count(g.body, `"name":"`+c.name+`"`) != 1 {
				t.Errorf("%s: %+v", c.choice, s)
			}
		}
	}
}

func TestCompletionsSpeakTheirOwnShape(t *testing.T) {
	_, p := overSockets(t, mock.Options{})
	for _, path := range []string{"/v1/completions", "/completions"} {
		plain := p.post(path, `{"model":"m","prompt":["a","b"]}`, patient)
		stream := p.post(path, `{"model":"m","prompt":["a","b"],"stream":true}`, patient)
		a, b := read(plain.body), read(stream.body)
		if a.text == "" || a.text != b.text || a.finish != "stop" || !b.done || !strings.Contains(plain.body, `"object":"text_completion"`) {
			t.Errorf("%+v\n%+v", a, b)
		}
	}
	if g := p.post("/v1/completions", `{"model":"cut@2","prompt":"x","stream":true}`, patient); g.err == nil || read(g.body).tokens != 2 {
		t.Errorf("faults work here too: %v %q", g.err, g.body)
	}
}

func TestEmbeddingsAreUnitVectorsOfTheirText(t *testing.T) {
	_, p := overSockets(t, mock.Options{})
	type answer struct {
		Data []struct {
			Index     int
			Embedding []float64
		}
		Usage map[string]int
	}
	var one, two answer
	decode(t, p.post("/v1/embeddings", `{"model":"m","input":"sea"}`, patient).body, &one)
	decode(t, p.post("/embeddings", `{"model":"m","input":["land","sea"],"dimensions":64}`, patient).body, &two)
	if len(two.Data) != 2 || len(one.Data[0].Embedding) != 64 || two.Usage["prompt_tokens"] != 4 {
		t.Fatalf("%+v", two)
	}
	sum := 0.0
	for _, x := range one.Data[0].Embedding {
		sum += x * x
	}
	if math.Abs(sum-1) > 1e-5 {
		t.Errorf("length %v", math.Sqrt(sum))
	}
	var packed struct{ Data []struct{ Embedding string } }
	decode(t, p.post("/v1/embeddings", `{"model":"m","input":"sea","encoding_format":"base64"}`, patient).body, &packed)
	raw, err := base64.StdEncoding.DecodeString(packed.Data[0].Embedding)
	if err != nil || len(raw) != 256 {
		t.Fatalf("%v, %d bytes", err, len(raw))
	}
	if first := math.Float32frombits(binary.LittleEndian.Uint32(raw)); float64(first)-one.Data[0].Embedding[0] > 1e-6 {
		t.Errorf("packed %v, plain %v", first, one.Data[0].Embedding[0])
	}
	for _, model := range []string{"503", "empty", "html", "error-in-200", "malformed", "reset"} {
		if g := p.post("/v1/embeddings", `{"model":"`+model+`","input":"sea"}`, patient); g.err == nil && g.status == 200 && strings.Contains(g.body, `"usage"`) {
			t.Errorf("%s is healthy: %s", model, g.body)
		}
	}
}

func TestBadRequestsAreRefusedInTheDialect(t *testing.T) {
	_, p := overSockets(t, mock.Options{})
	for name, c := range map[string]struct {
		path, body string
		status     int
	}{
		"no JSON":            {"/v1/chat/completions", `{`, 400},
		"a wrong type":       {"/v1/chat/completions", `{"model":"m","stream":"yes"}`, 400},
		"no model":           {"/v1/chat/completions", `{"messages":[{}]}`, 400},
		"no message":         {"/v1/chat/completions", `{"model":"m","messages":[]}`, 400},
		"too many choices":   {"/v1/chat/completions", `{"model":"m","messages":[{}],"n":1000}`, 400},
		"no input":           {"/v1/embeddings", `{"model":"m"}`, 400},
		"too long a vector":  {"/v1/embeddings", `{"model":"m","input":"x","dimensions":100000}`, 400},
		"an unknown path":    {"/v1/audio", `{}`, 404},
		"another dialect":    {"/v1/messages", `{}`, 400},
		"a negative maximum": {"/v1/completions", `{"model":"m","max_tokens":-1}`, 400},
	} {
		t.Run(name, func(t *testing.T) {
			g := p.post(c.path, c.body, patient)
			var e struct {
				Error struct{ Message, Type string }
			}
			decode(t, g.body, &e)
			if g.status != c.status || e.Error.Message == "" || e.Error.Type != "invalid_request_error" {
				t.Errorf("%d %s", g.status, g.body)
			}
		})
	}
}

func TestHugeBodiesAreRefused(t *testing.T) {
	_, p := overSockets(t, mock.Options{})
	g := p.post("/v1/chat/completions", strings.Repeat(" ", 33<<20), patient)
	if g.err == nil && g.status != 413 {
		t.Errorf("%d", g.status)
	}
}

func decode(t *testing.T, body string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(body), into); err != nil {
		t.Fatal(fmt.Errorf("%w in %q", err, body))
	}
}
