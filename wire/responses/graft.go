package responses

import (
	"strconv"

	"github.com/tidwall/gjson"

	"backstop/sse"
	"backstop/wire"
	"backstop/wire/internal/edit"
)

var (
	_ wire.TextReader = (*reader)(nil)
	_ wire.Grafter    = (*writer)(nil)
	_ wire.Continuer  = Room{}
)

// Hold implements wire.Grafter. A note has its place in the event that ends
// the answer, which only Close writes, so nothing has to be held back. What was
// to end the last item does not: it may go on, and is ended with the answer.
func (w *writer) Hold() {
	w.changed = w.changed || len(w.waiting) > 0
	w.over, w.end, w.endRaw, w.waiting = false, nil, nil, nil
}

// Text implements wire.Grafter. The text goes on in the message that is open,
// if one is.
func (w *writer) Text(text []byte) []byte {
	w.out = w.out[:0]
	if w.closed || len(text) == 0 {
		return nil
	}
	w.waiting = nil
	w.speak("output_text", string(text))
	return w.out
}

// speak adds to the message that is open: from here on it is no longer as it
// came.
func (w *writer) speak(kind, text string) {
	w.changed = true
	w.say(kind, text)
	w.items[len(w.items)-1].own = true
}

// Graft implements wire.Grafter. The other upstream's text goes on in the
// caller's message and its tool calls become further items; its own frames of
// messages, its reasoning and its begin are left out. The response at the end
// is the other's, with the head and the output that the caller has seen.
func (w *writer) Graft(ev *sse.Event, sig *wire.Signal, text bool) []byte {
	e := w.taken(ev, sig)
	if e == nil {
		return nil
	}
	w.out = w.out[:0]
	w.grafted(e, text)
	return w.out
}

func (w *writer) grafted(e *event, text bool) {
	switch e.kind {
	case created: // an answer begins, perhaps the second one that is tried
		w.moved, w.again = nil, heard{}
	case inProgress, queued:
	case completed, incomplete:
		w.graftEnd(e, e.kind)
	case itemAdded:
		w.graftItem(e)
	default:
		w.graftPart(e, text)
	}
}

func (w *writer) graftItem(e *event) {
	if w.moved == nil {
		w.moved = map[int]int{}
	}
	switch kind := e.body.Get("type").Str; {
	case kind == "message", kind == "reasoning", len(w.items) >= maxItems:
		w.moved[e.item] = -1
	default:
		w.shutTalk()
		w.moved[e.item] = len(w.items)
		w.relay(e)
	}
}

func (w *writer) graftPart(e *event, text bool) {
	if to, ok := w.moved[e.item]; ok && to >= 0 {
		w.relay(e)
		return
	}
	switch kind, more := w.again.brings(e); kind {
	case textDelta:
		if text {
			w.speak("output_text", more)
		}
	case refusalDelta:
		w.speak("refusal", more)
	}
}

// relay passes on an event of an item that got a new place.
func (w *writer) relay(e *event) {
	to := w.moved[e.item]
	o := edit.Open([]byte(e.root.Raw))
	o.Set("output_index", strconv.Itoa(to))
	o.Set("sequence_number", strconv.Itoa(w.next))
	w.next++
	data := edit.OneLine(o.Bytes())
	w.out = sse.Append(w.out, e.kind, data)
	e.item = to
	w.add(e)
}

// graftEnd ends the answer with a response that is given the head and the
// output which the caller has seen.
func (w *writer) graftEnd(e *event, kind string) {
	w.cut = kind == incomplete && (kind != e.kind || e.body.Get("incomplete_details.reason").Str == "max_output_tokens")
	w.shut()
	response := w.head.over([]byte(e.body.Raw))
	if !w.full && !(w.loose && w.empty()) {
		response = edit.SetMember(response, "output", string(w.output()))
	}
	if kind != e.kind {
		response = edit.SetMember(edit.SetMember(response, "status", `"incomplete"`), "incomplete_details", `{"reason":"max_output_tokens"}`)
	}
	b := append([]byte(`{"type":"`+kind+`","sequence_number":`), strconv.Itoa(w.next)...)
	w.end = append(append(append(b, `,"response":`...), response...), '}')
	w.over, w.endKind, w.endRaw = true, kind, nil
	if note := e.root.Get("x_backstop"); note.IsObject() {
		w.end = edit.SetMember(w.end, "x_backstop", note.Raw)
	}
}

// settled is an item that is over: its status, if it has one, says so, and
// whether it was cut. SDKs act on what a tool is called with as soon as the
// call is completed.
func settled(raw string, cut bool) string {
	if v := gjson.Get(raw, "status"); v.Str != "in_progress" {
		return raw
	}
	status := `"completed"`
	if cut {
		status = `"incomplete"`
	}
	return string(edit.SetMember([]byte(raw), "status", status))
}
