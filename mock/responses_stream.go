package mock

import (
	"strconv"
	"strings"
)

// events is the stream of a response: each item is added, filled and done,
// and the whole response comes last.
func (responsesDialect) events(r *reply) []frame {
	c := &r.choices[0]
	status, _ := c.responseStatus()
	w := itemWriter{frames: make([]frame, 0, len(c.thought)+len(c.pieces)+12)}
	w.event(opening, "response.created", map[string]any{"response": r.response("in_progress", []any{})})
	w.event(opening, "response.in_progress", map[string]any{"response": r.response("in_progress", []any{})})
	if len(c.thought) > 0 {
		w.reasoning(r, c)
	}
	switch {
	case c.call != nil:
		w.call(c, status)
	case len(c.pieces) > 0 || c.finish != "content_filter":
		w.message(r, c, status)
	}
	last := "response.completed"
	if status == "incomplete" {
		last = "response.incomplete"
	}
	w.event(terminal, last, map[string]any{"response": r.response(status, c.items(r))})
	return w.frames
}

// itemWriter writes the events of a stream, item after item, and counts them.
type itemWriter struct {
	frames []frame
	index  int    // of the item
	item   string // its id
}

func (w *itemWriter) event(kind frameKind, name string, data map[string]any) {
	data["type"] = name
	data["sequence_number"] = len(w.frames)
	w.frames = append(w.frames, frame{kind, named(name, mustJSON(data))})
}

// about is an event on the item that is being written.
func (w *itemWriter) about(kind frameKind, name string, data map[string]any) {
	data["item_id"], data["output_index"] = w.item, w.index
	w.event(kind, name, data)
}

func (w *itemWriter) add(id string, item map[string]any) {
	w.item = id
	w.event(opening, "response.output_item.added", map[string]any{"output_index": w.index, "item": item})
}

func (w *itemWriter) done(kind frameKind, item map[string]any) {
	w.event(kind, "response.output_item.done", map[string]any{"output_index": w.index, "item": item})
	w.index++
}

func (w *itemWriter) reasoning(r *reply, c *choice) {
	whole := strings.Join(c.thought, "")
	w.add("rs_"+r.id, c.reasoningItem(r, "in_progress"))
	w.about(opening, "response.reasoning_summary_part.added", map[string]any{
		"summary_index": 0, "part": map[string]any{"type": "summary_text", "text": ""},
	})
	for _, p := range c.thought {
		w.delta("response.reasoning_summary_text.delta", `"summary_index":0`, p)
	}
	w.about(opening, "response.reasoning_summary_text.done", map[string]any{"summary_index": 0, "text": whole})
	w.about(opening, "response.reasoning_summary_part.done", map[string]any{
		"summary_index": 0, "part": map[string]any{"type": "summary_text", "text": whole},
	})
	w.done(opening, c.reasoningItem(r, "completed"))
}

func (w *itemWriter) call(c *choice, status string) {
	whole := strings.Join(c.pieces, "")
	w.add("fc_"+c.call.id, c.callItem("", "in_progress"))
	for _, p := range c.pieces {
		w.delta("response.function_call_arguments.delta", "", p)
	}
	w.about(finish, "response.function_call_arguments.done", map[string]any{"arguments": whole, "name": c.call.name})
	w.done(finish, c.callItem(whole, status))
}

func (w *itemWriter) message(r *reply, c *choice, status string) {
	whole := strings.Join(c.pieces, "")
	w.add("msg_"+r.id, r.messageItem("in_progress", []any{}))
	w.about(opening, "response.content_part.added", map[string]any{"content_index": 0, "part": c.part("")})
	kind, last := "output_text", map[string]any{"content_index": 0, "text": whole, "logprobs": []any{}}
	rest := `"content_index":0,"logprobs":[]`
	if c.refusal {
		kind, last, rest = "refusal", map[string]any{"content_index": 0, "refusal": whole}, `"content_index":0`
	}
	for _, p := range c.pieces {
		w.delta("response."+kind+".delta", rest, p)
	}
	w.about(finish, "response."+kind+".done", last)
	w.about(finish, "response.content_part.done", map[string]any{"content_index": 0, "part": c.part(whole)})
	w.done(finish, r.messageItem(status, []any{c.part(whole)}))
}

// delta carries one token; rest is what else stands in its event.
func (w *itemWriter) delta(name, rest, piece string) {
	out := make([]byte, 0, 192+len(piece))
	out = append(append(append(out, `{"type":"`...), name...), `","sequence_number":`...)
	out = strconv.AppendInt(out, int64(len(w.frames)), 10)
	out = append(append(append(out, `,"item_id":"`...), w.item...), `","output_index":`...)
	out = strconv.AppendInt(out, int64(w.index), 10)
	if rest != "" {
		out = append(append(out, ","...), rest...)
	}
	out = append(append(append(out, `,"delta":`...), mustJSON(piece)...), "}"...)
	w.frames = append(w.frames, frame{content, named(name, out)})
}
