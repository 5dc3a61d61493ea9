package observe

import (
	"net/http"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"backstop"
)

// Buckets in seconds. The card's limits are bounds of their own, so that what
// was cut there can be seen.
var (
	callBuckets     = []float64{.005, .01, .02, .05, .1, .25, .5, 1, 2.5, 4.5, 5, 10, 30, 60, 120, 300, 600}
	tokenBuckets    = []float64{.05, .1, .2, .3, .5, .75, 1, 1.5, 2.25, 3, 4.5, 10, 30, 60, 120}
	gapBuckets      = []float64{.001, .0025, .005, .01, .02, .03, .05, .075, .1, .15, .25, .5, 1, 2.5, 5, 10}
	overheadBuckets = []float64{.00005, .0001, .00025, .0005, .001, .0025, .005, .01, .025, .1, 1}
)

// metrics are everything that a scrape tells. All labels are config names or
// fixed words.
type metrics struct {
	registry *prometheus.Registry
	names    atomic.Pointer[names]
	kinds    words // of JSON repairs

	calls       *prometheus.CounterVec
	attempts    *prometheus.CounterVec
	transitions *prometheus.CounterVec
	trials      *prometheus.CounterVec
	probes      *prometheus.CounterVec
	passed      *prometheus.CounterVec
	repairs     *prometheus.CounterVec
	shed        *prometheus.CounterVec
	tokens      *prometheus.CounterVec
	rescues     *prometheus.CounterVec
	malformed   *prometheus.CounterVec
	duration    *prometheus.HistogramVec
	firstToken  *prometheus.HistogramVec
	tokenGap    *prometheus.HistogramVec
	overhead    prometheus.Histogram
	reload      prometheus.Gauge
	undelivered prometheus.Counter
}

func newMetrics(o *Options, q *queue) *metrics {
	m := &metrics{registry: prometheus.NewRegistry()}
	m.names.Store(newNames(nil, nil))
	m.calls = m.counter("calls_total", "Calls by how they ended.", "route", "caller", "tier", "outcome")
	m.attempts = m.counter("attempts_total", "Requests to upstreams on behalf of calls, by outcome.", "upstream", "outcome")
	m.trials = m.counter("trial_transitions_total", "Changes that breaker.trial would have made.", "upstream", "scope", "to", "cause")
	m.transitions = m.counter("breaker_transitions_total", "Changes of breakers.", "upstream", "scope", "to", "cause")
	m.probes = m.counter("probes_total", "Background probes by outcome.", "upstream", "outcome")
	m.passed = m.counter("passthrough_total", "Requests that were passed on as they are, by how they ended. They are no calls.", "upstream", "caller", "outcome")
	m.repairs = m.counter("json_repairs_total", "Repairs of promised JSON.", "kind")
	m.shed = m.counter("shed_total", "Tiers that were passed over without a request.", "upstream", "reason")
	m.tokens = m.counter("tokens_total", "Tokens as upstreams reported them.", "upstream", "direction")
	m.rescues = m.counter("rescues_total", "Streams that broke after their first token and were to be taken over, by result.", "result")
	for _, result := range rescueWords {
		m.rescues.WithLabelValues(result) // a counter that starts at zero can be alerted on
	}
	m.malformed = m.counter("malformed_events_total", "Events of streams that were dropped because they could not be read.", "upstream")
	m.duration = m.histogram("call_duration_seconds", "Accept to last byte.", callBuckets, "route", "tier")
	m.firstToken = m.histogram("first_token_seconds", "Start of an attempt to its first meaningful token.", tokenBuckets, "upstream")
	m.tokenGap = m.histogram("token_gap_seconds", "Time between two meaningful tokens of a stream.", gapBuckets, "upstream")
	m.overhead = prometheus.NewHistogram(prometheus.HistogramOpts{Name: "backstop_overhead_seconds",
		Help: "Time of a call that was not spent waiting for its upstream or its caller, for calls without a failed attempt.", Buckets: overheadBuckets})
	m.reload = prometheus.NewGauge(prometheus.GaugeOpts{Name: "backstop_config_last_reload_successful", Help: "1 if the latest configuration is in force."})
	m.reload.Set(1)
	info := prometheus.NewGauge(prometheus.GaugeOpts{Name: "backstop_build_info", Help: "Always 1.",
		ConstLabels: prometheus.Labels{"version": o.Version, "goversion": runtime.Version()}})
	info.Set(1)
	m.undelivered = prometheus.NewCounter(prometheus.CounterOpts{Name: "backstop_telemetry_failures_total", Help: "Batches of spans or numbers that no collector took."})
	m.registry.MustRegister(m.overhead, m.reload, m.undelivered, info,
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "backstop_log_dropped_total", Help: "Log lines that nobody took in time."},
			func() float64 { return float64(q.dropped.Load()) }),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if o.State != nil {
		m.registry.MustRegister(newEngineGauges(o.State))
	}
	return m
}

