package gemini

import (
	"strings"

	"backstop"
	"backstop/wire"
)

// goOn asks a model that takes no beginning of its answer for the rest of one.
const goOn = "Your answer above was cut off. Continue it from exactly where it stops. " +
	"Do not repeat any of it, do not comment on the interruption and do not begin anew."

// Continue implements wire.Continuer. The text goes to the end of the contents
// as the model's: alone for an upstream with the quirk prefill, else followed
// by the instruction to go on.
func (Room) Continue(r *wire.Request, u *backstop.Upstream, model string, text []byte) (*wire.Request, *backstop.Outcome) {
	if r.Op != wire.Chat || strings.TrimSpace(string(text)) == "" {
		return nil, cannotTake("", "such an answer has no rest")
	}
	turns := `{"role":"model","parts":[{"text":` + quoted(string(text)) + `}]}`
	if !wire.QuirksOf(u, model).Prefill {
		turns += "," + said(goOn)
	}
	return addTurns(r, turns)
}

// Ask implements wire.Asker. What the caller says last goes on: two turns of
// one speaker would be read as one anyway.
func (Room) Ask(r *wire.Request, text string) (*wire.Request, *backstop.Outcome) {
	if r.Op != wire.Chat {
		return nil, cannotTake("", "such a call has no second question")
	}
	return addTurns(r, said(text))
}

func said(text string) string { return `{"role":"user","parts":[{"text":` + quoted(text) + `}]}` }

// addTurns puts turns behind the contents.
func addTurns(r *wire.Request, turns string) (*wire.Request, *backstop.Outcome) {
	o := openRequest(r.Body)
	m := o.top.find("contents")
	if m == nil || !m.val.IsObject() && !m.val.Get("0").Exists() {
		return nil, cannotTake("contents", "the contents cannot be added to")
	}
	if end := m.val.Index + len(m.val.Raw); m.val.IsObject() {
		o.splice(m.val.Index, m.val.Index, "[")
		o.splice(end, end, ","+turns+"]")
	} else {
		o.splice(end-1, end-1, ","+turns)
	}
	more := *r
	more.Body = o.apply()
	return &more, nil
}
