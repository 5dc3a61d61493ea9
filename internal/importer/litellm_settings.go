package importer

import (
	"slices"
	"strings"
	"time"

	"backstop/internal/config/tree"
)

// chains are what a group falls back to, by cause.
type chains struct {
	general, context, policy map[string][]string
	always                   []string
	cache                    time.Duration
}

// after are the groups that follow a group, in the order in which they would
// be asked, without the group itself.
func (c *chains) after(group string) (out []string) {
	list := c.general[group]
	if list == nil {
		list = c.general["*"]
	}
	if list == nil {
		list = c.always
	}
	for _, next := range slices.Concat(list, c.context[group], c.policy[group]) {
		if next != group && !slices.Contains(out, next) {
			out = append(out, next)
		}
	}
	return out
}

// onPolicy reports whether refusals of a group go on.
func (c *chains) onPolicy(group string) bool { return len(c.policy[group]) > 0 }

// settings reads everything but the models.
func (l *liteLLM) settings() {
	l.chains = chains{general: map[string][]string{}, context: map[string][]string{}, policy: map[string][]string{}}
	for _, name := range []string{"litellm_settings", "router_settings"} { // the router has the last word
		l.limits(&l.knobs, name, l.root.Get(name))
	}
	for _, p := range pairs(l.root) {
		name, at := p.Key.Text, p.Value
		switch name {
		case "model_list":
		case "router_settings", "litellm_settings":
			l.fallbacks(name, at)
			l.cached(name, at)
			l.jsonLog = l.jsonLog || truth(at.Get("json_logs"))
			for _, q := range at.Pairs {
				l.unknown(name+"."+q.Key.Text, q.Key, settingReasons)
			}
		case "general_settings":
			l.general(at)
		case "environment_variables":
			for _, q := range at.Pairs {
				l.add(Dropped, name+"."+q.Key.Text, q.Key, "the file of ours sets no variables: set it where the process is started")
			}
		default:
			l.unknown(name, p.Key, topReasons)
		}
	}
	if l.knobs.inflight > 0 {
		l.knobs.inflight = 0 // there it bounds a group by default, not an upstream
	}
	l.knobs.perMinute = 0
}

// fallbacks reads the chains; LiteLLM takes them in two places.
func (l *liteLLM) fallbacks(where string, at *tree.Node) {
	for name, into := range map[string]map[string][]string{"fallbacks": l.chains.general, "context_window_fallbacks": l.chains.context, "content_policy_fallbacks": l.chains.policy} {
		list := at.Get(name)
		if list == nil {
			continue
		}
		for _, item := range list.Items {
			for _, p := range pairs(item) {
				into[p.Key.Text] = append(into[p.Key.Text], names(p.Value)...)
			}
		}
		switch {
		case len(list.Items) == 0:
		case name == "context_window_fallbacks":
			l.add(Changed, where+"."+name, list, "they stand at the end of the chain; a call that is too long goes to a tier with a larger context only: check context of the tiers")
		case name == "content_policy_fallbacks":
			l.add(Changed, where+"."+name, list, "they stand at the end of the chain, and refusal: next sends refusals on")
		}
	}
	l.chains.always = append(l.chains.always, names(at.Get("default_fallbacks"))...)
}

// names are model names in a list, each a text or a mapping with a model.
func names(list *tree.Node) (out []string) {
	if list == nil {
		return nil
	}
	if t := text(list); t != "" {
		return []string{t}
	}
	for _, item := range list.Items {
		t := text(item)
		if item.Kind == tree.Mapping {
			t = text(item.Get("model"))
		}
		if t != "" {
			out = append(out, t)
		}
	}
	return out
}

// cached turns a response cache into the stale cache, which is another thing.
func (l *liteLLM) cached(where string, at *tree.Node) {
	if !truth(at.Get("cache")) && !truth(at.Get("cache_responses")) {
		return
	}
	l.chains.cache = 24 * time.Hour
	if d, ok := in(at.Get("cache_params").Get("ttl"), time.Second); ok {
		l.chains.cache = d
	}
	l.add(Changed, where+".cache", at.Get("cache"), "answers are kept in memory and served only when no upstream answers, never to save a call; age %s", span(l.chains.cache))
}

// general reads general_settings: who may call is all that has a counterpart.
func (l *liteLLM) general(at *tree.Node) {
	for _, p := range pairs(at) {
		if p.Key.Text != "master_key" {
			l.unknown("general_settings."+p.Key.Text, p.Key, generalReasons)
			continue
		}
		given := text(p.Value)
		if given == "" {
			continue
		}
		ref, literal := l.vault.credential(given, "LITELLM_MASTER_KEY")
		if literal {
			l.add(Secret, "general_settings.master_key", p.Key, "the key stood in the file: it is %s now", ref)
		}
		l.callers = append(l.callers, callerDraft{"default", ref})
		l.add(Changed, "general_settings.master_key", p.Key, "it became the key of the one caller, at least 16 characters; the admin plane has a token of its own")
	}
}

// jsonOf writes a value of the file as JSON, texts with their references.
func (d *draft) jsonOf(n *tree.Node) string {
	switch n.Kind {
	case tree.Mapping:
		parts := make([]string, 0, len(n.Pairs))
		for _, p := range n.Pairs {
			parts = append(parts, jsonText(p.Key.Text)+": "+d.jsonOf(p.Value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case tree.Sequence:
		parts := make([]string, 0, len(n.Items))
		for _, item := range n.Items {
			parts = append(parts, d.jsonOf(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case tree.Scalar:
		if !n.Quoted && bareJSON(n.Text) {
			return n.Text
		}
		return jsonText(d.vault.plain(n.Text))
	}
	return "null"
}
