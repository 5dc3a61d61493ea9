package responses

import (
	"strings"

	"github.com/tidwall/gjson"

	"backstop/wire"
	"backstop/wire/internal/edit"
)

// Compose makes a plain body from a local answer: one message, completed,
// usage of zeros, and the x_backstop object.
func (Room) Compose(r *wire.Request, a *wire.Answer) []byte {
	m := &wire.Message{ID: a.ID, Model: a.Model, Created: a.Created, Choices: []wire.Choice{{
		Ending: wire.EndStop, Parts: []wire.Part{{Kind: wire.PartText, Text: a.Text}},
	}}}
	if r != nil {
		m.Asked = r.Body
	}
	m.Usage.Cached, m.Usage.Stored, m.Usage.Reasoning = 0, -1, 0
	b, _ := Room{}.EncodeBody(m) // one choice can always be written
	return edit.SetMember(b, "x_backstop", string(edit.Note(&a.Note)))
}

// Annotate adds the x_backstop object to a plain body, in place of one that
// is there. Without a note, or with a body that is no object, it is body.
func (Room) Annotate(body []byte, n *wire.Note) []byte {
	if n == nil || !wire.ValidJSON(body) || !gjson.ParseBytes(body).IsObject() {
		return body
	}
	return edit.SetMember(body, "x_backstop", string(edit.Note(n)))
}

// outputOf finds the output of an answer; it does not exist in what is none.
func outputOf(body []byte) (root, output gjson.Result) {
	if !wire.ValidJSON(body) {
		return
	}
	root = gjson.ParseBytes(body)
	if output = root.Get("output"); !root.IsObject() || !output.IsArray() {
		output = gjson.Result{}
	}
	return
}

// texts visits the texts of the answer itself: what a model says on its way to
// it ("commentary") is none of it, if there is more.
func texts(output gjson.Result, visit func(text gjson.Result)) {
	commented := false
	for _, item := range output.Array() {
		commented = commented || item.Get("type").Str == "message" && item.Get("phase").Str != "commentary"
	}
	output.ForEach(func(_, item gjson.Result) bool {
		if item.Get("type").Str != "message" || commented && item.Get("phase").Str == "commentary" {
			return true
		}
		item.Get("content").ForEach(func(_, part gjson.Result) bool {
			if text := part.Get("text"); part.Get("type").Str == "output_text" && text.Type == gjson.String {
				visit(text)
			}
			return true
		})
		return true
	})
}

// Content returns the text of an answer and, in the words that all rooms share
// (stop, length, tool_calls, content_filter), why it ended. It is not ok where
// text is not the answer: a tool call, a refusal, no answer.
func (Room) Content(body []byte) (text, finish string, ok bool) {
	root, output := outputOf(body)
	c := countOf(output)
	finish = finishWord(root, &c)
	var all strings.Builder
	texts(output, func(t gjson.Result) {
		all.WriteString(t.Str)
		ok = true
	})
	return all.String(), finish, ok && !c.called && !c.refused && finish != "content_filter"
}

func finishWord(root gjson.Result, c *counted) string {
	switch end, _ := endOf(root); {
	case end == wire.EndLength:
		return "length"
	case end == wire.EndRefusal:
		return "content_filter"
	case c.called:
		return "tool_calls"
	}
	return "stop"
}

// Replace returns body with its text exchanged: the first text gets all of it,
// further ones become empty. Every other byte stays.
func (Room) Replace(body []byte, text string) []byte {
	_, output := outputOf(body)
	e := edit.New(body)
	replaceTexts(e, output, text)
	return e.Apply()
}

func replaceTexts(e *edit.Edits, output gjson.Result, text string) {
	texts(output, func(t gjson.Result) {
		e.Replace(t, edit.Quoted(text))
		text = ""
	})
}
