package gemini

import (
	"strings"

	"github.com/tidwall/gjson"

	"backstop"
	"backstop/sse"
	"backstop/wire"
	"backstop/wire/internal/edit"
	"backstop/wire/internal/follow"
)

// writer passes on one stream.
type writer struct {
	out     []byte
	last    []byte // the event that waits for a note, framed
	data    []byte // its data
	end     string // of the lines of all events, see frame; "" = none was written yet
	ends    follow.Ends
	ended   bool // a finish reason was here
	blocked bool // the prompt was refused
	closed  bool

	id, model string // raw, of the first event that has them
}

// Writer makes the caller's stream out of events of this dialect. They pass as
// the bytes they came in, except that events which are more than one line of
// data are framed anew (the SDKs read nothing else), vendors' own finish
// reasons get the dialect's word, and comments and malformed events are left
// out.
//
// An event with a finish reason, and each one once all candidates have theirs,
// waits for the next one or for Close, because the last event has the place for
// a note:
//
//	data: {"candidates":[…],"x_backstop":{…}}
//
// If the stream then ends in an error, what was said in it goes out first.
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
	to := &w.out
	if w.waits(c) {
		to = &w.last
		w.data = append(w.data[:0], data...)
	}
	*to = w.frame(*to, data, raw)
}

// waits reports whether an event may be the last one.
func (w *writer) waits(c *chunk) bool {
	w.blocked = w.blocked || c.blocked()
	says := w.blocked
	c.each(func(index int, v gjson.Result) {
		if w.ends.Begin(index); w.ended && speaks(v) {
			w.ends.Speak(index)
		}
		if finish(v) != "" {
			says = true
			w.ends.Finish(index)
		}
	})
	w.ended = w.ended || says
	return says || w.ended && w.ends.Whole(true)
}

// speaks reports whether a candidate brings something.
func speaks(v gjson.Result) (found bool) {
	eachPart(v, func(_ gjson.Result, _ pieceKind, size int) { found = found || size > 0 })
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
	w.out = w.out[:0]
	if len(w.last) > 0 {
		w.out = w.unended(w.out)
	}
	w.out = w.frame(w.out, Room{}.Failure(f, id), nil)
	return w.out
}

// unended adds what the event that waits says, which was not the last one.
func (w *writer) unended(out []byte) []byte {
	c, _ := parseData(w.data)
	e, worth := edit.New(w.data), false
	c.each(func(_ int, v gjson.Result) {
		worth = worth || speaks(v)
		if reason := v.Get("finishReason"); reason.Exists() {
			e.Replace(reason, "null")
		}
	})
	if !worth {
		return out
	}
	return w.frame(out, e.Apply(), nil)
}
