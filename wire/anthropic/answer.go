package anthropic

import (
	"github.com/tidwall/gjson"

	"backstop/wire"
	"backstop/wire/internal/edit"
)

// Compose makes a plain body from a local answer: one text, stop reason
// end_turn, usage of zeros, and the x_backstop object. A count of tokens has no
// local answer: nil.
func (Room) Compose(r *wire.Request, a *wire.Answer) []byte {
	if r != nil && r.Op == wire.CountTokens {
		return nil
	}
	b := wire.AppendString([]byte(`{"id":`), a.ID)
	b = wire.AppendString(append(b, `,"type":"message","role":"assistant","model":`...), a.Model)
	b = wire.AppendString(append(b, `,"content":[{"type":"text","text":`...), a.Text)
	b = append(b, `}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":0,"output_tokens":0},"x_backstop":`...)
	return append(append(b, edit.Note(&a.Note)...), '}')
}

// Annotate adds the x_backstop object to a plain body, in place of one that
// is there. Without a note, or with a body that is no object, it is body.
func (Room) Annotate(body []byte, n *wire.Note) []byte {
	if n == nil || !wire.ValidJSON(body) || !gjson.ParseBytes(body).IsObject() {
		return body
	}
	return edit.SetMember(body, "x_backstop", string(edit.Note(n)))
}

// Content returns the text of a message and, in the words that all rooms
// share (stop, length, …), why it ended. It is not ok where text is not the
// answer: a tool call, a refusal, no message.
func (Room) Content(body []byte) (text, finish string, ok bool) {
	root, content := contentOf(body)
	finish = finishOf(root.Get("stop_reason").Str).Name
	called := false
	content.ForEach(func(_, v gjson.Result) bool {
		switch v.Get("type").Str {
		case "text":
			text += v.Get("text").Str
			ok = true
		case "tool_use":
			called = true
		}
		return true
	})
	return text, finish, ok && !called && finish != "content_filter"
}

func contentOf(body []byte) (root, content gjson.Result) {
	if !wire.ValidJSON(body) {
		return
	}
	root = gjson.ParseBytes(body)
	if content = root.Get("content"); !root.IsObject() || !content.IsArray() {
		content = gjson.Result{}
	}
	return
}

// Replace returns body with its text exchanged: the first text block gets all
// of it, further ones go. Every other byte stays.
func (Room) Replace(body []byte, text string) []byte {
	_, content := contentOf(body)
	e := edit.New(body)
	seen, before := false, -1 // end of the block before
	content.ForEach(func(_, v gjson.Result) bool {
		end := v.Index + len(v.Raw)
		if v.Get("type").Str == "text" {
			if seen {
				e.Splice(before, end, "")
			} else if t := v.Get("text"); t.Type == gjson.String {
				seen = true
				e.Replace(t, edit.Quoted(text))
			}
		}
		before = end
		return true
	})
	return e.Apply()
}
