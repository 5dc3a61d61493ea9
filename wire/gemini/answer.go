package gemini

import (
	"strings"

	"github.com/tidwall/gjson"

	"backstop/wire"
	"backstop/wire/internal/edit"
)

// Compose makes a plain body from a local answer: one text, finish reason
// STOP, usage of zeros, and the x_backstop object. A count of tokens has no
// local answer: nil.
func (Room) Compose(r *wire.Request, a *wire.Answer) []byte {
	if r != nil && r.Op == wire.CountTokens {
		return nil
	}
	b := wire.AppendString([]byte(`{"candidates":[{"content":{"parts":[{"text":`), a.Text)
	b = append(b, `}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":0,"candidatesTokenCount":0,"totalTokenCount":0},"modelVersion":`...)
	b = wire.AppendString(append(wire.AppendString(b, a.Model), `,"responseId":`...), a.ID)
	return append(append(append(b, `,"x_backstop":`...), edit.Note(&a.Note)...), '}')
}

// Annotate adds the x_backstop object to a plain body, in place of one that
// is there. Without a note, or with a body that is no object, it is body.
func (Room) Annotate(body []byte, n *wire.Note) []byte {
	if n == nil || !wire.ValidJSON(body) || !gjson.ParseBytes(body).IsObject() {
		return body
	}
	return edit.SetMember(body, "x_backstop", string(edit.Note(n)))
}

// Explode turns a plain body into the events of the same answer, without
// frames: one, since an answer and an event of one have the same form. What is
// no answer gives nil.
func (Room) Explode(_ *wire.Request, body []byte) [][]byte {
	if _, ok := parseData(body); !ok {
		return nil
	}
	return [][]byte{edit.OneLine(body)}
}

// Content returns the text of the first candidate and, in the words that all
// rooms share (stop, length, …), why it ended. It is not ok where text is not
// the answer: a function call, a refusal, no answer.
func (Room) Content(body []byte) (text, reason string, ok bool) {
	c, _ := parseData(body)
	first := c.candidates.Get("0")
	if !first.IsObject() {
		if c.blocked() {
			reason = "content_filter"
		}
		return "", reason, false
	}
	var all strings.Builder
	called := false
	eachPart(first, func(part gjson.Result, kind pieceKind, _ int) {
		called = called || kind == pieceCall
		if answers(part, kind) {
			ok = true
			all.WriteString(part.Get("text").Str)
		}
	})
	if reason = finishOf(finish(first)).Name; finish(first) == "" {
		reason = ""
	}
	if called && reason == "stop" {
		reason = "tool_calls"
	}
	return all.String(), reason, ok && !called && reason != "content_filter"
}

// answers reports whether a part is text of the answer, be it empty.
func answers(part gjson.Result, kind pieceKind) bool {
	return kind != pieceCall && part.Get("text").Type == gjson.String && part.Get("thought").Type != gjson.True
}

// Replace returns body with its text exchanged: the first text of the first
// candidate gets all of it, further ones go. Every other byte stays.
func (Room) Replace(body []byte, text string) []byte {
	c, _ := parseData(body)
	e := edit.New(body)
	exchange(e, c.candidates.Get("0"), text)
	return e.Apply()
}

// exchange puts text in the place of a candidate's.
func exchange(e *edit.Edits, candidate gjson.Result, text string) {
	done, before := false, -1 // end of the part before
	eachPart(candidate, func(part gjson.Result, kind pieceKind, _ int) {
		end := part.Index + len(part.Raw)
		if answers(part, kind) {
			v := part.Get("text")
			_, plain := plainPart(part)
			switch {
			case !done:
				done = true
				e.Replace(v, edit.Quoted(text))
			case plain:
				e.Splice(before, end, "")
			default:
				e.Replace(v, `""`) // its signature stays
			}
		}
		before = end
	})
}
