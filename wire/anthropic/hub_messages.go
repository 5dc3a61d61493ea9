package anthropic

import (
	"strings"

	"github.com/tidwall/gjson"

	"backstop"
	"backstop/wire"
	"backstop/wire/internal/edit"
)

// messages writes the talk. Results of tools and what the asker says right
// after them are one message here.
func (w *hubWrite) messages() {
	m := &messageList{w: w}
	turns := wire.ResultsFirst(w.p.Turns)
	for i := range turns {
		t := &turns[i]
		switch t.Role {
		case wire.ByTool:
			m.open("user", m.results)
			m.results = true
			m.result(&t.Parts[0], t)
		case wire.ByAsker:
			m.open("user", m.results)
			m.results = false
			m.parts(t)
		case wire.BySystem:
			w.losses.Lefts(w.p, t.At)
			m.open("user", m.results)
			m.results = false
			m.parts(t)
		case wire.ByModel:
			if i == len(turns)-1 && w.p.Dialect != backstop.Anthropic && !w.quirks.Prefill {
				w.losses.Cannots(w.p, t.At+".role") // an answer begun by the caller
			}
			m.open("assistant", false)
			m.results = false
			m.parts(t)
		}
	}
	m.close()
	w.b = append(append(append(w.b, '['), m.b...), ']')
	if len(m.b) == 0 && len(w.losses.Cannot) == 0 {
		w.losses.Cannots(w.p, "messages")
	}
}

// messageList collects messages; those without a block are left out, as the
// API takes no empty ones.
type messageList struct {
	w       *hubWrite
	b       []byte
	role    string
	blocks  []byte
	results bool // so far the open message holds results of tools only
}

func (m *messageList) open(role string, join bool) {
	if join && m.role == role {
		return
	}
	m.close()
	m.role = role
}

func (m *messageList) close() {
	if len(m.blocks) > 0 {
		if len(m.b) > 0 {
			m.b = append(m.b, ',')
		}
		m.b = append(append(append(m.b, `{"role":"`...), m.role...), `","content":[`...)
		m.b = append(append(m.b, m.blocks...), `]}`...)
	}
	m.blocks = m.blocks[:0]
}

// block begins a block of a kind.
func (m *messageList) block(kind string) {
	if len(m.blocks) > 0 {
		m.blocks = append(m.blocks, ',')
	}
	m.blocks = append(append(append(m.blocks, `{"type":"`...), kind...), '"')
}

func (m *messageList) text(name, text string) {
	m.blocks = append(append(append(m.blocks, `,"`...), name...), `":`...)
	m.blocks = wire.AppendString(m.blocks, text)
}

func (m *messageList) parts(t *wire.Turn) {
	for i := range t.Parts {
		m.part(&t.Parts[i], wire.PartAt(t.Parts, i, t.At+".content"))
	}
}

func (m *messageList) part(part *wire.Part, at string) {
	switch part.Kind {
	case wire.PartText, wire.PartRefusal:
		if part.Text == "" {
			return
		}
		m.block("text")
		m.text("text", part.Text)
	case wire.PartImage:
		m.image(part, at)
		return
	case wire.PartToolCall:
		input, ok := inputOf(part.Arguments)
		if !ok {
			m.w.losses.Cannots(m.w.p, at+".arguments")
		}
		m.block("tool_use")
		m.text("id", wire.ToolID(part.ID))
		m.text("name", part.Name)
		m.blocks = append(append(m.blocks, `,"input":`...), input...)
	case wire.PartReasoning:
		switch {
		case part.Proof == "" || m.w.p.Dialect != backstop.Anthropic:
			m.w.losses.Lefts(m.w.p, "reasoning_content")
			return
		case part.Sealed:
			m.block("redacted_thinking")
			m.text("data", part.Proof)
		default:
			m.block("thinking")
			m.text("thinking", part.Text)
			m.text("signature", part.Proof)
		}
	default:
		m.w.losses.Cannots(m.w.p, at)
		return
	}
	m.blocks = append(m.blocks, '}')
}

// pictures are the media types that the API takes.
var pictures = map[string]bool{"image/jpeg": true, "image/png": true, "image/gif": true, "image/webp": true}

func (m *messageList) image(part *wire.Part, at string) {
	switch {
	case part.Data != "" && pictures[part.Media]:
		m.block("image")
		m.blocks = append(m.blocks, `,"source":{"type":"base64"`...)
		m.text("media_type", part.Media)
		m.text("data", part.Data)
	case strings.HasPrefix(part.URL, "https://") || strings.HasPrefix(part.URL, "http://"):
		m.block("image")
		m.blocks = append(m.blocks, `,"source":{"type":"url"`...)
		m.text("url", part.URL)
	default:
		m.w.losses.Cannots(m.w.p, at)
		return
	}
	m.blocks = append(m.blocks, '}', '}')
}

func (m *messageList) result(part *wire.Part, t *wire.Turn) {
	m.block("tool_result")
	m.text("tool_use_id", wire.ToolID(part.ID))
	if len(part.Result) > 0 {
		inner := &messageList{w: m.w}
		inner.parts(&wire.Turn{Parts: part.Result, At: t.At})
		m.blocks = append(append(append(m.blocks, `,"content":[`...), inner.blocks...), ']')
	}
	if part.Failed {
		m.blocks = append(m.blocks, `,"is_error":true`...)
	}
	m.blocks = append(m.blocks, '}')
}

// inputOf is the input object for a call's arguments.
func inputOf(arguments string) (string, bool) {
	arguments = strings.TrimSpace(arguments)
	if arguments == "" {
		return "{}", true
	}
	if !wire.ValidJSON([]byte(arguments)) || !gjson.Parse(arguments).IsObject() {
		return "{}", false
	}
	return oneLineText(arguments), true
}

func oneLineText(s string) string { return string(edit.OneLine([]byte(s))) }
