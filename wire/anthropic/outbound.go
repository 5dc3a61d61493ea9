package anthropic

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"backstop"
	"backstop/wire"
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
	out := wire.Outbound{Path: pathAt(u, r.Op), Body: r.Body, Stream: streamed(r, s)}
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
	o := openObject(r.Body)
	if name != r.Model {
		o.set("model", quoted(name))
	}
	if out.Stream != r.Stream {
		o.set("stream", strconv.FormatBool(out.Stream))
	}
	q.history(o)
	unsign(o)
	q.apply(o)
	for _, name := range s.Without {
		o.drop(name)
	}
	out.Body = o.bytes()
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

// streamed decides whether an event stream is asked for. That the upstream is
// to be asked plainly is the step's word alone.
func streamed(r *wire.Request, s *backstop.Step) bool {
	switch {
	case r.Op != wire.Chat || s.Plain:
		return false
	case r.Stream:
		return true
	}
	return r.Streamable()
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

// apply renames, drops and sets parameters, in this order and within each in
// a fixed one. Renames see the caller's names, drops and sets the new ones.
func (q quirks) apply(o *object) {
	for _, from := range slices.Sorted(maps.Keys(q.RenameParams)) {
		if to := q.RenameParams[from]; !core[from] && !core[to] && to != "" {
			o.rename(from, to)
		}
	}
	for _, name := range q.DropParams {
		if !core[name] {
			o.drop(name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(q.SetParams)) {
		if core[name] {
			continue
		}
		if raw, err := json.Marshal(q.SetParams[name]); err == nil {
			o.set(name, string(raw))
		}
	}
}

// history shortens tool-call ids that are too long for this upstream.
func (q quirks) history(o *object) {
	messages := o.find("messages")
	if messages == nil {
		return
	}
	messages.val.ForEach(func(_, m gjson.Result) bool {
		m.Get("content").ForEach(func(_, block gjson.Result) bool {
			for _, name := range [...]string{"id", "tool_use_id"} {
				id := block.Get(name)
				if id.Type == gjson.String && len(id.Str) > q.ToolIDMax && strings.HasPrefix(block.Get("type").Str, "tool_") {
					o.replace(id, quoted(wire.ToolID(id.Str)))
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
	b := append([]byte(`{"model":`), quoted(p.Model)...)
	b = append(strconv.AppendInt(append(b, `,"max_tokens":`...), probeTokens, 10), `,"messages":[{"role":"user","content":`...)
	b = append(append(b, quoted(question)...), `}],"stream":`...)
	r.Body = append(strconv.AppendBool(b, r.Stream), '}')
	u := p.Upstream
	if u == nil {
		u = &backstop.Upstream{}
	}
	out, _ := m.Outbound(r, u, &backstop.Step{Upstream: u, Model: p.Model, Plain: !r.Stream})
	return out
}
