package gemini

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"backstop"
	"backstop/wire"
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
	out := wire.Outbound{Body: r.Body, Stream: streamed(r, s)}
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
	q.apply(o)
	for _, param := range s.Without {
		o.drop(param)
	}
	out.Body = o.bytes()
	return out, nil
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

// apply renames, drops and sets parameters, in this order and within each in
// a fixed one. Renames see the caller's names, drops and sets the new ones.
func (q quirks) apply(o *request) {
	for _, from := range slices.Sorted(maps.Keys(q.RenameParams)) {
		if to := q.RenameParams[from]; !core[camel(from)] && !core[camel(to)] && to != "" {
			o.rename(from, to)
		}
	}
	for _, name := range q.DropParams {
		if !core[camel(name)] {
			o.drop(name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(q.SetParams)) {
		if core[camel(name)] {
			continue
		}
		if raw, err := json.Marshal(q.SetParams[name]); err == nil {
			o.set(name, string(raw))
		}
	}
}

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
	edits
	top    *object
	config *object // generationConfig, nil if there is none
	fresh  []byte  // members of one that is to be added
}

func openRequest(b []byte) *request {
	o := &request{edits: edits{b: b}}
	o.top = openObject(&o.edits, gjson.ParseBytes(b))
	if m := o.top.find("generationConfig"); m != nil && m.val.IsObject() {
		o.config = openObject(&o.edits, m.val)
	}
	return o
}

// name puts the model's name where a body names one: what the path says counts
// at the vendor, but not everywhere.
func (o *request) name(model string) {
	full, _ := modelPlace(model)
	if m := o.top.find("model"); m != nil && m.val.Str != full && m.val.Str != model {
		o.top.set("model", quoted(full))
	}
	if m := o.top.find("generateContentRequest"); m != nil && m.val.IsObject() {
		inner := openObject(&o.edits, m.val)
		if named := inner.find("model"); named != nil && named.val.Str != full {
			inner.set("model", quoted(full))
			inner.settle()
		}
	}
}

func (o *request) drop(param string) {
	inside, name := located(param)
	if !inside && o.top.drop(name) {
		return
	}
	if o.config != nil {
		o.config.drop(name)
	}
}

func (o *request) rename(from, to string) {
	inside, name := located(from)
	_, other := located(to)
	switch {
	case !inside && o.top.find(name) != nil:
		o.top.rename(name, other)
	case o.config != nil:
		o.config.rename(name, other)
	}
}

func (o *request) set(param, raw string) {
	inside, name := located(param)
	switch {
	case !inside && configured[fold(name)] == "":
		o.top.set(name, raw)
	case o.config != nil:
		o.config.set(name, raw)
	default:
		if len(o.fresh) > 0 {
			o.fresh = append(o.fresh, ',')
		}
		o.fresh = append(append(append(o.fresh, quoted(name)...), ':'), raw...)
	}
}

func (o *request) bytes() []byte {
	if len(o.fresh) > 0 {
		o.top.set("generationConfig", "{"+string(o.fresh)+"}")
	}
	if o.config != nil && o.top.find("generationConfig") != nil {
		o.config.settle()
	}
	o.top.settle()
	return o.apply()
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
	b := append([]byte(`{"contents":[{"role":"user","parts":[{"text":`), quoted(question)...)
	b = strconv.AppendInt(append(b, `}]}],"generationConfig":{"maxOutputTokens":`...), bound, 10)
	r.Body = append(b, '}', '}')
	u := p.Upstream
	if u == nil {
		u = &backstop.Upstream{}
	}
	out, _ := m.Outbound(r, u, &backstop.Step{Upstream: u, Model: p.Model, Plain: !r.Stream})
	return out
}
