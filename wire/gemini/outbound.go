package gemini

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"backstop"
	"backstop/wire"
	"backstop/wire/internal/edit"
	"backstop/wire/internal/fit"
)

// core parameters are the plan's and the room's business: no quirk drops,
// renames or sets them.
var core = map[string]bool{"model": true, "contents": true, "generateContentRequest": true}

// promising parameters carry the promise of JSON.
var promising = map[string]bool{"generationConfig": true, "responseMimeType": true, "responseSchema": true, "responseJsonSchema": true}

// Outbound makes the request to an upstream of this dialect. Model and
// streaming go into the path; the caller's bytes change only in a model that
// they name, in what the step leaves out and in what the upstream's quirks
// want. Names of parameters are taken in either spelling, those within
// generationConfig with it in front or alone.
//
// A base URL with or without a version gives the same path. The outcome is
// rejected/param with NextTier when the upstream cannot take the call at all,
// for example because a model's name cannot stand in a path.
func (Room) Outbound(r *wire.Request, u *backstop.Upstream, s *backstop.Step) (wire.Outbound, *backstop.Outcome) {
	out := wire.Outbound{Body: r.Body, Stream: r.Op == wire.Chat && fit.Streamed(r, s)}
	name := s.Model
	if name == "" {
		name = r.Model
	}
	var ok bool
	if out.Path, ok = pathAt(u, name, r.Op, out.Stream); !ok {
		return out, cannotTake("model", "a model of this name cannot be asked for here: name one such as gemini-2.5-flash")
	}
	q := quirks{wire.QuirksOf(u, name)}
	if cannot := q.cannot(r, s); cannot != nil {
		return out, cannot
	}
	o := openRequest(r.Body)
	o.name(name)
	if !signs(name) && bytes.Contains(r.Body, []byte(unsigned)) {
		o.unsign()
	}
	out.Dropped = q.apply(o)
	for _, param := range s.Without {
		o.Drop(param)
	}
	out.Body = o.bytes()
	return out, nil
}

// quirks is what one upstream wants otherwise.
type quirks struct {
	backstop.Quirks
}

// cannot says why the upstream cannot take the call: tools and promised JSON
// are never dropped silently, and without its core there is no request.
func (q quirks) cannot(r *wire.Request, s *backstop.Step) *backstop.Outcome {
	if r.Tools && q.NoTools {
		return cannotTake("tools", "the upstream takes no tools")
	}
	for i, list := range [...][]string{s.Without, q.DropParams} {
		for _, given := range list {
			_, name := located(given)
			promise := r.Promise.Kind != wire.PromiseNone && promising[name]
			if i == 0 && core[name] || r.Tools && name == "tools" || promise {
				return cannotTake(given, "the upstream does not take "+given+", which the call cannot do without")
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
func (q quirks) apply(o *request) []string { return fit.Apply(&q.Quirks, o, isCore, nil) }

func isCore(name string) bool { return core[camel(name)] }

// located takes the place of a parameter apart: whether it is said to be in
// generationConfig, and its first spelling.
func located(param string) (inside bool, name string) {
	above, name, found := strings.Cut(param, ".")
	if !found {
		return false, camel(param)
	}
	if camel(above) != "generationConfig" {
		return false, camel(above)
	}
	name, _, _ = strings.Cut(name, ".")
	return true, camel(name)
}

// request is a request body that is being fitted to an upstream.
type request struct {
	*edit.Edits
	top    *edit.Object
	config *edit.Object // generationConfig, nil if there is none
	fresh  []byte       // members of one that is to be added
}

func openRequest(b []byte) *request {
	o := &request{Edits: edit.New(b)}
	o.top = o.Object(gjson.ParseBytes(b), camel)
	if m := o.top.Find("generationConfig"); m != nil && m.Val.IsObject() {
		o.config = o.Object(m.Val, camel)
	}
	return o
}

// name puts the model's name where a body names one: what the path says counts
// at the vendor, but not everywhere.
func (o *request) name(model string) {
	full, _ := modelPlace(model)
	if m := o.top.Find("model"); m != nil && m.Val.Str != full && m.Val.Str != model {
		o.top.Set("model", edit.Quoted(full))
	}
	if m := o.top.Find("generateContentRequest"); m != nil && m.Val.IsObject() {
		inner := o.Object(m.Val, camel)
		if named := inner.Find("model"); named != nil && named.Val.Str != full {
			inner.Set("model", edit.Quoted(full))
			inner.Settle()
		}
	}
}

// Drop implements fit.Params.
func (o *request) Drop(param string) bool {
	inside, name := located(param)
	if !inside && o.top.Drop(name) {
		return true
	}
	return o.config != nil && o.config.Drop(name)
}

// Rename implements fit.Params.
func (o *request) Rename(from, to string) {
	inside, name := located(from)
	_, other := located(to)
	switch {
	case !inside && o.top.Find(name) != nil:
		o.top.Rename(name, other)
	case o.config != nil:
		o.config.Rename(name, other)
	}
}

// Set implements fit.Params.
func (o *request) Set(param, raw string) {
	inside, name := located(param)
	switch {
	case !inside && configured[fold(name)] == "":
		o.top.Set(name, raw)
	case o.config != nil:
		o.config.Set(name, raw)
	default:
		if len(o.fresh) > 0 {
			o.fresh = append(o.fresh, ',')
		}
		o.fresh = append(append(append(o.fresh, edit.Quoted(name)...), ':'), raw...)
	}
}

func (o *request) bytes() []byte {
	if len(o.fresh) > 0 {
		o.top.Set("generationConfig", "{"+string(o.fresh)+"}")
	}
	if o.config != nil && o.top.Find("generationConfig") != nil {
		o.config.Settle()
	}
	o.top.Settle()
	return o.Apply()
}

const (
	// probeTokens bounds the answer to a probe, thinkTokens that of one which
	// has to get through the model's thoughts to its JSON.
	probeTokens = 16
	thinkTokens = 1024
)

// Probe makes the tiny request of a background probe: one short question and
// at most 16 tokens (1024 where the answer has to be read). It passes through
// the same quirks as a call.
func (m Room) Probe(p *backstop.Probe) wire.Outbound {
	r := &wire.Request{Dialect: backstop.Gemini, Op: wire.Chat, Model: p.Model, Stream: p.Stream, Choices: 1}
	question, bound := "Reply with one word: ok", int64(probeTokens)
	if p.JSON {
		question, bound = `Reply with this JSON object: {"ok":true}`, thinkTokens
	}
	b := append([]byte(`{"contents":[{"role":"user","parts":[{"text":`), edit.Quoted(question)...)
	b = strconv.AppendInt(append(b, `}]}],"generationConfig":{"maxOutputTokens":`...), bound, 10)
	r.Body = append(b, '}', '}')
	u := p.Upstream
	if u == nil {
		u = &backstop.Upstream{}
	}
	out, _ := m.Outbound(r, u, &backstop.Step{Upstream: u, Model: p.Model, Plain: !r.Stream})
	return out
}
