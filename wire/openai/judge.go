package openai

import (
	"bytes"

	"backstop"
	"backstop/wire"
)

// JudgeBody judges a 200 answer to a request that wanted one body: a chat or
// text completion, embeddings, or a Responses object. Everything that is not
// a whole answer of that kind goes on to wire.Judge.
//
// Class OK, and Refused with Status 200, mean that the body is an answer for
// the caller; Passthrough then tells whether it may go out as it is, or has a
// finish reason that must be renamed first. White space in front of the JSON
// is no fault.
func (Room) JudgeBody(_ *wire.Request, a *wire.Reply) backstop.Outcome {
	top, ok := root(a.Body)
	if !ok {
		return wire.Judge(a)
	}
	p := readParts(a.Body, top)
	var o backstop.Outcome
	switch {
	case p.faulty:
		o = wire.Judge(a)
	case p.choices.there():
		o = judgeChoices(a, p.choices)
	case p.data.there():
		o = wire.Good(a, true)
	case p.output.there():
		o = judgeOutput(a, top, p.output)
	default:
		o = wire.Judge(a)
	}
	o.InputTokens, o.OutputTokens = p.tokens(a.Body)
	return o
}

// JudgeEvent judges one event of a 200 stream: error events in any of the
// vendors' forms, and chunks with a finish reason that is a fault. An event
// without fault is OK. a.Surface says whether a token came before it.
func JudgeEvent(_ *wire.Request, a *wire.Reply) backstop.Outcome {
	if a.Event == "error" {
		return wire.Judge(a)
	}
	if data := bytes.TrimSpace(a.Body); len(data) == 0 || bytes.Equal(data, []byte("[DONE]")) {
		return wire.Good(a, true)
	}
	if top, ok := root(a.Body); ok {
		if p := readParts(a.Body, top); p.harmless() {
			return judgeDelta(a, p.choices)
		}
	}
	return wire.Judge(a)
}

// judgeDelta looks for finish reasons that are faults.
func judgeDelta(a *wire.Reply, choices span) backstop.Outcome {
	if choices.there() {
		for e := inArray(a.Body, choices); e.next(); {
			reason := str(a.Body, member(a.Body, e.val, "finish_reason"))
			if reason != "" && wire.FinishOf(reason).Kind == wire.FinishFault {
				return wire.JudgeFinish(a, reason)
			}
		}
	}
	return wire.Good(a, true)
}

// parts are the members of a body that decide what it is.
type parts struct {
	choices span // an array that is not empty
	data    span // likewise: embeddings
	output  span // an array: a Responses object
	usage   span
	faulty  bool // it calls itself an error
	named   bool // it has an object or type that is not an error's
}

// harmless: an event of a stream that is no error.
func (p *parts) harmless() bool {
	return !p.faulty && (p.named || p.choices.there() || p.usage.there())
}

func (p *parts) tokens(b []byte) (input, output int) {
	if !p.usage.there() {
		return -1, -1
	}
	return reported(b, p.usage)
}

func readParts(b []byte, top span) (p parts) {
	for m := inObject(b, top); m.next(); {
		v := m.val
		switch string(m.name()) {
		case "choices":
			if holds(b, v, '[') {
				p.choices = v
			}
		case "data":
			if holds(b, v, '[') {
				p.data = v
			}
		case "output":
			if v.is(b, '[') {
				p.output = v
			}
		case "usage":
			if v.is(b, '{') {
				p.usage = v
			}
		case "prompt_filter_results":
			p.named = true
		default:
			p.fault(b, m.name(), v)
		}
	}
	if p.choices.there() {
		p.faulty = p.faulty || holds(b, member(b, firstOf(b, p.choices), "error"), '{')
	}
	return p
}

// fault reads the members that call a body an error, in the forms of all
// vendors: an error object or text, MiniMax's base_resp, a type or object of
// that name, and a failed Responses object.
func (p *parts) fault(b []byte, name []byte, v span) {
	switch string(name) {
	case "error":
		p.faulty = p.faulty || holds(b, v, '{') || v.filled(b)
	case "base_resp":
		if code := member(b, v, "status_code"); !code.null(b) {
			word := string(code.of(b))
			p.faulty = p.faulty || word != "0" && word != `"0"`
		}
	case "object", "type":
		kind := str(b, v)
		p.faulty = p.faulty || kind == "error" || kind == "response.failed"
		p.named = p.named || kind != ""
	case "response":
		p.faulty = p.faulty || holds(b, member(b, v, "error"), '{')
	}
}

