package wire

import (
	"slices"
	"strconv"

	"backstop"
)

// Prompt is a request in the words of the hub. It is immutable after ToHub;
// the same prompt may be given to several upstreams.
type Prompt struct {
	Dialect backstop.Dialect // of the caller: what Names and Extras are in
	Op      Op
	Model   string
	Stream  bool
	UsageOn bool

	System []string // before the first turn
	Turns  []Turn

	Tools      []Tool
	ToolChoice ToolChoice
	Parallel   Switch // parallel tool calls

	MaxTokens   int // 0 = not given
	Temperature Number
	TopP        Number
	TopK        Number
	Frequency   Number // frequency_penalty
	Presence    Number // presence_penalty
	Seed        Number
	Stop        []string
	Choices     int // n, at least 1
	Logprobs    bool
	TopLogprobs Number

	Promise     Promise
	PromiseName string // of the schema, "" = none
	// PromiseAbout tells the model what the answer is for, "" = nothing.
	PromiseAbout string
	Strict       Switch // the schema is to be enforced by the upstream

	Effort string // of reasoning: none minimal low medium high xhigh max, "" = not given
	Budget int    // reasoning tokens, 0 = not given

	Served string // an opaque id of whom the caller serves

	// Names are the caller's names of fields that it calls otherwise than the
	// hub (the OpenAI words).
	Names map[string]string
	// Extras are given parameters that the hub has no field for, as many of
	// either kind as are told, see Extra.
	Extras []Extra
	hints  int
}

// Extra is a parameter, or a place in one, that only the caller's dialect knows.
type Extra struct {
	Name string // e.g. "prediction" or "messages[2].content[0]"
	Hint bool   // the answer keeps its form without it
}

// AddExtra notes one. A body may hold millions.
func (p *Prompt) AddExtra(name string, hint bool) {
	have := len(p.Extras) - p.hints
	if hint {
		have = p.hints
	}
	if have == maxLosses || slices.Contains(p.Extras, Extra{name, hint}) {
		return
	}
	if hint {
		p.hints++
	}
	p.Extras = append(p.Extras, Extra{Name: name, Hint: hint})
}

// Name is what the caller calls a field.
func (p *Prompt) Name(field string) string {
	if name, ok := p.Names[field]; ok {
		return name
	}
	return field
}

// Losses are the losses that no upstream of another dialect can help.
func (p *Prompt) Losses() (l Losses) {
	for _, x := range p.Extras {
		l.add(x.Name, x.Hint)
	}
	return l
}

// Cannots notes fields without which the answer is not what was asked for.
func (l *Losses) Cannots(p *Prompt, fields ...string) { l.note(p, false, fields) }

// Lefts notes fields that are hints.
func (l *Losses) Lefts(p *Prompt, fields ...string) { l.note(p, true, fields) }

func (l *Losses) note(p *Prompt, hint bool, fields []string) {
	for _, f := range fields {
		l.add(p.Name(f), hint)
	}
}

// maxLosses bounds each list of losses: they go into a header and a message.
const maxLosses = 64

func (l *Losses) add(name string, hint bool) {
	list := &l.Cannot
	if hint {
		list = &l.Left
	}
	if len(*list) == maxLosses {
		return
	}
	for _, have := range *list {
		if have == name {
			return
		}
	}
	*list = append(*list, name)
}

// Number is a JSON number as it was written, "" = not given.
type Number string

// Float is the value, 0 if there is none.
func (n Number) Float() float64 {
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil {
		return 0
	}
	return f
}

// Switch is a boolean that may be missing.
type Switch uint8

// The states of a switch.
const (
	Unset Switch = iota
	On
	Off
)

// SwitchOf makes a switch of a boolean that was given.
func SwitchOf(on bool) Switch {
	if on {
		return On
	}
	return Off
}

// Add adds a turn. An instruction before the first one is the prompt's, if it
// is text: a picture in it has its place in the talk only.
func (p *Prompt) Add(t Turn) {
	text := t.Role == BySystem && len(p.Turns) == 0
	for i := range t.Parts {
		text = text && t.Parts[i].Kind == PartText
	}
	if !text {
		p.Turns = append(p.Turns, t)
		return
	}
	for i := range t.Parts {
		p.System = append(p.System, t.Parts[i].Text)
	}
}

// Role says who speaks in a turn.
type Role uint8

// The roles. A turn of ByTool has exactly one part, a PartToolResult.
const (
	BySystem Role = iota + 1 // an instruction in the middle of the talk
	ByAsker
	ByModel
	ByTool
)

// Turn is one message of the talk.
type Turn struct {
	Role  Role
	Parts []Part
	At    string // its place in the caller's request, e.g. "messages[3]"
}

// PartKind says what a part is.
type PartKind uint8

// The kinds of parts, and the fields of Part that each uses.
const (
	PartText       PartKind = iota + 1 // Text
	PartImage                          // URL, or Media and Data
	PartToolCall                       // ID, Name, Arguments
	PartToolResult                     // ID, Result, Failed
	PartReasoning                      // Text, Proof; or Proof and Sealed
	PartRefusal                        // Text
)

// Part is one piece of a turn or of an answer.
type Part struct {
	Kind PartKind
	At   string // its place in the caller's request, "" = as its turn counts
	Text string

	URL   string // of an image
	Media string // its media type, e.g. "image/png"
	Data  string // its bytes in base64

	ID        string // of a tool call, as its issuer wrote it
	Name      string
	Arguments string // JSON text, as the model wrote it
	Result    []Part // text and images
	Failed    bool   // the tool reported an error

	Proof  string // opaque bytes that make reasoning valid at who issued it
	Sealed bool   // the reasoning can be read by its issuer only
}

// Tool is a function that the model may call.
type Tool struct {
	At          string // its place in the caller's request, "" = as the prompt counts
	Name        string
	Description string
	Schema      []byte // JSON Schema of its arguments, nil = none
	Strict      Switch
}

// ChoiceKind says how free the model is with its tools.
type ChoiceKind uint8

// The kinds; the zero value means "not given".
const (
	ChoiceAuto ChoiceKind = iota + 1
	ChoiceNone
	ChoiceRequired
	ChoiceNamed
)

// ToolChoice is the caller's word on which tool to use.
type ToolChoice struct {
	Kind ChoiceKind
	Name string // ChoiceNamed
}
