package responses

import (
	"strconv"

	"backstop"
	"backstop/wire"
)

// input writes the talk: instructions after the first, then an item for each
// thing that was said, thought, called and returned.
func (w *hubWrite) input() {
	l := &itemList{w: w, b: []byte{'['}}
	for _, text := range w.p.System[min(1, len(w.p.System)):] {
		l.message("system", []wire.Part{{Kind: wire.PartText, Text: text}}, "")
	}
	turns := w.p.Turns
	for i := range turns {
		t := &turns[i]
		switch t.Role {
		case wire.BySystem:
			l.message("system", t.Parts, t.At)
		case wire.ByAsker:
			l.message("user", t.Parts, t.At)
		case wire.ByModel:
			if i == len(turns)-1 && w.p.Dialect != backstop.Responses {
				w.losses.Cannots(w.p, t.At+".role") // an answer begun by the caller
			}
			l.said(t)
		case wire.ByTool:
			l.result(&t.Parts[0], t.At)
		}
	}
	w.b = append(append(w.b, l.b...), ']')
}

// itemList collects items.
type itemList struct {
	w *hubWrite
	b []byte
}

func (l *itemList) begin(raw string) {
	if len(l.b) > 1 {
		l.b = append(l.b, ',')
	}
	l.b = append(l.b, raw...)
}

func (l *itemList) text(name, text string) {
	l.b = append(append(append(l.b, `,"`...), name...), `":`...)
	l.b = wire.AppendString(l.b, text)
}

func (l *itemList) message(role string, parts []wire.Part, at string) {
	l.begin(`{"type":"message","role":"` + role + `","content":`)
	if len(parts) == 0 || len(parts) == 1 && parts[0].Kind == wire.PartText {
		text := ""
		if len(parts) == 1 {
			text = parts[0].Text
		}
		l.b = append(wire.AppendString(l.b, text), '}')
		return
	}
	l.content(parts, at+".content")
	l.b = append(l.b, '}')
}

// content writes a list of parts that somebody else than the model gave.
func (l *itemList) content(parts []wire.Part, at string) {
	l.b = append(l.b, '[')
	for i := range parts {
		if i > 0 {
			l.b = append(l.b, ',')
		}
		switch part := &parts[i]; part.Kind {
		case wire.PartText:
			l.b = append(l.b, `{"type":"input_text"`...)
			l.text("text", part.Text)
		case wire.PartImage:
			url := part.URL
			if url == "" {
				url = "data:" + part.Media + ";base64," + part.Data
			}
			l.b = append(l.b, `{"type":"input_image","detail":"auto"`...)
			l.text("image_url", url)
		default:
			l.w.losses.Cannots(l.w.p, wire.PartAt(parts, i, at))
			l.b = append(l.b, '{')
		}
		l.b = append(l.b, '}')
	}
	l.b = append(l.b, ']')
}

// said writes what the model said. Texts and refusals that follow each other
// are one message.
func (l *itemList) said(t *wire.Turn) {
	open := false
	shut := func() {
		if open {
			l.b = append(l.b, `]}`...)
		}
		open = false
	}
	for i := range t.Parts {
		part := &t.Parts[i]
		switch part.Kind {
		case wire.PartText, wire.PartRefusal:
			if !open {
				l.begin(`{"type":"message","role":"assistant","content":[`)
			} else {
				l.b = append(l.b, ',')
			}
			open = true
			if part.Kind == wire.PartText {
				l.b = append(l.b, `{"type":"output_text"`...)
				l.text("text", part.Text)
			} else {
				l.b = append(l.b, `{"type":"refusal"`...)
				l.text("refusal", part.Text)
			}
			l.b = append(l.b, '}')
		case wire.PartToolCall:
			shut()
			l.begin(`{"type":"function_call"`)
			l.text("call_id", wire.ToolID(part.ID))
			l.text("name", part.Name)
			l.text("arguments", part.Arguments)
			l.b = append(l.b, '}')
		case wire.PartReasoning:
			shut()
			l.thought(part, i)
		default:
			l.w.losses.Cannots(l.w.p, wire.PartAt(t.Parts, i, t.At+".content"))
		}
	}
	shut()
}

// thought writes reasoning for who issued it.
func (l *itemList) thought(part *wire.Part, n int) {
	if l.w.p.Dialect != backstop.Responses {
		l.w.losses.Lefts(l.w.p, "reasoning_content")
		return
	}
	l.begin(`{"type":"reasoning","id":"rs_` + strconv.Itoa(n) + `","summary":[`)
	if part.Text != "" {
		l.b = append(l.b, `{"type":"summary_text"`...)
		l.text("text", part.Text)
		l.b = append(l.b, '}')
	}
	l.b = append(l.b, ']')
	if part.Proof != "" {
		l.text("encrypted_content", part.Proof)
	}
	l.b = append(l.b, '}')
}

func (l *itemList) result(part *wire.Part, at string) {
	l.begin(`{"type":"function_call_output"`)
	l.text("call_id", wire.ToolID(part.ID))
	if part.Failed {
		l.w.losses.Lefts(l.w.p, at+"."+l.w.p.Name("is_error"))
	}
	if len(part.Result) == 0 || len(part.Result) == 1 && part.Result[0].Kind == wire.PartText {
		text := ""
		if len(part.Result) == 1 {
			text = part.Result[0].Text
		}
		l.text("output", text)
	} else {
		l.b = append(l.b, `,"output":`...)
		l.content(part.Result, at+".output")
	}
	l.b = append(l.b, '}')
}
