package sim

import "backstop"

// Pair is the plan of a scenario without a configuration: the article's
// primary and backup with the card's defaults, and a template behind them that
// answers JSON calls as well.
func Pair() *backstop.Plan {
	primary, backup := backstop.DefaultUpstream(), backstop.DefaultUpstream()
	primary.Name, primary.BaseURL = "primary", "https://primary.invalid/v1"
	backup.Name, backup.BaseURL = "backup", "https://backup.invalid/v1"
	r := backstop.DefaultRoute()
	r.Model = "*"
	r.Tiers = []backstop.Tier{
		{Upstream: "primary"},
		{Upstream: "backup", Rate: backstop.DefaultFallbackRate, Burst: backstop.DefaultBurst},
		{Local: &backstop.Local{Template: &backstop.Template{Text: "The assistant is busy, please try again in a minute.", JSON: []byte(`{"fallback":true}`)}}},
	}
	p := &backstop.Plan{Upstreams: []backstop.Upstream{primary, backup}, Routes: []backstop.Route{r}}
	p.Routes[0].Deadline = backstop.AutoDeadline(p, &p.Routes[0])
	return p
}
