package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"

	"backstop"
	"backstop/internal/config/tree"
)

// route checks one route and adds it to the plan.
func (b *planBuilder) route(s *routeSpec) {
	before := len(b.problems)
	rt := backstop.DefaultRoute()
	if b.config.Profile == "article" {
		rt.Stream.Rescue = "off"
	}
	rt.Model = s.model.v
	switch {
	case rt.Model == "" && s.spoiled:
	case rt.Model == "":
		b.problem(cmp.Or(s.model.at, s.at), "a route has no model", "add model: \"*\" for a route that takes every model")
	case badPattern(rt.Model):
		b.problem(s.model.at, fmt.Sprintf("model %s is not a valid pattern", raw(s.model.at)), "write for example gpt-* or *")
	}
	b.tiers(s, &rt)
	b.routeJSON(s, &rt)
	b.promise(s, &rt)
	rt.Stream.Rescue = s.rescue.or(rt.Stream.Rescue)
	rt.Stream.Keepalive = s.keepalive.or(rt.Stream.Keepalive)
	rt.Hedge = backstop.HedgeSettings{After: s.hedge.v.after, Auto: s.hedge.v.auto}
	rt.RefusalNext = s.refusal.v == "next"
	rt.SameVectors = s.sameVectors.or(rt.SameVectors)
	rt.Deadline = s.deadline.v
	if len(b.problems) == before && !s.spoiled {
		b.plan.Routes = append(b.plan.Routes, rt)
		b.routes = append(b.routes, s)
	}
}

// badPattern finds patterns that could never match anything.
func badPattern(pattern string) bool {
	_, err := path.Match(pattern, "")
	return err != nil || len(pattern) > 256
}

func (b *planBuilder) tiers(s *routeSpec, rt *backstop.Route) {
	if len(s.tiers) == 0 && s.spoiled {
		return
	}
	if len(s.tiers) == 0 {
		b.problem(cmp.Or(s.tiersAt, s.at), fmt.Sprintf("route %q has no tiers", shorten(rt.Model)), "add tiers: [{upstream: NAME}]")
		return
	}
	var specs []*tierSpec
	for _, t := range s.tiers {
		b.order(rt, t)
		tier := b.tier(t)
		switch {
		case tier.Local != nil && tier.Local.Cache != nil && b.config.Profile == "article":
			b.warn(t.at, "profile article has no cache: the cache tier of route %q is left out", rt.Model)
		default:
			rt.Tiers, specs = append(rt.Tiers, tier), append(specs, t)
		}
	}
	upstreams := 0
	for i := range rt.Tiers {
		if rt.Tiers[i].Local == nil {
			b.tierRate(rt, i, specs[i], upstreams > 0)
			upstreams++
		}
	}
	if upstreams == 0 && !b.broken {
		b.warn(s.at, "route %q has local tiers only: it never asks a model", rt.Model)
	}
}

// order checks that local tiers come last: the cache, then the template.
func (b *planBuilder) order(rt *backstop.Route, t *tierSpec) {
	if len(rt.Tiers) == 0 {
		return
	}
	last := rt.Tiers[len(rt.Tiers)-1].Local
	if last == nil {
		return
	}
	switch {
	case t.local == nil:
		b.problem(t.at, "an upstream tier follows a local tier and is never reached", "put local tiers last")
	case last.Template != nil:
		b.problem(t.at, "a tier follows the template and is never reached", "the template answers every call: put it last")
	case t.local.cacheAt != nil:
		b.problem(t.at, "a route has one cache", "remove the second one")
	}
}

// tier makes one tier.
func (b *planBuilder) tier(t *tierSpec) backstop.Tier {
	name := t.upstream.v
	switch {
	case t.local != nil && (t.upstream.set() || t.model.set() || t.context.set() || t.rate.set()):
		b.problem(t.at, "a tier is an upstream or local, not both", "write two tiers")
	case t.local != nil:
		return backstop.Tier{Local: b.local(t.local)}
	case name == "" && t.at.Kind == tree.Scalar: // reported where it was read
	case name == "":
		b.problem(t.at, "a tier names no upstream", "write {upstream: NAME, model: MODEL} or {local: {template: {text: …}}}")
	case b.specs[name] == nil:
		b.problem(cmp.Or(t.upstream.at, t.at), fmt.Sprintf("no upstream is called %q", shorten(name)), b.upstreamHint(name))
	}
	return backstop.Tier{Upstream: name, Model: t.model.v, Context: t.context.v}
}

// tierRate applies the card's fallback limit: what exceeds it slides down, so
// it needs a lower tier to slide to.
func (b *planBuilder) tierRate(rt *backstop.Route, i int, t *tierSpec, backup bool) {
	tier := &rt.Tiers[i]
	switch lower := i < len(rt.Tiers)-1; {
	case !lower && t.rate.v > 0:
		b.warn(t.rate.at, "rate of the last tier of route %q is not used: there is no lower tier that calls could slide down to; limits.rate of the upstream holds always", rt.Model)
	case lower && t.rate.set():
		tier.Rate = t.rate.v
	case lower && backup:
		tier.Rate = backstop.DefaultFallbackRate
	}
	if tier.Rate > 0 {
		tier.Burst = backstop.DefaultBurst
	}
}

var placeholder = regexp.MustCompile(`\{\{ *([A-Za-z_.]*) *\}\}`)

// filled are the placeholders of a template, written exactly so.
var filled = []string{"{{request_id}}", "{{route}}", "{{model}}", "{{reason}}"}

func (b *planBuilder) local(s *localSpec) *backstop.Local {
	l := &backstop.Local{}
	switch {
	case s.cacheAt != nil && s.template != nil:
		b.problem(s.at, "a local tier is a cache or a template, not both", "write two tiers, the template last")
	case s.cacheAt != nil:
		l.Cache = &backstop.CacheSettings{Age: s.age.or(backstop.DefaultCacheAge), Size: s.size.or(backstop.DefaultCacheSize)}
		if l.Cache.Age <= 0 || l.Cache.Size <= 0 {
			b.problem(s.cacheAt, "age and size of a cache must be larger than 0", "remove the tier to have no cache")
		}
	case s.template != nil:
		if s.text.v == "" {
			b.problem(s.template, "a template has no text", "add text: \"The assistant is busy.\"")
		}
		for _, m := range placeholder.FindAllString(s.text.v, -1) {
			if !slices.Contains(filled, m) {
				b.warn(s.text.at, "the template's %s is no placeholder and stays as it is", shorten(m))
			}
		}
		l.Template = &backstop.Template{Text: s.text.v, JSON: s.json.v}
	default:
		b.problem(s.at, "a local tier is empty", "write {local: {template: {text: …}}} or {local: {cache: {age: 24h}}}")
	}
	return l
}

func (b *planBuilder) routeJSON(s *routeSpec, rt *backstop.Route) {
	rt.JSON.Always = s.promise.v == "always"
	rt.JSON.Repair = s.repair.or(rt.JSON.Repair)
	rt.JSON.Invalid = s.invalid.or(rt.JSON.Invalid)
	rt.JSON.Truncated = s.truncated.or(rt.JSON.Truncated)
	if s.jsonSchema.v == "" {
		return
	}
	data, why := b.reader.file(s.jsonSchema.v)
	var object map[string]any
	switch {
	case why != "":
		b.problem(s.jsonSchema.at, "json.schema "+why, "paths are relative to the configuration file")
	case json.Unmarshal(data, &object) != nil:
		b.problem(s.jsonSchema.at, "json.schema names a file that is not a JSON object", "it holds a JSON Schema")
	}
	rt.JSON.Schema = data
}
