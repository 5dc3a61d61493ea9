package openai

import (
	"bytes"

	"backstop/sse"
	"backstop/wire"
)

// Decoder reads the chunks of a chat stream.
func (Room) Decoder() wire.Decoder { return &decoder{} }

type decoder struct {
	started bool
	done    bool
	choices []*choiceParts
	list    []wire.Delta
}

// choiceParts numbers the parts of a choice as they begin.
type choiceParts struct {
	index int
	count int
	open  wire.DeltaKind // of the text that is going on
	part  int            // its number
	calls []callPart
}

type callPart struct {
	index, part int
	id          string
	named       bool
	held        []byte // arguments that came before the name
}

// maxHeld bounds those.
const maxHeld = 1 << 20

func (d *decoder) Event(ev *sse.Event) []wire.Delta {
	data := bytes.TrimSpace(ev.Data)
	d.list = d.list[:0]
	if ev.Comment || d.done || len(data) == 0 {
		return nil
	}
	if bytes.Equal(data, doneWord) {
		d.done = true
		return append(d.list, wire.Delta{Kind: wire.DeltaDone})
	}
	whole, ok := root(data)
	if !ok {
		return nil
	}
	d.start(data, whole)
	if list := member(data, whole, "choices"); list.is(data, '[') {
		for e := inArray(data, list); e.next(); {
			d.choice(data, e.val)
		}
	}
	if u := hubUsage(data, member(data, whole, "usage")); u.Reported() {
		d.list = append(d.list, wire.Delta{Kind: wire.DeltaUsage, Usage: u})
	}
	return d.list
}

func (d *decoder) start(b []byte, whole span) {
	id, choices := member(b, whole, "id"), member(b, whole, "choices")
	if d.started || !id.there() && !choices.there() {
		return
	}
	d.started = true
	one := wire.Delta{Kind: wire.DeltaStart, ID: str(b, id), Model: str(b, member(b, whole, "model"))}
	if n, ok := integer(b, member(b, whole, "created")); ok {
		one.Created = int64(n)
	}
	d.list = append(d.list, one)
}

func (d *decoder) choice(b []byte, s span) {
	index := 0
	if at := member(b, s, "index"); at.there() {
		n, ok := integer(b, at)
		if !ok || n < 0 || n >= maxChoices {
			return
		}
		index = n
	}
	c := d.parts(index)
	if delta := member(b, s, "delta"); delta.is(b, '{') {
		d.delta(b, delta, c)
	}
	if f := member(b, s, "finish_reason"); f.filled(b) {
		d.list = append(d.list, wire.Delta{Kind: wire.DeltaFinish, Choice: index, Ending: ending(str(b, f))})
	}
	if u := hubUsage(b, member(b, s, "usage")); u.Reported() {
		d.list = append(d.list, wire.Delta{Kind: wire.DeltaUsage, Usage: u})
	}
}

func (d *decoder) parts(index int) *choiceParts {
	for _, c := range d.choices {
		if c.index == index {
			return c
		}
	}
	c := &choiceParts{index: index}
	d.choices = append(d.choices, c)
	return c
}

func (d *decoder) delta(b []byte, s span, c *choiceParts) {
	losses(b, s, func(name string) {
		d.list = append(d.list, wire.Delta{Kind: wire.DeltaLost, Choice: c.index, Name: name})
	})
	thought := member(b, s, "reasoning_content")
	if !thought.filled(b) {
		thought = member(b, s, "reasoning")
	}
	d.text(b, thought, c, wire.DeltaReasoning)
	content := member(b, s, "content")
	d.text(b, content, c, wire.DeltaText)
	if content.is(b, '[') {
		for e := inArray(b, content); e.next(); {
			d.text(b, member(b, e.val, "text"), c, wire.DeltaText)
		}
	}
	d.text(b, member(b, s, "refusal"), c, wire.DeltaRefusal)
	calls := member(b, s, "tool_calls")
	if calls.is(b, '[') {
		place := 0
		for e := inArray(b, calls); e.next(); place++ {
			d.call(b, e.val, c, place)
		}
	}
	legacy := member(b, s, "function_call")
	if begun := c.find(legacyCall, "", false) != nil; begun || namesCall(b, legacy) && len(c.calls) == 0 { // some say the same call twice
		d.piece(b, legacy, c, callPart{index: legacyCall})
	}
}

func (d *decoder) text(b []byte, s span, c *choiceParts, kind wire.DeltaKind) {
	if !s.filled(b) {
		return
	}
	if c.open != kind {
		c.open, c.part = kind, c.count
		c.count++
	}
	d.list = append(d.list, wire.Delta{Kind: kind, Choice: c.index, Part: c.part, Text: spoken(b, s)})
}

func (d *decoder) call(b []byte, s span, c *choiceParts, place int) {
	f := member(b, s, "function")
	if n, ok := integer(b, member(b, s, "index")); ok {
		place = n
	}
	one := callPart{index: place, id: str(b, member(b, s, "id"))}
	if c.find(place, one.id, namesCall(b, f)) != nil || beginsCall(b, s) {
		d.piece(b, f, c, one)
	}
}

// piece takes in what is said of the function in a call.
func (d *decoder) piece(b []byte, f span, c *choiceParts, one callPart) {
	name := member(b, f, "name") // who is to call needs it first
	at := c.find(one.index, one.id, name.filled(b))
	if at == nil {
		if len(c.calls) == maxCalls {
			return
		}
		c.open = 0
		one.part = c.count
		c.calls = append(c.calls, one)
		c.count++
		at = &c.calls[len(c.calls)-1]
	}
	more := []byte(nil)
	if arguments := member(b, f, "arguments"); arguments.filled(b) {
		more = appendDecoded(nil, arguments.inner(b))
	} else {
		more = []byte(written(b, arguments))
	}
	switch {
	case !at.named && !name.filled(b):
		if at.id == "" {
			at.id = one.id
		}
		if len(at.held)+len(more) <= maxHeld {
			at.held = append(at.held, more...)
		}
		return
	case !at.named:
		at.named, more, at.held = true, append(at.held, more...), nil
		if at.id == "" {
			at.id = one.id
		}
		d.list = append(d.list, wire.Delta{Kind: wire.DeltaCall, Choice: c.index, Part: at.part, ID: at.id, Name: str(b, name)})
	}
	if len(more) > 0 {
		d.list = append(d.list, wire.Delta{Kind: wire.DeltaArguments, Choice: c.index, Part: at.part, Text: string(more)})
	}
}

// find finds the call that a delta goes on with, nil for a new one. Some
// vendors give all parallel calls the index 0: a new id that comes with a
// name begins a new call.
func (c *choiceParts) find(index int, id string, named bool) *callPart {
	for i := len(c.calls) - 1; i >= 0; i-- {
		at := &c.calls[i]
		if at.index != index {
			continue
		}
		if id != "" && at.id != "" && id != at.id && named {
			return nil
		}
		return at
	}
	return nil
}
