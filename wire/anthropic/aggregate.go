package anthropic

import (
	"strings"

	"github.com/tidwall/gjson"

	"backstop/sse"
	"backstop/wire"
	"backstop/wire/internal/edit"
)

// invalidInput is the member that holds tool input that is no JSON, which a
// plain body has no other place for.
const invalidInput = "INVALID_JSON"

// aggregate puts a stream together. Each event costs its own length.
type aggregate struct {
	top    edit.Fields
	usage  edit.Fields
	blocks []*block
	seats
}

// Aggregator puts the events of a stream together into the plain body of the
// same answer: text, thinking, signatures and tool input are strung together,
// citations are listed, of every other field, known or not, the last value
// that is not null counts. Tool input that is no JSON in the end becomes
// {"INVALID_JSON":"…"}. Its memory is about that of the answer; the bound is
// the driver's.
func (Room) Aggregator(*wire.Request) wire.Aggregator { return &aggregate{} }

func (a *aggregate) Add(data []byte) {
	e, ok := parse(&sse.Event{Data: data})
	if !ok {
		return
	}
	switch e.kind {
	case messageStart:
		a.merge(e.root.Get("message"))
	case blockStart, blockDelta, blockStop:
		a.block(&e)
	case messageDelta:
		e.root.ForEach(func(k, v gjson.Result) bool {
			switch k.String() {
			case "type":
			case "delta":
				a.merge(v)
			case "usage":
				a.usage.Merge(v)
			default:
				a.top.Put(k.String(), v.Raw)
			}
			return true
		})
	case messageStop:
		if v := e.root.Get("x_backstop"); v.IsObject() {
			a.top.Put("x_backstop", v.Raw)
		}
	}
}

func (a *aggregate) merge(message gjson.Result) {
	message.ForEach(func(k, v gjson.Result) bool {
		name := k.String()
		raw := v.Raw
		switch {
		case name == "usage":
			a.usage.Merge(v)
			raw = "{}"
		case name == "content":
			raw = "[]"
		case name == "stop_reason" && v.Str != "":
			raw = edit.Quoted(ownReason(v.Str))
		}
		a.top.Put(name, raw)
		return true
	})
}

// block takes in an event of a block.
func (a *aggregate) block(e *event) {
	to, begins, ok := a.place(e)
	if !ok || to >= maxBlocks {
		return
	}
	if begins != "" {
		a.begin(e, begins)
	}
	if e.kind == blockDelta {
		a.blocks[to].add(e.root.Get("delta"))
	}
}

// begin starts a block, if need be one of its own.
func (a *aggregate) begin(e *event, kind string) {
	v := e.root.Get("content_block")
	if e.kind != blockStart {
		v = gjson.Get(beginning(kind, 0), "content_block")
	}
	b := &block{}
	v.ForEach(func(k, v gjson.Result) bool {
		b.Put(k.String(), v.Raw)
		return true
	})
	a.blocks = append(a.blocks, b)
}

// Body returns the plain body. It may be asked more than once.
func (a *aggregate) Body() []byte {
	a.top.Put("content", "[]")
	return a.top.AppendWith(nil, func(out []byte, f edit.Field) []byte {
		switch f.Name {
		case "content":
			return a.appendBlocks(out)
		case "usage":
			return a.usage.AppendTo(out)
		}
		return append(out, f.Raw...)
	})
}

func (a *aggregate) appendBlocks(out []byte) []byte {
	out = append(out, '[')
	for i, b := range a.blocks {
		if i > 0 {
			out = append(out, ',')
		}
		out = b.appendTo(out)
	}
	return append(out, ']')
}

// block is one content block so far.
type block struct {
	edit.Fields
	texts  []*growing // strings that arrive in pieces
	input  strings.Builder
	listed strings.Builder // citations
}

type growing struct {
	name string
	text strings.Builder
}

func (b *block) add(delta gjson.Result) {
	delta.ForEach(func(k, v gjson.Result) bool {
		switch name := k.String(); {
		case name == "type":
		case name == "partial_json":
			b.input.WriteString(v.Str)
		case name == "citation":
			if b.listed.Len() > 0 {
				b.listed.WriteByte(',')
			}
			b.listed.WriteString(v.Raw)
		case v.Type == gjson.String:
			b.grow(name, v.Str)
		default:
			b.Put(name, v.Raw)
		}
		return true
	})
}

func (b *block) grow(name, text string) {
	for _, g := range b.texts {
		if g.name == name {
			g.text.WriteString(text)
			return
		}
	}
	if len(b.texts) == edit.MaxFields {
		return
	}
	g := &growing{name: name}
	for _, f := range b.List {
		if f.Name == name {
			g.text.WriteString(gjson.Parse(f.Raw).Str)
		}
	}
	g.text.WriteString(text)
	b.texts = append(b.texts, g)
}

// object makes the input of a tool that came at once as a string the object
// that it is to be.
func (b *block) object() {
	kind, text := "", ""
	for _, f := range b.List {
		switch f.Name {
		case "type":
			kind = gjson.Parse(f.Raw).Str
		case "input":
			text = gjson.Parse(f.Raw).Str
		}
	}
	if kind == "tool_use" && wire.ValidJSON([]byte(text)) && gjson.Parse(text).IsObject() {
		b.Put("input", text)
	}
}

func (b *block) appendTo(out []byte) []byte {
	b.object()
	for _, g := range b.texts {
		b.Put(g.name, edit.Quoted(g.text.String()))
	}
	if input := b.input.String(); input != "" {
		if !wire.ValidJSON([]byte(input)) {
			input = `{"` + invalidInput + `":` + edit.Quoted(input) + `}`
		}
		b.Put("input", input)
	}
	if b.listed.Len() > 0 {
		b.Put("citations", "["+b.listed.String()+"]")
	}
	return b.Fields.AppendTo(out)
}
