package openai

import (
	"bytes"
	"encoding/json"

	"backstop"
	"backstop/sse"
	"backstop/wire"
	"backstop/wire/internal/edit"
	"backstop/wire/internal/follow"
)

// writer passes on one stream.
type writer struct {
	op      wire.Op
	usageOn bool
	chunk   *chunk // for events that no reader has taken apart
	out     []byte

	id, object, created, model, fingerprint []byte // raw, of the first event that has them

	finished bool // a finish reason was here
	over     bool // the upstream's [DONE] was here
	closed   bool
	hold     bool   // the last event waits for its note
	last     []byte // data of that event
}

// Writer makes the caller's stream out of events of this dialect. They pass
// as the bytes they came in, except that usage goes only to who asked for it,
// vendors' own finish reasons get the dialect's word, and comments, empty and
// malformed events, and pieces of tool calls that never began, are left out.
//
// [DONE] is written by Close alone: once, last, and only after a finish
// reason. A note goes out as member x_backstop of the last event, if the writer
// was told to hold that back, else in one more chunk without choices:
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
	c := w.taken(ev, sig)
	if c == nil {
		return nil
	}
	w.remember(c)
	hide := c.usage.there() && !w.usageOn
	if hide && len(c.list) == 0 {
		return nil // the usage event that we asked for
	}
	edited := w.edited(c, hide)
	switch {
	case w.hold && w.finished && edited != nil:
		return w.keep(edited)
	case w.hold && w.finished:
		return w.keep(c.b)
	case edited != nil:
		return w.frame(edited)
	case len(ev.Raw) == 0 || !follow.Closed(ev.Raw):
		return w.frame(c.b)
	}
	return ev.Raw
}

// taken is the event taken apart, by its reader or here; nil if it does not
// pass at all.
func (w *writer) taken(ev *sse.Event, sig *wire.Signal) *chunk {
	if sig != nil && sig.Kind == wire.Terminal {
		w.over = true
	}
	if w.closed || w.over || ev.Comment || sig != nil && sig.Kind != wire.Quiet && sig.Kind != wire.Token {
		return nil
	}
	data := bytes.TrimSpace(ev.Data)
	if len(data) == 0 {
		return nil
	}
	if sig != nil {
		if c, ok := sig.Parsed.(*chunk); ok && len(c.b) == len(data) && &c.b[0] == &data[0] {
			return passable(c)
		}
	}
	if w.chunk == nil {
		w.chunk = &chunk{}
	}
	if !w.chunk.parse(data) {
		return nil
	}
	return passable(w.chunk)
}

func passable(c *chunk) *chunk {
	if c.fault || !c.known {
		return nil
	}
	return c
}

// remember keeps the head of the stream for a chunk of our own.
func (w *writer) remember(c *chunk) {
	for _, h := range [...]struct {
		to *[]byte
		s  span
	}{{&w.id, c.id}, {&w.object, c.object}, {&w.model, c.model}, {&w.fingerprint, c.fingerprint}} {
		if len(*h.to) == 0 && h.s.filled(c.b) {
			*h.to = append(*h.to, h.s.of(c.b)...)
		}
	}
	if len(w.created) > 0 {
		return
	}
	if n, ok := integer(c.b, c.created); ok && n > 0 {
		w.created = append(w.created, c.created.of(c.b)...)
	}
}

// edited returns the event with renamed finish reasons and without usage, nil
// if it may stay as it is.
func (w *writer) edited(c *chunk, hide bool) []byte {
	e := edits{b: c.b}
	c.straighten(&e)
	w.finish(c, &e)
	if hide {
		whole, _ := root(c.b) // it was taken apart before
		if cut := cutMember(c.b, whole, "usage"); cut.there() {
			e.replace(cut, "")
		}
	}
	if len(e.list) == 0 {
		return nil
	}
	return e.apply()
}

// finish notes finish reasons and gives them the dialect's words.
func (w *writer) finish(c *chunk, e *edits) {
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
	last := w.last
	switch {
	case note == nil:
	case last == nil:
		last = w.noteChunk(note)
	default:
		if whole, ok := root(last); ok {
			last = setMember(last, whole, "x_backstop", string(edit.Note(note)))
		}
	}
	if last != nil {
		w.out = sse.Append(w.out, "", last)
	}
	w.out = sse.Append(w.out, "", doneWord)
	return w.out
}

func (w *writer) noteChunk(note *wire.Note) []byte {
	return append(append(w.head(`[]`), `,"x_backstop":`...), append(edit.Note(note), '}')...)
}

// head begins a chunk of our own: everything up to its choices.
func (w *writer) head(choices string) []byte {
	b := append([]byte(`{"id":`), orElse(w.id, `""`)...)
	b = append(append(b, `,"object":`...), orElse(w.object, chunkObject(w.op))...)
	b = append(append(b, `,"created":`...), orElse(w.created, `0`)...)
	b = append(append(b, `,"model":`...), orElse(w.model, `""`)...)
	if len(w.fingerprint) > 0 {
		b = append(append(b, `,"system_fingerprint":`...), w.fingerprint...)
	}
	return append(append(b, `,"choices":`...), choices...)
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
