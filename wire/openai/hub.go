package openai

import (
	"slices"
	"strings"

	"backstop"
	"backstop/wire"
	"backstop/wire/internal/intake"
)

var _ wire.HubRoom = Room{}

// hints are parameters of the caller's that may be left out for an upstream
// of another dialect, because the answer keeps its form without them. All
// that is in neither this table nor the hub is not left out: the upstream
// cannot take the call.
var hints = map[string]bool{
	"metadata": true, "service_tier": true, "prompt_cache_key": true, "prompt_cache_retention": true, "prediction": true,
	"verbosity": true, "thinking": true, "enable_thinking": true, "reasoning": true, "include_reasoning": true,
	"reasoning_summary": true, "chat_template_kwargs": true, "safety_identifier": true,
}

// ToHub reads a chat request. Legacy completions and embeddings have no words
// in the hub: their question is an extra that no other dialect can take.
func (Room) ToHub(r *wire.Request) (*wire.Prompt, *backstop.Failure) {
	p := &wire.Prompt{
		Dialect: backstop.OpenAI, Op: r.Op, Model: r.Model, Stream: r.Stream, UsageOn: r.UsageOn, Choices: r.Choices, MaxTokens: r.MaxTokens,
		Names: map[string]string{},
	}
	whole, ok := root(r.Body)
	if !ok {
		return nil, intake.Refuse("", "the body is not one JSON object: check what the request was built with")
	}
	h := &hubRead{b: r.Body, p: p, promise: r.Promise}
	for m := inObject(r.Body, whole); m.next(); {
		if !m.val.null(r.Body) {
			h.field(string(m.name()), m.val)
		}
	}
	if h.Fail != nil {
		return nil, h.Fail
	}
	return p, nil
}

// hubRead collects a prompt and the first complaint.
type hubRead struct {
	intake.Complaint
	b       []byte
	p       *wire.Prompt
	promise wire.Promise
}

func (h *hubRead) extra(name string, hint bool) { h.p.AddExtra(name, hint) }

// field reads one parameter.
func (h *hubRead) field(name string, v span) {
	b, p := h.b, h.p
	switch name {
	case "model", "stream", "max_tokens":
	case "stream_options":
		if member(b, v, "include_obfuscation").there() {
			h.extra("stream_options.include_obfuscation", true)
		}
	case "max_completion_tokens":
		p.Names["max_tokens"] = name
	case "messages":
		h.messages(v)
	case "tools":
		h.tools(v)
	case "tool_choice":
		h.toolChoice(v)
	case "response_format":
		h.form(v)
	case "stop":
		h.stop(v)
	case "parallel_tool_calls":
		p.Parallel = wire.SwitchOf(v.is(b, 't'))
	case "logprobs":
		p.Logprobs = v.is(b, 't')
	case "user":
		p.Served = str(b, v)
	case "reasoning_effort":
		p.Effort = str(b, v)
	default:
		if !h.number(name, v) && !h.harmless(name, v) {
			h.extra(name, hints[name])
		}
	}
}

// number reads the parameters that are numbers.
func (h *hubRead) number(name string, v span) bool {
	to, ok := map[string]*wire.Number{
		"temperature": &h.p.Temperature, "top_p": &h.p.TopP, "top_k": &h.p.TopK, "seed": &h.p.Seed,
		"frequency_penalty": &h.p.Frequency, "presence_penalty": &h.p.Presence, "top_logprobs": &h.p.TopLogprobs,
	}[name]
	if !ok {
		return name == "n"
	}
	raw := string(v.of(h.b))
	if c := raw[0]; c != '-' && (c < '0' || c > '9') {
		h.Refuse(name, "%s must be a number", name)
		return true
	}
	*to = wire.Number(raw)
	return true
}

// harmless parameters have a value that says nothing.
func (h *hubRead) harmless(name string, v span) bool {
	switch name {
	case "store":
		return v.is(h.b, 'f')
	case "tools", "functions", "logit_bias", "metadata":
		return !holds(h.b, v, h.b[v.from])
	case "function_call":
		return str(h.b, v) == "none"
	case "modalities":
		e := inArray(h.b, v)
		return v.is(h.b, '[') && (!e.next() || str(h.b, e.val) == "text" && !e.next())
	}
	return false
}

