package mock

import (
	"encoding/json"
	"strconv"
	"strings"
)

func (anthropicDialect) body(r *reply) []byte {
	if r.ask.op == "count" {
		return mustJSON(map[string]any{"input_tokens": r.in})
	}
	c := &r.choices[0]
	m := r.message(c.blocks(r), c.anthropicStop())
	if !r.noUsage {
		m["usage"] = r.anthropicUsage(r.out)
	}
	return mustJSON(m)
}

func (r *reply) message(content []any, stop any) map[string]any {
	return map[string]any{
		"id": "msg_" + r.id, "type": "message", "role": "assistant", "model": r.ask.model,
		"content": content, "stop_reason": stop, "stop_sequence": nil,
	}
}

// blocks are the parts of a whole message.
func (c *choice) blocks(r *reply) []any {
	out := []any{}
	if len(c.thought) > 0 {
		out = append(out, map[string]any{"type": "thinking", "thinking": strings.Join(c.thought, ""), "signature": r.signature()})
	}
	text := strings.Join(c.pieces, "")
	switch {
	case c.call != nil:
		if !json.Valid([]byte(text)) {
			text = "{}" // a call that was cut off has no place in a whole message
		}
		out = append(out, map[string]any{"type": "tool_use", "id": "toolu_" + c.call.id, "name": c.call.name, "input": json.RawMessage(text)})
	case text != "":
		out = append(out, map[string]any{"type": "text", "text": text})
	}
	return out
}

func (anthropicDialect) events(r *reply) []frame {
	c := &r.choices[0]
	start := r.message([]any{}, nil)
	if !r.noUsage {
		start["usage"] = r.anthropicUsage(1)
	}
	w := blockWriter{frames: make([]frame, 0, len(c.thought)+len(c.pieces)+8)}
	w.event(opening, "message_start", map[string]any{"message": start})
	if len(c.thought) > 0 {
		w.start(map[string]any{"type": "thinking", "thinking": "", "signature": ""})
		for _, p := range c.thought {
			w.delta("thinking_delta", "thinking", p)
		}
		w.event(opening, "content_block_delta", map[string]any{
			"index": w.index, "delta": map[string]any{"type": "signature_delta", "signature": r.signature()},
		})
		w.stop(opening)
	}
	switch {
	case c.call != nil:
		w.start(map[string]any{"type": "tool_use", "id": "toolu_" + c.call.id, "name": c.call.name, "input": map[string]any{}})
		for _, p := range c.pieces {
			w.delta("input_json_delta", "partial_json", p)
		}
		w.stop(finish)
	case len(c.pieces) > 0:
		w.start(map[string]any{"type": "text", "text": ""})
		w.event(opening, "ping", map[string]any{})
		for _, p := range c.pieces {
			w.delta("text_delta", "text", p)
		}
		w.stop(finish)
	}
	last := map[string]any{"delta": map[string]any{"stop_reason": c.anthropicStop(), "stop_sequence": nil}}
	if !r.noUsage {
		last["usage"] = map[string]any{"output_tokens": r.out}
	}
	w.event(finish, "message_delta", last)
	w.event(terminal, "message_stop", map[string]any{})
	return w.frames
}

// blockWriter writes the events of a stream, block after block.
type blockWriter struct {
	frames []frame
	index  int
}

func (w *blockWriter) event(kind frameKind, name string, data map[string]any) {
	data["type"] = name
	w.frames = append(w.frames, frame{kind, named(name, mustJSON(data))})
}

func (w *blockWriter) start(block map[string]any) {
	w.event(opening, "content_block_start", map[string]any{"index": w.index, "content_block": block})
}

func (w *blockWriter) stop(kind frameKind) {
	w.event(kind, "content_block_stop", map[string]any{"index": w.index})
	w.index++
}

// delta carries one token. A load test asks for many, so it is written by hand.
func (w *blockWriter) delta(kind, field, piece string) {
	out := make([]byte, 0, 128+len(piece))
	out = append(out, `{"type":"content_block_delta","index":`...)
	out = strconv.AppendInt(out, int64(w.index), 10)
	out = append(append(out, `,"delta":{"type":"`...), kind...)
	out = append(append(append(out, `","`...), field...), `":`...)
	out = append(append(out, mustJSON(piece)...), "}}"...)
	w.frames = append(w.frames, frame{content, named("content_block_delta", out)})
}
