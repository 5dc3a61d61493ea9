package responses

import (
	"strings"

	"github.com/tidwall/gjson"

	"backstop"
	"backstop/wire"
	"backstop/wire/internal/edit"
	"backstop/wire/internal/follow"
)

var _ wire.Asker = Room{}

// Continue implements wire.Continuer. The text goes to the end of the input as
// the assistant's: alone for an upstream with the quirk prefill that is asked
// for a chat, else followed by the instruction to go on.
func (Room) Continue(r *wire.Request, u *backstop.Upstream, model string, text []byte) (*wire.Request, *backstop.Outcome) {
	if r.Pinned || strings.TrimSpace(string(text)) == "" {
		return nil, cannotTake("", "such an answer has no rest")
	}
	vendor, _ := wire.Profile(u.Vendor)
	native := vendor.Responses && u.Dialect == backstop.OpenAI
	turns := turn("assistant", string(text))
	if native || !wire.QuirksOf(u, model).Prefill || strings.TrimSpace(string(text[len(text)-1:])) == "" {
		turns += "," + turn("user", follow.GoOn)
	}
	return extended(r, turns)
}

// Ask implements wire.Asker: the text is the user's last message.
func (Room) Ask(r *wire.Request, text string) (*wire.Request, *backstop.Outcome) {
	return extended(r, turn("user", text))
}

func turn(role, text string) string {
	return `{"role":"` + role + `","content":` + edit.Quoted(text) + `}`
}

// extended is a request with more at the end of its input. Input that is one
// text becomes the first message of a list.
func extended(r *wire.Request, turns string) (*wire.Request, *backstop.Outcome) {
	o := edit.Open(r.Body)
	input := o.Find("input")
	switch {
	case input == nil:
		return nil, cannotTake("input", "a call without input cannot be added to")
	case input.Val.Type == gjson.String:
		o.Replace(input.Val, "["+turn("user", input.Val.Str)+","+turns+"]")
	case input.Val.IsArray():
		if input.Val.Get("0").Exists() {
			turns = "," + turns
		}
		end := input.Val.Index + len(input.Val.Raw) - 1
		o.Splice(end, end, turns)
	default:
		return nil, cannotTake("input", "the input cannot be added to")
	}
	more := *r
	more.Body = o.Apply()
	return &more, nil
}
