package openai

import (
	"slices"
	"strconv"

	"backstop"
	"backstop/wire"
	"backstop/wire/internal/fit"
)

var paths = map[wire.Op]string{wire.Chat: "/chat/completions", wire.Completion: "/completions", wire.Embedding: "/embeddings"}

// Outbound makes the request to an upstream of this dialect. The caller's
// bytes change in model, stream, stream_options, what the step leaves out and
// what the upstream's quirks want; nothing to change = the same slice.
//
// Usage is asked of every stream, unless stream_options is among the
// parameters that the upstream does not take. The outcome is rejected/param
// with NextTier when the upstream cannot take the call at all.
func (Room) Outbound(r *wire.Request, u *backstop.Upstream, s *backstop.Step) (wire.Outbound, *backstop.Outcome) {
	out := wire.Outbound{Path: paths[r.Op], Body: r.Body, Stream: r.Op != wire.Embedding && fit.Streamed(r, s)}
	name := s.Model
	if name == "" {
		name = r.Model
	}
	q := quirksOf(u, name)
	if cannot := q.cannot(r, s); cannot != nil {
		return out, cannot
	}
	same := len(s.Without) == 0 && name == r.Model && !q.touches(r.Body)
	if same && settled(r, out.Stream) {
		return out, nil
	}
	whole, ok := root(r.Body)
	if !ok {
		return out, cannotTake("", "the request body cannot be read: this is our own fault")
	}
	if same && r.Stream && out.Stream && !member(r.Body, whole, "stream_options").there() {
		// Most streams lack this and nothing else: one copy.
		end := whole.to - 1
		out.Body = slices.Concat(r.Body[:end], []byte(`,"stream_options":{"include_usage":true}`), r.Body[end:])
		return out, nil
	}
	o := openObject(r.Body, whole)
	if name != r.Model {
		o.Set("model", string(appendString(nil, name)))
	}
	q.history(o)
	setStream(o, out.Stream)
	out.Dropped = q.apply(o)
	for _, name := range s.Without {
		o.Drop(name)
	}
	out.Body = o.bytes()
	return out, nil
}

// settled reports whether stream and usage are already as they must be.
func settled(r *wire.Request, stream bool) bool {
	return stream == r.Stream && (!stream || r.UsageOn)
}

func setStream(o *object, on bool) {
	if !on {
		if i := o.find("stream"); i >= 0 && o.fields[i].val.is(o.b, 't') {
			o.Set("stream", "false")
		}
		o.Drop("stream_options")
		return
	}
	o.Set("stream", "true")
	i := o.find("stream_options")
	if i < 0 || o.fields[i].val.null(o.b) {
		o.Set("stream_options", `{"include_usage":true}`)
		return
	}
	at := o.fields[i].val
	switch usage := member(o.b, at, "include_usage"); {
	case !usage.there():
		add := `"include_usage":true`
		if m := inObject(o.b, at); m.next() {
			add = "," + add
		}
		o.insert(at.to-1, add)
	case !usage.is(o.b, 't'):
		o.replace(usage, "true")
	}
}

func cannotTake(param, message string) *backstop.Outcome {
	return &backstop.Outcome{
		Class: backstop.Rejected, Kind: backstop.KindParam, NextTier: true, NotSent: true,
		Param: param, Message: message, InputTokens: -1, OutputTokens: -1,
	}
}

// Probe makes the tiny request of a background probe: one short question and
// at most 16 tokens, or one word to embed. It passes through the same quirks
// as a call.
func (m Room) Probe(p *backstop.Probe) wire.Outbound {
	r := &wire.Request{Dialect: backstop.OpenAI, Op: wire.Chat, Model: p.Model, Stream: p.Stream && !p.Embed, Choices: 1}
	b := append([]byte(`{"model":`), appendString(nil, p.Model)...)
	switch {
	case p.Embed:
		r.Op = wire.Embedding
		b = append(b, `,"input":"ping"}`...)
	case p.JSON:
		b = append(b, `,"messages":[{"role":"user","content":"Reply with this JSON object: {\"ok\":true}"}],"response_format":{"type":"json_object"}`...)
	default:
		b = append(b, `,"messages":[{"role":"user","content":"Reply with one word: ok"}]`...)
	}
	if !p.Embed {
		b = append(b, `,"max_tokens":`+strconv.Itoa(probeTokens)+`,"stream":`+strconv.FormatBool(r.Stream)+`}`...)
	}
	r.Body = b
	u := p.Upstream
	if u == nil {
		u = &backstop.Upstream{}
	}
	out, _ := m.Outbound(r, u, &backstop.Step{Upstream: u, Model: p.Model, Plain: !r.Stream})
	return out
}

const probeTokens = 16
