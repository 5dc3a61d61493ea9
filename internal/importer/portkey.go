package importer

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"backstop/internal/config/tree"
)

// portkey reads a config of the Portkey gateway.
type portkey struct {
	draft
	cache   time.Duration
	byName  map[string][]tierDraft // of what conditions name
	nesting int
}

// Portkey translates a Portkey config: the JSON object that its header or its
// configuration page takes, or an answer of its API that holds one. It knows
// no models of its own, so it becomes one route for every name, and routes for
// the names that its conditions ask for.
func Portkey(name string, data []byte) (*Result, error) {
	root, err := jsonTree(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", shown(name), err)
	}
	root = unwrap(root)
	snakeKeys(root)
	if root.Kind != tree.Mapping {
		return nil, fmt.Errorf("%s: %w", shown(name), errors.New("a config is a JSON object"))
	}
	k := &portkey{draft: draft{vault: newVault(root)}, byName: map[string][]tierDraft{}}
	k.cached("config", root)
	tiers := k.group("config", root, scope{})
	k.conditions(root)
	k.route(routeDraft{model: "*", tiers: tiers, cache: k.cache})
	return k.result(filepath.Base(name))
}

// unwrap finds the config inside an answer of the API.
func unwrap(n *tree.Node) *tree.Node {
	for _, key := range []string{"data", "config"} {
		if inner := n.Get(key); inner != nil && inner.Kind == tree.Mapping {
			n = inner
		}
	}
	return n
}

// snakeKeys gives every key the one spelling: both are taken by Portkey.
// Parameters that are sent on are left alone.
func snakeKeys(n *tree.Node) {
	for i := range n.Pairs {
		key := n.Pairs[i].Key
		key.Text = snake(key.Text)
		if key.Text != "override_params" && key.Text != "custom_headers" {
			snakeKeys(n.Pairs[i].Value)
		}
	}
	for _, item := range n.Items {
		snakeKeys(item)
	}
}

func snake(s string) string {
	if strings.ContainsAny(s, "_-.$@/ ") {
		return s
	}
	var b strings.Builder
	for _, c := range s {
		if unicode.IsUpper(c) {
			b.WriteByte('_')
			c = unicode.ToLower(c)
		}
		b.WriteRune(c)
	}
	return strings.TrimPrefix(b.String(), "_")
}

// scope is what an upstream inherits from the groups around it.
type scope struct {
	knobs  knobs
	params []*tree.Node
}

// group translates a config or one of its parts: a single upstream, or a
// strategy over several.
func (k *portkey) group(where string, n *tree.Node, s scope) []tierDraft {
	if k.nesting++; k.nesting > 200 {
		return nil
	}
	k.limits(&s.knobs, where, n)
	if p := n.Get("override_params"); p != nil {
		s.params = append(slices.Clone(s.params), p)
	}
	list := n.Get("targets")
	if list == nil || len(list.Items) == 0 {
		return k.single(where, n, s)
	}
	k.leftOut(where, n, groupReasons)
	mode := cmp.Or(text(n.Get("strategy").Get("mode")), "single")
	order := make([]int, len(list.Items))
	for i := range order {
		order[i] = i
	}
	switch mode {
	case "loadbalance":
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(weight(list.Items[b]), weight(list.Items[a])) })
		k.add(Changed, where+".strategy", n.Get("strategy"), "load is not spread: the %d parts are a chain now, the heaviest first; the others step in when it cannot", len(order))
	case "single":
		order = order[:1]
	case "fallback", "conditional":
	default:
		k.add(Dropped, where+".strategy.mode", n.Get("strategy"), "the mode %s is not known; the parts are tried in order", shown(mode))
	}
	if codes := n.Get("strategy").Get("on_status_codes"); codes != nil {
		k.add(Changed, where+".strategy.on_status_codes", codes, "what goes on to the next tier is decided by the kind of fault, not by a list; see explain MODEL")
	}
	var out []tierDraft
	for _, i := range order {
		item := list.Items[i]
		tiers := k.group(fmt.Sprintf("%s.targets[%d]", where, i), item, s)
		if name := text(item.Get("name")); name != "" {
			k.byName[name] = tiers
		}
		out = append(out, tiers...)
	}
	if mode == "conditional" {
		if first := k.byName[text(n.Get("strategy").Get("default"))]; first != nil {
			return first
		}
	}
	return out
}

func weight(n *tree.Node) float64 {
	if w, ok := number(n.Get("weight")); ok {
		return w
	}
	return 1
}

// conditions become routes where they ask for the model alone.
func (k *portkey) conditions(root *tree.Node) {
	strategy := root.Get("strategy")
	if text(strategy.Get("mode")) != "conditional" {
		return
	}
	for i, c := range items(strategy.Get("conditions")) {
		where := fmt.Sprintf("config.strategy.conditions[%d]", i)
		models, ok := asksModel(c.Get("query"))
		tiers := k.byName[text(c.Get("then"))]
		switch {
		case !ok:
			k.add(Dropped, where, c, "routes are chosen by the model's name alone")
		case len(tiers) == 0:
			k.add(Dropped, where, c, "what it leads to was not carried over")
		}
		for _, m := range models {
			if !goodModel(m) {
				continue
			}
			k.route(routeDraft{model: escapeName(m), tiers: tiers, cache: k.cache})
		}
	}
}

func items(n *tree.Node) []*tree.Node {
	if n == nil {
		return nil
	}
	return n.Items
}

// asksModel reads {"params.model": {"$eq": NAME}} and the same with $in.
func asksModel(query *tree.Node) (models []string, ok bool) {
	list := pairs(query)
	if len(list) != 1 || list[0].Key.Text != "params.model" {
		return nil, false
	}
	if t := text(list[0].Value); t != "" {
		return []string{t}, true
	}
	tests := pairs(list[0].Value)
	if len(tests) != 1 {
		return nil, false
	}
	switch tests[0].Key.Text {
	case "$eq":
		return []string{text(tests[0].Value)}, text(tests[0].Value) != ""
	case "$in":
		return names(tests[0].Value), len(tests[0].Value.Items) > 0
	}
	return nil, false
}