func (h *hubRead) form(v span) {
	h.beyond(v, "response_format", "type", "json_schema")
	switch str(h.b, member(h.b, v, "type")) {
	case "text":
	case "json_object":
		h.p.Promise = h.promise
	case "json_schema":
		h.p.Promise = h.promise
		s := member(h.b, v, "json_schema")
		h.p.PromiseName = str(h.b, member(h.b, s, "name"))
		h.p.PromiseAbout = str(h.b, member(h.b, s, "description"))
		h.p.Strict = h.toggle(member(h.b, s, "strict"))
		h.beyond(s, "response_format.json_schema", "name", "description", "schema", "strict")
	default:
		h.extra("response_format", false)
	}
}

func (h *hubRead) toggle(s span) wire.Switch {
	switch {
	case s.is(h.b, 't'):
		return wire.On
	case s.is(h.b, 'f'):
		return wire.Off
	}
	return wire.Unset
}

func (h *hubRead) stop(v span) {
	if v.is(h.b, '"') {
		h.p.Stop = []string{str(h.b, v)}
		return
	}
	if !v.is(h.b, '[') {
		h.Refuse("stop", "stop must be a string or an array of strings")
		return
	}
	for e := inArray(h.b, v); e.next(); {
		h.p.Stop = append(h.p.Stop, str(h.b, e.val))
	}
}

func (h *hubRead) tools(v span) {
	i := 0
	for e := inArray(h.b, v); e.next(); i++ {
		f := member(h.b, e.val, "function")
		if str(h.b, member(h.b, e.val, "type")) != "function" || !f.is(h.b, '{') {
			h.extra(place("tools", i), false)
			continue
		}
		t := wire.Tool{At: place("tools", i) + ".function", Name: str(h.b, member(h.b, f, "name")), Description: str(h.b, member(h.b, f, "description"))}
		if t.Name == "" {
			h.Refuse(place("tools", i)+".function.name", "%s has no name", place("tools", i))
		}
		if s := member(h.b, f, "parameters"); s.is(h.b, '{') {
			t.Schema = s.of(h.b)
		}
		t.Strict = h.toggle(member(h.b, f, "strict"))
		h.beyond(e.val, place("tools", i), "type", "function")
		h.beyond(f, place("tools", i)+".function", "name", "description", "parameters", "strict")
		h.p.Tools = append(h.p.Tools, t)
	}
}

// beyond names the members of an object that the hub has no field for, if they
// say anything.
func (h *hubRead) beyond(v span, at string, known ...string) {
	for m := inObject(h.b, v); m.next(); {
		if name := string(m.name()); !slices.Contains(known, name) && !m.val.null(h.b) && !hollowList(h.b, m.val) && (m.val.filled(h.b) || !m.val.is(h.b, '"')) {
			h.extra(at+"."+name, true)
		}
	}
}

// hollowList reports whether a value is an array without elements.
func hollowList(b []byte, v span) bool { return v.is(b, '[') && !holds(b, v, '[') }

func (h *hubRead) toolChoice(v span) {
	c := &h.p.ToolChoice
	switch word := str(h.b, v); word {
	case "auto":
		c.Kind = wire.ChoiceAuto
	case "none":
		c.Kind = wire.ChoiceNone
	case "required":
		c.Kind = wire.ChoiceRequired
	default:
		c.Name = str(h.b, member(h.b, member(h.b, v, "function"), "name"))
		if c.Name == "" {
			h.extra("tool_choice", false)
			return
		}
		c.Kind = wire.ChoiceNamed
	}
}

// dataURL takes a data: URL of base64 apart.
func dataURL(url string) (media, data string, ok bool) {
	rest, ok := strings.CutPrefix(url, "data:")
	if !ok {
		return "", "", false
	}
	head, data, ok := strings.Cut(rest, ",")
	if !ok {
		return "", "", false
	}
	media, ok = strings.CutSuffix(head, ";base64")
	media, _, _ = strings.Cut(media, ";")
	return media, data, ok && media != ""
}
