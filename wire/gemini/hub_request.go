package gemini

import (
	"slices"
	"strconv"

	"github.com/tidwall/gjson"

	"backstop"
	"backstop/wire"
	"backstop/wire/internal/edit"
)

// maxToolName and maxStops are the API's own bounds.
const (
	maxToolName = 64
	maxStops    = 5
)

// FromHub makes a generateContent request.
//
// Instructions in the middle of the talk become text of the asker in the same
// place, since the API takes them apart from it. Reasoning does not go back:
// only its issuer could make use of it.
func (m Room) FromHub(p *wire.Prompt, u *backstop.Upstream, s *backstop.Step) (wire.Outbound, wire.Losses) {
	name := s.Model
	if name == "" {
		name = p.Model
	}
	w := &hubWrite{p: p, losses: p.Losses(), model: name, without: s.Without, quirks: quirks{wire.QuirksOf(u, name)}}
	if p.Op != wire.Chat {
		w.losses.Cannots(p, string(p.Op))
	}
	w.body()
	if len(w.losses.Cannot) > 0 {
		return wire.Outbound{}, w.losses
	}
	r := &wire.Request{
		Dialect: backstop.Gemini, Op: p.Op, Model: name, Stream: p.Stream, Body: w.b,
		Tools: len(p.Tools) > 0, Choices: p.Choices, MaxTokens: p.MaxTokens,
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
	without []string
	quirks  quirks
	b       []byte
	config  []byte // members of generationConfig
}

// takes reports whether the upstream is not known to refuse a parameter.
func (w *hubWrite) takes(name string) bool {
	refused := func(p string) bool {
		_, given := located(p)
		return given == name
	}
	return !slices.ContainsFunc(w.without, refused) && !slices.ContainsFunc(w.quirks.DropParams, refused)
}

// raw adds a parameter.
func (w *hubWrite) raw(name, raw string) {
	w.b = append(w.b, "{,"[min(len(w.b), 1)])
	w.b = append(append(append(append(w.b, '"'), name...), '"', ':'), raw...)
}

// set adds a parameter of generationConfig.
func (w *hubWrite) set(name, raw string) {
	w.config = append(w.config, "{,"[min(len(w.config), 1)])
	w.config = append(append(append(append(w.config, '"'), name...), '"', ':'), raw...)
}

func (w *hubWrite) body() {
	ask := w.promise()
	w.raw("contents", "")
	w.contents()
	w.system(ask)
	w.tools()
	w.sampling()
	w.thinking()
	w.unspoken()
	if len(w.config) > 0 {
		w.raw("generationConfig", string(w.config)+"}")
	}
	w.b = append(w.b, '}')
}

// unspoken are fields of the hub that this dialect has no word for, or whose
// answers the hub has none for.
func (w *hubWrite) unspoken() {
	p := w.p
	if p.Logprobs {
		w.losses.Cannots(p, "logprobs")
	}
	if p.TopLogprobs != "" {
		w.losses.Cannots(p, "top_logprobs")
	}
	if p.Parallel != wire.Unset && len(p.Tools) > 0 {
		w.losses.Lefts(p, "parallel_tool_calls")
	}
	if p.Served != "" {
		w.losses.Lefts(p, "user")
	}
}

func (w *hubWrite) sampling() {
	p := w.p
	if p.MaxTokens > 0 {
		w.set("maxOutputTokens", strconv.Itoa(p.MaxTokens))
	}
	if p.Choices > 1 {
		w.set("candidateCount", strconv.Itoa(p.Choices))
	}
	for _, n := range [...]struct {
		name  string
		value wire.Number
	}{
		{"temperature", p.Temperature}, {"topP", p.TopP}, {"topK", p.TopK},
	} {
		if n.value != "" {
			w.set(n.name, string(n.value))
		}
	}
	if seed := p.Seed.Float(); seed != float64(int32(seed)) {
		w.losses.Lefts(p, "seed") // the API has 32 bits for it
	} else if p.Seed != "" {
		w.set("seed", string(p.Seed))
	}
	w.penalty("presence_penalty", "presencePenalty", p.Presence)
	w.penalty("frequency_penalty", "frequencyPenalty", p.Frequency)
	w.stop()
}

// penalty writes a penalty for the models that take one: all others refuse
// every value but 0.
func (w *hubWrite) penalty(field, name string, value wire.Number) {
	switch {
	case value.Float() == 0:
	case hasPrefix(bare(w.model), penalized):
		w.set(name, string(value))
	default:
		w.losses.Lefts(w.p, field)
	}
}

func (w *hubWrite) stop() {
	var list []byte
	n := 0
	for _, s := range w.p.Stop {
		if s == "" {
			continue
		}
		list = wire.AppendString(append(list, "[,"[min(n, 1)]), s)
		n++
	}
	if n > maxStops {
		w.losses.Cannots(w.p, "stop")
	}
	if n > 0 {
		w.set("stopSequences", string(append(list, ']')))
	}
}

func (w *hubWrite) tools() {
	p := w.p
	if len(p.Tools) == 0 {
		return
	}
	w.raw("tools", `[{"functionDeclarations":`)
	for i := range p.Tools {
		w.b = append(w.b, "[,"[min(i, 1)])
		w.tool(&p.Tools[i], i)
	}
	w.b = append(w.b, "]}]"...)
	mode := ""
	switch p.ToolChoice.Kind {
	case wire.ChoiceAuto:
		mode = `"AUTO"`
	case wire.ChoiceNone:
		mode = `"NONE"`
	case wire.ChoiceRequired:
		mode = `"ANY"`
	case wire.ChoiceNamed:
		mode = `"ANY","allowedFunctionNames":[` + edit.Quoted(p.ToolChoice.Name) + `]`
	default:
		return
	}
	w.raw("toolConfig", `{"functionCallingConfig":{"mode":`+mode+`}}`)
}

func (w *hubWrite) tool(t *wire.Tool, i int) {
	if len(t.Name) > maxToolName {
		w.losses.Cannots(w.p, w.p.ToolAt(i)+".name")
	}
	w.b = wire.AppendString(append(w.b, `{"name":`...), t.Name)
	if t.Description != "" {
		w.b = wire.AppendString(append(w.b, `,"description":`...), t.Description)
	}
	w.b = append(append(w.b, `,"parametersJsonSchema":`...), typed(t.Schema)...)
	if t.Strict == wire.On {
		w.losses.Lefts(w.p, w.p.ToolAt(i)+".strict")
	}
	w.b = append(w.b, '}')
}

// anyObject stands where a tool's arguments have no schema: a call that is
// demanded needs one.
const anyObject = `{"type":"object","properties":{}}`

// typed is a schema of arguments with the type that the API demands.
func typed(schema []byte) []byte {
	if schema == nil {
		return []byte(anyObject)
	}
	if !gjson.GetBytes(schema, "type").Exists() {
		return edit.SetMember(schema, "type", `"object"`)
	}
	return schema
}
