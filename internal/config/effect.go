package config

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"backstop"
	"backstop/secret"
)

// effect is one thing that a configuration sets, under the name it has in the
// file. A hidden one is compared but never shown.
type effect struct {
	group       string // the upstream, route or caller that it is part of
	path, value string
	hidden      bool
}

// effects lists everything a configuration sets, defaults included.
type effects struct {
	group string
	list  []effect
}

func (e *effects) add(path string, v any) {
	e.list = append(e.list, effect{e.group, path, fmt.Sprint(v), false})
}

func (e *effects) hide(path string, values ...secret.Value) {
	h := sha256.New()
	for _, v := range values {
		sum := v.Sum()
		h.Write(sum[:])
	}
	e.list = append(e.list, effect{e.group, path, fmt.Sprintf("%d %x", len(values), h.Sum(nil)), true})
}

func effectsOf(c *Config) []effect {
	e := &effects{}
	e.add("listen", strings.Join(c.Listen, ", "))
	e.add("admin.listen", strings.Join(c.Admin.Listen, ", "))
	e.hide("admin.token", c.Admin.Token)
	e.add("metrics.listen", cmp.Or(strings.Join(c.Metrics, ", "), "none"))
	e.add("profile", c.Profile)
	for i := range c.Callers {
		e.caller(&c.Callers[i])
	}
	for i := range c.Plan.Upstreams {
		e.upstream(&c.Plan.Upstreams[i])
	}
	seen := map[string]int{}
	for i := range c.Plan.Routes {
		rt := &c.Plan.Routes[i]
		path := "routes[" + rt.Model + "]"
		if seen[path]++; seen[path] > 1 {
			path += "#" + strconv.Itoa(seen[path])
		}
		e.group = path
		e.add(path+" place", i+1)
		e.route(path+".", rt)
	}
	e.group = ""
	e.add("agent.model", c.Agent.Model)
	e.add("agent.json", c.Agent.JSON)
	e.add("errors.retry_signal", c.RetrySignal)
	e.add("state.file", cmp.Or(c.StateFile, "none"))
	e.add("drain.delay", c.Drain.Delay)
	e.add("drain.limit", c.Drain.Limit)
	e.add("log.level", c.Log.Level)
	e.add("log.format", c.Log.Format)
	return e.list
}

func (e *effects) caller(c *Caller) {
	e.group = "callers." + c.Name
	p := e.group + "."
	e.hide(p+"keys", c.Keys...)
	e.add(p+"models", strings.Join(c.Models, ", "))
	e.add(p+"rate", perSecond(c.Rate))
	e.add(p+"inflight", c.Inflight)
	e.add(p+"local", c.Local)
}

func (e *effects) upstream(u *backstop.Upstream) {
	e.group = "upstreams." + u.Name
	p := e.group + "."
	e.add(p+"dialect", u.Dialect)
	e.add(p+"vendor", u.Vendor)
	e.add(p+"base_url", u.BaseURL)
	e.hide(p+"keys", u.Keys...)
	e.add(p+"account", cmp.Or(u.Account, "none"))
	e.add(p+"auth", u.Auth)
	e.texts(p+"headers", u.Headers)
	e.texts(p+"query", u.Query)
	e.add(p+"allow_private", u.AllowPrivate)
	e.add(p+"proxy", withoutPassword(u.Proxy))
	e.hide(p+"proxy password", secret.New(u.Proxy))
	e.add(p+"ca", cmp.Or(u.CAFile, "system roots"))
	e.add(p+"timeouts.connect", span(u.Timeouts.Connect))
	e.add(p+"timeouts.first_token", span(u.Timeouts.FirstToken))
	e.add(p+"timeouts.idle", span(u.Timeouts.Idle))
	e.add(p+"timeouts.total", span(u.Timeouts.Total))
	e.add(p+"timeouts.drip", u.Timeouts.Drip)
	e.breaker(p+"breaker.", &u.Breaker)
	if u.Trial != nil {
		e.breaker(p+"breaker.trial.", u.Trial)
	}
	e.add(p+"retry.max", u.Retry.Max)
	e.add(p+"retry.jitter", span(u.Retry.JitterMin)+"-"+span(u.Retry.JitterMax))
	e.add(p+"retry.budget", percent(u.Retry.Budget))
	e.add(p+"retry.wait", span(u.Retry.Wait))
	e.add(p+"limits.rate", perSecond(u.Limits.Rate))
	e.add(p+"limits.burst", u.Limits.Burst)
	e.add(p+"limits.inflight", u.Limits.Inflight)
	e.add(p+"unary", u.Unary)
	e.quirks(p+"quirks.", &u.Quirks)
	e.add(p+"passthrough", u.Passthrough)
}

