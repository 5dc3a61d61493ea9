package backstophttp

import (
	"bytes"
	"hash/fnv"
	"strings"

	"backstop/jsonfix"
	"backstop/wire"
)

// vow is the JSON that the answer of a call was promised to be.
type vow struct {
	repair bool           // damaged JSON may be mended
	mark   bool           // what was cut is delivered, marked, at once
	own    uint64         // hash of the schema that the request brought, 0 = none
	schema jsonfix.Schema // nil = none, or none that can be used
	// compiled and unvalidated: the schema is compiled when it is first asked
	// for; one that cannot be used is reported and holds nothing up.
	compiled    bool
	unvalidated bool
}

// promise adds the route's own promise of JSON to the request's.
func (r *run) promise() {
	r.whole = r.req
	if r.route == nil || r.req.Op == wire.Embedding {
		return
	}
	j, asked := &r.route.JSON, r.req.Promise
	r.vow = vow{repair: j.Repair, mark: j.Truncated == "mark", own: sumOf(asked.Schema)}
	switch {
	case j.Schema != nil && asked.Schema == nil && (j.Always || asked.Kind != wire.PromiseNone):
		own := *r.req
		own.Promise = wire.Promise{Kind: wire.PromiseSchema, Schema: j.Schema}
		r.req = &own
	case j.Always && asked.Kind == wire.PromiseNone:
		own := *r.req
		own.Promise.Kind = wire.PromiseObject
		r.req = &own
	}
	if r.gathers() && r.req.Stream {
		unary := *r.req
		unary.Stream = false
		r.whole = &unary
	}
}

// sumOf is a hash of a schema that is not 0 unless there is none.
func sumOf(schema []byte) uint64 {
	if len(schema) == 0 {
		return 0
	}
	h := fnv.New64a()
	_, _ = h.Write(schema)
	return h.Sum64() | 1
}

// promised reports whether the answer's text was promised to be JSON.
func (r *run) promised() bool { return r.req.Promise.Kind != wire.PromiseNone }

// gathers reports whether a stream whose JSON cannot be mended on its way is put
// together before any of it is passed on: promised JSON, and the tool calls of
// several answers at a time.
func (r *run) gathers() bool {
	return r.promised() || r.vow.repair && r.req.Tools && r.req.Choices > 1
}

// schema is the promised one, nil = there is none to check against.
func (r *run) schema() jsonfix.Schema {
	v := &r.vow
	if v.compiled || r.req.Promise.Schema == nil {
		return v.schema
	}
	v.compiled, v.unvalidated = true, true
	if s := r.d.compile(r.req.Promise.Schema); s != nil {
		v.schema, v.unvalidated = s, false
	}
	return v.schema
}

// compile is nil for a schema that cannot be used. Schemas are hostile, so that
// includes one on which the compiler fails.
func (d *Driver) compile(source []byte) (s jsonfix.Schema) {
	defer func() {
		if recover() != nil {
			s = nil
		}
	}()
	if d.options.Schema == nil {
		return nil
	}
	s, err := d.options.Schema(source)
	if err != nil {
		return nil
	}
	return s
}

// keeps reports whether a document is what was promised.
func (r *run) keeps(document string) bool {
	doc := []byte(document)
	if !jsonfix.Valid(doc) || !r.shaped(doc) {
		return false
	}
	s := r.schema()
	return s == nil || len(s.Validate(doc)) == 0
}

// shaped reports whether valid JSON is an object, if one was promised.
func (r *run) shaped(doc []byte) bool {
	return r.req.Promise.Kind != wire.PromiseObject || bytes.HasPrefix(bytes.TrimLeft(doc, blanks), []byte("{"))
}

// inspect mends a text as far as it was promised and may be. The finish reason
// alone never makes a document whole or cut.
func (r *run) inspect(text string) jsonfix.Result {
	src := []byte(text)
	var res jsonfix.Result
	if r.vow.repair {
		res, _ = jsonfix.Repair(src, jsonfix.Options{Schema: r.schema(), MaxBytes: maxAnswer})
	} else {
		res = r.parsed(src)
	}
	if res.JSON != nil && !r.shaped(res.JSON) {
		return jsonfix.Result{
			Status: jsonfix.StatusRefused, Reason: jsonfix.SchemaViolated, Truncated: res.Truncated,
			Violations: []jsonfix.Violation{{Path: "", Reason: "type"}},
		}
	}
	return res
}

// parsed is the result for a text that must not be touched.
func (r *run) parsed(src []byte) jsonfix.Result {
	if !jsonfix.Valid(src) {
		return jsonfix.Result{Status: jsonfix.StatusRefused, Reason: jsonfix.NotJSON}
	}
	if s := r.schema(); s != nil {
		if wrong := s.Validate(src); len(wrong) > 0 {
			return jsonfix.Result{Status: jsonfix.StatusRefused, Reason: jsonfix.SchemaViolated, Violations: wrong}
		}
	}
	return jsonfix.Result{JSON: src, Status: jsonfix.StatusValid}
}

// blank reports whether a text says nothing.
func blank(text string) bool { return strings.Trim(text, blanks) == "" }
