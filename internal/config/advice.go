package config

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"backstop"
	"backstop/internal/config/tree"
)

// seconds writes a time for a sentence: 31.5 s.
func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + " s" }

// silentThinkers gives upstreams of models that think without a token the time
// they need. An upstream has one first_token, so its other models wait as long.
func (b *planBuilder) silentThinkers() {
	raised, others := map[string]string{}, map[string]string{}
	for i := range b.plan.Routes {
		rt := &b.plan.Routes[i]
		for j := range rt.Tiers {
			t := &rt.Tiers[j]
			u, s := b.plan.Upstream(t.Upstream), b.specs[t.Upstream]
			if u == nil || s == nil {
				continue
			}
			model, silent := silentModel(u.Vendor, t, rt)
			limited := s.firstToken.set() || b.config.Profile == "article"
			switch {
			case !silent:
				others[u.Name] = cmp.Or(model, rt.Model)
			case !limited:
				raised[u.Name] = model
			case u.Timeouts.FirstToken < backstop.SilentFirstToken:
				b.warn(cmp.Or(s.firstToken.at, s.at), "model %s thinks silently: first_token %ss will cut healthy answers", model, strings.TrimSuffix(seconds(u.Timeouts.FirstToken), " s"))
			}
		}
	}
	for i := range b.plan.Upstreams {
		u := &b.plan.Upstreams[i]
		model := raised[u.Name]
		if model == "" {
			continue
		}
		u.Timeouts.FirstToken = backstop.SilentFirstToken
		if u.Timeouts.Total > 0 {
			u.Timeouts.FirstToken = min(u.Timeouts.FirstToken, u.Timeouts.Total)
		}
		if other := others[u.Name]; other != "" {
			b.warn(b.specs[u.Name].at, "model %s thinks silently, so first_token of upstream %s is %s, for %s too: give the thinking model an upstream of its own", model, u.Name, span(u.Timeouts.FirstToken), other)
		}
	}
}

// deadlines sets automatic deadlines and judges the written ones.
func (b *planBuilder) deadlines() {
	for i := range b.plan.Routes {
		rt := &b.plan.Routes[i]
		worst := backstop.AutoDeadline(b.plan, rt)
		if rt.Deadline == 0 {
			rt.Deadline = worst
			continue
		}
		if worst -= backstop.DeadlineSlack; worst > rt.Deadline {
			b.warn(b.routes[i].deadline.at, "route %q: this chain can take %s to a first token but the deadline is %s", rt.Model, seconds(worst), seconds(rt.Deadline))
		}
	}
}

// advise warns of what works but is probably not meant.
func (b *planBuilder) advise() {
	for i := range b.plan.Routes {
		b.shadowed(i)
		b.chain(&b.plan.Routes[i], b.routes[i])
	}
	b.accounts()
	if !b.broken && len(b.problems) == 0 {
		b.idle()
	}
	for i := range b.plan.Upstreams {
		u := &b.plan.Upstreams[i]
		if s := b.specs[u.Name]; s.unary.set() && u.Unary == backstop.UnaryPlain && u.Breaker.Hang {
			b.warn(s.unary.at, "upstream %s: plain calls feed no hang evidence and are not moved: a hang is seen only at first_token", u.Name)
		}
	}
}

// chain judges the tiers of one route together.
func (b *planBuilder) chain(rt *backstop.Route, s *routeSpec) {
	upstreams, seen, accounts := 0, map[string]bool{}, map[string]string{}
	for i := range rt.Tiers {
		t := &rt.Tiers[i]
		u := b.plan.Upstream(t.Upstream)
		if u == nil {
			continue
		}
		upstreams++
		if id := t.Upstream + "\x00" + t.Model; seen[id] {
			b.warn(s.at, "route %q asks upstream %s twice for the same model: a second try there is retry.max", rt.Model, t.Upstream)
		} else {
			seen[id] = true
		}
		if first := accounts[u.Account]; u.Account != "" && first != "" && first != u.Name {
			b.warn(s.at, "route %q: two upstreams share one account (%s and %s): a rate limit stops both", rt.Model, first, u.Name)
		}
		accounts[u.Account] = u.Name
	}
	if upstreams > backstop.MaxAttempts {
		b.warn(s.at, "route %q has %d upstream tiers: a call makes at most %d upstream requests, so the last ones are rarely asked", rt.Model, upstreams, backstop.MaxAttempts)
	}
}

// accounts finds upstreams with one key and different accounts: their limits
// are one limit at the vendor.
func (b *planBuilder) accounts() {
	owners := map[[32]byte]*backstop.Upstream{}
	for i := range b.plan.Upstreams {
		u := &b.plan.Upstreams[i]
		for _, k := range u.Keys {
			first := owners[k.Sum()]
			if first == nil {
				owners[k.Sum()] = u
				continue
			}
			if first != u && (u.Account == "" || first.Account != u.Account) {
				b.warn(b.specs[u.Name].at, "two upstreams share one account: %s and %s have the same key; give both the same account so that they share its rate-limit parks", first.Name, u.Name)
			}
		}
	}
}

// idle warns of upstreams that no route uses.
func (b *planBuilder) idle() {
	used := map[string]bool{}
	for _, rt := range b.file.routes {
		for _, t := range rt.tiers {
			used[t.upstream.v] = true
		}
	}
	for _, u := range b.file.upstreams {
		if !used[u.name] && !u.passthrough.v {
			b.warn(u.at, "no route uses upstream %s", u.name)
		}
	}
}

// shadowed warns of a route that an earlier one takes every call from.
func (b *planBuilder) shadowed(i int) {
	for j := range i {
		if covers(b.plan.Routes[j].Model, b.plan.Routes[i].Model) {
			at := cmp.Or(b.routes[i].model.at, b.routes[i].at)
			b.warn(at, "route %q can never match: route %q%s takes its calls first", b.plan.Routes[i].Model, b.plan.Routes[j].Model, onLine(b.routes[j].at))
			return
		}
	}
}

func onLine(n *tree.Node) string {
	if n == nil || n.Line == 0 {
		return ""
	}
	return fmt.Sprintf(" on line %d", n.Line)
}

// covers reports whether every name of a later pattern matches the earlier
// one. It is sure where it says yes; some pairs of patterns it leaves alone.
func covers(earlier, later string) bool {
	if earlier == "*" || earlier == later {
		return true
	}
	exact := (&backstop.Route{Model: later}).Exact()
	if exact {
		return backstop.MatchModel(earlier, later)
	}
	prefix, star := strings.CutSuffix(earlier, "*")
	if !star || prefix == "" || !(&backstop.Route{Model: prefix}).Exact() || later == "*" {
		return false
	}
	return strings.HasPrefix(later, prefix)
}
