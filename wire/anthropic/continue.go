package anthropic

import (
	"strings"

	"backstop"
	"backstop/wire"
)

// goOn asks a model that takes no beginning of its answer for the rest of one.
const goOn = "Your answer above was cut off. Continue it from exactly where it stops. " +
	"Do not repeat any of it, do not comment on the interruption and do not begin anew."

// Continue implements wire.Continuer. The text goes to the end of the messages
// as the assistant's: alone for an upstream with the quirk prefill, which must
// not end with white space, else followed by the instruction to go on.
func (Room) Continue(r *wire.Request, u *backstop.Upstream, model string, text []byte) (*wire.Request, *backstop.Outcome) {
	if r.Op != wire.Chat || strings.TrimSpace(string(text)) == "" {
		return nil, cannotTake("", "such an answer has no rest")
	}
	o := openObject(r.Body)
	list := o.find("messages")
	if list == nil || !list.val.Get("0").Exists() {
		return nil, cannotTake("messages", "the messages cannot be added to")
	}
	turn := `,{"role":"assistant","content":` + quoted(string(text)) + `}`
	if !wire.QuirksOf(u, model).Prefill || strings.TrimSpace(string(text[len(text)-1:])) == "" {
		turn += `,{"role":"user","content":` + quoted(goOn) + `}`
	}
	end := list.val.Index + len(list.val.Raw) - 1
	o.list = append(o.list, edit{end, end, turn})
	more := *r
	more.Body = o.apply()
	return &more, nil
}
