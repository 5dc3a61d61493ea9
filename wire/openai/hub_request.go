package openai

import (
	"strconv"
	"strings"

	"backstop"
	"backstop/wire"
)

const (
	// maxToolName and maxStops are the API's own bounds.
	maxToolName = 64
	maxStops    = 4
	// schemaName stands where a schema has no name, which the API demands.
	schemaName = "answer"
)

// FromHub makes a chat request. It is written as a caller of this dialect
// would have, and then fitted to the upstream as any other (Outbound).
//
// Systems are joined to one message, reasoning of earlier turns goes only to
// upstreams that demand it, and images inside tool results have no form here.
func (m Room) FromHub(p *wire.Prompt, u *backstop.Upstream, s *backstop.Step) (wire.Outbound, wire.Losses) {
	w := hubWrite{p: p, losses: p.Losses()}
	if p.Op != wire.Chat {
		w.losses.Cannots(p, string(p.Op))
	}
	name := s.Model
	if name == "" {
		name = p.Model
	}
	w.demand = quirksOf(u, name)
	body := w.body(name, u)
	if len(w.losses.Cannot) > 0 {
		return wire.Outbound{}, w.losses
	}
	r, fail := m.Read(wire.Chat, body)
	if fail != nil {
		w.losses.Cannots(p, fail.Param)
		return wire.Outbound{}, w.losses
	}
	out, cannot := m.Outbound(r, u, s)
	if cannot != nil {
		w.losses.Cannots(p, cannot.Param)
	}
	return out, w.losses
}

// hubWrite makes a request body.
type hubWrite struct {
	p      *wire.Prompt
	losses wire.Losses
	demand quirks
	o      builder
}

func (w *hubWrite) body(model string, u *backstop.Upstream) []byte {
	p, o := w.p, &w.o
	o.raw("model", appendString(nil, model))
	o.name("messages")
	w.messages()
	w.tools()
	if p.MaxTokens > 0 {
		o.raw("max_tokens", strconv.AppendInt(nil, int64(p.MaxTokens), 10))
	}
	for _, n := range [...]struct {
		name  string
		value wire.Number
	}{
		{"temperature", p.Temperature}, {"top_p", p.TopP}, {"frequency_penalty", p.Frequency}, {"presence_penalty", p.Presence},
		{"seed", p.Seed}, {"top_logprobs", p.TopLogprobs},
	} {
		if n.value != "" {
			o.raw(n.name, []byte(n.value))
		}
	}
	if p.TopK != "" {
		w.losses.Lefts(p, "top_k")
	}
	if p.Choices > 1 {
		o.raw("n", strconv.AppendInt(nil, int64(p.Choices), 10))
	}
	if p.Logprobs {
		o.raw("logprobs", []byte("true"))
	}
	if p.Served != "" {
		o.raw("user", appendString(nil, p.Served))
	}
	w.stop()
	w.promise()
	w.effort(model, u)
	if p.Stream {
		o.raw("stream", []byte("true"))
		if p.UsageOn {
			o.raw("stream_options", []byte(`{"include_usage":true}`))
		}
	}
	o.end()
	return o.b
}

func (w *hubWrite) stop() {
	if len(w.p.Stop) == 0 {
		return
	}
	if len(w.p.Stop) > maxStops {
		w.losses.Cannots(w.p, "stop")
		return
	}
	w.o.name("stop")
	for i, s := range w.p.Stop {
		w.o.b = append(w.o.b, "[,"[min(i, 1)])
		w.o.b = appendString(w.o.b, s)
	}
	w.o.b = append(w.o.b, ']')
}

func (w *hubWrite) promise() {
	p := w.p
	switch p.Promise.Kind {
	case wire.PromiseObject:
		w.o.raw("response_format", []byte(`{"type":"json_object"}`))
	case wire.PromiseSchema:
		f := builder{b: []byte(`{"type":"json_schema","json_schema":`)}
		name := p.PromiseName
		if name == "" {
			name = schemaName
		}
		f.raw("name", appendString(nil, name))
		if p.PromiseAbout != "" {
			f.raw("description", appendString(nil, p.PromiseAbout))
		}
		strict(&f, p.Strict)
		f.raw("schema", p.Promise.Schema)
		f.end()
		w.o.raw("response_format", append(f.b, '}'))
	}
}

