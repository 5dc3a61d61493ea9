package gemini

import (
	"github.com/tidwall/gjson"

	"backstop"
	"backstop/wire"
)

// JudgeBody judges a 200 answer to a request that wanted one body: an answer,
// or a count of tokens. Everything that is not a whole answer of that kind
// goes on to wire.Judge.
//
// Class OK, and Refused with Status 200, mean that the body is an answer for
// the caller; Passthrough tells whether it may go out as it is, or has a
// finish reason that must be renamed first.
func (Room) JudgeBody(r *wire.Request, a *wire.Reply) backstop.Outcome {
	if r != nil && r.Op == wire.CountTokens {
		if n := gjson.GetBytes(a.Body, "totalTokens"); wire.ValidJSON(a.Body) && n.Type == gjson.Number && n.Num >= 0 {
			return wire.Good(a, true)
		}
		return wire.Judge(a)
	}
	c, ok := parseData(a.Body)
	if !ok {
		return wire.Judge(a)
	}
	o := judgeAnswer(a, &c)
	u := usageOf(c.usage)
	o.InputTokens, o.OutputTokens = u.Input, u.Output
	return o
}

// judgeAnswer judges all candidates together: one that broke off spoils the
// answer, one that is worth something makes it good.
func judgeAnswer(a *wire.Reply, c *chunk) backstop.Outcome {
	s := summary{own: true, crosses: a.Crosses()}
	c.each(func(_ int, v gjson.Result) { s.add(v) })
	switch {
	case s.fault != "":
		return wire.JudgeFinish(a, s.fault)
	case s.n == 0 && c.blocked(), s.n > 0 && s.filtered == s.n:
		o := wire.JudgeRefusal(a)
		if a.Caller == a.Dialect && a.Surface == wire.SurfaceBody {
			o.Passthrough, o.Body = s.own, a.Body
		}
		return o
	case !s.said && !s.lawful && s.lost:
		return wire.JudgeForeign(a)
	case !s.said && !s.lawful:
		return wire.JudgeBlank(a)
	}
	return wire.Good(a, s.own)
}

// summary is what the candidates come to.
type summary struct {
	n, filtered int
	fault       string // a finish reason that is one, "" = none
	said        bool   // there is content
	lost        bool   // there is something that the caller's dialect has no form for
	lawful      bool   // a finish reason may stand without content
	crosses     bool   // other parts than text and calls have no form for the caller
	own         bool   // all finish reasons are the dialect's own words
}

func (s *summary) add(v gjson.Result) {
	s.n++
	eachPart(v, func(_ gjson.Result, kind pieceKind, _ int) {
		s.lost = s.lost || kind == pieceOther && s.crosses
		s.said = s.said || kind != pieceNone && kind != pieceThought && (kind != pieceOther || !s.crosses)
	})
	reason := finish(v)
	if reason == "" {
		return
	}
	s.own = s.own && ownReason(reason) == reason
	switch finishOf(reason).Kind {
	case wire.FinishFault:
		s.fault = reason
	case wire.FinishFilter:
		s.filtered++
		s.lawful = true
	case wire.FinishLength:
		s.lawful = true
	}
}
