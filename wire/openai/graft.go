package openai

import (
	"backstop/sse"
	"backstop/wire"
)

var (
	_ wire.TextReader = (*reader)(nil)
	_ wire.Grafter    = (*writer)(nil)
	_ wire.Continuer  = Room{}
)

// Hold implements wire.Grafter. What comes next may come from another upstream
// than the one that was at its end.
func (w *writer) Hold() { w.hold, w.over = true, false }

// keep holds an event back in the place of the one that was held so far, which
// goes out.
func (w *writer) keep(data []byte) []byte {
	before := w.last
	w.last = append([]byte(nil), data...) // the reader's bytes change
	if before == nil {
		return nil
	}
	return w.frame(before)
}

// Text implements wire.Grafter.
func (w *writer) Text(text []byte) []byte {
	if w.closed || len(text) == 0 {
		return nil
	}
	open, shut := `"delta":{"content":`, `}`
	if w.op == wire.Completion {
		open, shut = `"text":`, `,"logprobs":null`
	}
	b := appendEncoded(w.head(`[{"index":0,`+open), text)
	return w.frame(append(b, shut+`,"finish_reason":null}]}`...))
}

// Graft implements wire.Grafter. What is left out of an event is emptied rather
// than cut out of it; an event with nothing else in it is dropped.
func (w *writer) Graft(ev *sse.Event, sig *wire.Signal, text bool) []byte {
	c := w.taken(ev, sig)
	if c == nil || !w.brings(c, text) {
		return nil
	}
	whole, ok := root(c.b)
	if !ok {
		return nil
	}
	o := openObject(c.b, whole)
	w.rehead(o)
	for e := inArray(c.b, c.choices); c.choices.is(c.b, '[') && e.next(); {
		trim(&o.edits, e.val, text)
	}
	w.finish(c, &o.edits)
	if !w.usageOn {
		o.Drop("usage")
	}
	if w.finished {
		return w.keep(o.bytes())
	}
	return w.frame(o.bytes())
}

// brings reports whether a chunk has something for a caller who gets neither
// its reasoning nor, unless asked, its text.
func (w *writer) brings(c *chunk, text bool) bool {
	if c.usage.there() && w.usageOn {
		return true
	}
	for i := range c.list {
		d := &c.list[i]
		if d.finish.there() || d.tool || d.other || text && d.content.there() {
			return true
		}
	}
	return false
}

// rehead gives a chunk the head of the caller's stream.
func (w *writer) rehead(o *object) {
	for _, h := range [...]struct {
		name string
		raw  []byte
	}{{"id", w.id}, {"object", w.object}, {"created", w.created}, {"model", w.model}, {"system_fingerprint", w.fingerprint}} {
		if len(h.raw) == 0 {
			o.Drop(h.name)
			continue
		}
		o.Set(h.name, string(h.raw))
	}
}

// trim empties the reasoning of a choice, and its text unless that is kept.
func trim(e *edits, choice span, text bool) {
	if !choice.is(e.b, '{') {
		return
	}
	for m := inObject(e.b, choice); m.next(); {
		switch string(m.key.inner(e.b)) {
		case "text":
			if !text {
				empty(e, m.val)
			}
		case "delta":
			if m.val.is(e.b, '{') {
				trimDelta(e, m.val, text)
			}
		}
	}
}

func trimDelta(e *edits, delta span, text bool) {
	for m := inObject(e.b, delta); m.next(); {
		switch string(m.key.inner(e.b)) {
		case "reasoning", "reasoning_content", "reasoning_details":
			empty(e, m.val)
		case "content":
			if !text {
				empty(e, m.val)
			}
		}
	}
}

// empty puts in place of a value an empty one of its kind.
func empty(e *edits, s span) {
	switch {
	case s.filled(e.b):
		e.replace(s, `""`)
	case s.is(e.b, '['):
		e.replace(s, `[]`)
	case s.is(e.b, '{'):
		e.replace(s, `null`)
	}
}
