package anthropic

import (
	"strings"

	"github.com/tidwall/gjson"

	"backstop"
	"backstop/wire"
	"backstop/wire/internal/intake"
)

const (
	// maxModel bounds a model name, which goes into logs.
	maxModel = 512
	// maxAnswerTokens bounds max_tokens far above what any model takes.
	maxAnswerTokens = 1 << 40
)

// Read checks a caller's body and reads what a call needs to know. Parameters
// it does not know are left alone.
//
// A body is refused (invalid_request, 400, Param set where there is one) that
// is not exactly one JSON object in UTF-8, names a parameter of the gateway
// twice or in another case, or gives one a wrong type. max_tokens is required,
// as the API requires it, except for counting.
func (Room) Read(op wire.Op, body []byte) (*wire.Request, *backstop.Failure) {
	h, fail := scanHead(body)
	if fail != nil {
		return nil, fail
	}
	t := reading{h: h}
	r := &wire.Request{Dialect: backstop.Anthropic, Op: op, Body: body, Choices: 1, UsageOn: true}
	if op != wire.Chat && op != wire.CountTokens {
		t.Refuse("", "operation %q is not one of this dialect", string(op))
	}
	t.model(r)
	t.messages()
	t.answer(r)
	t.promise(r)
	if t.Fail != nil {
		return nil, t.Fail
	}
	r.InputSize = inputSize(h)
	return r, nil
}

// reading collects the first complaint about a body.
type reading struct {
	intake.Complaint
	h intake.Head
}

func (t *reading) model(r *wire.Request) {
	v := t.h["model"]
	switch {
	case !v.Exists():
		t.Refuse("model", `model is missing: name the model, for example "model": "claude-sonnet-4-5"`)
	case v.Type != gjson.String || v.Str == "":
		t.Refuse("model", "model must be a string that is not empty")
	case len(v.Str) > maxModel:
		t.Refuse("model", "model is longer than %d bytes: name one model", maxModel)
	}
	r.Model = strings.Clone(v.Str) // names are kept, and the body is large
}

func (t *reading) messages() {
	v := t.h["messages"]
	if !v.Exists() {
		t.Refuse("messages", `messages is missing: send at least one, for example [{"role":"user","content":"hello"}]`)
		return
	}
	if !v.IsArray() {
		t.Refuse("messages", "messages must be an array of objects")
		return
	}
	n := 0
	v.ForEach(func(_, m gjson.Result) bool {
		if !m.IsObject() {
			t.Refuse("messages", "messages[%d] must be an object with role and content", n)
			return false
		}
		n++
		return true
	})
	if n == 0 {
		t.Refuse("messages", "messages is empty: send at least one message")
	}
	if s := t.h["system"]; intake.Filled(s) && s.Type != gjson.String && !s.IsArray() {
		t.Refuse("system", "system must be a string or an array of text blocks")
	}
}

// answer reads what kind of answer is wanted.
func (t *reading) answer(r *wire.Request) {
	switch v := t.h["stream"]; {
	case v.Type == gjson.True:
		r.Stream = r.Op == wire.Chat
	case intake.Filled(v) && v.Type != gjson.False:
		t.Refuse("stream", "stream must be true or false")
	}
	v := t.h["max_tokens"]
	switch {
	case !intake.Filled(v):
		if r.Op == wire.Chat {
			t.Refuse("max_tokens", `max_tokens is missing: say how long the answer may be, for example "max_tokens": 1024`)
		}
	case v.Type != gjson.Number || v.Num != float64(int64(v.Num)) || v.Num > maxAnswerTokens:
		t.Refuse("max_tokens", "max_tokens must be a whole number")
	case v.Num < 1:
		t.Refuse("max_tokens", "max_tokens must be at least 1")
	}
	r.MaxTokens = int(v.Num)
	for _, name := range [...]string{"tool_choice", "thinking", "output_format", "output_config", "metadata"} {
		if t.h.Given(name) && !t.h[name].IsObject() {
			t.Refuse(name, "%s must be an object", name)
		}
	}
	for _, name := range [...]string{"tools", "stop_sequences"} {
		if t.h.Given(name) && !t.h[name].IsArray() {
			t.Refuse(name, "%s must be an array", name)
		}
	}
	if v := t.h["temperature"]; intake.Filled(v) && v.Type != gjson.Number {
		t.Refuse("temperature", "temperature must be a number")
	}
	r.Tools = t.h["tools"].Get("0").Exists()
}

// promised finds the output format under its present name or the older one.
func promised(h intake.Head) (v gjson.Result, name string) {
	if v = h["output_config"].Get("format"); intake.Filled(v) {
		return v, "output_config.format"
	}
	return h["output_format"], "output_format"
}

// promise reads which JSON the caller was promised.
func (t *reading) promise(r *wire.Request) {
	v, name := promised(t.h)
	if !intake.Filled(v) {
		return
	}
	if v.Get("type").Str != "json_schema" {
		if v.Get("type").Type != gjson.String {
			t.Refuse(name+".type", "%s.type must be json_schema", name)
		}
		return
	}
	schema := v.Get("schema")
	switch {
	case !intake.Filled(schema):
		r.Promise.Kind = wire.PromiseObject
	case !schema.IsObject():
		t.Refuse(name+".schema", "%s.schema must be an object", name)
	default:
		r.Promise = wire.Promise{Kind: wire.PromiseSchema, Schema: []byte(schema.Raw)}
	}
}
