package config

import (
	"time"

	"backstop/internal/config/tree"
	"backstop/secret"
)

// Bounds of what a file may list.
const (
	maxUpstreams = 200
	maxRoutes    = 1000
	maxCallers   = 1000
	maxTiers     = 20
	maxListed    = 200 // keys, headers, models, parameters
)

// fileSpec is the file as it was written: every value with its place, nothing
// merged, nothing defaulted.
type fileSpec struct {
	version      field[int]
	listen       field[string]
	adminListen  field[string]
	adminToken   field[secret.Value]
	metrics      field[string]
	callers      []*callerSpec
	profile      field[string]
	defaults     *tree.Node
	upstreams    []*upstreamSpec
	routes       []*routeSpec
	agentModel   field[string]
	agentJSON    field[bool]
	retrySignal  field[string]
	stateFile    field[string]
	drainDelay   field[time.Duration]
	drainLimit   field[time.Duration]
	logLevel     field[string]
	logFormat    field[string]
	upstreamTree []pending
}

// pending keeps an upstream's part of the file until defaults are known.
type pending struct{ name, body *tree.Node }

// The defaults that are not part of a plan. Those of the plan are the card in
// the root package.
const (
	cardListen     = "localhost:3000"
	cardAdmin      = "localhost:3001"
	cardDrainDelay = 5 * time.Second
	cardDrainLimit = 20 * time.Second
)

// keys is the file's top level.
func (f *fileSpec) keys() mapping {
	return mapping{
		{"version", whole(&f.version), "1", "Version of this file's words."},
		{"listen", text(&f.listen), cardListen, "Address of the data plane. `localhost` is 127.0.0.1 and [::1]; an address that other machines reach needs `callers`."},
		{"admin", mapping{
			{"listen", text(&f.adminListen), cardAdmin, "Address of the admin plane."},
			{"token", credential{&f.adminToken}, "random", "Token of the admin plane. An address that other machines reach needs one of at least 16 bytes."},
		}, "", "Admin plane: dashboard, state, metrics."},
		{"metrics", mapping{
			{"listen", text(&f.metrics), "none", "Address that serves GET /metrics and nothing else, without a token, e.g. `:9090`."},
		}, "", "A listener for metrics alone."},
		{"callers", list{what: "callers", most: maxCallers, add: f.addCaller, item: new(callerSpec).keys()}, "none", "Who may call, by key. None: anyone who reaches a loopback address."},
		{"profile", oneOf(&f.profile, "default", "article"), "default", "`article` is the literal card: plain calls, no hang detection, no retry, no rescue, no cache."},
		{"defaults", keep{&f.defaults, upstreamShape()}, "none", "Keys of an upstream, merged into every upstream."},
		{"upstreams", named{what: "upstreams", most: maxUpstreams, add: f.addUpstream, item: upstreamShape()}, "required", "Endpoints that may be called, by name."},
		{"routes", list{what: "routes", most: maxRoutes, add: f.addRoute, item: new(routeSpec).keys()}, "required", "From a model name to tiers; the first match wins."},
		{"agent", mapping{
			{"model", text(&f.agentModel), "the first route", "Model of POST /api/agent when the body names none."},
			{"json", toggle(&f.agentJSON), "false", "Every answer of /api/agent is promised JSON."},
		}, "", "The endpoint POST /api/agent."},
		{"errors", mapping{
			{"retry_signal", oneOf(&f.retrySignal, "fixed", "adaptive"), "fixed", "`adaptive` answers some SDKs with a status that stops their own retries."},
		}, "", "How errors look."},
		{"state", mapping{
			{"file", text(&f.stateFile), "none", "Breaker memory over a restart."},
		}, "", "What is kept on disk."},
		{"drain", mapping{
			{"delay", duration(&f.drainDelay), span(cardDrainDelay), "After SIGTERM calls are still taken for this long, while /readyz says 503."},
			{"limit", duration(&f.drainLimit), span(cardDrainLimit), "Then running calls get this long to finish."},
		}, "", "The way down."},
		{"log", mapping{
			{"level", oneOf(&f.logLevel, "debug", "info", "warn", "error"), "info", "Least important line that is written."},
			{"format", oneOf(&f.logFormat, "auto", "text", "json"), "auto", "`auto`: text on a terminal, JSON otherwise."},
		}, "", "Log on stdout."},
	}
}

