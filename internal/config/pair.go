package config

import (
	"cmp"
	"fmt"

	"backstop/internal/config/tree"
	"backstop/secret"
)

// PairOptions are the article's two URLs, as flags give them. The URLs may be
// of this machine or network: the operator wrote them out.
type PairOptions struct {
	Primary, Backup             string // base URLs of the OpenAI dialect
	PrimaryKeyEnv, BackupKeyEnv string // names of variables with the keys, "" = no key is sent
	PrimaryModel, BackupModel   string // "" = as asked
}

// Pair makes a plan of two upstreams and a template behind them. The error is
// [Problems].
func Pair(p PairOptions, o Options) (*Config, []Warning, error) {
	o = o.complete()
	r := &reader{src: &tree.Source{Name: "flags"}, opt: o}
	// A side without a model is asked for what the caller asks for, and a prompt
	// alone asks for none: it gets the model of the other side.
	f := &fileSpec{agentModel: given(cmp.Or(p.PrimaryModel, p.BackupModel, "*"))}
	if p.PrimaryModel == "" && p.BackupModel == "" {
		r.warn(nil, "neither --primary-model nor --backup-model is set: /api/agent would ask for a model named \"*\" where a call names none")
	}
	if address := r.env("BACKSTOP_LISTEN"); address != "" {
		f.listen = from("BACKSTOP_LISTEN", address)
	}
	if key := r.env("BACKSTOP_KEY"); key != "" {
		f.callers = []*callerSpec{{name: given("default"), key: from("BACKSTOP_KEY", secret.New(key))}}
	}
	rt := &routeSpec{model: given("*")}
	r.side(f, rt, "primary", [3]string{p.Primary, p.PrimaryKeyEnv, p.PrimaryModel})
	r.side(f, rt, "backup", [3]string{p.Backup, p.BackupKeyEnv, p.BackupModel})
	rt.tiers = append(rt.tiers, busyTier())
	f.routes = []*routeSpec{rt}
	return r.build(f, nil)
}

// side adds one of the two upstreams; flags are its URL, key variable and model.
func (r *reader) side(f *fileSpec, rt *routeSpec, name string, flags [3]string) {
	base, keyEnv, model := flags[0], flags[1], flags[2]
	if base == "" {
		r.problem(nil, fmt.Sprintf("--%s is missing", name), "a pair has --primary URL and --backup URL")
		return
	}
	u := &upstreamSpec{name: name, at: &tree.Node{Text: "--" + name}, baseURL: from("--"+name, base), allowPrivate: given(literalPrivate(base))}
	if keyEnv != "" {
		flag := "--" + name + "-key-env"
		key := r.env(keyEnv)
		if key == "" {
			r.problem(nil, fmt.Sprintf("%s: %s is not set", flag, shorten(keyEnv)), "export it, or name another variable")
		}
		u.key = from(flag, secret.New(key))
	}
	t := &tierSpec{upstream: given(name)}
	if model != "" {
		t.model = given(model)
	}
	f.upstreams, rt.tiers = append(f.upstreams, u), append(rt.tiers, t)
}
