package responses

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
	// maxAnswerTokens bounds max_output_tokens far above what any model takes.
	maxAnswerTokens = 1 << 40
)

// Read checks a caller's body and reads what a call needs to know. Parameters
// it does not know are left alone.
//
// A body is refused (invalid_request, 400, Param set where there is one) that
// is not exactly one JSON object in UTF-8, names a parameter of the gateway
// twice or in another case, or gives one a wrong type. Model and input are
// required, unless a stored prompt or an earlier answer stands for the input.
//
// Stored is what the caller asks for in so many words: an upstream that stores
// by default loses nothing when its answer is put together from a stream. Work
// in the background is stored work, and its plain body comes at once, while a
// stream of it lasts until the work is done.
func (Room) Read(op wire.Op, body []byte) (*wire.Request, *backstop.Failure) {
	h, fail := scanHead(body)
	if fail != nil {
		return nil, fail
	}
	t := reading{h: h}
	r := &wire.Request{Dialect: backstop.Responses, Op: op, Body: body, Choices: 1, UsageOn: true}
	if op != wire.Responses {
		t.Refuse("", "operation %q is not one of this dialect", string(op))
	}
	t.model(r)
	t.input()
	t.types()
	t.answer(r)
	t.promise(r)
	if t.Fail != nil {
		return nil, t.Fail
	}
	r.Pinned = len(wire.References(body)) > 0
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
		t.Refuse("model", `model is missing: name the model, for example "model": "gpt-4o"`)
	case v.Type != gjson.String || v.Str == "":
		t.Refuse("model", "model must be a string that is not empty")
	case len(v.Str) > maxModel:
		t.Refuse("model", "model is longer than %d bytes: name one model", maxModel)
	}
	r.Model = strings.Clone(v.Str) // names are kept, and the body is large
}

func (t *reading) input() {
	v := t.h["input"]
	switch {
	case !intake.Filled(v):
		if !t.h.Given("prompt") && !t.h.Given("previous_response_id") && !t.h.Given("conversation") {
			t.Refuse("input", `input is missing: send a string or an array of items, for example "input": "hello"`)
		}
	case v.Type == gjson.String:
	case !v.IsArray():
		t.Refuse("input", "input must be a string or an array of items")
	default:
		n := 0
		v.ForEach(func(_, item gjson.Result) bool {
			if !item.IsObject() {
				t.Refuse("input", "input[%d] must be an object, for example a message with role and content", n)
			}
			n++
			return t.Fail == nil
		})
	}
}

// types checks the parameters that others than this room rely on.
func (t *reading) types() {
	for _, name := range [...]string{"text", "reasoning", "metadata", "prompt", "stream_options"} {
		if t.h.Given(name) && !t.h[name].IsObject() {
			t.Refuse(name, "%s must be an object", name)
		}
	}
	for _, name := range [...]string{"tools", "include"} {
		if t.h.Given(name) && !t.h[name].IsArray() {
			t.Refuse(name, "%s must be an array", name)
		}
	}
	for _, name := range [...]string{"instructions", "previous_response_id"} {
		if t.h.Given(name) && t.h[name].Type != gjson.String {
			t.Refuse(name, "%s must be a string", name)
		}
	}
	for _, name := range [...]string{"conversation", "tool_choice"} {
		if v := t.h[name]; intake.Filled(v) && v.Type != gjson.String && !v.IsObject() {
			t.Refuse(name, "%s must be a string or an object", name)
		}
	}
	for _, name := range [...]string{"temperature", "top_p", "top_logprobs"} {
		if t.h.Given(name) && t.h[name].Type != gjson.Number {
			t.Refuse(name, "%s must be a number", name)
		}
	}
	if v := t.h["conversation"]; v.IsObject() && v.Get("id").Type != gjson.String {
		t.Refuse("conversation.id", "conversation.id must be a string")
	}
}

// flag reads an optional boolean; null is false.
func (t *reading) flag(name string) bool {
	v := t.h[name]
	if intake.Filled(v) && !v.IsBool() {
		t.Refuse(name, "%s must be true or false", name)
	}
	return v.Type == gjson.True
}

// answer reads what kind of answer is wanted.
func (t *reading) answer(r *wire.Request) {
	r.Stream = t.flag("stream")
	store, background := t.flag("store"), t.flag("background")
	r.Stored = store || background
	t.flag("parallel_tool_calls")
	if v := t.h["max_output_tokens"]; intake.Filled(v) {
		switch {
		case v.Type != gjson.Number || v.Num != float64(int64(v.Num)) || v.Num > maxAnswerTokens:
			t.Refuse("max_output_tokens", "max_output_tokens must be a whole number")
		case v.Num < 1:
			t.Refuse("max_output_tokens", "max_output_tokens must be at least 1")
		}
		r.MaxTokens = int(v.Num)
	}
	r.Tools = t.h["tools"].Get("0").Exists()
	r.Logprobs = t.h["top_logprobs"].Num > 0 || includes(t.h["include"], "message.output_text.logprobs")
}

func includes(list gjson.Result, word string) (found bool) {
	list.ForEach(func(_, v gjson.Result) bool {
		found = v.Str == word
		return !found
	})
	return found
}

// promise reads which JSON the caller was promised. A json_schema format
// without a schema promises an object: there is nothing else to check.
func (t *reading) promise(r *wire.Request) {
	v := t.h["text"].Get("format")
	if !intake.Filled(v) {
		return
	}
	if !v.IsObject() || v.Get("type").Type != gjson.String {
		t.Refuse("text.format.type", "text.format.type must be text, json_object or json_schema")
		return
	}
	switch v.Get("type").Str {
	case "json_object":
		r.Promise.Kind = wire.PromiseObject
	case "json_schema":
		schema := v.Get("schema")
		switch {
		case !intake.Filled(schema):
			r.Promise.Kind = wire.PromiseObject
		case !schema.IsObject():
			t.Refuse("text.format.schema", "text.format.schema must be an object")
		default:
			r.Promise = wire.Promise{Kind: wire.PromiseSchema, Schema: []byte(schema.Raw)}
		}
	}
}
