package config

import (
	"fmt"
	"strconv"
	"strings"

	"backstop"
)

// Describe prints the plan for an operator: where calls come in, which
// upstreams there are and the tiers of every route. It names no credential.
func (c *Config) Describe() string {
	var b strings.Builder
	fmt.Fprintf(&b, "plan from %s\n", c.Source)
	fmt.Fprintf(&b, "  listen    %s\n", strings.Join(c.Listen, ", "))
	fmt.Fprintf(&b, "  admin     %s\n", strings.Join(c.Admin.Listen, ", "))
	for i := range c.Callers {
		fmt.Fprintf(&b, "  caller    %s: %s\n", c.Callers[i].Name, strings.Join(c.Callers[i].Models, ", "))
	}
	for i := range c.Plan.Upstreams {
		fmt.Fprintf(&b, "  upstream  %s\n", describeUpstream(&c.Plan.Upstreams[i]))
	}
	for i := range c.Plan.Routes {
		rt := &c.Plan.Routes[i]
		tiers := make([]string, len(rt.Tiers))
		for j := range rt.Tiers {
			tiers[j] = describeTier(&rt.Tiers[j])
		}
		fmt.Fprintf(&b, "  route     %s: %s; deadline %s\n", rt.Model, strings.Join(tiers, " -> "), span(rt.Deadline))
	}
	fmt.Fprintf(&b, "  agent     %s\n", c.Agent.Model)
	return b.String()
}

func describeUpstream(u *backstop.Upstream) string {
	keys := "no key"
	switch len(u.Keys) {
	case 0:
	case 1:
		keys = "1 key"
	default:
		keys = strconv.Itoa(len(u.Keys)) + " keys"
	}
	return fmt.Sprintf("%s: %s (%s), %s dialect, %s, first token within %s", u.Name, u.BaseURL, u.Vendor, u.Dialect, keys, span(u.Timeouts.FirstToken))
}

func describeTier(t *backstop.Tier) string {
	if l := t.Local; l != nil {
		if l.Cache != nil {
			return fmt.Sprintf("cache (%s, %d bytes)", span(l.Cache.Age), l.Cache.Size)
		}
		return "template"
	}
	model := t.Model
	if model == "" {
		model = "as asked"
	}
	text := t.Upstream + " (" + model
	if t.Context > 0 {
		text += ", " + strconv.Itoa(t.Context) + " tokens"
	}
	if t.Rate > 0 {
		text += ", at most " + perSecond(t.Rate)
	}
	return text + ")"
}
