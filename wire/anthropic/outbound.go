package anthropic

import (
	"bytes"
	"net/url"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"backstop"
	"backstop/wire"
	"backstop/wire/internal/edit"
	"backstop/wire/internal/fit"
)

var paths = map[wire.Op]string{wire.Chat: "/v1/messages", wire.CountTokens: "/v1/messages/count_tokens"}

// core parameters are the plan's and the room's business: no quirk drops,
// renames or sets them.
var core = map[string]bool{"model": true, "stream": true, "messages": true}

// Outbound makes the request to an upstream of this dialect. The caller's
// bytes change in model, stream, what the step leaves out and what the
// upstream's quirks want; nothing to change = the same slice.
//
// A base URL with or without /v1 gives the same path. The outcome is
// rejected/param with NextTier when the upstream cannot take the call at all.
func (Room) Outbound(r *wire.Request, u *backstop.Upstream, s *backstop.Step) (wire.Outbound, *backstop.Outcome) {
	out := wire.Outbound{Path: pathAt(u, r.Op), Body: r.Body, Stream: r.Op == wire.Chat && fit.Streamed(r, s)}
	name := s.Model
	if name == "" {
		name = r.Model
	}
	q := quirks{wire.QuirksOf(u, name)}
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
	}
	q.history(o)
	unsign(o)
	out.Dropped = q.apply(o)
	for _, name := range s.Without {
		o.Drop(name)
	}
	out.Body = o.Bytes()
	return out, nil
}

// pathAt is the path below the base URL, which may end with the version.
func pathAt(u *backstop.Upstream, op wire.Op) string {
	path := paths[op]
	if base, err := url.Parse(u.BaseURL); err == nil && strings.HasSuffix(strings.TrimSuffix(base.Path, "/"), "/v1") {
		return strings.TrimPrefix(path, "/v1")
	}
	return path
}

// quirks is what one upstream wants otherwise.
type quirks struct {
	backstop.Quirks
}

// touches reports whether a body may have to change for this upstream.
func (q quirks) touches(body []byte) bool {
	return len(q.DropParams)+len(q.RenameParams)+len(q.SetParams) > 0 ||
		bytes.Contains(body, []byte(`"tool_use`)) || bytes.Contains(body, []byte(unsigned))
}

// cannot says why the upstream cannot take the call: tools and promised JSON
// are never dropped silently, and without its core there is no request.
func (q quirks) cannot(r *wire.Request, s *backstop.Step) *backstop.Outcome {
	if r.Tools && q.NoTools {
		return cannotTake("tools", "the upstream takes no tools")
	}
	for i, list := range [...][]string{s.Without, q.DropParams} {
		for _, name := range list {
			promise := r.Promise.Kind != wire.PromiseNone && strings.HasPrefix(name, "output_")
			if i == 0 && (core[name] || name == "max_tokens") || r.Tools && name == "tools" || promise {
				return cannotTake(name, "the upstream does not take "+name+", which the call cannot do without")
			}
		}
	}
	return nil
}

func cannotTake(param, message string) *backstop.Outcome {
	return &backstop.Outcome{
		Class: backstop.Rejected, Kind: backstop.KindParam, NextTier: true,
		Param: param, Message: message, InputTokens: -1, OutputTokens: -1,
	}
}

// apply renames, drops and sets parameters.
func (q quirks) apply(o *edit.Object) []string { return fit.Apply(&q.Quirks, o, isCore, nil) }

func isCore(name string) bool { return core[name] }

// history shortens tool-call ids that are too long for this upstream.
func (q quirks) history(o *edit.Object) {
	messages := o.Find("messages")
	if messages == nil {
		return
	}
	messages.Val.ForEach(func(_, m gjson.Result) bool {
		m.Get("content").ForEach(func(_, block gjson.Result) bool {
			for _, name := range [...]string{"id", "tool_use_id"} {
				id := block.Get(name)
				if id.Type == gjson.String && len(id.Str) > q.ToolIDMax && strings.HasPrefix(block.Get("type").Str, "tool_") {
					o.Replace(id, edit.Quoted(wire.ToolID(id.Str)))
				}
			}
			return true
		})
		return true
	})
}

const probeTokens = 16

// Probe makes the tiny request of a background probe: one short question and
// at most 16 tokens. It passes through the same quirks as a call.
func (m Room) Probe(p *backstop.Probe) wire.Outbound {
	r := &wire.Request{Dialect: backstop.Anthropic, Op: wire.Chat, Model: p.Model, Stream: p.Stream, Choices: 1}
	question := "Reply with one word: ok"
	if p.JSON {
		question = `Reply with this JSON object: {"ok":true}`
	}
	b := append([]byte(`{"model":`), edit.Quoted(p.Model)...)
	b = append(strconv.AppendInt(append(b, `,"max_tokens":`...), probeTokens, 10), `,"messages":[{"role":"user","content":`...)
	b = append(append(b, edit.Quoted(question)...), `}],"stream":`...)
	r.Body = append(strconv.AppendBool(b, r.Stream), '}')
	u := p.Upstream
	if u == nil {
		u = &backstop.Upstream{}
	}
	out, _ := m.Outbound(r, u, &backstop.Step{Upstream: u, Model: p.Model, Plain: !r.Stream})
	return out
}
