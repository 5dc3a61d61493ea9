package backstophttp

import (
	"backstop"
	"backstop/jsonfix"
	"backstop/wire"
)

// tool finds what the caller said about one of its tools, nil = nothing that
// can be used.
func (r *run) tool(name string) *wire.Tool {
	caller, ok := r.room.(wire.HubRoom)
	if !ok || caller == nil || name == "" || !r.req.Tools {
		return nil
	}
	p, fail := r.told(r.req)
	if fail != nil {
		return nil
	}
	for i := range p.Tools {
		if t := &p.Tools[i]; t.Name == name && len(t.Schema) > 0 {
			return t
		}
	}
	return nil
}

// inspectArguments mends what a tool is called with, and holds it against the
// schema of the tool's parameters. A schema that cannot be used is none.
func (r *run) inspectArguments(tool, text string) jsonfix.Result {
	if !r.vow.repair {
		return jsonfix.Result{Status: jsonfix.StatusValid}
	}
	o := jsonfix.Options{MaxBytes: maxAnswer, Schema: r.parameters(r.tool(tool))}
	if blank(text) { // how some models call a tool without parameters
		if o.Schema == nil || len(o.Schema.Validate([]byte("{}"))) == 0 {
			return jsonfix.Result{Status: jsonfix.StatusValid}
		}
		text = "{}"
	}
	res, _ := jsonfix.Repair([]byte(text), o)
	return res
}

// unfinishedCalls reports whether the caller's dialect can tell a tool call
// that was cut from a whole one. In Gemini's every call is to be made, so what
// was cut is not closed there either.
func (r *run) unfinishedCalls() bool { return r.req.Dialect != backstop.Gemini }

// parameters is the compiled schema of a tool's parameters, nil = none.
func (r *run) parameters(t *wire.Tool) jsonfix.Schema {
	if t == nil {
		return nil
	}
	return r.d.compile(t.Schema)
}

// proposes reports whether arguments that break the schema of their tool are
// still a call: who does not ask for a strict tool judges its arguments.
func (r *run) proposes(tool string, res *jsonfix.Result) bool {
	t := r.tool(tool)
	return len(res.Violations) > 0 && t != nil && t.Strict != wire.On
}

// inspectStreamed is inspectArguments for what has gone out already: it cannot
// be spelled otherwise any more, so the schema counts only where the caller
// asked for it to be kept.
func (r *run) inspectStreamed(x *argument) jsonfix.Result {
	x.current()
	if t := r.tool(x.tool); t != nil && t.Strict == wire.On {
		return r.inspectArguments(x.tool, string(x.text))
	}
	return r.inspectArguments("", string(x.text))
}
