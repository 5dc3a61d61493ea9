package openai

import (
	"strconv"

	"backstop/wire"
)

// DecodeBody reads a chat completion.
func (Room) DecodeBody(body []byte) (*wire.Message, bool) {
	whole, ok := root(body)
	if !ok {
		return nil, false
	}
	list := member(body, whole, "choices")
	if !holds(body, list, '[') {
		return nil, false
	}
	m := &wire.Message{ID: str(body, member(body, whole, "id")), Model: str(body, member(body, whole, "model")), Usage: hubUsage(body, member(body, whole, "usage"))}
	if n, ok := integer(body, member(body, whole, "created")); ok {
		m.Created = int64(n)
	}
	for e := inArray(body, list); e.next(); {
		message := member(body, e.val, "message")
		if !message.is(body, '{') || len(m.Choices) == maxChoices {
			return nil, false
		}
		c := wire.Choice{Index: choiceIndex(body, e.val, len(m.Choices)), Ending: ending(str(body, member(body, e.val, "finish_reason")))}
		losses(body, message, m.Lost.Note)
		h := hubRead{b: body, p: &wire.Prompt{}}
		t := wire.Turn{}
		h.thoughts(&t, message)
		h.content(&t.Parts, member(body, message, "content"), "")
		h.calls(&t, message)
		if f := member(body, message, "function_call"); namesCall(body, f) && !holds(body, member(body, message, "tool_calls"), '[') {
			t.Parts = append(t.Parts, wire.Part{Kind: wire.PartToolCall, Name: str(body, member(body, f, "name")), Arguments: written(body, member(body, f, "arguments"))})
		}
		c.Parts = t.Parts
		m.Choices = append(m.Choices, c)
	}
	return m, true
}

// choiceIndex is what a choice numbers itself; its place counts where it does
// not.
func choiceIndex(b []byte, s span, place int) int {
	if n, ok := integer(b, member(b, s, "index")); ok && n >= 0 && n < maxChoices {
		return n
	}
	return place
}

// ending is the hub's word for a finish reason.
func ending(reason string) wire.Ending {
	switch wire.FinishOf(reason).Name {
	case "length":
		return wire.EndLength
	case "tool_calls", "function_call":
		return wire.EndTools
	case "content_filter":
		return wire.EndRefusal
	}
	return wire.EndStop
}

// finishWord is this dialect's word for an ending. Who reads that tools are
// called looks for the calls.
func finishWord(e wire.Ending, called bool) string {
	switch e {
	case wire.EndLength, wire.EndContext:
		return "length"
	case wire.EndRefusal:
		return "content_filter"
	case wire.EndTools:
		if called {
			return "tool_calls"
		}
	}
	return "stop"
}

func hubUsage(b []byte, s span) wire.Usage {
	u := wire.NoUsage()
	if !s.is(b, '{') {
		return u
	}
	u.Input, u.Output = reported(b, s)
	count := func(to *int, v span) {
		if n, ok := integer(b, v); ok && n >= 0 {
			*to = n
		}
	}
	count(&u.Cached, member(b, s, "prompt_cache_hit_tokens"))
	count(&u.Cached, member(b, member(b, s, "prompt_tokens_details"), "cached_tokens"))
	count(&u.Reasoning, member(b, member(b, s, "completion_tokens_details"), "reasoning_tokens"))
	return u
}

// EncodeBody writes a chat completion. Every answer can be told in it.
func (Room) EncodeBody(m *wire.Message) ([]byte, bool) {
	w := hubWrite{p: &wire.Prompt{Dialect: "openai"}}
	o := &w.o
	o.raw("id", appendString(nil, m.ID))
	o.raw("object", []byte(`"chat.completion"`))
	o.raw("created", strconv.AppendInt(nil, m.Created, 10))
	o.raw("model", appendString(nil, m.Model))
	o.name("choices")
	if len(m.Choices) == 0 {
		o.b = append(o.b, '[')
	}
	for i := range m.Choices {
		c := &m.Choices[i]
		o.b = strconv.AppendInt(append(append(o.b, "[,"[min(i, 1)]), `{"index":`...), int64(c.Index), 10)
		s := &builder{b: append(o.b, `,"message":`...)}
		s.raw("role", []byte(`"assistant"`))
		called := w.said(s, c.Parts)
		s.end()
		o.b = append(s.b, `,"logprobs":null,"finish_reason":`...)
		o.b = append(appendString(o.b, finishWord(c.Ending, called)), '}')
	}
	o.b = append(o.b, ']')
	if m.Usage.Reported() {
		o.name("usage")
		o.b = appendUsage(o.b, &m.Usage)
	}
	o.end()
	return o.b, true
}

func appendUsage(dst []byte, u *wire.Usage) []byte {
	o := builder{b: dst}
	count := func(name string, n int) { o.raw(name, strconv.AppendInt(nil, int64(n), 10)) }
	count("prompt_tokens", max(u.Input, 0))
	count("completion_tokens", max(u.Output, 0))
	count("total_tokens", max(u.Input, 0)+max(u.Output, 0))
	if u.Cached >= 0 {
		o.raw("prompt_tokens_details", append(strconv.AppendInt([]byte(`{"cached_tokens":`), int64(u.Cached), 10), '}'))
	}
	if u.Reasoning >= 0 {
		o.raw("completion_tokens_details", append(strconv.AppendInt([]byte(`{"reasoning_tokens":`), int64(u.Reasoning), 10), '}'))
	}
	o.end()
	return o.b
}
