package config

import (
	"fmt"
	"slices"
	"strings"

	"backstop/internal/config/tree"
	"backstop/secret"
	"backstop/wire"
)

// envVendors are the vendors whose keys are looked for, in the order of the
// tiers. Address, default model and names of the variables are in their profiles.
var envVendors = []string{"openai", "anthropic", "gemini", "deepseek", "dashscope", "moonshot", "zhipu"}

// finer are patterns that come before a vendor's own prefixes, so that models
// which think silently do not slow the detection of the others down.
var finer = map[string][]string{"openai": {"gpt-5-chat*", "gpt-5*"}}

// The local tier of a plan without a file.
const busyText = "The assistant is busy, please try again in a minute."

var busyJSON = []byte(`{"fallback": true}`)

// envTier is a vendor with a key in the environment.
type envTier struct {
	vendor *wire.Vendor
	key    field[secret.Value]
	base   field[string]
	model  string // default
}

// FromEnv makes a plan from the keys in the environment: a tier for each
// vendor with a key, then a template. The tier whose vendor owns the asked
// model keeps the name, the others use their default model. The error is
// [Problems].
func FromEnv(o Options) (*Config, []Warning, error) {
	o = o.complete()
	r := &reader{src: &tree.Source{Name: "environment"}, opt: o}
	f := &fileSpec{agentModel: given("*")}
	if address := r.env("BACKSTOP_LISTEN"); address != "" {
		f.listen = from("BACKSTOP_LISTEN", address)
	}
	if key := r.env("BACKSTOP_KEY"); key != "" {
		f.callers = []*callerSpec{{name: given("default"), key: from("BACKSTOP_KEY", secret.New(key))}}
	}
	tiers := r.envTiers()
	if len(tiers) == 0 {
		if len(r.problems) == 0 {
			r.problem(nil, "there is no configuration and no key of a vendor that can be called",
				"run `backstop demo` to see it work, set a key such as OPENAI_API_KEY or DEEPSEEK_API_KEY, or write backstop.yaml")
		}
		warnings, err := r.finish()
		return nil, warnings, err
	}
	p := &envPlan{file: f, tiers: tiers, made: map[string]bool{}}
	p.routes()
	return r.build(f, nil)
}

// KeysInEnv reports whether the environment holds a key that FromEnv makes a
// tier of.
func KeysInEnv(env func(string) (string, bool)) bool {
	for _, name := range envVendors {
		v, _ := wire.Profile(name)
		for _, prefix := range v.Env {
			if key, _ := env(prefix + "_API_KEY"); strings.TrimSpace(key) != "" {
				return true
			}
		}
	}
	return false
}

// from is a value that a variable or a flag gave; problems name it.
func from[T any](name string, v T) field[T] {
	return field[T]{v: v, at: &tree.Node{Text: name}}
}

func (r *reader) env(name string) string {
	v, _ := r.opt.Env(name)
	return strings.TrimSpace(v)
}

// envTiers finds the vendors with keys, in the order of BACKSTOP_TIERS if set.
func (r *reader) envTiers() (out []envTier) {
	order, chosen := envVendors, false
	if list := r.env("BACKSTOP_TIERS"); list != "" {
		order, chosen = r.tierNames(list), true
	}
	for _, name := range order {
		v, _ := wire.Profile(name)
		t := envTier{vendor: v}
		keyName := ""
		for _, prefix := range v.Env {
			if key := r.env(prefix + "_API_KEY"); key != "" && keyName == "" {
				keyName = prefix + "_API_KEY"
				t.key = from(keyName, secret.New(key))
			}
		}
		switch {
		case keyName == "" && chosen:
			r.problem(nil, fmt.Sprintf("BACKSTOP_TIERS names %s, but %s_API_KEY is not set", name, v.Env[0]), "set the key, or take the name out")
			continue
		case keyName == "":
			continue
		}
		r.envPlace(&t)
		out = append(out, t)
	}
	return out
}

