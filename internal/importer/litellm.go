package importer

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"backstop/internal/config/tree"
)

// liteLLM reads the configuration file of a LiteLLM proxy.
type liteLLM struct {
	draft
	root   *tree.Node
	groups map[string][]member
	names  []string // of the groups, in the order of the file
	chains chains
}

// member is one entry of model_list.
type member struct {
	tier  tierDraft
	order int
	owns  []string // patterns that stand for a wildcard with a prefix
}

// unordered is the place of a member that names none.
const unordered = 1 << 30

// LiteLLM translates the YAML file of a LiteLLM proxy. The error is about the
// file as a whole; what single keys lose is in the notes.
func LiteLLM(name string, data []byte) (*Result, error) {
	root, src, err := tree.Read(name, data)
	if err != nil {
		var p tree.Problem
		if errors.As(err, &p) {
			return nil, src.Finish(tree.Problems{p})
		}
		return nil, err
	}
	l := &liteLLM{draft: draft{vault: newVault(root)}, root: root, groups: map[string][]member{}}
	l.settings()
	l.models()
	for _, group := range l.names {
		l.routesOf(group)
	}
	l.aliases()
	return l.result(filepath.Base(name))
}

// models reads model_list.
func (l *liteLLM) models() {
	list := l.root.Get("model_list")
	if list == nil || list.Kind != tree.Sequence {
		return
	}
	for _, item := range list.Items {
		l.model(item)
	}
	for _, group := range l.names {
		slices.SortStableFunc(l.groups[group], func(a, b member) int { return cmp.Compare(a.order, b.order) })
	}
	for _, group := range l.names {
		if n := len(l.groups[group]); n > 1 {
			l.add(Changed, "model_list "+group, nil, "its %d members are a chain now: the first answers while it can, the others step in (routing_strategy has no counterpart)", n)
		}
	}
}

func (l *liteLLM) model(item *tree.Node) {
	name := text(item.Get("model_name"))
	where := "model_list " + name
	for _, p := range item.Pairs {
		switch p.Key.Text {
		case "model_name", "litellm_params":
		case "model_info":
			l.info(where, p.Value)
		default:
			l.unknown(where+"."+p.Key.Text, p.Key, modelReasons)
		}
	}
	params := item.Get("litellm_params")
	if name == "" || !goodModel(name) || params == nil || params.Kind != tree.Mapping {
		l.add(Dropped, where, item, "an entry needs model_name and litellm_params")
		return
	}
	m, ok := l.member(name, where, params)
	if !ok {
		return
	}
	if n, ok := whole(item.Get("model_info").Get("max_input_tokens")); ok && n > 0 {
		m.tier.context = n
	}
	if _, known := l.groups[name]; !known {
		l.names = append(l.names, name)
	}
	l.groups[name] = append(l.groups[name], m)
}

// info reads model_info, of which only the size of the context has a meaning
// for us.
func (l *liteLLM) info(where string, info *tree.Node) {
	for _, p := range info.Pairs {
		switch p.Key.Text {
		case "id", "mode", "max_input_tokens", "max_tokens", "max_output_tokens", "description", "db_model":
		case "base_model":
			l.add(Dropped, where+".model_info.base_model", p.Key, "prices and sizes are not looked up by model")
		default:
			if !strings.Contains(p.Key.Text, "cost") && !strings.HasPrefix(p.Key.Text, "supports_") {
				l.add(Dropped, where+".model_info."+p.Key.Text, p.Key, "a remark of LiteLLM that nothing here reads")
			}
		}
	}
}

// routesOf makes the routes of a group: its members, then what it falls back to.
func (l *liteLLM) routesOf(group string) {
	tiers := l.tiersOf(group)
	after := l.chains.after(group)
	for _, next := range after {
		if len(l.groups[next]) == 0 {
			l.add(Dropped, "fallbacks "+group, nil, "it names %s, which is no model of the list", shown(next))
		}
		tiers = append(tiers, l.tiersOf(next)...)
	}
	patterns := []string{escapeName(group)}
	if owns := l.groups[group][0].owns; len(owns) > 0 {
		patterns = owns
	}
	for _, pattern := range patterns {
		l.route(routeDraft{model: pattern, tiers: tiers, refusal: l.chains.onPolicy(group), cache: l.chains.cache})
	}
}

func (l *liteLLM) tiersOf(group string) (out []tierDraft) {
	for _, m := range l.groups[group] {
		out = append(out, m.tier)
	}
	return out
}

// aliases gives a group's chain a further name.
func (l *liteLLM) aliases() {
	for _, at := range []*tree.Node{l.root.Get("router_settings"), l.root.Get("litellm_settings")} {
		for _, p := range pairs(at.Get("model_group_alias")) {
			to := text(p.Value)
			if p.Value.Kind == tree.Mapping {
				to = text(p.Value.Get("model"))
			}
			i := slices.IndexFunc(l.routes, func(r routeDraft) bool { return r.model == escapeName(to) })
			if i < 0 {
				l.add(Dropped, "model_group_alias "+p.Key.Text, p.Key, "it stands for a model that is not in the list")
				continue
			}
			r := l.routes[i]
			r.model, r.tiers = escapeName(p.Key.Text), slices.Clone(r.tiers)
			l.route(r)
		}
	}
}

// escapeName keeps a name a name: with us ? and [ make a pattern, with LiteLLM
// only the asterisk does.
func escapeName(name string) string {
	return strings.NewReplacer(`\`, `\\`, `?`, `\?`, `[`, `\[`).Replace(name)
}

// unknown reports a key that is not carried over: with its reason if it has
// one in the table.
func (l *liteLLM) unknown(where string, key *tree.Node, reasons map[string]string) {
	why, ok := reasons[key.Text]
	switch {
	case ok && why == "":
	case ok:
		l.add(Dropped, where, key, "%s", why)
	default:
		l.add(Dropped, where, key, "this importer does not know the key")
	}
}