func (m *metrics) counter(name, help string, labels ...string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "backstop_" + name, Help: help}, labels)
	m.registry.MustRegister(c)
	return c
}

func (m *metrics) histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "backstop_" + name, Help: help, Buckets: buckets}, labels)
	m.registry.MustRegister(h)
	return h
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4, Timeout: 10 * time.Second, EnableOpenMetrics: true})
}

func (m *metrics) reloaded(ok bool) {
	m.reload.Set(0)
	if ok {
		m.reload.Set(1)
	}
}

func (m *metrics) call(e *backstop.Event) {
	n := m.names.Load()
	if e.Op == backstop.OpPass {
		m.passed.WithLabelValues(n.upstream(e.Upstream), n.caller(e.Caller), e.Outcome.String()).Inc()
		return
	}
	route, tier := n.route(e.Route), tierWord(e.Tier)
	m.calls.WithLabelValues(route, n.caller(e.Caller), tier, e.Outcome.String()).Inc()
	m.duration.WithLabelValues(route, tier).Observe(e.Duration.Seconds())
	if straight(e) {
		m.overhead.Observe(max(e.Duration-e.Upstreamed-e.Blocked, 0).Seconds())
	}
	for i := range e.Attempts {
		m.attempt(n, &e.Attempts[i])
	}
	for i := range e.Skipped {
		m.shed.WithLabelValues(n.upstream(e.Skipped[i].Upstream), oneOf(skipWords, e.Skipped[i].Why)).Inc()
	}
	if e.Rescued != "" {
		m.rescues.WithLabelValues(oneOf(rescueWords, e.Rescued)).Inc()
	}
	for _, kind := range e.Repaired {
		m.repairs.WithLabelValues(m.kinds.admit(kind)).Inc()
	}
}

// straight reports whether a call was answered without a detour, so that what
// it did not spend at its upstream is our own time.
func straight(e *backstop.Event) bool {
	switch len(e.Attempts) {
	case 0:
		return e.Tier != ""
	case 1:
		return e.Attempts[0].Outcome.Class == backstop.OK && e.Upstreamed > 0
	}
	return false
}

func (m *metrics) attempt(n *names, a *backstop.AttemptRecord) {
	upstream := n.upstream(a.Upstream)
	m.attempts.WithLabelValues(upstream, a.Outcome.Class.String()).Inc()
	if a.FirstToken > 0 {
		m.firstToken.WithLabelValues(upstream).Observe(a.FirstToken.Seconds())
	}
	if a.Outcome.Malformed > 0 {
		m.malformed.WithLabelValues(upstream).Add(float64(a.Outcome.Malformed))
	}
	if a.Outcome.InputTokens > 0 {
		m.tokens.WithLabelValues(upstream, "input").Add(float64(a.Outcome.InputTokens))
	}
	if a.Outcome.OutputTokens > 0 {
		m.tokens.WithLabelValues(upstream, "output").Add(float64(a.Outcome.OutputTokens))
	}
}

func (m *metrics) gap(upstream string, d time.Duration) {
	h := m.names.Load().gaps[upstream]
	if h == nil {
		h = m.tokenGap.WithLabelValues(other)
	}
	h.Observe(d.Seconds())
}

func (m *metrics) transition(t *backstop.Transition) {
	list := m.transitions
	if t.Trial {
		list = m.trials
	}
	list.WithLabelValues(m.names.Load().upstream(t.Upstream), oneOf(scopeWords, t.Scope), oneOf(stateWords, t.To), oneOf(causeWords, t.Cause)).Inc()
}

func (m *metrics) probe(p *backstop.Probe, out *backstop.Outcome) {
	if p.Upstream == nil {
		return
	}
	upstream := m.names.Load().upstream(p.Upstream.Name)
	m.probes.WithLabelValues(upstream, out.Class.String()).Inc()
	if n := max(out.InputTokens, 0) + max(out.OutputTokens, 0); n > 0 {
		m.tokens.WithLabelValues(upstream, "probe").Add(float64(n))
	}
}
