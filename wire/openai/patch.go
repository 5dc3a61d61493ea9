package openai

import (
	"strconv"

	"backstop/sse"
	"backstop/wire"
)

var (
	_ wire.PieceReader = (*reader)(nil)
	_ wire.ToolNamer   = (*reader)(nil)
	_ wire.Refuser     = (*reader)(nil)
	_ wire.Patcher     = (*writer)(nil)
)

// Finish implements wire.PieceReader.
func (d *reader) Finish() string {
	for i := range d.chunk.list {
		if c := &d.chunk.list[i]; c.index == 0 && c.finish.there() {
			return str(d.chunk.b, c.finish)
		}
	}
	return ""
}

// Arguments implements wire.PieceReader. A legacy function call, which is not
// one of a list, is wire.NoCall.
func (d *reader) Arguments(visit func(choice, call int, appendTo func([]byte) []byte)) {
	d.functions(func(choice, call int, function span) {
		b := d.chunk.b
		if at := member(b, function, "arguments"); at.is(b, '"') {
			visit(choice, call, func(all []byte) []byte { return appendDecoded(all, at.inner(b)) })
		}
	})
}

// ToolNames implements wire.ToolNamer.
func (d *reader) ToolNames(visit func(choice, call int, tool string)) {
	d.functions(func(choice, call int, function span) {
		if name := str(d.chunk.b, member(d.chunk.b, function, "name")); name != "" {
			visit(choice, call, name)
		}
	})
}

// functions visits the function of each tool call in the latest event.
func (d *reader) functions(visit func(choice, call int, function span)) {
	c := &d.chunk
	if !c.choices.is(c.b, '[') {
		return
	}
	i := 0
	for e := inArray(c.b, c.choices); e.next() && i < len(c.list); i++ {
		if !c.list[i].tool {
			continue
		}
		delta := member(c.b, e.val, "delta")
		if legacy := member(c.b, delta, "function_call"); !c.astray(legacy) {
			visit(c.list[i].index, wire.NoCall, legacy)
		}
		calls := member(c.b, delta, "tool_calls")
		if !calls.is(c.b, '[') {
			continue
		}
		n := 0
		for t := inArray(c.b, calls); t.next(); n++ {
			if c.astray(t.val) {
				continue
			}
			index := n
			if given, ok := integer(c.b, member(c.b, t.val, "index")); ok {
				index = given
			}
			visit(c.list[i].index, index, member(c.b, t.val, "function"))
		}
	}
}

// Patch implements wire.Patcher. The text of an event may become longer or
// empty, but an event without text gets none.
func (w *writer) Patch(ev *sse.Event, sig *wire.Signal, text []byte, finish string) []byte {
	c := w.taken(ev, sig)
	if c == nil {
		return nil
	}
	w.remember(c)
	hide := c.usage.there() && !w.usageOn
	if hide && len(c.list) == 0 || len(text) == 0 && !w.carries(c) {
		return nil
	}
	e := edits{b: c.b}
	c.straighten(&e)
	for i := range c.list {
		if d := &c.list[i]; d.index == 0 && d.content.there() {
			e.replace(d.content, string(appendEncoded(nil, text)))
			text = nil
		}
	}
	w.ending(c, &e, finish)
	if whole, ok := root(c.b); hide && ok {
		if cut := cutMember(c.b, whole, "usage"); cut.there() {
			e.replace(cut, "")
		}
	}
	if w.hold && w.finished {
		return w.keep(e.apply())
	}
	return w.frame(e.apply())
}

// ending gives finish reasons the dialect's words, and the first choice's the
// given one.
func (w *writer) ending(c *chunk, e *edits, finish string) {
	for i := range c.list {
		f := c.list[i].finish
		if !f.there() {
			continue
		}
		w.finished = true
		word, said := finish, str(c.b, f)
		if word == "" || c.list[i].index != 0 {
			word = wire.FinishOf(said).Name
		}
		if word != "" && word != said {
			e.replace(f, string(appendString(nil, word)))
		}
	}
}

// carries reports whether a chunk has something besides content text: a role,
// reasoning, a tool call, citations, a finish reason, usage for who asked.
func (w *writer) carries(c *chunk) bool {
	if w.brings(c, false) {
		return true
	}
	if !c.choices.is(c.b, '[') {
		return false
	}
	for e := inArray(c.b, c.choices); e.next(); {
		delta := member(c.b, e.val, "delta")
		if !delta.is(c.b, '{') {
			continue
		}
		for m := inObject(c.b, delta); m.next(); {
			if string(m.key.inner(c.b)) != "content" && (m.val.filled(c.b) || holds(c.b, m.val, '[') || holds(c.b, m.val, '{')) {
				return true
			}
		}
	}
	return false
}

// Argue implements wire.Patcher. If the last event waits for its note and brings
// arguments of that call, the piece goes to their end: it has the finish reason.
func (w *writer) Argue(choice, call int, text []byte) []byte {
	if w.closed || len(text) == 0 {
		return nil
	}
	if longer := argued(w.last, choice, call, text); longer != nil {
		w.last = longer
		return nil
	}
	b := w.head(`[{"index":` + strconv.Itoa(choice) + `,"delta":{"tool_calls":[{"index":` + strconv.Itoa(call) + `,"function":{"arguments":`)
	b = appendEncoded(b, text)
	return w.frame(append(b, `}}]},"finish_reason":null}]}`...))
}

// argued is a chunk with a further piece of a call's arguments behind those that
// it brings; nil = it brings none.
func argued(chunk []byte, choice, call int, text []byte) []byte {
	whole, ok := root(chunk)
	list := span{}
	if ok {
		list = member(chunk, whole, "choices")
	}
	if !list.is(chunk, '[') {
		return nil
	}
	at := span{}
	for x := inArray(chunk, list); x.next(); {
		calls := member(chunk, member(chunk, x.val, "delta"), "tool_calls")
		if n, _ := integer(chunk, member(chunk, x.val, "index")); n != choice || !calls.is(chunk, '[') {
			continue
		}
		place := 0
		for t := inArray(chunk, calls); t.next(); place++ {
			n, given := integer(chunk, member(chunk, t.val, "index"))
			if s := member(chunk, member(chunk, t.val, "function"), "arguments"); s.filled(chunk) && (given && n == call || !given && place == call) {
				at = s
			}
		}
	}
	if !at.there() {
		return nil
	}
	more := appendEncoded(nil, text)
	e := edits{b: chunk}
	e.insert(at.to-1, string(more[1:len(more)-1]))
	return e.apply()
}
