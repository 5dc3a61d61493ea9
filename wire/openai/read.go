package openai

import (
	"backstop"
	"backstop/wire"
	"backstop/wire/internal/intake"
)

// maxChoices bounds n and the choice indexes of a stream, as the API does.
const maxChoices = 128

// maxModel bounds a model name, which goes into logs; ARNs have about 150.
const maxModel = 512

// Read checks a caller's body and reads what a call needs to know. Parameters
// it does not know are left alone.
//
// A body is refused (invalid_request, 400, Param set where there is one) that
// is not exactly one JSON object in UTF-8, names a parameter of the gateway
// twice or in another case, or gives one a wrong type: two parsers must not
// read two different requests out of it.
func (Room) Read(op wire.Op, body []byte) (*wire.Request, *backstop.Failure) {
	h, fail := scanHead(body)
	if fail != nil {
		return nil, fail
	}
	t := reading{b: body, h: h}
	r := &wire.Request{Dialect: backstop.OpenAI, Op: op, Body: body, Choices: 1}
	t.model(r)
	t.question(r)
	t.answer(r)
	t.promise(r)
	if t.Fail != nil {
		return nil, t.Fail
	}
	r.InputSize = inputSize(body, h)
	return r, nil
}

// reading collects the first complaint about a body.
type reading struct {
	intake.Complaint
	b []byte
	h head
}

// given reports whether a parameter is there and not null.
func (t *reading) given(f field) bool { return !t.h[f].null(t.b) }

func (t *reading) model(r *wire.Request) {
	s := t.h[fModel]
	switch {
	case !s.there():
		t.Refuse("model", "model is missing: name the model, for example \"model\": \"gpt-4o\"")
	case !s.filled(t.b):
		t.Refuse("model", "model must be a string that is not empty")
	case s.to-s.from > maxModel:
		t.Refuse("model", "model is longer than %d bytes: name one model", maxModel)
	default:
		r.Model = str(t.b, s)
	}
}

// question checks what the call is about: messages, prompt or input.
func (t *reading) question(r *wire.Request) {
	switch r.Op {
	case wire.Chat:
		t.messages()
	case wire.Completion:
		t.textOrList(fPrompt)
	case wire.Embedding:
		t.textOrList(fInput)
	default:
		t.Refuse("", "operation %q is not one of this dialect", string(r.Op))
	}
	if t.listed(fTools) || t.listed(fFunctions) {
		r.Tools = true
	}
}

func (t *reading) messages() {
	s := t.h[fMessages]
	if !s.there() {
		t.Refuse("messages", `messages is missing: send at least one, for example [{"role":"user","content":"hello"}]`)
		return
	}
	if !s.is(t.b, '[') {
		t.Refuse("messages", "messages must be an array of objects")
		return
	}
	e, n := inArray(t.b, s), 0
	for e.next() {
		if !e.val.is(t.b, '{') {
			t.Refuse("messages", "messages[%d] must be an object with role and content", n)
			return
		}
		n++
	}
	if n == 0 {
		t.Refuse("messages", "messages is empty: send at least one message")
	}
}

func (t *reading) textOrList(f field) {
	name := fieldNames[f]
	switch s := t.h[f]; {
	case s.null(t.b):
		t.Refuse(name, "%s is missing: send a string or an array", name)
	case !s.is(t.b, '"') && !s.is(t.b, '['):
		t.Refuse(name, "%s must be a string or an array", name)
	}
}

// listed checks an optional array and reports whether something is in it.
func (t *reading) listed(f field) bool {
	if !t.given(f) {
		return false
	}
	if !t.h[f].is(t.b, '[') {
		t.Refuse(fieldNames[f], "%s must be an array", fieldNames[f])
		return false
	}
	e := inArray(t.b, t.h[f])
	return e.next()
}

