package responses

import (
	"strconv"

	"backstop"
	"backstop/wire"
	"backstop/wire/internal/edit"
)

const (
	// maxToolName is the API's own bound.
	maxToolName = 64
	// schemaName stands where a schema has no name, which the API demands.
	schemaName = "answer"
)

// FromHub makes a request for an upstream that serves this form itself. It is
// written as a caller would have, and then fitted to the upstream as any other
// (Outbound). Nothing is stored.
//
// Stop sequences, further choices and the odds of tokens have no form here;
// reasoning goes back only to where it came from.
func (m Room) FromHub(p *wire.Prompt, u *backstop.Upstream, s *backstop.Step) (wire.Outbound, wire.Losses) {
	name := s.Model
	if name == "" {
		name = p.Model
	}
	w := &hubWrite{p: p, losses: p.Losses(), model: name, vendor: u.Vendor}
	if p.Op != wire.Chat {
		w.losses.Cannots(p, string(p.Op))
	}
	w.body()
	if len(w.losses.Cannot) > 0 {
		return wire.Outbound{}, w.losses
	}
	r, fail := m.Read(wire.Responses, w.b)
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
	model  string
	vendor string
	b      []byte
}

// raw adds a parameter.
func (w *hubWrite) raw(name, raw string) {
	if len(w.b) > 0 {
		w.b = append(w.b, ',')
	} else {
		w.b = append(w.b, '{')
	}
	w.b = append(append(append(append(w.b, '"'), name...), '"', ':'), raw...)
}

func (w *hubWrite) body() {
	p := w.p
	w.raw("model", edit.Quoted(w.model))
	if len(p.System) > 0 {
		w.raw("instructions", edit.Quoted(p.System[0]))
	}
	w.raw("input", "")
	w.input()
	w.tools()
	if p.MaxTokens > 0 {
		w.raw("max_output_tokens", strconv.Itoa(p.MaxTokens))
	}
	if p.Temperature != "" {
		w.raw("temperature", string(p.Temperature))
	}
	if p.TopP != "" {
		w.raw("top_p", string(p.TopP))
	}
	if p.Served != "" {
		w.raw("user", edit.Quoted(p.Served))
	}
	w.promise()
	w.effort()
	w.unspoken()
	w.raw("store", "false")
	if p.Stream {
		w.raw("stream", "true")
	}
	w.b = append(w.b, '}')
}

// unspoken are fields of the hub that this dialect has no word for.
func (w *hubWrite) unspoken() {
	p := w.p
	if p.Choices > 1 {
		w.losses.Cannots(p, "n")
	}
	if p.Logprobs {
		w.losses.Cannots(p, "logprobs")
	}
	if p.TopLogprobs != "" {
		w.losses.Cannots(p, "top_logprobs")
	}
	if len(p.Stop) > 0 {
		w.losses.Cannots(p, "stop")
	}
	for _, n := range [...]struct {
		name  string
		given bool
	}{
		{"top_k", p.TopK != ""}, {"seed", p.Seed != ""},
		{"frequency_penalty", p.Frequency.Float() != 0}, {"presence_penalty", p.Presence.Float() != 0},
	} {
		if n.given {
			w.losses.Lefts(p, n.name)
		}
	}
}

func (w *hubWrite) promise() {
	p := w.p
	switch p.Promise.Kind {
	case wire.PromiseObject:
		w.raw("text", `{"format":{"type":"json_object"}}`)
	case wire.PromiseSchema:
		name := p.PromiseName
		if name == "" {
			name = schemaName
		}
		about := ""
		if p.PromiseAbout != "" {
			about = `,"description":` + edit.Quoted(p.PromiseAbout)
		}
		f := `{"format":{"type":"json_schema","name":` + edit.Quoted(name) + about + strict(p.Strict) + `,"schema":` + string(edit.OneLine(p.Promise.Schema)) + `}}`
		w.raw("text", f)
	}
}

func strict(s wire.Switch) string {
	if s == wire.Unset {
		return ""
	}
	return `,"strict":` + strconv.FormatBool(s == wire.On)
}

// The budgets of reasoning tokens from which on an effort is the next higher.
const (
	mediumBudget = 4096
	highBudget   = 16384
)

// effort asks for reasoning where a model is known to take that word; it is a
// hint, and others would answer 400.
func (w *hubWrite) effort() {
	p, word := w.p, w.p.Effort
	switch {
	case word == "max":
		word = "high"
	case word != "":
	case p.Budget >= highBudget:
		word = "high"
	case p.Budget >= mediumBudget:
		word = "medium"
	case p.Budget > 0:
		word = "low"
	default:
		return
	}
	if p.Dialect != backstop.Responses && (word == "none" || !wire.Silent(w.vendor, w.model)) {
		if word != "none" {
			w.losses.Lefts(p, "reasoning_effort")
		}
		return
	}
	w.raw("reasoning", `{"effort":`+edit.Quoted(word)+`}`)
}

func (w *hubWrite) tools() {
	p := w.p
	if len(p.Tools) > 0 {
		w.raw("tools", "")
		for i := range p.Tools {
			w.b = append(w.b, "[,"[min(i, 1)])
			w.tool(&p.Tools[i], i)
		}
		w.b = append(w.b, ']')
	}
	switch p.ToolChoice.Kind {
	case wire.ChoiceAuto:
		w.raw("tool_choice", `"auto"`)
	case wire.ChoiceNone:
		w.raw("tool_choice", `"none"`)
	case wire.ChoiceRequired:
		w.raw("tool_choice", `"required"`)
	case wire.ChoiceNamed:
		w.raw("tool_choice", `{"type":"function","name":`+edit.Quoted(p.ToolChoice.Name)+`}`)
	}
	if p.Parallel != wire.Unset {
		w.raw("parallel_tool_calls", strconv.FormatBool(p.Parallel == wire.On))
	}
}

// tool writes a function. Here strict is on unless it is said otherwise, so
// for callers of other dialects it is said.
func (w *hubWrite) tool(t *wire.Tool, i int) {
	if len(t.Name) > maxToolName || !wire.PlainName(t.Name) {
		w.losses.Cannots(w.p, w.p.ToolAt(i)+".name")
	}
	w.b = wire.AppendString(append(w.b, `{"type":"function","name":`...), t.Name)
	if t.Description != "" {
		w.b = wire.AppendString(append(w.b, `,"description":`...), t.Description)
	}
	schema := t.Schema
	if schema == nil {
		schema = []byte("null")
	}
	w.b = append(append(w.b, `,"parameters":`...), edit.OneLine(schema)...)
	on := t.Strict
	if on == wire.Unset && w.p.Dialect != backstop.Responses {
		on = wire.Off
	}
	w.b = append(append(w.b, strict(on)...), '}')
}
