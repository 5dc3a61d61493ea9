package responses

import (
	"strings"

	"github.com/tidwall/gjson"

	"backstop/wire"
	"backstop/wire/internal/edit"
)

// An upstream that forgets to announce an item, or a part of one, makes SDKs
// throw: they put answers together by the indexes in the events. From its first
// such event on, its stream is written anew, as that of a rescuer is (graft.go):
// text goes on in the caller's message, tool calls become further items, and
// the answer ends with what the caller has seen.

// inItem are the events that are about an item which was announced, besides
// those of tools that the upstream runs.
var inItem = map[string]bool{
	itemDone: true, partAdded: true, partDone: true, summaryAdded: true, summaryDone: true, cited: true,
	textDelta: true, textDone: true, refusalDelta: true, refusalDone: true, callDelta: true, callDone: true,
	thoughtDelta: true, thoughtDone: true, gistDelta: true, gistDone: true,
}

const customInput = "response.custom_tool_call_input."

// announced reports whether the caller has heard of all that an event is about.
func (w *writer) announced(e *event) bool {
	if w.full {
		return true // nothing is known any more
	}
	if e.kind == itemAdded {
		return e.item == len(w.items)
	}
	if !inItem[e.kind] && !e.acts() && !strings.HasPrefix(e.kind, customInput) {
		return true
	}
	if e.item < 0 || e.item >= len(w.items) || w.items[e.item] == nil {
		return false
	}
	it := w.items[e.item]
	list, counts := it.parts, false
	switch e.kind {
	case textDelta, textDone, refusalDelta, refusalDone, cited, partDone:
		counts = it.kind == "message"
	case thoughtDelta, thoughtDone:
		counts = it.kind == "reasoning"
	case gistDelta, gistDone, summaryDone:
		list, counts = it.gist, it.kind == "reasoning"
	}
	return !counts || it.done || e.part >= 0 && e.part < len(list) && list[e.part] != nil
}

// loosen begins to write the stream anew. What was announced keeps its place.
func (w *writer) loosen() {
	w.release()
	w.loose, w.changed = true, true
	w.moved, w.again = map[int]int{}, w.heard
	for at, it := range w.items {
		switch {
		case it == nil:
		case it.kind == "message" || it.kind == "reasoning":
			w.moved[at] = -1
		default:
			w.moved[at] = at
		}
	}
}

// rewritten adds what an event of such a stream brings.
func (w *writer) rewritten(e *event) []byte {
	switch e.kind {
	case created, inProgress, queued:
		return w.out // SDKs would forget what they have
	case itemDone:
		w.unseen(e)
	case thoughtDelta, thoughtDone, gistDelta, gistDone:
		if _, more := w.again.brings(e); more != "" {
			w.changed = true
			w.think(more)
			w.items[len(w.items)-1].own = true
		}
		return w.out
	}
	w.grafted(e, true)
	return w.out
}

// unseen brings of an item that ends what nothing before it did.
func (w *writer) unseen(e *event) {
	if _, known := w.moved[e.item]; known && e.item >= 0 || w.again.item(e.item) {
		return
	}
	switch kind := e.body.Get("type").Str; kind {
	case "message":
		var parts []wire.Part
		decodeItem(&parts, e.body)
		for i := range parts {
			word := "output_text"
			if parts[i].Kind == wire.PartRefusal {
				word = "refusal"
			}
			w.again.note(place{e.item, i})
			w.speak(word, parts[i].Text)
		}
	case "reasoning":
	default:
		added := *e
		added.kind = itemAdded
		added.root = gjson.ParseBytes(edit.SetMember([]byte(e.root.Raw), "type", `"`+itemAdded+`"`))
		w.graftItem(&added)
	}
}

// item reports whether a part of an item brought deltas.
func (h *heard) item(at int) bool {
	for p := range h.all {
		if p.item == at {
			return true
		}
	}
	return false
}

// begin makes the begin of a stream that has none, out of its first event.
func (w *writer) begin(e *event) {
	if w.began {
		return
	}
	w.began = true
	response := []byte(`{"id":"resp_` + nameless + `","object":"response","created_at":0,"model":"","output":[]}`)
	switch e.kind {
	case created:
		return
	case inProgress, queued, completed, incomplete:
		response = edit.SetMember([]byte(e.body.Raw), "output", "[]")
	}
	w.emit(created, append([]byte(`"response":`), edit.SetMember(response, "status", `"in_progress"`)...), wire.Quiet)
}

// nameless stands for the name of an answer that has none.
const nameless = "backstop"
