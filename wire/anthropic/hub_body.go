package anthropic

import (
	"strconv"

	"github.com/tidwall/gjson"

	"backstop"
	"backstop/wire"
	"backstop/wire/internal/edit"
)

// DecodeBody reads a message.
func (Room) DecodeBody(body []byte) (*wire.Message, bool) {
	root, content := contentOf(body)
	if !content.Exists() {
		return nil, false
	}
	h := hubRead{p: &wire.Prompt{}}
	c := wire.Choice{Ending: ending(root.Get("stop_reason").Str), Stop: root.Get("stop_sequence").Str}
	var lost wire.Lost
	content.ForEach(func(_, v gjson.Result) bool {
		losses(v, lost.Note)
		h.block(&c.Parts, v, "")
		if n := len(c.Parts); n > 0 && c.Parts[n-1].Kind == wire.PartToolCall {
			c.Parts[n-1].Arguments = inputText(v.Get("input"))
		}
		return len(c.Parts) < maxBlocks
	})
	return &wire.Message{
		ID: root.Get("id").Str, Model: root.Get("model").Str, Choices: []wire.Choice{c}, Usage: usageOf(root.Get("usage")), Lost: lost,
	}, true
}

// losses names what of a block the hub has no words for.
func losses(v gjson.Result, note func(name string)) {
	switch kind := v.Get("type").Str; kind {
	case "thinking", "redacted_thinking", "tool_use", "":
	case "text":
		if v.Get("citations.0").Exists() {
			note("citations")
		}
	default:
		note(kind)
	}
}

// ending is the hub's word for a stop reason.
func ending(reason string) wire.Ending {
	switch ownReason(reason) {
	case "max_tokens":
		return wire.EndLength
	case "model_context_window_exceeded":
		return wire.EndContext
	case "stop_sequence":
		return wire.EndSequence
	case "tool_use":
		return wire.EndTools
	case "refusal":
		return wire.EndRefusal
	case "pause_turn":
		return wire.EndPause
	}
	return wire.EndStop
}

// stopReason is this dialect's word for an ending. Some upstreams end a call
// of a forced tool, or a refusal in words, with a plain stop; others say that
// tools are called and call none.
func stopReason(e wire.Ending, called, refused bool) string {
	switch e {
	case wire.EndLength:
		return "max_tokens"
	case wire.EndContext:
		return "model_context_window_exceeded"
	case wire.EndSequence:
		return "stop_sequence"
	case wire.EndRefusal:
		return "refusal"
	case wire.EndPause:
		return "pause_turn"
	}
	switch {
	case called:
		return "tool_use"
	case refused:
		return "refusal"
	}
	return "end_turn"
}

// EncodeBody writes a message. It has one choice, and tool calls only with an
// object for their input.
func (Room) EncodeBody(m *wire.Message) ([]byte, bool) {
	if len(m.Choices) != 1 {
		return nil, false
	}
	c := &m.Choices[0]
	blocks, called, refused, ok := answered(c.Parts, c.Ending)
	if !ok {
		return nil, false
	}
	b := wire.AppendString([]byte(`{"id":`), m.ID)
	b = wire.AppendString(append(b, `,"type":"message","role":"assistant","model":`...), m.Model)
	b = append(append(append(b, `,"content":[`...), blocks...), ']')
	b = appendEnding(append(b, ','), c.Ending, c.Stop, called, refused)
	b = appendUsage(append(b, `,"usage":`...), &m.Usage)
	return append(b, '}'), true
}

// answered writes the blocks of an answer. Input that was cut at the length
// limit has the form that an Aggregator gives it.
func answered(parts []wire.Part, end wire.Ending) (blocks []byte, called, refused, ok bool) {
	m := &messageList{w: &hubWrite{p: &wire.Prompt{Dialect: backstop.Anthropic}}}
	for i := range parts {
		part := parts[i]
		switch part.Kind {
		case wire.PartToolCall:
			called = true
			if part.ID == "" {
				part.ID = "call." + strconv.Itoa(i)
			}
			if _, whole := inputOf(part.Arguments); !whole && end == wire.EndLength {
				part.Arguments = `{"` + invalidInput + `":` + edit.Quoted(part.Arguments) + `}`
			}
		case wire.PartImage:
			continue // no answer of this dialect holds one
		case wire.PartRefusal:
			refused = true
		case wire.PartReasoning:
			if part.Proof == "" {
				part.Proof = unsigned
			}
		}
		m.part(&part, "")
	}
	return m.blocks, called, refused, len(m.w.losses.Cannot) == 0
}

func appendEnding(b []byte, e wire.Ending, stop string, called, refused bool) []byte {
	b = append(append(append(b, `"stop_reason":"`...), stopReason(e, called, refused)...), `","stop_sequence":`...)
	if stop == "" {
		return append(b, "null"...)
	}
	return wire.AppendString(b, stop)
}

func appendUsage(b []byte, u *wire.Usage) []byte {
	cached, stored := max(u.Cached, 0), max(u.Stored, 0)
	count := func(name string, n int) {
		b = strconv.AppendInt(append(append(append(b, '"'), name...), `":`...), int64(n), 10)
	}
	b = append(b, '{')
	count("input_tokens", max(u.Input-cached-stored, 0))
	if u.Cached >= 0 {
		b = append(b, ',')
		count("cache_read_input_tokens", cached)
	}
	if u.Stored >= 0 {
		b = append(b, ',')
		count("cache_creation_input_tokens", stored)
	}
	b = append(b, ',')
	count("output_tokens", max(u.Output, 0))
	return append(b, '}')
}