func strict(o *builder, s wire.Switch) {
	if s != wire.Unset {
		o.raw("strict", strconv.AppendBool(nil, s == wire.On))
	}
}

// effort asks for reasoning where a model is known to take that word; it is a
// hint, and others would answer 400.
func (w *hubWrite) effort(model string, u *backstop.Upstream) {
	word := effortOf(w.p)
	if word == "" {
		return
	}
	silent := wire.Silent(u.Vendor, model)
	if w.p.Dialect != backstop.OpenAI && (word == "none" || !silent) {
		if word != "none" || silent {
			w.losses.Lefts(w.p, "reasoning_effort")
		}
		return
	}
	w.o.raw("reasoning_effort", appendString(nil, word))
}

// The budgets of reasoning tokens from which on an effort is the next higher.
const (
	mediumBudget = 4096
	highBudget   = 16384
)

func effortOf(p *wire.Prompt) string {
	switch {
	case p.Effort == "max" || p.Effort == "xhigh" && p.Dialect != backstop.OpenAI:
		return "high"
	case p.Effort != "":
		return p.Effort
	case p.Budget >= highBudget:
		return "high"
	case p.Budget >= mediumBudget:
		return "medium"
	case p.Budget > 0:
		return "low"
	}
	return ""
}

// tools writes the tools and how free the model is with them. Without tools the
// API takes no word on that, which others do; one that demands a call keeps its
// 400.
func (w *hubWrite) tools() {
	p, o := w.p, &w.o
	if k := p.ToolChoice.Kind; len(p.Tools) == 0 && k != wire.ChoiceRequired && k != wire.ChoiceNamed {
		return
	}
	if len(p.Tools) > 0 {
		o.name("tools")
		for i := range p.Tools {
			o.b = append(o.b, "[,"[min(i, 1)])
			w.tool(&p.Tools[i], i)
		}
		o.b = append(o.b, ']')
	}
	switch p.ToolChoice.Kind {
	case wire.ChoiceAuto:
		o.raw("tool_choice", []byte(`"auto"`))
	case wire.ChoiceNone:
		o.raw("tool_choice", []byte(`"none"`))
	case wire.ChoiceRequired:
		o.raw("tool_choice", []byte(`"required"`))
	case wire.ChoiceNamed:
		c := builder{b: []byte(`{"type":"function","function":`)}
		c.raw("name", appendString(nil, p.ToolChoice.Name))
		c.end()
		o.raw("tool_choice", append(c.b, '}'))
	}
	if p.Parallel != wire.Unset {
		o.raw("parallel_tool_calls", strconv.AppendBool(nil, p.Parallel == wire.On))
	}
}

func (w *hubWrite) tool(t *wire.Tool, i int) {
	if len(t.Name) > maxToolName || !wire.PlainName(t.Name) {
		w.losses.Cannots(w.p, w.p.ToolAt(i)+".name")
	}
	f := builder{b: append(w.o.b, `{"type":"function","function":`...)}
	f.raw("name", appendString(nil, t.Name))
	if t.Description != "" {
		f.raw("description", appendString(nil, t.Description))
	}
	if t.Schema != nil {
		f.raw("parameters", t.Schema)
	}
	strict(&f, t.Strict)
	f.end()
	w.o.b = append(f.b, '}')
}

// joined is the text of some parts.
func joined(parts []wire.Part, kind wire.PartKind) string {
	first, n := "", 0
	for i := range parts {
		if parts[i].Kind == kind {
			if n++; n == 1 {
				first = parts[i].Text
			}
		}
	}
	if n < 2 {
		return first
	}
	var b strings.Builder
	for i := range parts {
		if parts[i].Kind == kind {
			b.WriteString(parts[i].Text)
		}
	}
	return b.String()
}