// keep checks a part of the file and stores its node, to be read again later.
type keep struct {
	into **tree.Node
	item shared
}

// upstreamShape is what an upstream and the defaults of all have in common.
func upstreamShape() shared { return shared{"upstream", new(upstreamSpec).keys()} }

func (t keep) take(r *reader, n *tree.Node) {
	*t.into = n
	t.item.take(r, n)
}

func (t keep) shape() shape { return t.item.shape() }

func (f *fileSpec) addCaller(r *reader, n *tree.Node) {
	c := &callerSpec{at: n}
	c.keys().take(r, n)
	if n.Kind == tree.Mapping {
		f.callers = append(f.callers, c)
	}
}

func (f *fileSpec) addUpstream(_ *reader, name, n *tree.Node) {
	f.upstreamTree = append(f.upstreamTree, pending{name, n})
}

func (f *fileSpec) addRoute(r *reader, n *tree.Node) {
	rt := &routeSpec{at: n}
	before := len(r.problems)
	rt.keys().take(r, n)
	rt.spoiled = len(r.problems) > before
	f.routes = append(f.routes, rt)
}

// mergeUpstreams reads every upstream: the defaults first, silently because
// they were checked once, then its own keys over them.
func (f *fileSpec) mergeUpstreams(r *reader) {
	for _, t := range f.upstreamTree {
		u := &upstreamSpec{name: t.name.Text, at: t.name}
		r.within("upstreams", func() {
			r.within("*", func() {
				if f.defaults != nil {
					r.quiet = true
					u.keys().take(r, f.defaults)
					r.quiet = false
				}
				u.own(t.body)
				before := len(r.problems)
				u.keys().take(r, t.body)
				u.spoiled = len(r.problems) > before
			})
		})
		f.upstreams = append(f.upstreams, u)
	}
}

// callerSpec is one entry of callers.
type callerSpec struct {
	at       *tree.Node
	name     field[string]
	key      field[secret.Value]
	keyList  []field[secret.Value]
	models   field[[]string]
	rate     field[float64]
	inflight field[int]
	local    field[bool]
}

func (c *callerSpec) keys() mapping {
	return mapping{
		{"name", text(&c.name), "required", "Name of the caller in logs and metrics."},
		{"key", credential{&c.key}, "required", "Its key, at least 16 characters."},
		{"keys", credentials(&c.keyList), "none", "Several keys, e.g. an old and a new one."},
		{"models", texts(&c.models, "model names"), "[\"*\"]", "Model names and patterns that it may ask for."},
		{"rate", rate(&c.rate), "0", "Most calls per time, e.g. `10/s`; 0 = no limit."},
		{"inflight", whole(&c.inflight), "0", "Most calls at a time; 0 = no limit."},
		{"local", toggle(&c.local), "true", "false: never answered by a local tier."},
	}
}

// credentials reads a list of keys.
func credentials(into *[]field[secret.Value]) taker {
	return list{what: "keys", most: maxListed, one: true, item: credential{}, add: func(r *reader, n *tree.Node) {
		var one field[secret.Value]
		credential{&one}.take(r, n)
		if one.set() {
			*into = append(*into, one)
		}
	}}
}

// texts reads a list of texts; a later list takes the place of an earlier one.
func texts(into *field[[]string], what string) taker {
	var got []string
	return list{what: what, most: maxListed, one: true, item: scalar[string]{as: anyScalar}, add: func(r *reader, n *tree.Node) {
		var one field[string]
		text(&one).take(r, n)
		if one.set() {
			got = append(got, one.v)
		}
	}, then: func(n *tree.Node) { *into = field[[]string]{got, n} }}
}
