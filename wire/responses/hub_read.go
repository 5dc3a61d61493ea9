package responses

import (
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"backstop"
	"backstop/wire"
	"backstop/wire/internal/intake"
)

// hints are parameters of the caller's that may be left out for an upstream
// that is asked for a chat, because the answer keeps its form without them. All
// that is in neither this table nor the hub is not left out: the upstream
// cannot take the call.
var hints = map[string]bool{
	"metadata": true, "service_tier": true, "prompt_cache_key": true, "prompt_cache_retention": true, "prompt_cache_options": true,
	"safety_identifier": true, "context_management": true, "max_tool_calls": true, "truncation": true,
	"store": true, // it is what a call that says nothing of it asks for as well
}

// ToHub reads a request. What only the upstream that issued it knows (an
// earlier answer, a conversation, a file) has no words in the hub.
func (Room) ToHub(r *wire.Request) (*wire.Prompt, *backstop.Failure) {
	if !wire.ValidJSON(r.Body) {
		return nil, intake.Refuse("", "the body is not one JSON object: check what the request was built with")
	}
	p := &wire.Prompt{
		Dialect: backstop.Responses, Op: wire.Chat, Model: r.Model, Stream: r.Stream, UsageOn: true, Choices: 1, MaxTokens: r.MaxTokens,
		Names: map[string]string{
			"max_tokens": "max_output_tokens", "response_format": "text.format", "reasoning_effort": "reasoning.effort",
			"reasoning_content": "input.reasoning", "messages": "input",
		},
	}
	h := &hubRead{p: p, promise: r.Promise}
	root := gjson.ParseBytes(r.Body)
	if v := root.Get("instructions"); v.Str != "" { // they come first wherever they stand
		p.System = append(p.System, v.Str)
	}
	root.ForEach(func(k, v gjson.Result) bool {
		if intake.Filled(v) {
			h.field(k.String(), v)
		}
		return h.Fail == nil
	})
	if h.Fail != nil {
		return nil, h.Fail
	}
	return p, nil
}

// hubRead collects a prompt and the first complaint.
type hubRead struct {
	intake.Complaint
	p       *wire.Prompt
	promise wire.Promise
}

func (h *hubRead) extra(name string, hint bool) { h.p.AddExtra(name, hint) }

// field reads one parameter.
func (h *hubRead) field(name string, v gjson.Result) {
	p := h.p
	switch name {
	case "model", "stream", "max_output_tokens", "instructions":
	case "input":
		h.input(v)
	case "tools":
		h.tools(v)
	case "tool_choice":
		h.toolChoice(v)
	case "parallel_tool_calls":
		p.Parallel = wire.SwitchOf(v.Bool())
	case "temperature":
		p.Temperature = wire.Number(v.Raw)
	case "top_p":
		p.TopP = wire.Number(v.Raw)
	case "user":
		p.Served = v.Str
	case "text":
		h.text(v)
	case "reasoning":
		h.reasoning(v)
	case "include":
		h.include(v)
	case "stream_options":
		if v.Get("include_obfuscation").Type == gjson.True {
			h.extra("stream_options.include_obfuscation", true)
		}
	default:
		if !harmless(name, v) {
			h.extra(name, hints[name])
		}
	}
}

// harmless reports whether a parameter has the value that it has anyway.
func harmless(name string, v gjson.Result) bool {
	switch name {
	case "store", "background":
		return v.Type == gjson.False
	case "top_logprobs":
		return v.Num == 0
	case "metadata":
		return !v.Get("@keys.0").Exists()
	case "truncation":
		return v.Str == "disabled"
	case "context_management":
		return !v.Get("0").Exists()
	}
	return v.Type == gjson.String && v.Str == ""
}

func (h *hubRead) text(v gjson.Result) {
	v.ForEach(func(k, v gjson.Result) bool {
		switch name := k.String(); {
		case !intake.Filled(v):
		case name == "format":
			h.form(v)
		default:
			h.extra("text."+name, name == "verbosity")
		}
		return true
	})
}

