package gemini

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"backstop"
	"backstop/wire"
)

// known are the parameters that the gateway reads or edits, by what their
// spellings have in common. Exactly these may be neither doubled, nor given in
// both spellings, nor written in another case: a parser behind us could read
// them differently than we did.
var known = map[string]string{
	"model": "model", "contents": "contents", "systeminstruction": "systemInstruction", "tools": "tools", "toolconfig": "toolConfig",
	"generationconfig": "generationConfig", "safetysettings": "safetySettings", "cachedcontent": "cachedContent",
	"generatecontentrequest": "generateContentRequest",
}

// configured are those within generationConfig.
var configured = map[string]string{
	"temperature": "temperature", "topp": "topP", "topk": "topK", "candidatecount": "candidateCount", "maxoutputtokens": "maxOutputTokens",
	"stopsequences": "stopSequences", "responsemimetype": "responseMimeType", "responseschema": "responseSchema",
	"responsejsonschema": "responseJsonSchema", "responselogprobs": "responseLogprobs", "logprobs": "logprobs", "seed": "seed",
	"presencepenalty": "presencePenalty", "frequencypenalty": "frequencyPenalty", "responsemodalities": "responseModalities",
	"thinkingconfig": "thinkingConfig",
}

// maxMembers bounds each level of a request; real ones stay below 30.
const maxMembers = 1000

// head holds the known members of an object by their first spelling; gjson's
// Index is where each stands in the body.
type head map[string]gjson.Result

// scanHead checks a whole body: one JSON object in UTF-8, no known parameter
// twice.
func scanHead(body []byte) (h, config head, fail *backstop.Failure) {
	trimmed := bytes.TrimLeft(body, " \t\r\n")
	switch {
	case len(trimmed) == 0:
		return nil, nil, refuse("", "the body is empty: send one JSON object")
	case trimmed[0] != '{':
		return nil, nil, refuse("", "the body is not a JSON object: send one JSON object in UTF-8")
	case !utf8.Valid(body):
		return nil, nil, refuse("", "the body is not valid UTF-8: encode it as UTF-8 without a byte order mark")
	case !wire.ValidJSON(body):
		return nil, nil, refuse("", "the body is not valid JSON: check what the request was built with")
	}
	if h, fail = members(gjson.ParseBytes(body), known, ""); fail != nil {
		return nil, nil, fail
	}
	if v := h["generationConfig"]; filled(v) && !v.IsObject() {
		return nil, nil, refuse("generationConfig", "generationConfig must be an object")
	}
	config, fail = members(h["generationConfig"], configured, "generationConfig.")
	return h, config, fail
}

// members collects the known members of an object.
func members(v gjson.Result, names map[string]string, above string) (h head, fail *backstop.Failure) {
	h = head{}
	n := 0
	v.ForEach(func(k, v gjson.Result) bool {
		if n++; n > maxMembers {
			fail = refuse("", "the body has more than %d parameters: check what the request was built with", maxMembers)
			return false
		}
		spelled := k.String()
		name, ok := names[fold(spelled)]
		if !ok {
			return true
		}
		if spelled != name && spelled != snake(name) {
			fail = refuse(above+name, "%q is spelled in another way: write it as %s, once", spelled, name)
			return false
		}
		if _, twice := h[name]; twice {
			fail = refuse(above+name, "%s is given twice: send it once, in one spelling", name)
		}
		h[name] = v
		return fail == nil
	})
	return h, fail
}

// given reports whether a parameter is there and not null.
func (h head) given(name string) bool { return filled(h[name]) }

func refuse(param, format string, args ...any) *backstop.Failure {
	return &backstop.Failure{
		Code: backstop.CodeInvalidRequest, Status: backstop.CodeInvalidRequest.Status(),
		Message: fmt.Sprintf(format, args...), Param: param,
	}
}