func (e *effects) breaker(p string, b *backstop.BreakerSettings) {
	e.add(p+"failures", b.Failures)
	e.add(p+"window", span(b.Window))
	e.add(p+"reset", span(b.Reset))
	e.add(p+"hang", b.Hang)
	e.add(p+"probe", b.Probe)
	e.add(p+"literal", b.Literal)
}

func (e *effects) quirks(p string, q *backstop.Quirks) {
	e.add(p+"drop_params", strings.Join(q.DropParams, ", "))
	e.texts(p+"rename_params", q.RenameParams)
	for _, name := range slices.Sorted(maps.Keys(q.SetParams)) {
		e.add(p+"set_params."+name, q.SetParams[name])
	}
	e.add(p+"tool_id_max", q.ToolIDMax)
	e.add(p+"no_tools", q.NoTools)
	e.add(p+"prefill", q.Prefill)
	e.add(p+"reasoning_content", q.ReasoningContent)
}

// texts hides the values: headers may hold what an operator calls a secret.
func (e *effects) texts(path string, m map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		e.hide(path+"."+name, secret.New(m[name]))
	}
}

func (e *effects) route(p string, rt *backstop.Route) {
	for i := range rt.Tiers {
		e.add(fmt.Sprintf("%stiers[%d]", p, i+1), describeTier(&rt.Tiers[i]))
		if l := rt.Tiers[i].Local; l != nil && l.Template != nil {
			e.add(fmt.Sprintf("%stiers[%d].text", p, i+1), l.Template.Text)
			e.add(fmt.Sprintf("%stiers[%d].json", p, i+1), string(l.Template.JSON))
		}
	}
	e.add(p+"deadline", span(rt.Deadline))
	e.add(p+"json.promise", map[bool]string{true: "always", false: "auto"}[rt.JSON.Always])
	e.add(p+"json.schema", fingerprint(rt.JSON.Schema))
	e.add(p+"json.repair", rt.JSON.Repair)
	e.add(p+"json.invalid", rt.JSON.Invalid)
	e.add(p+"json.truncated", rt.JSON.Truncated)
	e.add(p+"stream.rescue", rt.Stream.Rescue)
	e.add(p+"stream.keepalive", span(rt.Stream.Keepalive))
	e.add(p+"hedge.after", describeHedge(rt.Hedge))
	e.add(p+"refusal", map[bool]string{true: "next", false: "return"}[rt.RefusalNext])
	e.add(p+"same_vectors", rt.SameVectors)
}

// fingerprint stands for a text that is too long to show.
func fingerprint(text []byte) string {
	if len(text) == 0 {
		return "none"
	}
	return fmt.Sprintf("sha256 %x", sha256.Sum256(text))[:19]
}

func describeHedge(h backstop.HedgeSettings) string {
	if h.Auto {
		return "auto"
	}
	return span(h.After)
}

func perSecond(rate float64) string {
	if rate == 0 {
		return "no limit"
	}
	return strconv.FormatFloat(rate, 'g', 6, 64) + "/s"
}

func withoutPassword(proxy string) string {
	if u, err := url.Parse(proxy); err == nil && u.User != nil {
		u.User = nil
		return u.String()
	}
	return proxy
}
