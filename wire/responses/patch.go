package responses

import (
	"backstop/sse"
	"backstop/wire"
)

var (
	_ wire.PieceReader = (*reader)(nil)
	_ wire.ToolNamer   = (*reader)(nil)
	_ wire.Refuser     = (*reader)(nil)
	_ wire.Patcher     = (*writer)(nil)
)

// Finish implements wire.PieceReader, in the words that all rooms share. It
// comes with the event that ends the answer, which is Terminal here.
func (d *reader) Finish() string { return d.finish }

// Arguments implements wire.PieceReader. A call is numbered by its item.
func (d *reader) Arguments(visit func(choice, call int, appendTo func([]byte) []byte)) {
	if d.piece != "" {
		visit(0, d.ev.item, func(all []byte) []byte { return append(all, d.piece...) })
	}
}

// ToolNames implements wire.ToolNamer.
func (d *reader) ToolNames(visit func(choice, call int, tool string)) {
	if d.ev.kind == itemAdded && d.ev.body.Get("type").Str == "function_call" {
		visit(0, d.ev.item, d.ev.body.Get("name").Str)
	}
}

// Refusing implements wire.Refuser.
func (d *reader) Refusing() bool { return d.refuses && !d.plain }

// waiting is an event that ends an item and waits for the next one.
type waiting struct {
	e   event
	raw []byte
	ev  sse.Event
}

// endings are the events that end an item or a part of it.
var endings = map[string]bool{textDone: true, refusalDone: true, partDone: true, callDone: true, itemDone: true}

// waits keeps back an event that ends the last item, and leaves out one that
// ends an item which is not as it came: that is ended here.
func (w *writer) waits(ev *sse.Event, e *event) bool {
	it := w.at(e.item)
	if !endings[e.kind] || it == nil || it.done || it.kind != "message" && it.kind != "function_call" {
		return false
	}
	if _, text := w.heard.peek(e); text != "" && !it.own {
		return false // it brings what no delta brought
	}
	if it.own {
		return true
	}
	if it != w.items[len(w.items)-1] || len(w.waiting) == maxParts || w.held()+len(ev.Raw) > maxKept {
		return false
	}
	w.waiting = append(w.waiting, waiting{e: *e, raw: append([]byte(nil), ev.Raw...), ev: sse.Event{Name: ev.Name}})
	return true
}

// held is how many bytes wait.
func (w *writer) held() (n int) {
	for i := range w.waiting {
		n += len(w.waiting[i].raw)
	}
	return n
}

// release lets go out what waits.
func (w *writer) release() {
	list := w.waiting
	w.waiting = nil
	for i := range list {
		x := &list[i]
		x.ev.Raw = x.raw
		w.add(&x.e)
		if out := w.passed(&x.ev, &x.e); len(w.out) == 0 {
			w.out = append(w.out, out...)
		}
	}
}

// endOwn ends the items that are not as they came.
func (w *writer) endOwn() {
	for at, it := range w.items {
		if it != nil && it.own && !it.done {
			w.scribe.end(at)
		}
	}
}

// Patch implements wire.Patcher. From the first text that differs on, the end
// of its message and of the answer say what the caller got.
func (w *writer) Patch(ev *sse.Event, sig *wire.Signal, text []byte, finish string) []byte {
	e := w.taken(ev, sig)
	if e == nil {
		return nil
	}
	if e.ends() {
		w.out = w.out[:0]
		if !w.changed {
			w.release()
		}
		kind := e.kind
		if finish == "length" {
			kind = incomplete
		}
		w.changed = true
		w.graftEnd(e, kind)
		return w.out
	}
	if kind, _ := w.heard.peek(e); kind != textDelta {
		return w.Event(ev, sig)
	}
	w.out, w.changed = w.out[:0], true
	w.begin(e)
	w.heard.note(place{e.item, e.part})
	w.again.note(place{e.item, e.part})
	if it := w.at(e.item); it != nil && it.kind == "message" && !it.done {
		it.own = true
	}
	if len(text) == 0 {
		return nil
	}
	w.waiting = nil
	w.speak("output_text", string(text))
	return w.out
}

// Argue implements wire.Patcher. It is in time as long as the call is the last
// item and its end waits.
func (w *writer) Argue(_, call int, text []byte) []byte {
	if w.loose {
		to, ok := w.moved[call]
		if !ok {
			return nil
		}
		call = to
	}
	it := w.at(call)
	if w.closed || len(text) == 0 || call < 0 || it == nil || it.done || it.kind != "function_call" {
		return nil
	}
	w.out, w.waiting, w.changed, it.own = w.out[:0], nil, true, true
	w.argue(call, string(text))
	return w.out
}
