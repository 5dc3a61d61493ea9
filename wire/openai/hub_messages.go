package openai

import (
	"strings"

	"backstop"
	"backstop/wire"
)

// messages writes the talk.
func (w *hubWrite) messages() {
	w.o.b = append(w.o.b, '[')
	n := 0
	next := func(role string) *builder {
		if n++; n > 1 {
			w.o.b = append(w.o.b, ',')
		}
		m := &builder{b: w.o.b}
		m.raw("role", appendString(nil, role))
		return m
	}
	if len(w.p.System) > 0 {
		m := next("system")
		m.raw("content", appendString(nil, strings.Join(w.p.System, "\n\n")))
		w.close(m)
	}
	turns := wire.ResultsFirst(w.p.Turns)
	for i := range turns {
		t := &turns[i]
		switch t.Role {
		case wire.BySystem:
			m := next("system")
			w.onlyText(t.Parts, t.At)
			m.raw("content", appendString(nil, wire.Joined(t.Parts)))
			w.close(m)
		case wire.ByAsker:
			m := next("user")
			m.name("content")
			w.asked(m, t)
			w.close(m)
		case wire.ByModel:
			if i == len(turns)-1 && w.p.Dialect != backstop.OpenAI && !w.demand.Prefill {
				w.losses.Cannots(w.p, t.At+".role") // an answer begun by the caller
			}
			m := next("assistant")
			w.said(m, t.Parts)
			w.close(m)
		case wire.ByTool:
			m := next("tool")
			w.returned(m, t)
			w.close(m)
		}
	}
	w.o.b = append(w.o.b, ']')
}

func (w *hubWrite) close(m *builder) {
	m.end()
	w.o.b = m.b
}

// asked writes content as a string, or as parts where there are several.
func (w *hubWrite) asked(m *builder, t *wire.Turn) {
	if len(t.Parts) == 0 || len(t.Parts) == 1 && t.Parts[0].Kind == wire.PartText {
		m.b = appendString(m.b, joined(t.Parts, wire.PartText))
		return
	}
	for i := range t.Parts {
		m.b = append(m.b, "[,"[min(i, 1)])
		part := &t.Parts[i]
		switch part.Kind {
		case wire.PartText:
			m.b = append(appendString(append(m.b, `{"type":"text","text":`...), part.Text), '}')
		case wire.PartImage:
			url := part.URL
			if url == "" {
				url = "data:" + part.Media + ";base64," + part.Data
			}
			m.b = append(appendString(append(m.b, `{"type":"image_url","image_url":{"url":`...), url), '}', '}')
		default:
			w.losses.Cannots(w.p, wire.PartAt(t.Parts, i, t.At+".content"))
		}
	}
	m.b = append(m.b, ']')
}

// said writes what a model said, in a request or in an answer, and reports
// whether it called tools.
func (w *hubWrite) said(m *builder, parts []wire.Part) (called bool) {
	text, refusal := joined(parts, wire.PartText), joined(parts, wire.PartRefusal)
	calls := 0
	for i := range parts {
		if parts[i].Kind == wire.PartToolCall {
			calls++
		}
	}
	m.name("content")
	if text == "" && (calls > 0 || refusal != "") {
		m.b = append(m.b, "null"...)
	} else {
		m.b = appendString(m.b, text)
	}
	if refusal != "" {
		m.raw("refusal", appendString(nil, refusal))
	}
	speaks := w.demand.ReasoningContent == demanded || w.p.Dialect == backstop.OpenAI
	if thought := joined(parts, wire.PartReasoning); thought != "" && speaks {
		m.raw("reasoning_content", appendString(nil, thought))
	}
	for i := range parts {
		sealed := parts[i].Sealed && w.p.Dialect != backstop.Responses // which names it itself
		if parts[i].Kind == wire.PartReasoning && (sealed || parts[i].Text != "" && !speaks) {
			w.losses.Lefts(w.p, "reasoning_content")
		}
	}
	if calls > 0 {
		m.name("tool_calls")
		m.b = appendCalls(m.b, parts)
	}
	return calls > 0
}

func appendCalls(dst []byte, parts []wire.Part) []byte {
	n := 0
	for i := range parts {
		if parts[i].Kind != wire.PartToolCall {
			continue
		}
		dst = append(dst, "[,"[min(n, 1)])
		n++
		dst = appendString(append(dst, `{"id":`...), wire.ToolID(parts[i].ID))
		dst = appendString(append(dst, `,"type":"function","function":{"name":`...), parts[i].Name)
		dst = appendString(append(dst, `,"arguments":`...), parts[i].Arguments)
		dst = append(dst, '}', '}')
	}
	return append(dst, ']')
}

// returned writes a tool's result. There are no images in it here, and no
// word for a tool's own failure but the text.
func (w *hubWrite) returned(m *builder, t *wire.Turn) {
	part := &t.Parts[0]
	w.onlyText(part.Result, t.At)
	if part.Failed {
		w.losses.Lefts(w.p, t.At+"."+w.p.Name("is_error"))
	}
	m.raw("tool_call_id", appendString(nil, wire.ToolID(part.ID)))
	m.raw("content", appendString(nil, wire.Joined(part.Result)))
}

// onlyText notes what is no text where only text may stand.
func (w *hubWrite) onlyText(parts []wire.Part, at string) {
	for i := range parts {
		if parts[i].Kind != wire.PartText {
			w.losses.Cannots(w.p, wire.PartAt(parts, i, at+".content"))
		}
	}
}
