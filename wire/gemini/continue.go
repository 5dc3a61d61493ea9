package gemini

import (
	"strings"

	"backstop"
	"backstop/wire"
	"backstop/wire/internal/edit"
	"backstop/wire/internal/follow"
)

// Continue implements wire.Continuer. The text goes to the end of the contents
// as the model's: alone for an upstream with the quirk prefill, else followed
// by the instruction to go on.
func (Room) Continue(r *wire.Request, u *backstop.Upstream, model string, text []byte) (*wire.Request, *backstop.Outcome) {
	if r.Op != wire.Chat || strings.TrimSpace(string(text)) == "" {
		return nil, cannotTake("", "such an answer has no rest")
	}
	turns := `{"role":"model","parts":[{"text":` + edit.Quoted(string(text)) + `}]}`
	if !wire.QuirksOf(u, model).Prefill {
		turns += "," + said(follow.GoOn)
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

func said(text string) string { return `{"role":"user","parts":[{"text":` + edit.Quoted(text) + `}]}` }

// addTurns puts turns behind the contents.
func addTurns(r *wire.Request, turns string) (*wire.Request, *backstop.Outcome) {
	o := openRequest(r.Body)
	m := o.top.Find("contents")
	if m == nil || !m.Val.IsObject() && !m.Val.Get("0").Exists() {
		return nil, cannotTake("contents", "the contents cannot be added to")
	}
	if end := m.Val.Index + len(m.Val.Raw); m.Val.IsObject() {
		o.Splice(m.Val.Index, m.Val.Index, "[")
		o.Splice(end, end, ","+turns+"]")
	} else {
		o.Splice(end-1, end-1, ","+turns)
	}
	more := *r
	more.Body = o.Apply()
	return &more, nil
}
