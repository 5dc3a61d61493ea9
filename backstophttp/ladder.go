package backstophttp

import (
	"slices"

	"backstop"
	"backstop/jsonfix"
	"backstop/wire"
)

// review is what became of the promised JSON in one answer.
type review struct {
	mended []wire.Piece
	codes  []string // kinds of repairs
	wrong  []breach
	cut    bool // a document was cut and has been closed
	lost   bool // one was cut and cannot be closed as was promised
	strict bool // a breach leaves nothing that can be delivered
	theirs bool // a breach is not of the caller's own schema
}

// breach is one reason why an answer is not what was promised.
type breach struct {
	call int // place of the tool call, wire.NoCall = the text
	jsonfix.Violation
}

// keepPromise holds a whole answer against what was promised: valid JSON stays
// byte for byte, damage is mended and reported, and what cannot be mended
// without making something up is garbled. What was cut off is never asked for
// again at the same place: it would be cut again.
func (r *run) keepPromise(a *attempt, o backstop.Outcome) backstop.Outcome {
	if o.Class != backstop.OK || !r.promised() && !r.req.Tools {
		return o
	}
	var v review
	for _, p := range pieces(a) {
		v.piece(r, p)
	}
	if len(v.mended) > 0 {
		a.whole = mended(a, v.mended)
	}
	a.repaired, a.truncated, a.wrong = v.codes, v.cut, v.wrong
	switch {
	case len(v.wrong) > 0:
		o = notJSON(o)
		o.OwnSchema = !v.theirs
		o.Spare = !v.strict && !v.cut && !v.lost
		return o
	case v.lost:
		return cutShort(o, false)
	case v.cut && !r.vow.mark:
		return cutShort(o, true)
	}
	return o
}

// piece takes in one piece of the answer.
func (v *review) piece(r *run, p wire.Piece) {
	var res jsonfix.Result
	switch {
	case p.Call != wire.NoCall:
		res = r.inspectArguments(p.Tool, p.Text)
	case r.promised():
		res = r.inspect(p.Text)
	default:
		return
	}
	end := wire.FinishOf(p.Finish).Kind
	switch {
	case res.Status == jsonfix.StatusValid:
	case res.Truncated && p.Call != wire.NoCall && !r.unfinishedCalls():
		p.Cut, v.cut = true, true // left as it is, which the caller's room leaves out
		v.mended = append(v.mended, p)
	case res.Status == jsonfix.StatusRepaired:
		v.note(res.Repairs)
		v.cut = v.cut || res.Truncated
		p.Text, p.Cut = string(res.JSON), res.Truncated
		v.mended = append(v.mended, p)
	case end == wire.FinishFilter: // a refusal in the middle is the caller's answer
	case (end == wire.FinishLength || res.Truncated) && p.Call != wire.NoCall:
		p.Cut, v.cut = true, true // cannot be closed; its finish reason says enough
		v.mended = append(v.mended, p)
	case end == wire.FinishLength || res.Truncated:
		v.lost = true
	default:
		v.strict = v.strict || p.Call == wire.NoCall || !r.proposes(p.Tool, &res)
		v.theirs = v.theirs || !r.brought(p.Call, &res)
		v.refused(p.Call, &res)
	}
}

// brought reports whether a refused text is JSON and breaks nothing but a
// schema that the caller brought: nothing may satisfy that.
func (r *run) brought(call int, res *jsonfix.Result) bool {
	return res.Reason == jsonfix.SchemaViolated && (call != wire.NoCall || r.vow.own != 0)
}

func (v *review) refused(call int, res *jsonfix.Result) {
	if len(res.Violations) == 0 {
		v.wrong = append(v.wrong, breach{call, jsonfix.Violation{Reason: string(res.Reason)}})
	}
	for _, x := range res.Violations {
		v.wrong = append(v.wrong, breach{call, x})
	}
}

// note adds the kinds of repairs, each once.
func (v *review) note(list []jsonfix.RepairNote) { v.codes = kinds(v.codes, list) }

func kinds(codes []string, list []jsonfix.RepairNote) []string {
	for _, x := range list {
		if code := string(x.Code); !slices.Contains(codes, code) {
			codes = append(codes, code)
		}
	}
	return codes
}

// pieces lists the texts of an answer.
func pieces(a *attempt) []wire.Piece {
	if room, ok := a.room.(wire.Mender); ok {
		return room.Pieces(a.whole)
	}
	text, finish, ok := a.room.Content(a.whole)
	if !ok {
		return nil // a refusal or a tool call: no text, no promise about it
	}
	return []wire.Piece{{Call: wire.NoCall, Text: text, Finish: finish}}
}

// mended is the answer with the texts exchanged.
func mended(a *attempt, list []wire.Piece) []byte {
	if room, ok := a.room.(wire.Mender); ok {
		return room.Mend(a.whole, list)
	}
	return a.room.Replace(a.whole, list[0].Text)
}

// notJSON makes of an outcome that of an answer which is not what was promised.
func notJSON(o backstop.Outcome) backstop.Outcome {
	o.Class, o.Kind, o.Counts = backstop.Garbled, backstop.KindJSON, backstop.CountsQuality
	o.RetrySame, o.NextTier = false, true
	return o
}

// cutShort makes of an outcome that of an answer which was cut: nobody's
// failure. A spare one is delivered, marked, if there is no better.
func cutShort(o backstop.Outcome, spare bool) backstop.Outcome {
	o.Class, o.Kind, o.Counts = backstop.Garbled, backstop.KindTruncated, backstop.CountsNone
	o.RetrySame, o.NextTier, o.Spare = false, true, spare
	return o
}
