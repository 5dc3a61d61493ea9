package gemini

import (
	"github.com/tidwall/gjson"

	"backstop"
	"backstop/wire/internal/intake"
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

// scanHead checks a whole body: one JSON object in UTF-8, no known parameter
// twice. Heads hold members by their first spelling.
func scanHead(body []byte) (h, config intake.Head, fail *backstop.Failure) {
	if fail = intake.Check(body); fail != nil {
		return nil, nil, fail
	}
	if h, fail = members(gjson.ParseBytes(body), known, ""); fail != nil {
		return nil, nil, fail
	}
	if v := h["generationConfig"]; intake.Filled(v) && !v.IsObject() {
		return nil, nil, intake.Refuse("generationConfig", "generationConfig must be an object")
	}
	config, fail = members(h["generationConfig"], configured, "generationConfig.")
	return h, config, fail
}

// members collects the known members of an object.
func members(v gjson.Result, names map[string]string, above string) (intake.Head, *backstop.Failure) {
	h := intake.Head{}
	fail := intake.Members(v, func(spelled string, v gjson.Result) *backstop.Failure {
		name, ok := names[fold(spelled)]
		if !ok {
			return nil
		}
		if spelled != name && spelled != snake(name) {
			return intake.Refuse(above+name, "%q is spelled in another way: write it as %s, once", spelled, name)
		}
		if _, twice := h[name]; twice {
			return intake.Refuse(above+name, "%s is given twice: send it once, in one spelling", name)
		}
		h[name] = v
		return nil
	})
	return h, fail
}
