package gemini

import (
	"strings"

	"github.com/tidwall/gjson"

	"backstop"
	"backstop/sse"
	"backstop/wire"
	"backstop/wire/internal/edit"
)

// writer passes on one stream.
type writer struct {
	out    []byte
	last   []byte // the event that waits for a note, framed
	data   []byte // its data
	end    string // of the lines of all events, see frame; "" = none was written yet
	ended  bool   // a finish reason was here
	closed bool

	id, model string // raw, of the first event that has them
}

// Writer makes the caller's stream out of events of this dialect. They pass as
// the bytes they came in, except that events which are more than one line of
// data are framed anew (the SDKs read nothing else), vendors' own finish
// reasons get the dialect's word, and comments and malformed events are left
// out.
//
// From the first finish reason on, the latest event waits for the next one or
// for Close, because the last event has the place for a note:
//
//	data: {"candidates":[…],"x_backstop":{…}}
func (Room) Writer(*wire.Request) wire.StreamWriter { return &writer{} }

func (w *writer) Event(ev *sse.Event, sig *wire.Signal) []byte {
	if w.closed || sig != nil && (sig.Kind == wire.Malformed || sig.Kind == wire.Fault) {
		return nil
	}
	c, ok := parse(ev)
	if !ok {
		return nil
	}
	w.remember(&c)
	e := edit.New(ev.Data)
	c.each(func(_ int, v gjson.Result) {
		reason := finish(v)
		if word := ownReason(reason); word != reason {
			e.Replace(v.Get("finishReason"), edit.Quoted(word))
		}
	})
	w.out = w.out[:0]
	if e.Empty() && ev.Name == "" {
		w.pass(&c, ev.Data, ev.Raw)
	} else {
		w.pass(&c, e.Apply(), nil)
	}
	return w.out
}

// pass hands an event out, or holds it back. raw is the frame that it came in,
// if that is good for the caller too, nil = it needs one.
func (w *writer) pass(c *chunk, data, raw []byte) {
	w.out = append(w.out, w.last...)
	w.last = w.last[:0]
	w.ended = w.ended || ends(c)
	to := &w.out
	if w.ended {
		to = &w.last
		w.data = append(w.data[:0], data...)
	}
	*to = w.frame(*to, data, raw)
}

// ends reports whether an event says why something ended.
func ends(c *chunk) bool {
	found := c.blocked()
	c.each(func(_ int, v gjson.Result) { found = found || finish(v) != "" })
	return found
}

func (w *writer) remember(c *chunk) {
	if w.id == "" && w.model == "" {
		w.id, w.model = strings.Clone(c.root.Get("responseId").Raw), strings.Clone(c.root.Get("modelVersion").Raw)
	}
}

func (w *writer) Close(note *wire.Note) []byte {
	if w.closed || !w.ended {
		return nil
	}
	w.closed = true
	if note == nil {
		return w.last
	}
	w.out = w.frame(w.out[:0], edit.SetMember(edit.OneLine(w.data), "x_backstop", string(edit.Note(note))), nil)
	return w.out
}

// Failure ends the stream: after it nothing more is written.
func (w *writer) Failure(f *backstop.Failure, id string) []byte {
	if w.closed {
		return nil
	}
	w.closed = true
	w.out = w.frame(w.out[:0], Room{}.Failure(f, id), nil)
	return w.out
}
