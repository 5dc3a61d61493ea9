package backstophttp

import (
	"math/rand/v2"

	"backstop"
	"backstop/secret"
)

// pairText is what the local tier of a pair answers when both upstreams fail.
const pairText = "The assistant is busy, please try again in a minute."

// NewPair returns a Transport for two upstreams in the OpenAI dialect: calls go
// to primary, to backup when primary does not answer, and get a fixed text
// when neither does. Only BaseURL must be set; names default to "primary" and
// "backup", everything else to the card ([backstop.DefaultUpstream]).
func NewPair(primary, backup backstop.Upstream, o Options) (*Transport, error) {
	primary, backup = carded(primary, "primary"), carded(backup, "backup")
	route := backstop.DefaultRoute()
	route.Model = "*"
	route.Tiers = []backstop.Tier{
		{Upstream: primary.Name},
		{Upstream: backup.Name, Rate: backstop.DefaultFallbackRate, Burst: backstop.DefaultBurst},
		{Local: &backstop.Local{Template: &backstop.Template{Text: pairText}}},
	}
	p := &backstop.Plan{Upstreams: []backstop.Upstream{primary, backup}, Routes: []backstop.Route{route}, Seed: rand.Uint64()}
	p.Routes[0].Deadline = backstop.AutoDeadline(p, &p.Routes[0])
	return New(p, o)
}

// carded fills in what was left out with the card's settings.
func carded(u backstop.Upstream, name string) backstop.Upstream {
	d := backstop.DefaultUpstream()
	fill(&u.Name, name)
	fill(&u.Dialect, d.Dialect)
	fill(&u.Vendor, d.Vendor)
	fill(&u.Auth, d.Auth)
	fill(&u.Proxy, d.Proxy)
	fill(&u.Unary, d.Unary)
	fill(&u.Timeouts.Connect, d.Timeouts.Connect)
	fill(&u.Timeouts.FirstToken, d.Timeouts.FirstToken)
	fill(&u.Timeouts.Idle, d.Timeouts.Idle)
	fill(&u.Timeouts.Total, d.Timeouts.Total)
	fill(&u.Breaker, d.Breaker)
	fill(&u.Retry, d.Retry)
	fill(&u.Limits, d.Limits)
	fill(&u.Quirks.ToolIDMax, d.Quirks.ToolIDMax)
	fill(&u.Quirks.ReasoningContent, d.Quirks.ReasoningContent)
	if len(u.Keys) == 1 && u.Keys[0].Empty() {
		u.Keys = []secret.Value(nil)
	}
	return u
}

func fill[T comparable](at *T, instead T) {
	var zero T
	if *at == zero {
		*at = instead
	}
}
