package responses

import (
	"github.com/tidwall/gjson"

	"backstop"
	"backstop/wire"
	"backstop/wire/internal/intake"
)

// JudgeBody judges a 200 answer to a request that wanted one body. Everything
// that is not a whole answer goes on to wire.Judge.
//
// Class OK, and Refused with Status 200, mean that the body is an answer for
// the caller. One that is to be made in the background is an answer as soon as
// it is queued.
func (Room) JudgeBody(_ *wire.Request, a *wire.Reply) backstop.Outcome {
	a = own(a)
	if !wire.ValidJSON(a.Body) {
		return wire.Judge(a)
	}
	root := gjson.ParseBytes(a.Body)
	output := root.Get("output")
	if !root.IsObject() || intake.Filled(root.Get("error")) || !output.IsArray() {
		return wire.Judge(a)
	}
	o := judgeAnswer(a, root, output)
	u := usageOf(root.Get("usage"))
	o.InputTokens, o.OutputTokens = u.Input, u.Output
	return o
}

// own is an answer as one of this dialect. An upstream that serves it is one
// of the OpenAI dialect otherwise, but what it says here is in this form.
func own(a *wire.Reply) *wire.Reply {
	if a.Dialect == backstop.Responses {
		return a
	}
	mine := *a
	mine.Dialect = backstop.Responses
	return &mine
}

func judgeAnswer(a *wire.Reply, root, output gjson.Result) backstop.Outcome {
	end, fault := endOf(root)
	if fault != "" {
		return wire.JudgeFinish(a, fault)
	}
	c := countOf(output)
	switch {
	case end == wire.EndPause:
		if root.Get("background").Type == gjson.True {
			return wire.Good(a, true)
		}
		return wire.JudgeBlank(a) // it is not done and nobody will ask for it again
	case end == wire.EndRefusal, c.refused && !c.said:
		return wire.JudgeRefusal(a)
	case !c.said && end != wire.EndLength:
		return wire.JudgeBlank(a)
	}
	return wire.Good(a, true)
}

// endOf says how an answer ended, EndPause for one that has not; fault is the
// word for one that broke off, "" = it did not.
func endOf(response gjson.Result) (end wire.Ending, fault string) {
	switch status := response.Get("status").Str; status {
	case "incomplete":
		if response.Get("incomplete_details.reason").Str == "content_filter" {
			return wire.EndRefusal, ""
		}
		return wire.EndLength, ""
	case "queued", "in_progress":
		return wire.EndPause, ""
	case "completed", "":
		return wire.EndStop, ""
	case "failed", "cancelled":
		return "", "error"
	default:
		return "", status
	}
}

// counted is what an output adds up to.
type counted struct {
	said    bool // text, a tool call, or whatever a tool of the vendor's made
	refused bool // the model refuses in so many words
	called  bool // a function of the caller's is to be run
}

func countOf(output gjson.Result) (c counted) {
	output.ForEach(func(_, item gjson.Result) bool {
		switch item.Get("type").Str {
		case "reasoning":
		case "message":
			item.Get("content").ForEach(func(_, part gjson.Result) bool {
				c.said = c.said || part.Get("text").Str != ""
				c.refused = c.refused || part.Get("refusal").Str != ""
				return true
			})
		case "function_call", "custom_tool_call":
			c.said, c.called = true, true
		default:
			c.said = true
		}
		return true
	})
	return c
}

// usageOf reads a usage object; the input includes what came from a cache.
func usageOf(u gjson.Result) wire.Usage {
	v := wire.NoUsage()
	count := func(to *int, path string) {
		if n := u.Get(path); n.Type == gjson.Number && n.Num >= 0 && n.Num < 1<<40 {
			*to = int(n.Num)
		}
	}
	count(&v.Input, "input_tokens")
	count(&v.Output, "output_tokens")
	count(&v.Cached, "input_tokens_details.cached_tokens")
	count(&v.Stored, "input_tokens_details.cache_write_tokens")
	count(&v.Reasoning, "output_tokens_details.reasoning_tokens")
	return v
}