func (h *hubRead) form(v gjson.Result) {
	h.beyond(v, "text.format", "type", "name", "description", "schema", "strict")
	switch v.Get("type").Str {
	case "text":
	case "json_object":
		h.p.Promise = h.promise
	case "json_schema":
		h.p.Promise, h.p.PromiseName = h.promise, v.Get("name").Str
		h.p.PromiseAbout, h.p.Strict = v.Get("description").Str, toggle(v.Get("strict"))
	default:
		h.extra("text.format", false)
	}
}

func toggle(v gjson.Result) wire.Switch {
	if v.IsBool() {
		return wire.SwitchOf(v.Bool())
	}
	return wire.Unset
}

// reasoning: a summary is what reasoning is shown as here anyway.
func (h *hubRead) reasoning(v gjson.Result) {
	v.ForEach(func(k, v gjson.Result) bool {
		switch name := k.String(); {
		case !intake.Filled(v), name == "summary", name == "generate_summary":
		case name == "effort":
			h.p.Effort = v.Str
		default:
			h.extra("reasoning."+name, true)
		}
		return true
	})
}

// include asks for more in the answer. Most of it is about tools that the
// vendor runs itself, which are named on their own.
func (h *hubRead) include(v gjson.Result) {
	v.ForEach(func(_, word gjson.Result) bool {
		if word.Str == "message.output_text.logprobs" {
			h.extra("include", false)
			return false
		}
		if word.Str != "reasoning.encrypted_content" { // foreign reasoning is never sealed
			h.extra("include", true)
		}
		return true
	})
}

// ofTool are the members of a function that the hub knows.
var ofTool = []string{"type", "name", "description", "parameters", "strict"}

func (h *hubRead) tools(v gjson.Result) {
	i := 0
	v.ForEach(func(_, t gjson.Result) bool {
		at := spot("tools", i)
		i++
		if t.Get("type").Str != "function" {
			h.extra(at, false) // the vendor runs it itself, or its input is no JSON
			return true
		}
		tool := wire.Tool{Name: t.Get("name").Str, Description: t.Get("description").Str, Strict: toggle(t.Get("strict"))}
		if tool.Name == "" {
			h.Refuse(at+".name", "%s has no name", at)
		}
		if s := t.Get("parameters"); s.IsObject() {
			tool.Schema = []byte(s.Raw)
		}
		h.beyond(t, at, ofTool...)
		h.p.Tools = append(h.p.Tools, tool)
		return true
	})
}

// beyond names the members of an object that the hub has no field for.
func (h *hubRead) beyond(v gjson.Result, at string, known ...string) {
	for _, name := range intake.Beyond(v, known...) {
		h.extra(at+"."+name, true)
	}
}

func (h *hubRead) toolChoice(v gjson.Result) {
	c := &h.p.ToolChoice
	switch {
	case v.Str == "auto":
		c.Kind = wire.ChoiceAuto
	case v.Str == "none":
		c.Kind = wire.ChoiceNone
	case v.Str == "required":
		c.Kind = wire.ChoiceRequired
	case v.Get("type").Str == "function" && v.Get("name").Str != "":
		c.Kind, c.Name = wire.ChoiceNamed, v.Get("name").Str
	default:
		h.extra("tool_choice", false)
	}
}

func spot(list string, i int) string { return list + "[" + strconv.Itoa(i) + "]" }

// dataURL takes a data: URL of base64 apart.
func dataURL(url string) (media, data string, ok bool) {
	rest, ok := strings.CutPrefix(url, "data:")
	if !ok {
		return "", "", false
	}
	start, data, ok := strings.Cut(rest, ",")
	if !ok {
		return "", "", false
	}
	media, ok = strings.CutSuffix(start, ";base64")
	media, _, _ = strings.Cut(media, ";")
	return media, data, ok && media != ""
}
