package backstop

import "time"

// The card: every default of the product lives here and nowhere else.
const (
	DefaultConnect    = 2 * time.Second
	DefaultFirstToken = 4500 * time.Millisecond
	DefaultIdle       = 10 * time.Second
	DefaultTotal      = 10 * time.Minute
	// SilentFirstToken is the first-token limit of models that think without
	// streaming their reasoning.
	SilentFirstToken = 120 * time.Second

	DefaultFailures = 5
	DefaultWindow   = 30 * time.Second
	DefaultReset    = 60 * time.Second

	DefaultRetries   = 1
	DefaultJitterMin = 200 * time.Millisecond
	DefaultJitterMax = 500 * time.Millisecond
	DefaultBudget    = 0.1

	DefaultBurst        = 20
	DefaultInflight     = 1000
	DefaultFallbackRate = 100.0 // attempts per second on every upstream tier after the first

	// DeadlineSlack is what `deadline: auto` adds to the tiers' first-token limits.
	DeadlineSlack = 5 * time.Second

	DefaultCacheAge  = 24 * time.Hour
	DefaultCacheSize = 64 << 20
	DefaultKeepalive = 15 * time.Second

	// MaxAttempts is the most upstream requests one call may cause.
	MaxAttempts = 4
)

// DefaultUpstream returns the card's settings for an upstream; the caller
// fills in name, dialect, URL and keys.
func DefaultUpstream() Upstream {
	return Upstream{
		Dialect: OpenAI, Vendor: "generic", Auth: "bearer", Proxy: "env", Unary: UnaryStream,
		Timeouts: Timeouts{Connect: DefaultConnect, FirstToken: DefaultFirstToken, Idle: DefaultIdle, Total: DefaultTotal},
		Breaker:  BreakerSettings{Failures: DefaultFailures, Window: DefaultWindow, Reset: DefaultReset, Hang: true, Probe: ProbeSynthetic},
		Retry:    RetrySettings{Max: DefaultRetries, JitterMin: DefaultJitterMin, JitterMax: DefaultJitterMax, Budget: DefaultBudget},
		Limits:   Limits{Burst: DefaultBurst, Inflight: DefaultInflight},
		Quirks:   Quirks{ToolIDMax: 64, ReasoningContent: "optional"},
	}
}

// DefaultRoute returns the card's settings for a route; the caller fills in
// model, tiers and deadline (see [AutoDeadline]).
func DefaultRoute() Route {
	return Route{
		JSON:   JSONSettings{Repair: true, Invalid: "reask", Truncated: "next"},
		Stream: StreamSettings{Rescue: "splice", Keepalive: DefaultKeepalive},
	}
}

// ArticleCard turns an upstream into the literal card of the article:
// first token = total = 4500 ms, five consecutive failures in 30 s, a flat
// 60 s reset and a live probe, and nothing that the article does not have.
func ArticleCard(u *Upstream) {
	u.Unary = UnaryPlain
	u.Timeouts.FirstToken, u.Timeouts.Total = DefaultFirstToken, DefaultFirstToken
	u.Breaker = BreakerSettings{Failures: DefaultFailures, Window: DefaultWindow, Reset: DefaultReset, Probe: ProbeLive, Literal: true}
	u.Retry.Max = 0
}

// AutoDeadline is the sum of the tiers' first-token limits plus
// [DeadlineSlack]: what `deadline: auto` means.
func AutoDeadline(p *Plan, r *Route) time.Duration {
	d := DeadlineSlack
	for i := range r.Tiers {
		if u := p.Upstream(r.Tiers[i].Upstream); u != nil {
			d += u.Timeouts.FirstToken
		}
	}
	return d
}
