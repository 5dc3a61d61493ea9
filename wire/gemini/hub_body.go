package gemini

import (
	"strconv"

	"github.com/tidwall/gjson"

	"backstop/wire"
)

// DecodeBody reads an answer. Signatures stay behind: they mean nothing to
// anybody but their issuer.
func (Room) DecodeBody(body []byte) (*wire.Message, bool) {
	c, ok := parseData(body)
	if !ok {
		return nil, false
	}
	m := &wire.Message{ID: c.root.Get("responseId").Str, Model: c.root.Get("modelVersion").Str, Usage: usageOf(c.usage)}
	c.each(func(index int, v gjson.Result) {
		choice := wire.Choice{Index: index}
		losses(v, m.Lost.Note)
		called := false
		eachPart(v, func(p gjson.Result, kind pieceKind, _ int) {
			if part, ok := decoded(p, kind); ok {
				choice.Parts = append(choice.Parts, part)
				called = called || kind == pieceCall
			}
		})
		choice.Ending = ending(finish(v), called)
		m.Choices = append(m.Choices, choice)
	})
	if len(m.Choices) == 0 {
		if !c.blocked() {
			return nil, false
		}
		m.Choices = []wire.Choice{{Ending: wire.EndRefusal}}
	}
	return m, true
}

// decoded is a part of an answer in the words of the hub.
func decoded(p gjson.Result, kind pieceKind) (wire.Part, bool) {
	switch kind {
	case pieceText:
		return wire.Part{Kind: wire.PartText, Text: p.Get("text").Str}, true
	case pieceThought:
		return wire.Part{Kind: wire.PartReasoning, Text: p.Get("text").Str}, true
	case pieceCall:
		call := p.Get("functionCall")
		part := wire.Part{Kind: wire.PartToolCall, ID: call.Get("id").Str, Name: call.Get("name").Str, Arguments: call.Get("args").Raw}
		if part.Arguments == "" || part.Arguments == "null" {
			part.Arguments = "{}"
		}
		return part, true
	}
	return wire.Part{}, false
}

// ending is the hub's word for a finish reason. The dialect has none for an
// answer that calls functions.
func ending(reason string, called bool) wire.Ending {
	if reason == "CONTINUATION" {
		return wire.EndPause
	}
	switch finishOf(reason).Name {
	case "length":
		return wire.EndLength
	case "content_filter":
		return wire.EndRefusal
	}
	if called {
		return wire.EndTools
	}
	return wire.EndStop
}

// finishWord is this dialect's word for an ending. A refusal in so many words
// may come with a plain stop.
func finishWord(e wire.Ending, refused bool) string {
	switch e {
	case wire.EndLength, wire.EndContext:
		return "MAX_TOKENS"
	case wire.EndRefusal:
		return "SAFETY"
	}
	if refused {
		return "SAFETY"
	}
	return "STOP"
}

// unfinished reports whether an answer broke off at its limit. Every function
// call is a finished one here, and SDKs make it: so one that is not known to be
// whole is left out then. That is one whose arguments are no object, and one
// at the very end that has none yet.
func unfinished(e wire.Ending) bool { return e == wire.EndLength || e == wire.EndContext }

// empty reports whether a function is called without arguments, or with none
// so far.
func empty(arguments string) bool {
	args, ok := inputOf(arguments)
	return ok && !gjson.Get(args, "@keys.0").Exists()
}

// EncodeBody writes an answer. Function calls need an object for their
// arguments; see unfinished.
func (Room) EncodeBody(m *wire.Message) ([]byte, bool) {
	if len(m.Choices) == 0 || len(m.Choices) > maxCandidates {
		return nil, false
	}
	b := []byte(`{"candidates":[`)
	for i := range m.Choices {
		if i > 0 {
			b = append(b, ',')
		}
		var ok bool
		if b, ok = appendChoice(b, &m.Choices[i]); !ok {
			return nil, false
		}
	}
	b = append(b, ']')
	if m.Usage.Reported() {
		b = appendUsage(append(b, `,"usageMetadata":`...), &m.Usage)
	}
	b = wire.AppendString(append(b, `,"modelVersion":`...), m.Model)
	b = wire.AppendString(append(b, `,"responseId":`...), m.ID)
	return append(b, '}'), true
}

func appendChoice(b []byte, c *wire.Choice) ([]byte, bool) {
	b = append(b, `{"content":{"parts":[`...)
	n, refused := 0, false
	comma := func() {
		if n++; n > 1 {
			b = append(b, ',')
		}
	}
	for i := range c.Parts {
		switch part := &c.Parts[i]; part.Kind {
		case wire.PartText, wire.PartRefusal, wire.PartReasoning:
			refused = refused || part.Kind == wire.PartRefusal
			if part.Text != "" {
				comma()
				b = appendText(b, part.Text, part.Kind == wire.PartReasoning)
			}
		case wire.PartToolCall:
			args, ok := inputOf(part.Arguments)
			switch cut := unfinished(c.Ending); {
			case cut && (!ok || i == len(c.Parts)-1 && empty(args)):
				continue
			case !ok:
				return nil, false
			}
			comma()
			b = appendAnswerCall(b, part.ID, part.Name, args)
		}
	}
	if n == 0 {
		b = append(b, `{"text":""}`...)
	}
	b = append(append(b, `],"role":"model"},"finishReason":"`...), finishWord(c.Ending, refused)...)
	b = strconv.AppendInt(append(b, `","index":`...), int64(c.Index), 10)
	return append(b, '}'), true
}

func appendText(b []byte, text string, thought bool) []byte {
	b = wire.AppendString(append(b, `{"text":`...), text)
	if thought {
		b = append(b, `,"thought":true`...)
	}
	return append(b, '}')
}

// appendAnswerCall appends a part with a function call of an answer. It has the
// word that stands for its signature, which the caller sends back: a model of
// this dialect may be asked next.
func appendAnswerCall(b []byte, id, name, args string) []byte {
	b = appendCall(b, id, name, args)
	return append(b, `,"thoughtSignature":"`+unsigned+`"}`...)
}

func appendUsage(b []byte, u *wire.Usage) []byte {
	input, output, thoughts := max(u.Input, 0), max(u.Output, 0), max(u.Reasoning, 0)
	count := func(name string, n int) {
		b = strconv.AppendInt(append(append(append(b, '"'), name...), `":`...), int64(n), 10)
	}
	b = append(b, '{')
	count("promptTokenCount", input)
	b = append(b, ',')
	count("candidatesTokenCount", max(output-thoughts, 0))
	if u.Reasoning >= 0 {
		b = append(b, ',')
		count("thoughtsTokenCount", thoughts)
	}
	if u.Cached >= 0 {
		b = append(b, ',')
		count("cachedContentTokenCount", u.Cached)
	}
	b = append(b, ',')
	count("totalTokenCount", input+output)
	return append(b, '}')
}
