package config

import (
	"cmp"
	"fmt"

	"backstop"
	"backstop/jsonfix"
)

// promise judges the last resort of a route by what the route promises.
func (b *planBuilder) promise(s *routeSpec, rt *backstop.Route) {
	schema := b.routeSchema(s, rt)
	for _, t := range s.tiers {
		l := t.local
		switch {
		case l == nil || l.template == nil:
		case len(l.json.v) == 0 && rt.JSON.Always:
			b.warn(l.template, "route %q promises JSON in every answer, but its template has no json: calls get an error instead of the template", shorten(rt.Model))
		case len(l.json.v) > 0 && schema != nil:
			b.follows(l, rt, schema)
		}
	}
}

// routeSchema compiles the schema of a route; nil = it has none that can be used.
func (b *planBuilder) routeSchema(s *routeSpec, rt *backstop.Route) jsonfix.Schema {
	if b.reader.opt.Schema == nil || len(rt.JSON.Schema) == 0 {
		return nil
	}
	schema, err := b.reader.opt.Schema(rt.JSON.Schema)
	if err != nil {
		b.warn(s.jsonSchema.at, "json.schema %s cannot be used, so answers are not checked against it: %v", shorten(s.jsonSchema.v), err)
		return nil
	}
	return schema
}

// follows checks a template against the schema. What stands for a placeholder
// is known only when it is served, so one that has some gets a warning.
func (b *planBuilder) follows(l *localSpec, rt *backstop.Route, schema jsonfix.Schema) {
	wrong := schema.Validate(l.json.v)
	if len(wrong) == 0 {
		return
	}
	message := fmt.Sprintf("the template of route %q does not follow json.schema: %q: %s", shorten(rt.Model), wrong[0].Path, wrong[0].Reason)
	if n := len(wrong) - 1; n > 0 {
		message += fmt.Sprintf(" (and %d more)", n)
	}
	if placeholder.Match(l.json.v) {
		b.warn(cmp.Or(l.json.at, l.template), "%s, unless a placeholder makes it", message)
		return
	}
	b.problem(cmp.Or(l.json.at, l.template), message, "such a template would never be served; mend its json or the schema")
}
