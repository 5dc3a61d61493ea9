package openai

import (
	"strconv"

	"backstop/wire"
	"backstop/wire/internal/edit"
)

// Compose makes a plain body from a local answer, with every field that the
// SDKs insist on: one choice, finish reason stop, usage of zeros, and the
// x_backstop object. Embeddings have no local answer: nil.
func (Room) Compose(r *wire.Request, a *wire.Answer) []byte {
	op := wire.Chat
	if r != nil {
		op = r.Op
	}
	if op == wire.Embedding {
		return nil
	}
	o := builder{}
	o.raw("id", appendString(nil, a.ID))
	o.raw("object", []byte(plainObject(op)))
	o.raw("created", strconv.AppendInt(nil, a.Created, 10))
	o.raw("model", appendString(nil, a.Model))
	o.name("choices")
	o.b = append(o.b, `[{"index":0,`...)
	if op == wire.Completion {
		o.b = appendString(append(o.b, `"text":`...), a.Text)
	} else {
		o.b = appendString(append(o.b, `"message":{"role":"assistant","content":`...), a.Text)
		o.b = append(o.b, `,"refusal":null}`...)
	}
	o.b = append(o.b, `,"logprobs":null,"finish_reason":"stop"}]`...)
	o.raw("usage", []byte(`{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}`))
	o.raw("x_backstop", edit.Note(&a.Note))
	o.end()
	return o.b
}

// Annotate adds the x_backstop object to a plain body, in place of one that
// is there. Without a note, or with a body that is no object, it is body.
func (Room) Annotate(body []byte, n *wire.Note) []byte {
	whole, ok := root(body)
	if n == nil || !ok {
		return body
	}
	return setMember(body, whole, "x_backstop", string(edit.Note(n)))
}

// Content returns the text and the finish reason of the first choice. It is
// not ok where there is no text: a tool call, a refusal, no completion. Text
// that comes as a list of parts is put together.
func (Room) Content(body []byte) (text, finish string, ok bool) {
	at, choice := contentAt(body)
	if !choice.there() {
		return "", "", false
	}
	finish = str(body, member(body, choice, "finish_reason"))
	switch {
	case at.is(body, '"'):
		return str(body, at), finish, true
	case at.is(body, '['):
		for e := inArray(body, at); e.next(); {
			if t := member(body, e.val, "text"); t.is(body, '"') {
				text += str(body, t)
				ok = true
			}
		}
	}
	return text, finish, ok
}

// Replace returns body with the text of the first choice exchanged, every
// other byte as it was; a body without a place for text is returned as it is.
func (Room) Replace(body []byte, text string) []byte {
	at, _ := contentAt(body)
	if !at.there() {
		return body
	}
	e := edits{b: body}
	e.replace(at, string(appendString(nil, text)))
	return e.apply()
}

// contentAt finds the text of the first choice, and the choice.
func contentAt(body []byte) (at, choice span) {
	whole, ok := root(body)
	if !ok {
		return
	}
	list := member(body, whole, "choices")
	if !list.is(body, '[') {
		return
	}
	e := inArray(body, list)
	if !e.next() || !e.val.is(body, '{') {
		return
	}
	choice = e.val
	if message := member(body, choice, "message"); message.is(body, '{') {
		return member(body, message, "content"), choice
	}
	return member(body, choice, "text"), choice
}
