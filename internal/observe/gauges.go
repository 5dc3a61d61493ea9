package observe

import (
	"github.com/prometheus/client_golang/prometheus"

	"backstop"
)

// engineGauges is a prometheus.Collector over the engine's state. It is read
// when somebody scrapes, so it costs calls nothing and cannot drift.
type engineGauges struct {
	state                             func() backstop.State
	breaker, parked, budget, inflight *prometheus.Desc
}

func newEngineGauges(state func() backstop.State) *engineGauges {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("backstop_"+name, help, labels, nil)
	}
	return &engineGauges{
		state:    state,
		breaker:  desc("breaker_state", "0 closed, 1 open, 2 half-open; the worst over the models of a scope.", "upstream", "scope"),
		parked:   desc("keys_parked", "Keys that are skipped until a time that the upstream named.", "upstream"),
		budget:   desc("retry_budget_remaining", "Retries that the upstream's budget still holds.", "upstream"),
		inflight: desc("inflight", "Attempts that are running.", "upstream"),
	}
}

// Describe implements prometheus.Collector.
func (g *engineGauges) Describe(to chan<- *prometheus.Desc) {
	to <- g.breaker
	to <- g.parked
	to <- g.budget
	to <- g.inflight
}

// Collect implements prometheus.Collector.
func (g *engineGauges) Collect(to chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	st := g.state()
	for i := range st.Upstreams {
		u := &st.Upstreams[i]
		gauge(g.parked, float64(keysParked(u)), u.Name)
		gauge(g.budget, u.Budget, u.Name)
		gauge(g.inflight, float64(u.Inflight), u.Name)
		for scope, state := range breakerStates(u) {
			gauge(g.breaker, state, u.Name, scope)
		}
	}
}

// breakerStates is the worst state of each scope. Scopes that the engine has
// not used yet are closed.
func breakerStates(u *backstop.UpstreamState) map[string]float64 {
	worst := map[string]float64{"endpoint": 0, "model": 0, "quality": 0, "embed": 0}
	for _, s := range u.Scopes {
		scope := oneOf(scopeWords, s.Scope)
		switch s.State {
		case "open", "forced-open":
			worst[scope] = 1
		case "half-open":
			if worst[scope] == 0 {
				worst[scope] = 2
			}
		}
	}
	return worst
}

// keysParked counts the keys that cannot be used for some model.
func keysParked(u *backstop.UpstreamState) int {
	keys := map[int]bool{}
	for _, p := range u.Parked {
		if p.Key < 0 {
			return max(u.Keys, 1)
		}
		keys[p.Key] = true
	}
	return len(keys)
}
