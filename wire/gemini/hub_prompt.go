package gemini

import (
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"backstop"
	"backstop/wire"
	"backstop/wire/internal/intake"
)

// hints are parameters of the caller's that may be left out for an upstream
// of another dialect, because the answer keeps its form without them; those
// with a dot are in generationConfig. All that is in neither this table nor
// the hub is not left out: the upstream cannot take the call.
var hints = map[string]bool{
	"safetySettings": true, "labels": true, "serviceTier": true, "store": true, "modelArmorConfig": true,
	"generationConfig.mediaResolution": true, "generationConfig.audioTimestamp": true, "generationConfig.routingConfig": true,
	"generationConfig.modelConfig": true, "generationConfig.enableEnhancedCivicAnswers": true, "generationConfig.enableAffectiveDialog": true,
	"toolConfig.retrievalConfig": true, "toolConfig.includeServerSideToolInvocations": true,
}

// names are the dialect's words for fields that the hub calls otherwise.
var names = map[string]string{
	"max_tokens": "generationConfig.maxOutputTokens", "temperature": "generationConfig.temperature", "top_p": "generationConfig.topP",
	"top_k": "generationConfig.topK", "n": "generationConfig.candidateCount", "stop": "generationConfig.stopSequences",
	"seed": "generationConfig.seed", "frequency_penalty": "generationConfig.frequencyPenalty",
	"presence_penalty": "generationConfig.presencePenalty", "logprobs": "generationConfig.responseLogprobs",
	"top_logprobs": "generationConfig.logprobs", "reasoning_effort": "generationConfig.thinkingConfig", "reasoning_content": "thought",
	"response_format": "generationConfig.responseMimeType", "tool_choice": "toolConfig", "messages": "contents", "is_error": "response.error", "system": "systemInstruction",
}

// ToHub reads a request. A count of tokens has no words in the hub: no other
// dialect can take it.
func (Room) ToHub(r *wire.Request) (*wire.Prompt, *backstop.Failure) {
	h, config, fail := scanHead(r.Body)
	if fail != nil {
		return nil, fail
	}
	p := &wire.Prompt{
		Dialect: backstop.Gemini, Op: r.Op, Model: r.Model, Stream: r.Stream, UsageOn: true, Choices: r.Choices, MaxTokens: r.MaxTokens,
		Names: names,
	}
	read := &hubRead{p: p, promise: r.Promise, head: h, config: config}
	if r.Op == wire.CountTokens {
		read.extra("countTokens", false)
	}
	gjson.ParseBytes(r.Body).ForEach(func(k, v gjson.Result) bool {
		if intake.Filled(v) {
			read.field(camel(k.String()), v)
		}
		return read.Fail == nil
	})
	if read.Fail != nil {
		return nil, read.Fail
	}
	read.sayJSON()
	return p, nil
}

// hubRead collects a prompt and the first complaint.
type hubRead struct {
	intake.Complaint
	p            *wire.Prompt
	promise      wire.Promise
	head, config intake.Head
	calls        ledger
	pieced       []int // turns that came in several contents, in order
}

func (h *hubRead) extra(name string, hint bool) { h.p.AddExtra(name, hint) }

// field reads one parameter.
func (h *hubRead) field(name string, v gjson.Result) {
	switch name {
	case "model":
	case "contents":
		h.contents(v)
	case "systemInstruction":
		h.system(v)
	case "generationConfig":
		v.ForEach(func(k, v gjson.Result) bool {
			if intake.Filled(v) {
				h.configured(camel(k.String()), v)
			}
			return h.Fail == nil
		})
	case "tools":
		h.tools(v)
	case "toolConfig":
		h.toolConfig(v)
	default:
		h.extra(name, hints[name] || saysNothing(v))
	}
}

// saysNothing reports whether a value is as good as none.
func saysNothing(v gjson.Result) bool {
	return v.Type == gjson.False || v.Type == gjson.String && v.Str == "" || (v.IsArray() || v.IsObject()) && strings.Trim(v.Raw, "[]{} \t\r\n") == ""
}

