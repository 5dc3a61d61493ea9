package anthropic

import (
	"github.com/tidwall/gjson"

	"backstop"
	"backstop/wire"
	"backstop/wire/internal/intake"
)

// JudgeBody judges a 200 answer to a request that wanted one body: a message,
// or a count of tokens. Everything that is not a whole answer of that kind
// goes on to wire.Judge.
//
// Class OK, and Refused with Status 200, mean that the body is an answer for
// the caller; Passthrough tells whether it may go out as it is, or has a stop
// reason that must be renamed first.
func (Room) JudgeBody(r *wire.Request, a *wire.Reply) backstop.Outcome {
	if !wire.ValidJSON(a.Body) {
		return wire.Judge(a)
	}
	root := gjson.ParseBytes(a.Body)
	if r != nil && r.Op == wire.CountTokens {
		if n := root.Get("input_tokens"); n.Type == gjson.Number && n.Num >= 0 {
			return wire.Good(a, true)
		}
		return wire.Judge(a)
	}
	content := root.Get("content")
	if !root.IsObject() || intake.Filled(root.Get("error")) || root.Get("type").Str == "error" || !content.IsArray() {
		return wire.Judge(a)
	}
	o := judgeMessage(a, root, content)
	u := usageOf(root.Get("usage"))
	o.InputTokens, o.OutputTokens = u.Input, u.Output
	return o
}

func judgeMessage(a *wire.Reply, root, content gjson.Result) backstop.Outcome {
	reason := root.Get("stop_reason").Str
	f := finishOf(reason)
	said, lost := false, false
	content.ForEach(func(_, block gjson.Result) bool {
		switch block.Get("type").Str {
		case "text":
			said = block.Get("text").Str != ""
		case "thinking", "redacted_thinking":
		case "tool_use":
			said = true
		default:
			said, lost = !a.Crosses(), a.Crosses()
		}
		return !said
	})
	switch {
	case reason != "" && f.Kind == wire.FinishFault:
		return wire.JudgeFinish(a, reason)
	case f.Kind == wire.FinishFilter:
		o := wire.JudgeRefusal(a)
		if a.Caller == a.Dialect && a.Surface == wire.SurfaceBody {
			o.Passthrough, o.Body = ownReason(reason) == reason, a.Body
		}
		return o
	case !said && lost && f.Kind != wire.FinishLength && reason != "pause_turn":
		return wire.JudgeForeign(a)
	case !said && f.Kind != wire.FinishLength && reason != "pause_turn":
		return wire.JudgeBlank(a)
	}
	return wire.Good(a, reason == ownReason(reason))
}
