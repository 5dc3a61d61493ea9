package config

import (
	"cmp"
	"fmt"
	"slices"

	"backstop"
	"backstop/internal/config/tree"
	"backstop/secret"
)

// build checks a spec as a whole and makes the configuration of it. It always
// runs to its end, so that an operator sees all problems at once.
func (r *reader) build(f *fileSpec, root *tree.Node) (*Config, []Warning, error) {
	c := &Config{
		Version:     f.version.or(1),
		Profile:     f.profile.or("default"),
		RetrySignal: f.retrySignal.or("fixed"),
		StateFile:   f.stateFile.or(""),
		Drain:       Drain{f.drainDelay.or(cardDrainDelay), f.drainLimit.or(cardDrainLimit)},
		Log:         Log{f.logLevel.or("info"), f.logFormat.or("auto")},
		Source:      r.src.Name,
		Plan:        &backstop.Plan{},
	}
	if c.Version != 1 {
		r.problem(f.version.at, fmt.Sprintf("version %d is not known", c.Version), "this build reads version 1")
	}
	if c.Log.Format == "auto" {
		c.Log.Format = map[bool]string{true: "text", false: "json"}[r.opt.Terminal]
	}
	if c.StateFile != "" {
		c.StateFile = r.resolve(c.StateFile)
	}
	c.Listen = r.listen(&f.listen, r.opt.Listen, cardListen)
	c.Admin = Admin{Listen: r.listen(&f.adminListen, r.opt.Admin, cardAdmin), Token: f.adminToken.v}
	r.metrics(c, f)
	c.Callers = r.callers(f)
	r.doors(f, c)
	b := &planBuilder{reader: r, file: f, config: c, plan: c.Plan, specs: map[string]*upstreamSpec{}}
	b.build(root)
	r.agent(f, c, b.routes)
	warnings, err := r.finish()
	if err != nil {
		return nil, warnings, err
	}
	return c, warnings, nil
}

// listen resolves an address; a flag wins over the file.
func (r *reader) listen(at *field[string], flag, card string) []string {
	address, node := at.or(card), at.at
	if address == "" {
		address = card
	}
	if flag != "" {
		address, node = flag, nil
	}
	list, why, hint := resolveListen(address)
	if why != "" {
		if node == nil {
			r.problem(nil, fmt.Sprintf("listen address %q %s", shorten(address), why), hint)
		} else {
			r.problem(node, fmt.Sprintf("listen: %s %s", raw(node), why), hint)
		}
	}
	return list
}

func (r *reader) metrics(c *Config, f *fileSpec) {
	if f.metrics.v == "" {
		return
	}
	list, why, hint := resolveListen(f.metrics.v)
	if why != "" {
		r.problem(f.metrics.at, fmt.Sprintf("listen: %s %s", raw(f.metrics.at), why), hint)
	}
	for _, a := range list {
		if !anyPort(a) && slices.Contains(slices.Concat(c.Listen, c.Admin.Listen), a) {
			r.problem(f.metrics.at, "metrics.listen is the address of another listener", "give it a port of its own")
		}
	}
	c.Metrics = list
}

// doors checks that nobody from another machine comes in without a key.
func (r *reader) doors(f *fileSpec, c *Config) {
	if !loopbackOnly(c.Listen) && len(f.callers) == 0 && len(c.Listen) > 0 {
		r.problem(f.listen.at, "listen is an address that other machines reach, and there are no callers",
			"add callers: [{name: web, key: \"${WEB_KEY}\"}], or listen on localhost")
	}
	const shortest = 16
	token := &f.adminToken
	switch {
	case len(c.Admin.Listen) > 0 && !loopbackOnly(c.Admin.Listen) && token.v.Len() < shortest:
		at := f.adminListen.at
		if token.set() {
			at = token.at
		}
		r.problem(at, fmt.Sprintf("admin.listen is an address that other machines reach and needs a token of at least %d bytes", shortest),
			"set admin.token to a long random value, or listen on localhost")
	case !token.v.Empty() && token.v.Len() < shortest:
		r.warn(token.at, "admin.token has fewer than %d bytes: it can be guessed", shortest)
	}
	if why := badCredential(token.v); why != "" {
		r.problem(token.at, "token "+why, "")
	}
	for _, a := range c.Listen {
		if slices.Contains(c.Admin.Listen, a) && !anyPort(a) {
			r.problem(f.adminListen.at, "listen and admin.listen are the same address", "give the admin plane a port of its own")
			break
		}
	}
}

func anyPort(address string) bool { return len(address) > 2 && address[len(address)-2:] == ":0" }

// badCredential says why a key cannot travel in a header, "" if it can.
func badCredential(v secret.Value) string {
	text := v.Reveal()
	for i := 0; i < len(text); i++ {
		if text[i] <= ' ' || text[i] >= 0x7f {
			return "has a blank, a line break or a character that no header can carry"
		}
	}
	if len(text) > 8192 {
		return "is longer than any header"
	}
	return ""
}

// agent finds the model of /api/agent: always one that a route matches.
func (r *reader) agent(f *fileSpec, c *Config, routes []*routeSpec) {
	c.Agent = Agent{Model: f.agentModel.or(""), JSON: f.agentJSON.or(false)}
	if len(c.Plan.Routes) == 0 {
		return
	}
	if c.Agent.Model == "" {
		first := &c.Plan.Routes[0]
		c.Agent.Model = first.Model
		for i := range first.Tiers {
			if t := &first.Tiers[i]; t.Local == nil && t.Model == "" && !first.Exact() {
				r.warn(cmp.Or(routes[0].model.at, routes[0].at), "agent.model is not set and the first route is the pattern %q: /api/agent would ask %s for a model of that name; set agent.model", first.Model, t.Upstream)
				break
			}
		}
		return
	}
	if c.Plan.Route(c.Agent.Model) == nil {
		hint := "add a route for it"
		var names []string
		for i := range c.Plan.Routes {
			names = append(names, c.Plan.Routes[i].Model)
		}
		if near := nearest(c.Agent.Model, names); near != "" {
			hint = "did you mean " + near + "?"
		}
		r.problem(f.agentModel.at, fmt.Sprintf("agent.model: no route matches %s", raw(f.agentModel.at)), hint)
	}
}
