package responses

import (
	"strconv"

	"github.com/tidwall/gjson"

	"backstop"
	"backstop/sse"
	"backstop/wire"
	"backstop/wire/internal/edit"
	"backstop/wire/internal/follow"
)

// maxKept bounds what is remembered of an answer for the case that another
// upstream must go on with it; more than that is not taken over.
const maxKept = 4 << 20

// writer passes on one stream.
type writer struct {
	scribe
	head answerHead
	ev   event
	out  []byte

	end     []byte // data of the event that ends the answer
	endRaw  []byte // the same framed, if it may go out as it came
	endKind string
	over    bool // it was here
	closed  bool

	moved map[int]int // items of another upstream: their new place, -1 = left out
	again heard       // what it brought

	waiting []waiting // events that end the last item
	changed bool      // the output is not all as it came
	began   bool      // the first event was here
	loose   bool      // the upstream forgets to announce things, see loose.go
}

// Writer makes the caller's stream out of events of this form. They pass as
// the bytes they came in, except that an event without its name gets it,
// sequence numbers that go back are counted on, what was not announced is
// written anew (see loose.go), and comments, malformed events and a [DONE] are
// left out. The events that end an item wait for what comes
// next, so that the item can still be added to.
//
// completed or incomplete is written by Close alone: once, last, and only if
// it came. A note goes into it:
//
//	event: response.completed
//	data: {"type":"response.completed",…,"response":{…},"x_backstop":{…}}
func (Room) Writer(*wire.Request) wire.StreamWriter {
	w := &writer{}
	w.limit = maxKept
	w.put = func(kind string, data []byte, _ wire.SignalKind) { w.out = sse.Append(w.out, kind, edit.OneLine(data)) }
	return w
}

// taken is an event taken apart, nil if it is not for the caller.
func (w *writer) taken(ev *sse.Event, sig *wire.Signal) *event {
	if w.closed || w.over || ev.Comment || sig != nil && (sig.Kind == wire.Malformed || sig.Kind == wire.Fault) {
		return nil
	}
	e, ok := (*event)(nil), false
	if sig != nil {
		e, ok = sig.Parsed.(*event)
	}
	if !ok {
		e = &w.ev
		if !e.parse(ev) {
			return nil
		}
	}
	if e.kind == errorEvent || e.kind == failed {
		return nil
	}
	return e
}

// Event implements wire.StreamWriter.
func (w *writer) Event(ev *sse.Event, sig *wire.Signal) []byte {
	e := w.taken(ev, sig)
	if e == nil {
		return nil
	}
	w.out = w.out[:0]
	w.begin(e)
	if !w.loose && !w.announced(e) {
		w.loosen()
	}
	if w.loose {
		return w.rewritten(e)
	}
	if w.waits(ev, e) {
		return nil
	}
	w.release()
	switch e.kind {
	case created, inProgress, queued:
		w.head.note(e.body)
		w.answer = w.head.id.Str
	case completed, incomplete:
		if w.changed {
			w.graftEnd(e, e.kind)
			return w.out
		}
		w.over, w.endKind = true, e.kind
		w.end, w.endRaw = []byte(e.root.Raw), nil
		if ev.Name == e.kind && follow.Closed(ev.Raw) && (number(e.seq) >= w.next || !e.seq.Exists()) {
			w.endRaw = append(w.endRaw, ev.Raw...)
		}
		return w.out
	case itemAdded:
		w.endOwn()
	}
	w.add(e)
	return w.passed(ev, e)
}

// number is an event's own number, -1 = it has none.
func number(seq gjson.Result) int {
	if seq.Type != gjson.Number || seq.Num < 0 || seq.Num > 1<<40 {
		return -1
	}
	return int(seq.Num)
}

// passed adds an event to what goes out, framed anew where it has to be. One
// that goes out alone goes out as the bytes it came in.
func (w *writer) passed(ev *sse.Event, e *event) []byte {
	n := number(e.seq)
	counted := n >= w.next || !e.seq.Exists()
	if counted {
		w.next = max(n, w.next) + 1
		if ev.Name == e.kind && follow.Closed(ev.Raw) {
			if len(w.out) == 0 {
				return ev.Raw
			}
			w.out = append(w.out, ev.Raw...)
			return w.out
		}
	}
	data := []byte(e.root.Raw)
	if !counted {
		data = w.count(data, e.seq)
	}
	w.out = sse.Append(w.out, e.kind, edit.OneLine(data))
	return w.out
}

// count gives an event the next number.
func (w *writer) count(data []byte, seq gjson.Result) []byte {
	x := edit.New(data)
	x.Replace(seq, strconv.Itoa(w.next))
	w.next++
	return x.Apply()
}

// Close implements wire.StreamWriter.
func (w *writer) Close(note *wire.Note) []byte {
	if w.closed || !w.over {
		return nil
	}
	w.closed = true
	if note == nil && w.endRaw != nil {
		return w.endRaw
	}
	data := w.end
	if seq := gjson.GetBytes(data, "sequence_number"); seq.Exists() && number(seq) < w.next {
		data = w.count(data, seq)
	}
	if note != nil {
		data = edit.SetMember(data, "x_backstop", string(edit.Note(note)))
	}
	w.out = sse.Append(w.out[:0], w.endKind, edit.OneLine(data))
	return w.out
}

// Failure ends the stream: after it nothing more is written.
func (w *writer) Failure(f *backstop.Failure, _ string) []byte {
	if w.closed {
		return nil
	}
	w.closed = true
	w.out = sse.Append(w.out[:0], errorEvent, appendErrorEvent(nil, f, w.next))
	return w.out
}