// envPlace sets address and default model of a tier.
func (r *reader) envPlace(t *envTier) {
	t.base, t.model = given(t.vendor.BaseURL), t.vendor.Model
	for i := len(t.vendor.Env) - 1; i >= 0; i-- {
		prefix := t.vendor.Env[i]
		if base := r.env(prefix + "_BASE_URL"); base != "" {
			t.base = from(prefix+"_BASE_URL", base)
		}
		if model := r.env(prefix + "_MODEL"); model != "" {
			t.model = model
		}
	}
}

func (r *reader) tierNames(list string) (names []string) {
	for word := range strings.SplitSeq(list, ",") {
		word = strings.ToLower(strings.TrimSpace(word))
		if word == "" {
			continue
		}
		name := word
		if v, ok := wire.Profile(word); ok {
			name = v.Name
		}
		switch {
		case !slices.Contains(envVendors, name):
			hint := "one of " + joinNames(envVendors)
			if near := nearest(word, envVendors); near != "" {
				hint = "did you mean " + near + "? (" + hint + ")"
			}
			r.problem(nil, fmt.Sprintf("BACKSTOP_TIERS: %q is not known", shorten(word)), hint)
		case slices.Contains(names, name):
			r.problem(nil, fmt.Sprintf("BACKSTOP_TIERS names %s twice", name), "name it once")
		default:
			names = append(names, name)
		}
	}
	return names
}

// envPlan writes the spec that a file with the same meaning would give.
type envPlan struct {
	file  *fileSpec
	tiers []envTier
	made  map[string]bool // upstreams, by name
}

func (p *envPlan) routes() {
	for i := range p.tiers {
		v := p.tiers[i].vendor
		for _, pattern := range slices.Concat(finer[v.Name], prefixes(v.Owns)) {
			p.route(pattern, v)
		}
	}
	p.route("*", nil)
}

func prefixes(owned []string) []string {
	out := make([]string, len(owned))
	for i, o := range owned {
		out[i] = o + "*"
	}
	return out
}

// route adds one route; the owner's tier sends the model as asked.
func (p *envPlan) route(pattern string, owner *wire.Vendor) {
	rt := &routeSpec{model: given(pattern)}
	for i := range p.tiers {
		t, model := &p.tiers[i], p.tiers[i].model
		judged := model
		if t.vendor == owner {
			model, judged = "", strings.TrimSuffix(pattern, "*")
		}
		spec := &tierSpec{upstream: given(p.upstream(t, judged))}
		if model != "" {
			spec.model = given(model)
		}
		rt.tiers = append(rt.tiers, spec)
	}
	rt.tiers = append(rt.tiers, busyTier())
	p.file.routes = append(p.file.routes, rt)
}

func busyTier() *tierSpec {
	return &tierSpec{local: &localSpec{template: &tree.Node{}, text: given(busyText), json: given(busyJSON)}}
}

// upstream returns the name of the vendor's upstream for a model. Models that
// think silently get one of their own: it waits longer for a first token.
func (p *envPlan) upstream(t *envTier, model string) string {
	base := strings.TrimSpace(t.base.v)
	vendor := vendorOf(base)
	if vendor == "generic" && t.vendor.Name != "openai" {
		vendor = t.vendor.Name // a proxy in front of it: its habits stay
	}
	name := t.vendor.Name
	if wire.Silent(vendor, model) {
		name += "-thinking"
	}
	if p.made[name] {
		return name
	}
	p.made[name] = true
	u := &upstreamSpec{name: name, at: &tree.Node{Text: name}, baseURL: t.base, key: t.key, vendor: given(vendor),
		dialect: given(string(t.vendor.Dialect)), account: given(t.vendor.Name), allowPrivate: given(literalPrivate(base))}
	p.file.upstreams = append(p.file.upstreams, u)
	return name
}

// literalPrivate permits an address of this machine or network that the
// operator wrote out.
func literalPrivate(base string) bool {
	u, why, _ := checkBaseURL(base)
	return why == "" && placeOf(u.Hostname()) != public && placeOf(u.Hostname()) != never
}
