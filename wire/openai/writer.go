package openai

import (
	"bytes"
	"encoding/json"

	"backstop"
	"backstop/sse"
	"backstop/wire"
)

// writer passes on one stream.
type writer struct {
	op      wire.Op
	usageOn bool
	chunk   chunk
	out     []byte

	id, object, created, model []byte // raw, of the first event that has them
	finished                   bool   // a finish reason went out
	over                       bool   // the upstream's [DONE] was here
	closed                     bool
}

// Writer makes the caller's stream out of events of this dialect. They pass
// as the bytes they came in, except that usage goes only to who asked for it,
// vendors' own finish reasons get the dialect's word, and comments, empty and
// malformed events are left out.
//
// [DONE] is written by Close alone: once, last, and only after a finish
// reason. A note goes out before it in one more chunk without choices:
//
//	data: {"id":…,"object":…,"created":…,"model":…,"choices":[],"x_backstop":{…}}
//
// An event without Raw (one that was made from a plain body) gets its frame
// here.
func (Room) Writer(r *wire.Request) wire.StreamWriter {
	w := &writer{op: wire.Chat}
	if r != nil {
		w.op, w.usageOn = r.Op, r.UsageOn
	}
	return w
}

func (w *writer) Event(ev *sse.Event, sig *wire.Signal) []byte {
	if sig != nil && sig.Kind == wire.Terminal {
		w.over = true
	}
	if w.closed || w.over || ev.Comment || sig != nil && sig.Kind != wire.Quiet && sig.Kind != wire.Token {
		return nil
	}
	data := bytes.TrimSpace(ev.Data)
	c := &w.chunk
	if len(data) == 0 || !c.parse(data) || c.fault || !c.known {
		return nil
	}
	w.remember(c)
	hide := c.usage.there() && !w.usageOn
	if hide && len(c.list) == 0 {
		return nil // the usage event that we asked for
	}
	if edited := w.edited(c, hide); edited != nil {
		return w.frame(edited)
	}
	if len(ev.Raw) == 0 || !closedEvent(ev.Raw) {
		return w.frame(data)
	}
	return ev.Raw
}

// remember keeps the head of the stream for a chunk of our own.
func (w *writer) remember(c *chunk) {
	for _, h := range [...]struct {
		to *[]byte
		s  span
	}{{&w.id, c.id}, {&w.object, c.object}, {&w.model, c.model}} {
		if len(*h.to) == 0 && h.s.filled(c.b) {
			*h.to = append(*h.to, h.s.of(c.b)...)
		}
	}
	if n, ok := integer(c.b, c.created); ok && n > 0 && len(w.created) == 0 {
		w.created = append(w.created, c.created.of(c.b)...)
	}
}

// edited returns the event with renamed finish reasons and without usage, nil
// if it may stay as it is.
func (w *writer) edited(c *chunk, hide bool) []byte {
	e := edits{b: c.b}
	for i := range c.list {
		f := c.list[i].finish
		if !f.there() {
			continue
		}
		w.finished = true
		reason := str(c.b, f)
		if name := wire.FinishOf(reason).Name; name != "" && name != reason {
			e.replace(f, string(appendString(nil, name)))
		}
	}
	if whole, ok := root(c.b); hide && ok {
		if cut := cutMember(c.b, whole, "usage"); cut.there() {
			e.replace(cut, "")
		}
	}
	if len(e.list) == 0 {
		return nil
	}
	return e.apply()
}

// closedEvent reports whether raw ends with a blank line. The last event of a
// stream that was cut may lack it.
func closedEvent(raw []byte) bool {
	return bytes.HasSuffix(raw, []byte("\n\n")) || bytes.HasSuffix(raw, []byte("\r\n\r\n")) || bytes.HasSuffix(raw, []byte("\r\r"))
}

func (w *writer) frame(data []byte) []byte {
	w.out = sse.Append(w.out[:0], "", data)
	return w.out
}

func (w *writer) Close(note *wire.Note) []byte {
	if w.closed || !w.finished {
		return nil
	}
	w.closed = true
	w.out = w.out[:0]
	if note != nil {
		w.out = sse.Append(w.out, "", w.noteChunk(note))
	}
	w.out = sse.Append(w.out, "", doneWord)
	return w.out
}

func (w *writer) noteChunk(note *wire.Note) []byte {
	b := append([]byte(`{"id":`), orElse(w.id, `""`)...)
	b = append(append(b, `,"object":`...), orElse(w.object, chunkObject(w.op))...)
	b = append(append(b, `,"created":`...), orElse(w.created, `0`)...)
	b = append(append(b, `,"model":`...), orElse(w.model, `""`)...)
	b = append(append(b, `,"choices":[],"x_backstop":`...), noteJSON(note)...)
	return append(b, '}')
}

func chunkObject(op wire.Op) string {
	if op == wire.Completion {
		return `"text_completion"`
	}
	return `"chat.completion.chunk"`
}

func orElse(raw []byte, other string) []byte {
	if len(raw) == 0 {
		return []byte(other)
	}
	return raw
}

// noteJSON cannot fail: a note holds strings, numbers and booleans.
func noteJSON(n *wire.Note) []byte {
	b, err := json.Marshal(n)
	if err != nil {
		return []byte("{}")
	}
	return b
}

// Failure ends the stream: after it nothing more is written.
func (w *writer) Failure(f *backstop.Failure, id string) []byte {
	if w.closed {
		return nil
	}
	w.closed = true
	return w.frame(oneLine(Room{}.Failure(f, id)))
}

// oneLine takes the line breaks out of JSON, so that it is one data line.
func oneLine(b []byte) []byte {
	var out bytes.Buffer
	if json.Compact(&out, b) != nil {
		return b
	}
	return out.Bytes()
}
