package gemini

import (
	"strings"

	"github.com/tidwall/gjson"

	"backstop/wire"
	"backstop/wire/internal/edit"
)

var (
	_ wire.Mender = Room{}
	_ wire.Asker  = Room{}
)

// maxPieces bounds how many pieces of a body are looked at; what is beyond them
// stays as it is.
const maxPieces = 4096

// Pieces implements wire.Mender. The arguments of a function call are an
// object of the body: their text is always JSON.
func (m Room) Pieces(body []byte) (list []wire.Piece) {
	c, _ := parseData(body)
	n := 0
	c.candidates.ForEach(func(_, v gjson.Result) bool {
		list = append(list, candidatePieces(n, v)...)
		n++
		return len(list) < maxPieces
	})
	return list
}

// candidatePieces lists the pieces of the candidate at a place.
func candidatePieces(place int, v gjson.Result) (list []wire.Piece) {
	base := wire.Piece{Choice: place, Call: wire.NoCall, Finish: finish(v)}
	var text strings.Builder
	spoken := false
	eachPart(v, func(part gjson.Result, kind pieceKind, _ int) {
		switch {
		case kind == pieceCall && len(list) < maxPieces:
			p := base
			p.Call, p.Text, p.Tool = len(list), part.Get("functionCall.args").Raw, part.Get("functionCall.name").Str
			list = append(list, p)
		case answers(part, kind):
			spoken = true
			text.WriteString(part.Get("text").Str)
		}
	})
	if len(list) == 0 && spoken {
		base.Text = text.String()
		list = append(list, base)
	}
	return list
}

// Mend implements wire.Mender. Arguments that are no object stay as they were.
func (m Room) Mend(body []byte, pieces []wire.Piece) []byte {
	given := make(map[[2]int]*wire.Piece, len(pieces))
	for i := range pieces {
		given[[2]int{pieces[i].Choice, pieces[i].Call}] = &pieces[i]
	}
	c, _ := parseData(body)
	e := edit.New(body)
	n := -1
	c.candidates.ForEach(func(_, v gjson.Result) bool {
		n++
		cut, args := false, map[int]string{}
		for _, p := range candidatePieces(n, v) {
			x := given[[2]int{p.Choice, p.Call}]
			if x == nil {
				continue
			}
			cut = cut || x.Cut
			switch input, ok := inputOf(x.Text); {
			case x.Text == p.Text:
			case p.Call == wire.NoCall:
				exchange(e, v, x.Text)
			case ok:
				args[p.Call] = input
			}
		}
		argue(e, v, args)
		if reason := v.Get("finishReason"); cut && reason.Exists() && (finish(v) == "" || finishOf(finish(v)).Kind == wire.FinishGood) {
			e.Replace(reason, `"MAX_TOKENS"`)
		}
		return n < maxPieces
	})
	return e.Apply()
}

// argue puts other arguments into a candidate's function calls.
func argue(e *edit.Edits, candidate gjson.Result, args map[int]string) {
	n := 0
	eachPart(candidate, func(part gjson.Result, kind pieceKind, _ int) {
		if kind != pieceCall {
			return
		}
		if text, ok := args[n]; ok && part.Get("functionCall.args").Exists() {
			e.Replace(part.Get("functionCall.args"), text)
		}
		n++
	})
}
