package config

import (
	"fmt"

	"backstop"
	"backstop/internal/config/tree"
)

// planBuilder makes the plan: upstreams, then routes, then advice that needs
// both.
type planBuilder struct {
	*reader
	file   *fileSpec
	config *Config
	plan   *backstop.Plan
	specs  map[string]*upstreamSpec // by name
	routes []*routeSpec             // of plan.Routes, same index
	broken bool                     // an upstream has a problem: routes are not judged by it
}

func (b *planBuilder) build(root *tree.Node) {
	f := b.file
	top := root
	if top != nil && top.Kind != tree.Mapping {
		return
	}
	if len(f.upstreams) == 0 && absent(root, "upstreams") {
		b.problem(top, "there are no upstreams", "add upstreams: {NAME: {base_url: …, key: \"${NAME_KEY}\"}}")
	}
	for _, u := range f.upstreams {
		b.specs[u.name] = u
		b.upstream(u)
	}
	if len(f.routes) == 0 && absent(root, "routes") {
		b.problem(top, "there are no routes", "add routes: [{model: \"*\", tiers: [{upstream: NAME}]}]")
	}
	for _, rt := range f.routes {
		b.route(rt)
	}
	b.silentThinkers()
	b.deadlines()
	b.advise()
}

// absent reports whether a key is missing, not just unreadable.
func absent(root *tree.Node, name string) bool {
	n := root.Get(name)
	return n == nil || n.Kind == tree.Null || len(n.Pairs) == 0 && len(n.Items) == 0 && n.Kind != tree.Scalar
}

// upstreamHint names the upstream that was probably meant.
func (b *planBuilder) upstreamHint(name string) string {
	var names []string
	for _, u := range b.file.upstreams {
		names = append(names, u.name)
	}
	if near := nearest(name, names); near != "" {
		return "did you mean " + near + "?"
	}
	return fmt.Sprintf("define it below upstreams, or use one of %s", shorten(joinNames(names)))
}
