package anthropic

import (
	"strconv"

	"github.com/tidwall/gjson"

	"backstop"
	"backstop/wire"
	"backstop/wire/internal/intake"
)

// hints are parameters of the caller's that may be left out for an upstream
// of another dialect, because the answer keeps its form without them. All
// that is in neither this table nor the hub is not left out: the upstream
// cannot take the call.
var hints = map[string]bool{
	"service_tier": true, "inference_geo": true, "speed": true, "betas": true, "cache_control": true, "context_management": true,
}

// defaultEffort is what the API takes when adaptive thinking names none.
const defaultEffort = "high"

// ToHub reads a request.
func (Room) ToHub(r *wire.Request) (*wire.Prompt, *backstop.Failure) {
	if !wire.ValidJSON(r.Body) {
		return nil, intake.Refuse("", "the body is not one JSON object: check what the request was built with")
	}
	p := &wire.Prompt{
		Dialect: backstop.Anthropic, Op: r.Op, Model: r.Model, Stream: r.Stream, UsageOn: true, Choices: 1, MaxTokens: r.MaxTokens,
		Names: map[string]string{
			"stop": "stop_sequences", "user": "metadata.user_id", "reasoning_content": "thinking", "reasoning_effort": "thinking",
			"parallel_tool_calls": "tool_choice.disable_parallel_tool_use",
		},
	}
	h := &hubRead{p: p, promise: r.Promise}
	gjson.ParseBytes(r.Body).ForEach(func(k, v gjson.Result) bool {
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
	case "model", "stream", "max_tokens":
	case "system":
		h.system(v)
	case "messages":
		h.messages(v)
	case "tools":
		h.tools(v)
	case "tool_choice":
		h.toolChoice(v)
	case "stop_sequences":
		v.ForEach(func(_, s gjson.Result) bool {
			p.Stop = append(p.Stop, s.String())
			return true
		})
	case "temperature":
		p.Temperature = h.number(name, v)
	case "top_p":
		p.TopP = h.number(name, v)
	case "top_k":
		p.TopK = h.number(name, v)
	case "metadata":
		p.Served = v.Get("user_id").Str
		h.beyond(v, name, "user_id")
	case "thinking":
		h.thinking(v)
	case "output_format":
		h.form(v, name)
	case "output_config":
		h.config(v)
	case "mcp_servers":
		if v.Get("0").Exists() {
			h.extra(name, false)
		}
	default:
		h.extra(name, hints[name])
	}
}

func (h *hubRead) number(name string, v gjson.Result) wire.Number {
	if v.Type != gjson.Number {
		h.Refuse(name, "%s must be a number", name)
		return ""
	}
	return wire.Number(v.Raw)
}

func (h *hubRead) thinking(v gjson.Result) {
	switch v.Get("type").Str {
	case "enabled":
		h.p.Budget = int(v.Get("budget_tokens").Num)
	case "disabled":
		h.p.Effort = "none"
	case "adaptive":
		if h.p.Effort == "" {
			h.p.Effort = defaultEffort
		}
	default:
		h.extra("thinking", true)
	}
}

func (h *hubRead) config(v gjson.Result) {
	v.ForEach(func(k, v gjson.Result) bool {
		switch name := k.String(); {
		case !intake.Filled(v):
		case name == "format":
			h.form(v, "output_config.format")
		case name == "effort":
			if h.p.Effort != "none" {
				h.p.Effort = v.Str
			}
		default:
			h.extra("output_config."+name, true)
		}
		return true
	})
}

func (h *hubRead) form(v gjson.Result, name string) {
	if v.Get("type").Str != "json_schema" {
		h.extra(name, false)
		return
	}
	h.beyond(v, name, "type", "schema", "name")
	h.p.Promise = h.promise
	h.p.Names["response_format"] = name
}

// ofTool are the members of a tool that the hub knows, or that are looked at apart.
var ofTool = []string{"type", "name", "description", "input_schema", "strict", "cache_control"}

func (h *hubRead) tools(v gjson.Result) {
	i := 0
	v.ForEach(func(_, t gjson.Result) bool {
		at := place("tools", i)
		i++
		if kind := t.Get("type").Str; kind != "" && kind != "custom" {
			h.extra(at, false) // a tool that the vendor runs itself
			return true
		}
		tool := wire.Tool{Name: t.Get("name").Str, Description: t.Get("description").Str}
		if tool.Name == "" {
			h.Refuse(at+".name", "%s has no name", at)
		}
		if s := t.Get("input_schema"); s.IsObject() {
			tool.Schema = []byte(s.Raw)
		}
		if s := t.Get("strict"); s.IsBool() {
			tool.Strict = wire.SwitchOf(s.Bool())
		}
		h.beyond(t, at, ofTool...)
		h.cached(t)
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

// cached notes a mark for the vendor's prompt cache, which only saves money.
func (h *hubRead) cached(v gjson.Result) {
	if intake.Filled(v.Get("cache_control")) {
		for _, x := range h.p.Extras {
			if x.Name == "cache_control" {
				return
			}
		}
		h.extra("cache_control", true)
	}
}

func (h *hubRead) toolChoice(v gjson.Result) {
	c := &h.p.ToolChoice
	switch v.Get("type").Str {
	case "auto":
		c.Kind = wire.ChoiceAuto
	case "none":
		c.Kind = wire.ChoiceNone
	case "any":
		c.Kind = wire.ChoiceRequired
	case "tool":
		c.Kind, c.Name = wire.ChoiceNamed, v.Get("name").Str
	default:
		h.extra("tool_choice", false)
	}
	if one := v.Get("disable_parallel_tool_use"); one.IsBool() {
		h.p.Parallel = wire.SwitchOf(!one.Bool())
	}
}

func place(list string, i int) string { return list + "[" + strconv.Itoa(i) + "]" }
