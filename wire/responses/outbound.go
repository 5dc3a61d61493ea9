package responses

import (
	"strconv"

	"backstop"
	"backstop/wire"
	"backstop/wire/internal/edit"
	"backstop/wire/internal/fit"
)

const path = "/responses"

// core parameters are the plan's and the room's business: no quirk drops,
// renames or sets them.
var core = map[string]bool{"model": true, "stream": true, "input": true}

// Outbound makes the request to an upstream that serves this form itself. The
// caller's bytes change in model, stream, what the step leaves out and what
// the upstream's quirks want; nothing to change = the same slice.
//
// The outcome is rejected/param with NextTier when the upstream cannot take
// the call at all.
func (Room) Outbound(r *wire.Request, u *backstop.Upstream, s *backstop.Step) (wire.Outbound, *backstop.Outcome) {
	out := wire.Outbound{Path: path, Body: r.Body, Stream: fit.Streamed(r, s)}
	name := s.Model
	if name == "" {
		name = r.Model
	}
	q := quirksOf(u, name)
	if cannot := q.cannot(r, s); cannot != nil {
		return out, cannot
	}
	if len(s.Without) == 0 && name == r.Model && out.Stream == r.Stream && !q.touches(r.Body) {
		return out, nil
	}
	o := edit.Open(r.Body)
	if name != r.Model {
		o.Set("model", edit.Quoted(name))
	}
	if out.Stream != r.Stream {
		o.Set("stream", strconv.FormatBool(out.Stream))
		if !out.Stream {
			o.Drop("stream_options")
		}
	}
	if !r.Pinned { // its issuer knows the ids
		q.history(o)
	}
	dropOwn(o)
	out.Dropped = q.apply(o)
	for _, name := range s.Without {
		o.Drop(name)
	}
	out.Body = o.Bytes()
	return out, nil
}

func cannotTake(param, message string) *backstop.Outcome {
	return &backstop.Outcome{
		Class: backstop.Rejected, Kind: backstop.KindParam, NextTier: true, NotSent: true,
		Param: param, Message: message, InputTokens: -1, OutputTokens: -1,
	}
}

// probeTokens is the least that the API takes.
const probeTokens = 16

// Probe makes the tiny request of a background probe: one short question, at
// most 16 tokens, nothing stored. It passes through the same quirks as a call.
func (m Room) Probe(p *backstop.Probe) wire.Outbound {
	r := &wire.Request{Dialect: backstop.Responses, Op: wire.Responses, Model: p.Model, Stream: p.Stream, Choices: 1}
	question := "Reply with one word: ok"
	if p.JSON {
		question = `Reply with this JSON object: {"ok":true}`
	}
	b := append([]byte(`{"model":`), edit.Quoted(p.Model)...)
	b = append(append(b, `,"input":`...), edit.Quoted(question)...)
	if p.JSON {
		b = append(b, `,"text":{"format":{"type":"json_object"}}`...)
	}
	b = strconv.AppendInt(append(b, `,"max_output_tokens":`...), probeTokens, 10)
	r.Body = append(strconv.AppendBool(append(b, `,"store":false,"stream":`...), r.Stream), '}')
	u := p.Upstream
	if u == nil {
		u = &backstop.Upstream{}
	}
	out, _ := m.Outbound(r, u, &backstop.Step{Upstream: u, Model: p.Model, Plain: !r.Stream})
	return out
}