// answer reads what kind of answer is wanted.
func (t *reading) answer(r *wire.Request) {
	r.Stream = t.flag(fStream) && r.Op != wire.Embedding
	r.Stored = t.flag(fStore)
	if n, ok := t.number(fN); ok {
		if n < 1 || n > maxChoices {
			t.Refuse("n", "n must be between 1 and %d", maxChoices)
		}
		r.Choices = n
	}
	for _, f := range [...]field{fMaxTokens, fMaxCompletionTokens} {
		if n, ok := t.number(f); ok && n > 0 {
			r.MaxTokens = n
		}
	}
	t.logprobs(r)
	t.audio(r)
	if t.given(fToolChoice) && !t.h[fToolChoice].is(t.b, '"') && !t.h[fToolChoice].is(t.b, '{') {
		t.Refuse("tool_choice", "tool_choice must be a string or an object")
	}
	if t.given(fStreamOptions) {
		if !t.h[fStreamOptions].is(t.b, '{') {
			t.Refuse("stream_options", "stream_options must be an object")
			return
		}
		on := t.boolean(member(t.b, t.h[fStreamOptions], "include_usage"), "stream_options.include_usage")
		r.UsageOn = on && r.Stream
	}
}

func (t *reading) logprobs(r *wire.Request) {
	if r.Op == wire.Completion {
		_, r.Logprobs = t.number(fLogprobs)
		return
	}
	r.Logprobs = t.flag(fLogprobs)
	if _, ok := t.number(fTopLogprobs); ok {
		r.Logprobs = true
	}
}

func (t *reading) audio(r *wire.Request) {
	if t.given(fAudio) {
		if !t.h[fAudio].is(t.b, '{') {
			t.Refuse("audio", "audio must be an object")
		}
		r.Audio = true
	}
	if !t.listed(fModalities) {
		return
	}
	e := inArray(t.b, t.h[fModalities])
	for e.next() {
		if str(t.b, e.val) == "audio" {
			r.Audio = true
		}
	}
}

// promise reads which JSON the caller was promised. A json_schema format
// without a schema promises an object: there is nothing else to check.
func (t *reading) promise(r *wire.Request) {
	if !t.given(fResponseFormat) {
		return
	}
	s := t.h[fResponseFormat]
	if !s.is(t.b, '{') {
		t.Refuse("response_format", `response_format must be an object such as {"type":"json_object"}`)
		return
	}
	kind := member(t.b, s, "type")
	if !kind.is(t.b, '"') {
		t.Refuse("response_format.type", "response_format.type must be text, json_object or json_schema")
		return
	}
	switch str(t.b, kind) {
	case "json_object":
		r.Promise.Kind = wire.PromiseObject
	case "json_schema":
		t.schema(r, member(t.b, s, "json_schema"))
	}
}

func (t *reading) schema(r *wire.Request, s span) {
	if !s.is(t.b, '{') {
		t.Refuse("response_format.json_schema", "response_format.json_schema must be an object with name and schema")
		return
	}
	schema := member(t.b, s, "schema")
	switch {
	case schema.null(t.b):
		r.Promise.Kind = wire.PromiseObject
	case !schema.is(t.b, '{'):
		t.Refuse("response_format.json_schema.schema", "response_format.json_schema.schema must be an object")
	default:
		r.Promise = wire.Promise{Kind: wire.PromiseSchema, Schema: schema.of(t.b)}
	}
}

// flag reads an optional boolean; null is false.
func (t *reading) flag(f field) bool { return t.boolean(t.h[f], fieldNames[f]) }

func (t *reading) boolean(s span, name string) bool {
	if s.null(t.b) {
		return false
	}
	switch t.b[s.from] {
	case 't':
		return true
	case 'f':
		return false
	}
	t.Refuse(name, "%s must be true or false", name)
	return false
}

// number reads an optional whole number; null is not given.
func (t *reading) number(f field) (int, bool) {
	if !t.given(f) {
		return 0, false
	}
	n, ok := integer(t.b, t.h[f])
	if !ok {
		t.Refuse(fieldNames[f], "%s must be a whole number", fieldNames[f])
	}
	return n, ok
}
