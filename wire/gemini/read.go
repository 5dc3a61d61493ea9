package gemini

import (
	"strings"

	"github.com/tidwall/gjson"

	"backstop"
	"backstop/wire"
	"backstop/wire/internal/intake"
)

const (
	// maxAnswerTokens bounds maxOutputTokens far above what any model takes.
	maxAnswerTokens = 1 << 40
	// maxCandidates bounds candidateCount and the candidates of an answer; the
	// API's own bound is 8.
	maxCandidates = 128
)

const jsonMedia = "application/json"

// Read checks a caller's body and reads what a call needs to know. Parameters
// it does not know are left alone. Model and Stream are not in the body and
// stay empty.
//
// A body is refused (invalid_request, 400, Param set where there is one) that
// is not exactly one JSON object in UTF-8, names a parameter of the gateway
// twice, in both spellings or in another case, or gives one a wrong type.
func (Room) Read(op wire.Op, body []byte) (*wire.Request, *backstop.Failure) {
	h, config, fail := scanHead(body)
	if fail != nil {
		return nil, fail
	}
	t := reading{h: h, config: config}
	r := &wire.Request{Dialect: backstop.Gemini, Op: op, Body: body, Choices: 1, UsageOn: true}
	if op != wire.Chat && op != wire.CountTokens {
		t.Refuse("", "operation %q is not one of this dialect", string(op))
	}
	t.shapes()
	t.contents(op)
	t.answer(r)
	t.promise(r)
	if t.Fail != nil {
		return nil, t.Fail
	}
	r.Tools = hasTools(h["tools"])
	r.InputSize = inputSize(h)
	return r, nil
}

// reading collects the first complaint about a body.
type reading struct {
	intake.Complaint
	h, config intake.Head
}

// shapes checks the types of what is not read any further here.
func (t *reading) shapes() {
	if v := t.h["model"]; intake.Filled(v) && v.Type != gjson.String {
		t.Refuse("model", "model must be a string")
	}
	if v := t.h["systemInstruction"]; intake.Filled(v) && !v.IsObject() {
		t.Refuse("systemInstruction", `systemInstruction must be an object with parts, for example {"parts":[{"text":"be brief"}]}`)
	}
	for _, name := range [...]string{"tools", "safetySettings"} {
		if v := t.h[name]; intake.Filled(v) && !v.IsArray() && !v.IsObject() {
			t.Refuse(name, "%s must be an array", name)
		}
	}
	for _, name := range [...]string{"toolConfig", "generateContentRequest"} {
		if v := t.h[name]; intake.Filled(v) && !v.IsObject() {
			t.Refuse(name, "%s must be an object", name)
		}
	}
}

func (t *reading) contents(op wire.Op) {
	v := t.h["contents"]
	switch {
	case !intake.Filled(v):
		if op != wire.CountTokens || !t.h.Given("generateContentRequest") {
			t.Refuse("contents", `contents is missing: send at least one, for example [{"role":"user","parts":[{"text":"hello"}]}]`)
		}
		return
	case !v.IsArray() && !v.IsObject():
		t.Refuse("contents", "contents must be an array of objects")
		return
	}
	n := 0
	each(v, func(i int, c gjson.Result) bool {
		if !c.IsObject() {
			t.Refuse("contents", "contents[%d] must be an object with role and parts", i)
		}
		n++
		return t.Fail == nil
	})
	if n == 0 {
		t.Refuse("contents", "contents is empty: send at least one")
	}
}

// answer reads what kind of answer is wanted.
func (t *reading) answer(r *wire.Request) {
	if n := t.whole("candidateCount", maxCandidates); n > 0 {
		r.Choices = n
	}
	r.MaxTokens = t.whole("maxOutputTokens", maxAnswerTokens)
	for _, name := range [...]string{"temperature", "topP", "topK", "presencePenalty", "frequencyPenalty", "seed", "logprobs"} {
		if v := t.config[name]; intake.Filled(v) && v.Type != gjson.Number {
			t.Refuse("generationConfig."+name, "generationConfig.%s must be a number", name)
		}
	}
	if v := t.config["responseLogprobs"]; intake.Filled(v) && !v.IsBool() {
		t.Refuse("generationConfig.responseLogprobs", "generationConfig.responseLogprobs must be true or false")
	}
	r.Logprobs = t.config["responseLogprobs"].Type == gjson.True
	if v := t.config["stopSequences"]; intake.Filled(v) && !v.IsArray() {
		t.Refuse("generationConfig.stopSequences", "generationConfig.stopSequences must be an array of strings")
	}
	if v := t.config["thinkingConfig"]; intake.Filled(v) && !v.IsObject() {
		t.Refuse("generationConfig.thinkingConfig", "generationConfig.thinkingConfig must be an object")
	}
	each(t.config["responseModalities"], func(_ int, v gjson.Result) bool {
		r.Audio = r.Audio || strings.EqualFold(v.Str, "AUDIO")
		return true
	})
}

// whole reads a count of generationConfig. The API takes whole numbers as
// strings too.
func (t *reading) whole(name string, most float64) int {
	v := t.config[name]
	if !intake.Filled(v) {
		return 0
	}
	n := v.Num
	if v.Type == gjson.String {
		n = gjson.Parse(v.Str).Num
	}
	switch {
	case v.Type != gjson.Number && v.Type != gjson.String, n != float64(int64(n)) || n > most:
		t.Refuse("generationConfig."+name, "generationConfig.%s must be a whole number", name)
		return 0
	case n < 1:
		t.Refuse("generationConfig."+name, "generationConfig.%s must be at least 1", name)
		return 0
	}
	return int(n)
}

// promise reads which JSON the caller was promised. Without a schema the API
// promises any JSON, not an object.
func (t *reading) promise(r *wire.Request) {
	media := t.config["responseMimeType"]
	if intake.Filled(media) && media.Type != gjson.String {
		t.Refuse("generationConfig.responseMimeType", "generationConfig.responseMimeType must be a string")
	}
	own, standard := t.config["responseSchema"], t.config["responseJsonSchema"]
	if intake.Filled(own) && !own.IsObject() {
		t.Refuse("generationConfig.responseSchema", "generationConfig.responseSchema must be an object")
	}
	if t.Fail != nil || !strings.EqualFold(media.Str, jsonMedia) {
		return
	}
	r.Promise = wire.Promise{Kind: wire.PromiseSchema, Schema: []byte(anyJSON)}
	switch {
	case intake.Filled(standard):
		if standard.IsObject() {
			r.Promise.Schema = []byte(standard.Raw)
		}
	case intake.Filled(own):
		if schema, ok := standardSchema(own); ok {
			r.Promise.Schema = schema
		}
	}
}

func hasTools(v gjson.Result) bool {
	found := false
	each(v, func(int, gjson.Result) bool {
		found = true
		return false
	})
	return found
}
