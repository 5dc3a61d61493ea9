package anthropic

import (
	"slices"
	"strconv"
	"strings"

	"backstop"
	"backstop/wire"
	"backstop/wire/internal/edit"
)

const (
	// defaultMaxTokens is sent where a caller of another dialect gave no bound,
	// because the API demands one. quirks.set_params.max_tokens is stronger.
	defaultMaxTokens = 8192
	// maxToolName and maxServed are the API's own bounds.
	maxToolName = 128
	maxServed   = 256
)

// FromHub makes a Messages request.
//
// Instructions in the middle of the talk become text of the asker in the same
// place, since the API takes them at the begin only. Reasoning goes back only
// with the signature of its issuer.
func (m Room) FromHub(p *wire.Prompt, u *backstop.Upstream, s *backstop.Step) (wire.Outbound, wire.Losses) {
	name := s.Model
	if name == "" {
		name = p.Model
	}
	w := &hubWrite{p: p, losses: p.Losses(), model: name, vendor: u.Vendor, without: s.Without, quirks: quirks{wire.QuirksOf(u, name)}}
	if p.Op != wire.Chat && p.Op != wire.CountTokens {
		w.losses.Cannots(p, string(p.Op))
	}
	w.body()
	if len(w.losses.Cannot) > 0 {
		return wire.Outbound{}, w.losses
	}
	r := &wire.Request{
		Dialect: backstop.Anthropic, Op: p.Op, Model: name, Stream: p.Stream, Body: w.b,
		Tools: len(p.Tools) > 0, Choices: 1, MaxTokens: p.MaxTokens,
	}
	out, cannot := m.Outbound(r, u, s)
	if cannot != nil {
		w.losses.Cannots(p, cannot.Param)
	}
	return out, w.losses
}

// hubWrite makes a request body.
type hubWrite struct {
	p       *wire.Prompt
	losses  wire.Losses
	model   string
	vendor  string
	without []string
	quirks  quirks
	b       []byte
	effort  string // goes into output_config
}

// takes reports whether the upstream is not known to refuse a parameter.
func (w *hubWrite) takes(name string) bool {
	refused := func(p string) bool { return p == name || strings.HasPrefix(p, name+".") }
	return !slices.ContainsFunc(w.without, refused) && !slices.ContainsFunc(w.quirks.DropParams, refused)
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
	t := w.thinking()
	if p.Op == wire.Chat {
		w.raw("max_tokens", strconv.Itoa(t.maxTokens))
	}
	native := w.nativeSchema()
	w.system(native)
	w.raw("messages", "")
	w.messages()
	w.tools()
	if t.raw != "" {
		w.raw("thinking", t.raw)
	}
	w.config(native)
	w.sampling(t.raw != "" && t.raw != disabled || fixedSampling(w.model))
	w.stop()
	if n := len(p.Served); n > maxServed {
		w.losses.Lefts(p, "user")
	} else if n > 0 {
		w.raw("metadata", `{"user_id":`+edit.Quoted(p.Served)+`}`)
	}
	w.unspoken()
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
	if p.Seed != "" {
		w.losses.Lefts(p, "seed")
	}
	if p.Frequency.Float() != 0 {
		w.losses.Lefts(p, "frequency_penalty")
	}
	if p.Presence.Float() != 0 {
		w.losses.Lefts(p, "presence_penalty")
	}
}

// sampling writes temperature, top_p and top_k as far as they go together: a
// model that thinks, or whose sampling is fixed, takes none of them, newer ones
// only one of the first two, and the temperature ends at 1.
func (w *hubWrite) sampling(fixed bool) {
	p := w.p
	temperature, topP := p.Temperature, p.TopP
	if fixed {
		for _, n := range [...]struct {
			name  string
			value wire.Number
		}{{"temperature", temperature}, {"top_p", topP}, {"top_k", p.TopK}} {
			if n.value != "" && n.value.Float() != 1 {
				w.losses.Lefts(p, n.name)
			}
		}
		return
	}
	if temperature.Float() > 1 {
		w.losses.Lefts(p, "temperature")
		temperature = "1"
	}
	if temperature != "" && topP != "" && p.Dialect != backstop.Anthropic {
		if topP.Float() != 1 {
			w.losses.Lefts(p, "top_p")
		}
		topP = ""
	}
	for _, n := range [...]struct {
		name  string
		value wire.Number
	}{{"temperature", temperature}, {"top_p", topP}, {"top_k", p.TopK}} {
		if n.value != "" {
			w.raw(n.name, string(n.value))
		}
	}
}

// stop writes the stop sequences; the API refuses those of white space only.
func (w *hubWrite) stop() {
	var list []byte
	for _, s := range w.p.Stop {
		if s == "" {
			continue
		}
		if strings.TrimSpace(s) == "" {
			w.losses.Cannots(w.p, "stop")
		}
		list = wire.AppendString(append(list, "[,"[min(len(list), 1)]), s)
	}
	if list != nil {
		w.raw("stop_sequences", string(append(list, ']')))
	}
}

func (w *hubWrite) tools() {
	p := w.p
	if len(p.Tools) == 0 {
		return
	}
	w.raw("tools", "")
	for i := range p.Tools {
		w.b = append(w.b, "[,"[min(i, 1)])
		w.tool(&p.Tools[i], i)
	}
	w.b = append(w.b, ']')
	choice := ""
	switch p.ToolChoice.Kind {
	case wire.ChoiceNone:
		w.raw("tool_choice", `{"type":"none"}`)
		return
	case wire.ChoiceRequired:
		choice = `{"type":"any"`
	case wire.ChoiceNamed:
		choice = `{"type":"tool","name":` + edit.Quoted(p.ToolChoice.Name)
	case wire.ChoiceAuto:
		choice = `{"type":"auto"`
	}
	if p.Parallel != wire.Unset {
		if choice == "" {
			choice = `{"type":"auto"`
		}
		choice += `,"disable_parallel_tool_use":` + strconv.FormatBool(p.Parallel == wire.Off)
	}
	if choice != "" {
		w.raw("tool_choice", choice+"}")
	}
}

// anyObject stands where a tool's arguments have no schema.
const anyObject = `{"type":"object","properties":{}}`

func (w *hubWrite) tool(t *wire.Tool, i int) {
	if len(t.Name) > maxToolName || !wire.PlainName(t.Name) {
		w.losses.Cannots(w.p, w.p.ToolAt(i)+".name")
	}
	w.b = wire.AppendString(append(w.b, `{"name":`...), t.Name)
	if t.Description != "" {
		w.b = wire.AppendString(append(w.b, `,"description":`...), t.Description)
	}
	schema := typed(t.Schema)
	w.b = append(append(w.b, `,"input_schema":`...), schema...)
	if t.Strict == wire.On {
		if structured(w.vendor, w.model) && plainSchema([]byte(schema)) {
			w.b = append(w.b, `,"strict":true`...)
		} else {
			w.losses.Lefts(w.p, w.p.ToolAt(i)+".strict")
		}
	}
	w.b = append(w.b, '}')
}