// configured reads one parameter of generationConfig.
func (h *hubRead) configured(name string, v gjson.Result) {
	p := h.p
	switch name {
	case "maxOutputTokens", "candidateCount":
	case "responseMimeType", "responseSchema", "responseJsonSchema":
		h.form(name, v)
	case "temperature":
		p.Temperature = wire.Number(v.Raw)
	case "topP":
		p.TopP = wire.Number(v.Raw)
	case "topK":
		p.TopK = wire.Number(v.Raw)
	case "seed":
		p.Seed = wire.Number(v.Raw)
	case "presencePenalty":
		p.Presence = wire.Number(v.Raw)
	case "frequencyPenalty":
		p.Frequency = wire.Number(v.Raw)
	case "stopSequences":
		v.ForEach(func(_, s gjson.Result) bool {
			p.Stop = append(p.Stop, s.String())
			return true
		})
	case "responseLogprobs", "logprobs":
		if v.Type != gjson.False {
			h.extra("generationConfig."+name, false) // answers of the hub hold none
		}
	case "thinkingConfig":
		h.thinking(v)
	case "responseModalities":
		each(v, func(_ int, v gjson.Result) bool {
			if !strings.EqualFold(v.Str, "TEXT") {
				h.extra("generationConfig.responseModalities", false)
			}
			return true
		})
	default:
		name = "generationConfig." + name
		h.extra(name, hints[name] || saysNothing(v))
	}
}

// form reads which JSON was promised. Any JSON is an object to others: they
// promise none but that.
func (h *hubRead) form(name string, v gjson.Result) {
	media := h.config["responseMimeType"].Str
	switch {
	case name == "responseMimeType" && (v.Str == "" || strings.EqualFold(v.Str, "text/plain")):
	case !strings.EqualFold(media, jsonMedia):
		h.extra("generationConfig."+name, false)
	case string(h.promise.Schema) == anyJSON:
		h.p.Promise = wire.Promise{Kind: wire.PromiseObject}
	default:
		h.p.Promise = h.promise
	}
}

// askJSON is added to a prompt that promises JSON and never speaks of it: some
// upstreams refuse that.
const askJSON = "Answer with one JSON document and nothing else."

func (h *hubRead) sayJSON() {
	if h.p.Promise.Kind != wire.PromiseObject {
		return
	}
	speaks := strings.Contains(strings.ToLower(strings.Join(h.p.System, " ")), "json")
	for i := range h.p.Turns {
		for j := range h.p.Turns[i].Parts {
			speaks = speaks || strings.Contains(strings.ToLower(h.p.Turns[i].Parts[j].Text), "json")
		}
	}
	if !speaks {
		h.p.System = append(h.p.System, askJSON)
	}
}

// thinking reads how much is to be thought. A budget of -1 leaves that to the
// model; whether the thoughts are shown is the upstream's matter.
func (h *hubRead) thinking(v gjson.Result) {
	v.ForEach(func(k, v gjson.Result) bool {
		switch name := camel(k.String()); {
		case !intake.Filled(v):
		case name == "includeThoughts":
		case name == "thinkingBudget" && v.Num > 0 && v.Num < maxAnswerTokens:
			h.p.Budget = int(v.Num)
		case name == "thinkingBudget" && v.Type == gjson.Number && v.Num == 0:
			h.p.Effort = "none"
		case name == "thinkingLevel" && v.Str != "" && v.Str != "THINKING_LEVEL_UNSPECIFIED":
			h.p.Effort = strings.ToLower(v.Str)
		case name == "thinkingBudget", name == "thinkingLevel":
		default:
			h.extra("generationConfig.thinkingConfig."+name, true)
		}
		return true
	})
}

func place(list string, i int) string { return list + "[" + strconv.Itoa(i) + "]" }
