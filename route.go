package backstop

import (
	"path"
	"strings"
	"time"
)

// Route maps model names to an ordered list of tiers. The first route that
// matches wins.
type Route struct {
	Model    string // exact name, glob, or "*"
	Tiers    []Tier
	Deadline time.Duration // accept to the first meaningful token of the answering attempt; never 0 in a built plan
	JSON     JSONSettings
	Stream   StreamSettings
	Hedge    HedgeSettings
	// RefusalNext sends content filters and refusals on to the next tier.
	RefusalNext bool
	// SameVectors lets embeddings go to a tier with another model name.
	SameVectors bool
}

// Matches reports whether the route is responsible for a model name. A
// pattern is compared as a whole first, so names with glob characters work.
func (r *Route) Matches(model string) bool {
	return MatchModel(r.Model, model)
}

// MatchModel reports whether a model name fits a pattern: the name itself, or
// a glob in which * and ? stand for any bytes. A slash is nothing special in a
// model name ("org/model").
func MatchModel(pattern, model string) bool {
	if pattern == "*" || pattern == model {
		return true
	}
	// path.Match stops at slashes; under another byte they are like any other.
	const slash, other = "/", "\x00"
	ok, err := path.Match(strings.ReplaceAll(pattern, slash, other), strings.ReplaceAll(model, slash, other))
	return err == nil && ok
}

// Exact reports whether the route names one model rather than a pattern.
func (r *Route) Exact() bool {
	for i := 0; i < len(r.Model); i++ {
		switch r.Model[i] {
		case '*', '?', '[', '\\':
			return false
		}
	}
	return r.Model != ""
}

// Tier is one rung of a route: an upstream with a model, or a local answer.
type Tier struct {
	Upstream string  // config name; "" for a local tier
	Model    string  // model name to send; "" = as asked
	Context  int     // tokens the model takes, 0 = unknown
	Rate     float64 // attempts per second on this rung, 0 = none
	Burst    int
	Local    *Local // set for a local tier
}

// Name is the name that headers, logs and metrics use for the tier's answerer.
func (t *Tier) Name() string {
	switch {
	case t.Local == nil:
		return t.Upstream
	case t.Local.Cache != nil:
		return "cache"
	default:
		return "template"
	}
}

// Local is the last tier: an answer that needs no network.
type Local struct {
	Cache    *CacheSettings
	Template *Template
}

// CacheSettings bound the stale cache of a route.
type CacheSettings struct {
	Age  time.Duration
	Size int64 // bytes
}

// Template is a fixed answer. Text may hold the placeholders {{request_id}},
// {{route}}, {{model}} and {{reason}}; JSON is the body for calls that were
// promised JSON, nil = such calls skip the tier.
type Template struct {
	Text string
	JSON []byte
}

// JSONSettings say what a route does about promised JSON.
type JSONSettings struct {
	Always    bool   // every answer is promised JSON
	Schema    []byte // JSON Schema, nil = none
	Repair    bool
	Invalid   string // reask | next | error
	Truncated string // next | mark
}

// StreamSettings say what happens to a stream after its first token.
type StreamSettings struct {
	Rescue    string // splice | continue | off
	Keepalive time.Duration
}

// HedgeSettings let a second tier start before the first has failed.
type HedgeSettings struct {
	After time.Duration // wait for a first token before that, 0 = off
	// Auto is 1.5 x the p95 first token of the tier that is waited for, and
	// half of its first-token limit while that is not known.
	Auto bool
}
