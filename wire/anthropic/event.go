package anthropic

import (
	"github.com/tidwall/gjson"

	"backstop/sse"
	"backstop/wire"
)

// maxBlocks bounds the content blocks of an answer.
const maxBlocks = 4096

// The types of a stream's events.
const (
	messageStart = "message_start"
	blockStart   = "content_block_start"
	blockDelta   = "content_block_delta"
	blockStop    = "content_block_stop"
	messageDelta = "message_delta"
	messageStop  = "message_stop"
	pingEvent    = "ping"
	errorEvent   = "error"
)

// event is one event of a stream taken apart.
type event struct {
	root gjson.Result
	kind string
	// index of the content block, blockStart, blockDelta and blockStop only.
	index int
}

// parse reads an event. Its type stands in the data, which is what SDKs go by,
// and again in the event's name, which some vendors forget. It is false for
// what is no event of this dialect.
func parse(ev *sse.Event) (event, bool) {
	if ev.Comment || !wire.ValidJSON(ev.Data) {
		return event{}, false
	}
	e := event{root: gjson.ParseBytes(ev.Data)}
	if !e.root.IsObject() {
		return event{}, false
	}
	types := 0
	e.root.ForEach(func(k, v gjson.Result) bool {
		if k.String() == "type" {
			types++
			e.kind = v.Str
		}
		return true
	})
	if types != 1 || !plainWord(e.kind) {
		return event{root: e.root}, false // two parsers could read two events out of it
	}
	switch e.kind {
	case blockStart, blockDelta, blockStop:
		v := e.root.Get("index")
		if v.Type != gjson.Number || v.Num < 0 || v.Num >= maxBlocks || v.Num != float64(int(v.Num)) {
			return event{}, false
		}
		e.index = int(v.Num)
		return e, e.kind != blockStart || e.root.Get("content_block.type").Type == gjson.String
	case messageStart:
		return e, e.root.Get("message").IsObject()
	case messageDelta, messageStop, pingEvent, errorEvent:
		return e, true
	}
	return e, true
}

// maxKind bounds the name of an event.
const maxKind = 128

// plainWord reports whether a type can be the name of an event: what breaks a
// line or is no text would be another name on the line than in the data.
func plainWord(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return s != "" && len(s) <= maxKind
}

// text is what a delta brings: content bytes, and whether they are the answer
// itself rather than the way to it.
func (e *event) text() (text string, said bool) {
	d := e.root.Get("delta")
	switch d.Get("type").Str {
	case "text_delta":
		return d.Get("text").Str, true
	case "input_json_delta":
		return d.Get("partial_json").Str, true
	case "thinking_delta":
		return d.Get("thinking").Str, false
	case "citations_delta":
		return d.Get("citation").Raw, true
	}
	return "", false
}

// begins says what a new block is worth on its own: a tool call is something
// to show for, an empty text is not.
func (e *event) begins() (kind string, bytes int) {
	block := e.root.Get("content_block")
	kind = block.Get("type").Str
	switch kind {
	case "text":
		return kind, len(block.Get("text").Str)
	case "thinking":
		return kind, len(block.Get("thinking").Str)
	case "redacted_thinking":
		return kind, len(block.Get("data").Str)
	}
	return kind, len(block.Get("name").Str)
}

// finishOf is the meaning of a stop reason.
func finishOf(reason string) wire.Finish {
	switch reason {
	case "pause_turn", "compaction":
		return wire.Finish{Kind: wire.FinishGood, Name: "stop"}
	}
	return wire.FinishOf(reason)
}

// ownReason is this dialect's word for a vendor's stop reason.
func ownReason(reason string) string {
	switch reason {
	case "end_turn", "max_tokens", "stop_sequence", "tool_use", "pause_turn", "compaction", "refusal", "model_context_window_exceeded":
		return reason
	}
	switch finishOf(reason).Name {
	case "stop":
		return "end_turn"
	case "length":
		return "max_tokens"
	case "tool_calls", "function_call":
		return "tool_use"
	case "content_filter":
		return "refusal"
	}
	return reason
}
