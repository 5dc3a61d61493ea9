package anthropic

import (
	"strings"

	"backstop"
	"backstop/wire"
	"backstop/wire/internal/edit"
	"backstop/wire/internal/follow"
)

// Continue implements wire.Continuer. The text goes to the end of the messages
// as the assistant's: alone for an upstream with the quirk prefill, which must
// not end with white space, else followed by the instruction to go on.
func (Room) Continue(r *wire.Request, u *backstop.Upstream, model string, text []byte) (*wire.Request, *backstop.Outcome) {
	if r.Op != wire.Chat || strings.TrimSpace(string(text)) == "" {
		return nil, cannotTake("", "such an answer has no rest")
	}
	o := edit.Open(r.Body)
	list := o.Find("messages")
	if list == nil || !list.Val.Get("0").Exists() {
		return nil, cannotTake("messages", "the messages cannot be added to")
	}
	turn := `,{"role":"assistant","content":` + edit.Quoted(string(text)) + `}`
	if !wire.QuirksOf(u, model).Prefill || strings.TrimSpace(string(text[len(text)-1:])) == "" {
		turn += `,{"role":"user","content":` + edit.Quoted(follow.GoOn) + `}`
	}
	end := list.Val.Index + len(list.Val.Raw) - 1
	o.Splice(end, end, turn)
	more := *r
	more.Body = o.Apply()
	return &more, nil
}