// holds reports whether a value is an object or array, as open says, with
// something in it.
func holds(b []byte, v span, open byte) bool {
	return v.is(b, open) && skipSpace(b, v.from+1) < v.to-1
}

func firstOf(b []byte, list span) span {
	e := inArray(b, list)
	e.next()
	return e.val
}

// answered is what the choices of a body add up to.
type answered struct {
	good, renamed, refused, shaped, lost bool

	fault, stopped string // finish reasons
}

func judgeChoices(a *wire.Reply, choices span) backstop.Outcome {
	var sum answered
	for e := inArray(a.Body, choices); e.next(); {
		sum.add(readChoice(a.Body, e.val, a.Crosses()))
	}
	switch {
	case sum.fault != "":
		return wire.JudgeFinish(a, sum.fault)
	case sum.good:
		return wire.Good(a, !sum.renamed)
	case sum.stopped != "":
		return wire.JudgeFinish(a, sum.stopped)
	case sum.refused:
		return wire.JudgeRefusal(a)
	case !sum.shaped:
		return wire.Judge(a)
	case sum.lost:
		return wire.JudgeForeign(a)
	}
	return wire.JudgeBlank(a)
}

func (s *answered) add(c choice) {
	f := wire.FinishOf(c.finish)
	s.shaped, s.lost = s.shaped || c.shaped, s.lost || c.lost
	switch {
	case c.finish != "" && f.Kind == wire.FinishFault:
		s.fault = c.finish
	case f.Kind == wire.FinishFilter:
		s.stopped = c.finish
	case c.shaped && (c.content || f.Kind == wire.FinishLength):
		s.good = true
		s.renamed = s.renamed || c.finish != "" && f.Name != c.finish
	case c.refusal:
		s.refused = true
	}
}

// choice is one answer of several.
type choice struct {
	finish  string
	content bool // text, a tool call, audio or an image
	lost    bool // something that has no form in the caller's dialect
	refusal bool
	shaped  bool // it has a message, a text or a delta
}

func readChoice(b []byte, s span, crosses bool) (c choice) {
	if !s.is(b, '{') {
		return c
	}
	for m := inObject(b, s); m.next(); {
		switch v := m.val; string(m.name()) {
		case "finish_reason":
			c.finish = str(b, v)
		case "text":
			c.shaped = true
			c.content = c.content || v.filled(b)
		case "message", "delta":
			if v.is(b, '{') {
				c.shaped = true
				c.readMessage(b, v, crosses)
			}
		}
	}
	return c
}

// readMessage reads what a message holds. What is neither text nor a call has
// no form in another dialect.
func (c *choice) readMessage(b []byte, s span, crosses bool) {
	for m := inObject(b, s); m.next(); {
		switch v := m.val; string(m.name()) {
		case "content":
			parts := holds(b, v, '[')
			alien := parts && crosses && !holdsText(b, v)
			c.content, c.lost = c.content || v.filled(b) || parts && !alien, c.lost || alien
		case "tool_calls":
			c.content = c.content || holds(b, v, '[')
		case "images":
			c.brings(holds(b, v, '['), crosses)
		case "function_call":
			c.content = c.content || holds(b, v, '{')
		case "audio":
			c.brings(holds(b, v, '{'), crosses)
		case "refusal":
			c.refusal = c.refusal || v.filled(b)
		}
	}
}

// brings takes in something that only this dialect has a form for.
func (c *choice) brings(there, crosses bool) {
	c.content, c.lost = c.content || there && !crosses, c.lost || there && crosses
}

// holdsText reports whether there is a text among the parts of a content.
func holdsText(b []byte, parts span) bool {
	for e := inArray(b, parts); e.next(); {
		if member(b, e.val, "text").filled(b) {
			return true
		}
	}
	return false
}

// judgeOutput judges a Responses object.
func judgeOutput(a *wire.Reply, top, output span) backstop.Outcome {
	b := a.Body
	reason := str(b, member(b, member(b, top, "incomplete_details"), "reason"))
	switch {
	case str(b, member(b, top, "status")) == "failed":
		return wire.Judge(a)
	case reason == "content_filter":
		return wire.JudgeRefusal(a)
	case holds(b, output, '[') || reason != "":
		return wire.Good(a, true)
	}
	return wire.JudgeBlank(a)
}
