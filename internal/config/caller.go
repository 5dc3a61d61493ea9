package config

import (
	"fmt"
	"slices"

	"backstop/internal/config/tree"
	"backstop/secret"
)

// shortestKey is the least a caller's key may have, in bytes.
const shortestKey = 16

// callers checks and makes the list of callers. Names become metric labels,
// and two callers with one key could not be told apart.
func (r *reader) callers(f *fileSpec) []Caller {
	var out []Caller
	names, owners := map[string]bool{}, map[[32]byte]string{}
	for _, spec := range f.callers {
		name := spec.name.v
		at := spec.at
		if spec.name.set() {
			at = spec.name.at
		}
		switch {
		case name == "":
			r.problem(at, "a caller has no name", "add name: it shows in logs and metrics")
		case !goodName(name):
			r.problem(at, fmt.Sprintf("caller name %q cannot be used", shorten(name)), nameRule)
		case names[name]:
			r.problem(at, fmt.Sprintf("two callers are called %q", name), "a caller with several keys has keys: [old, new]")
		}
		names[name] = true
		c := Caller{
			Name: name, Models: spec.models.v, Rate: spec.rate.v, Inflight: spec.inflight.v, Local: spec.local.or(true),
			Keys: r.callerKeys(spec, owners),
		}
		if len(c.Models) == 0 {
			c.Models = []string{"*"}
		}
		for _, m := range c.Models {
			if m == "" || badPattern(m) {
				r.problem(spec.models.at, fmt.Sprintf("models: %q is not a model name or pattern", shorten(m)), "write for example gpt-* or *")
			}
		}
		out = append(out, c)
	}
	return out
}

func (r *reader) callerKeys(spec *callerSpec, owners map[[32]byte]string) (keys []secret.Value) {
	all := spec.keyList
	if spec.key.set() {
		if len(all) > 0 {
			r.problem(spec.key.at, "a caller has key and keys", "use one of them")
		}
		all = append(all, spec.key)
	}
	if len(all) == 0 && !written(spec.at, "key") { // a key that cannot be read was reported where it stands
		r.problem(spec.at, fmt.Sprintf("caller %q has no key", shorten(spec.name.v)), "add key: \"${NAME}\"")
	}
	for _, k := range all {
		r.callerKey(k.at, k.v, spec.name.v, owners)
		keys = append(keys, k.v)
	}
	return keys
}

// written says whether a mapping has a value for a key, readable or not.
func written(n *tree.Node, name string) bool {
	return n != nil && slices.ContainsFunc(n.Pairs, func(p tree.Pair) bool {
		return p.Key.Text == name && p.Value.Kind != tree.Null
	})
}

func (r *reader) callerKey(at *tree.Node, k secret.Value, name string, owners map[[32]byte]string) {
	if k.Len() < shortestKey {
		r.problem(at, fmt.Sprintf("a caller key has %d characters: at least %d", k.Len(), shortestKey), "make one with: openssl rand -hex 24")
		return
	}
	if why := badCredential(k); why != "" {
		r.problem(at, "a caller key "+why, "")
	}
	if owner, ok := owners[k.Sum()]; ok {
		r.problem(at, fmt.Sprintf("caller %q has the same key as %q", shorten(name), shorten(owner)), "give every caller a key of its own")
	}
	owners[k.Sum()] = name
}

const nameRule = "use up to 64 letters, digits, dots, dashes and underscores"

// goodName reports whether a name can be a metric label, a header value and a
// part of a path without escaping.
func goodName(name string) bool {
	for i := 0; i < len(name); i++ {
		c := name[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && c != '.' && c != '-' && c != '_' {
			return false
		}
	}
	return name != "" && len(name) <= 64
}
