package anthropic

import (
	"github.com/tidwall/gjson"

	"backstop"
	"backstop/sse"
	"backstop/wire"
	"backstop/wire/internal/edit"
	"backstop/wire/internal/follow"
)

// writer passes on one stream.
type writer struct {
	out    []byte
	last   []byte // the upstream's message_stop, framed
	stop   []byte // end of the open block, which waits for the next event
	ended  bool   // a stop reason went out
	over   bool   // message_stop was here
	closed bool

	seats
	open  string       // kind of the block that is open, "" = none
	at    int          // its index
	from  int          // and that which its upstream gave it
	moved map[int]int  // blocks of another upstream: their new index, -1 = left out
	input gjson.Result // what it said its input is
}

// Writer makes the caller's stream out of events of this dialect. They pass as
// the bytes they came in, except that an event without its name gets it,
// vendors' own stop reasons get the dialect's word, blocks whose begin or whose
// turn was forgotten get it (see seats), and comments and malformed events are
// left out.
//
// The end of a text or of a tool's input goes out with the event behind it, so
// that both can still be added to.
//
// message_stop is written by Close alone: once, last, and only after a stop
// reason. A note goes into it:
//
//	event: message_stop
//	data: {"type":"message_stop","x_backstop":{…}}
func (Room) Writer(*wire.Request) wire.StreamWriter { return &writer{} }

func (w *writer) Event(ev *sse.Event, sig *wire.Signal) []byte {
	if w.closed || w.over || sig != nil && (sig.Kind == wire.Malformed || sig.Kind == wire.Fault) {
		return nil
	}
	e, ok := parse(ev)
	if !ok || e.kind == errorEvent {
		return nil
	}
	var edited, first []byte
	begins := ""
	switch e.kind {
	case messageStop:
		w.over = true
		w.last = append([]byte(nil), w.passed(ev, e.kind, nil)...)
		return nil
	case messageDelta:
		edited = w.ending(ev.Data, &e)
	case blockStart, blockDelta, blockStop:
		to, kind, ok := w.place(&e)
		if !ok {
			return nil
		}
		if to != e.index {
			edited = renumbered(ev.Data, e.root.Get("index"), to)
		}
		if e.kind == blockStop && (w.open == "text" || w.open == "tool_use") && w.stop == nil && to == w.at {
			w.stop = append([]byte(nil), w.passed(ev, e.kind, edited)...)
			return nil
		}
		if begins = kind; kind != "" {
			w.at, w.from = to, e.index
		}
		if kind != "" && e.kind != blockStart {
			first = sse.Append(nil, blockStart, []byte(beginning(kind, to)))
		}
	}
	stop := w.stop
	w.stop = nil
	switch {
	case begins != "":
		w.open = begins
	case e.kind == blockStop || stop != nil:
		w.open = ""
	}
	out := w.passed(ev, e.kind, edited)
	if stop == nil && first == nil {
		return out
	}
	w.out = append(append(stop, first...), out...)
	return w.out
}

// ending returns the event with a stop reason of this dialect, nil if it may
// stay as it is.
func (w *writer) ending(data []byte, e *event) []byte {
	v := e.root.Get("delta.stop_reason")
	if v.Str == "" {
		return nil
	}
	w.ended = true
	word := ownReason(v.Str)
	if word == v.Str {
		return nil
	}
	x := edit.New(data)
	x.Replace(v, edit.Quoted(word))
	return x.Apply()
}

// passed frames an event anew where it has to be.
func (w *writer) passed(ev *sse.Event, name string, edited []byte) []byte {
	if edited == nil && ev.Name == name && follow.Closed(ev.Raw) {
		return ev.Raw
	}
	if edited == nil {
		edited = ev.Data
	}
	w.out = sse.Append(w.out[:0], name, edit.OneLine(edited))
	return w.out
}

func (w *writer) Close(note *wire.Note) []byte {
	if w.closed || !w.ended {
		return nil
	}
	w.closed = true
	if note == nil && w.last != nil {
		return w.last
	}
	stop := []byte(`{"type":"message_stop"}`)
	if note != nil {
		stop = append(append([]byte(`{"type":"message_stop","x_backstop":`), edit.Note(note)...), '}')
	}
	w.out = sse.Append(w.out[:0], messageStop, stop)
	return w.out
}

// Failure ends the stream: after it nothing more is written.
func (w *writer) Failure(f *backstop.Failure, id string) []byte {
	if w.closed {
		return nil
	}
	w.closed = true
	w.out = sse.Append(append(w.out[:0], w.stop...), errorEvent, edit.OneLine(Room{}.Failure(f, id)))
	return w.out
}

// usageOf reads a usage object. The dialect counts what came from a cache, or
// went into one, beside the input; the hub's input is all of it.
func usageOf(u gjson.Result) wire.Usage {
	v := wire.NoUsage()
	count := func(to *int, name string) {
		if n := u.Get(name); n.Type == gjson.Number && n.Num >= 0 && n.Num < 1<<40 {
			*to = int(n.Num)
		}
	}
	count(&v.Input, "input_tokens")
	count(&v.Output, "output_tokens")
	count(&v.Cached, "cache_read_input_tokens")
	count(&v.Stored, "cache_creation_input_tokens")
	if v.Input >= 0 {
		v.Input += max(v.Cached, 0) + max(v.Stored, 0)
	}
	return v
}
