package scenario

import (
	"fmt"
	"strings"

	"backstop/internal/config/tree"
	"backstop/internal/config/value"
	"backstop/sim"
)

// file reads the top of a scenario.
func (r *reader) file(n *tree.Node, f *File) {
	s := &f.Scenario
	s.Seed, s.Replicas = 1, 1
	r.mapping(n, "the scenario", []key{
		{"name", put(r, &s.Name, asText)},
		{"seed", put(r, &s.Seed, asSeed)},
		{"duration", put(r, &s.Duration, value.Duration)},
		{"replicas", put(r, &s.Replicas, value.Whole)},
		{"arrivals", func(n *tree.Node) { r.arrivals(n, &s.Arrivals) }},
		{"upstreams", func(n *tree.Node) { r.upstreams(n, f) }},
		{"faults", func(n *tree.Node) { r.faults(n, f) }},
		{"expect", func(n *tree.Node) { r.expect(n, s) }},
	})
	if s.Duration <= 0 {
		r.problem(n, "duration is missing", "write for example duration: 10m")
	}
	if s.Arrivals.Rate <= 0 && s.Arrivals.Process != sim.Trace {
		r.problem(n, "arrivals.rate is missing", "write for example arrivals: {rate: 50/s}")
	}
}

func (r *reader) arrivals(n *tree.Node, a *sim.Arrivals) {
	a.Stream = 1
	r.mapping(n, "arrivals", []key{
		{"rate", put(r, &a.Rate, value.Rate)},
		{"process", func(n *tree.Node) { r.process(n, a) }},
		{"timeout", put(r, &a.Timeout, value.Duration)},
		{"retries", put(r, &a.Retries, value.Whole)},
		{"stream", put(r, &a.Stream, value.Share)},
		{"json", put(r, &a.JSON, value.Share)},
		{"embed", put(r, &a.Embed, value.Share)},
		{"same", put(r, &a.Same, value.Share)},
		{"callers", put(r, &a.Callers, value.Whole)},
		{"models", func(n *tree.Node) {
			r.named(n, "models", func(name, weight *tree.Node) {
				m := sim.ModelShare{Name: name.Text}
				put(r, &m.Weight, asWeight)(weight)
				a.Models = append(a.Models, m)
			})
		}},
	})
}

func asWeight(text string) (float64, error) {
	if strings.HasSuffix(text, "%") {
		return value.Share(text)
	}
	return asNumber(text)
}

// process is poisson, constant, or {trace: FILE}, also written "trace: FILE".
func (r *reader) process(n *tree.Node, a *sim.Arrivals) {
	if n.Kind == tree.Mapping {
		r.mapping(n, "process", []key{{"trace", func(n *tree.Node) {
			if file, ok := r.scalar(n); ok {
				a.Process, a.Trace = sim.Trace, r.trace(n, file)
			}
		}}})
		return
	}
	text, ok := r.scalar(n)
	if !ok {
		return
	}
	if file, isTrace := strings.CutPrefix(text, "trace:"); isTrace {
		a.Process, a.Trace = sim.Trace, r.trace(n, strings.TrimSpace(file))
		return
	}
	switch p := sim.Process(text); p {
	case sim.Poisson, sim.Constant:
		a.Process = p
	default:
		r.problem(n, fmt.Sprintf("%q is no process", short(text)), "write poisson, constant or {trace: FILE}")
	}
}

func (r *reader) upstreams(n *tree.Node, f *File) {
	r.named(n, "upstreams", func(name, v *tree.Node) {
		f.names = append(f.names, name)
		m, keys := sim.Usual(name.Text), 0
		r.mapping(v, "upstreams."+short(name.Text), []key{
			{"first_token", func(n *tree.Node) { r.spread(n, &m.FirstToken, asSeconds) }},
			{"tokens", func(n *tree.Node) { r.spread(n, &m.Tokens, asNumber) }},
			{"gap", put(r, &m.Gap, value.Duration)},
			{"capacity", put(r, &m.Capacity, value.Whole)},
			{"over", put(r, &m.Over, asOver)},
			{"keys", put(r, &keys, value.Whole)},
		})
		if keys > 26 {
			r.problem(v, "more than 26 keys", "")
			keys = 0
		}
		f.Keys[name.Text] = keys
		f.Scenario.Upstreams = append(f.Scenario.Upstreams, m)
	})
}

func asOver(text string) (string, error) {
	if text == "queue" {
		return text, nil
	}
	return asFault(text)
}

// spread is {p50: …, p95: …}, or one value that never varies.
func (r *reader) spread(n *tree.Node, to *sim.Spread, parse func(string) (float64, error)) {
	if n.Kind == tree.Scalar {
		put(r, &to.P50, parse)(n)
		to.P95 = to.P50
		return
	}
	to.P95 = 0
	r.mapping(n, "a spread", []key{{"p50", put(r, &to.P50, parse)}, {"p95", put(r, &to.P95, parse)}})
	if to.P95 == 0 {
		to.P95 = to.P50
	}
	if to.P95 < to.P50 {
		r.problem(n, "p95 is smaller than p50", "")
	}
}

func (r *reader) faults(n *tree.Node, f *File) {
	if n.Kind == tree.Null {
		return
	}
	if n.Kind != tree.Sequence {
		r.problem(n, "faults takes a list, not "+n.Kind.String(), "write - {upstream: primary, from: 60s, to: 360s, fault: hang}")
		return
	}
	for _, item := range n.Items {
		var x sim.Fault
		said := false
		r.mapping(item, "a fault", []key{
			{"upstream", func(n *tree.Node) {
				put(r, &x.Upstream, asText)(n)
				f.names = append(f.names, n)
			}},
			{"from", put(r, &x.From, value.Duration)},
			{"to", put(r, &x.To, value.Duration)},
			{"fault", func(n *tree.Node) {
				said = true
				put(r, &x.Word, asFault)(n)
			}},
			{"model", put(r, &x.Model, asText)},
			{"key", put(r, &x.Key, value.Whole)},
		})
		switch {
		case x.Upstream == "":
			r.problem(item, "the fault names no upstream", "write upstream: NAME")
		case !said:
			r.problem(item, "the fault has no word", "write fault: hang")
		case x.To > 0 && x.To <= x.From:
			r.problem(item, "the fault ends before it begins", "write a later to")
		}
		f.Scenario.Faults = append(f.Scenario.Faults, x)
	}
}

func (r *reader) expect(n *tree.Node, s *sim.Scenario) {
	r.named(n, "expect", func(what, want *tree.Node) {
		e := sim.Expectation{What: what.Text}
		put(r, &e.Want, asText)(want)
		if err := e.Check(); err != nil {
			r.problem(what, err.Error(), "")
			return
		}
		s.Expect = append(s.Expect, e)
	})
}
