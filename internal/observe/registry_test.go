package observe

import (
	"context"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"backstop"
)

// contract are the metrics that users rely on, with their labels.
var contract = map[string]string{
	"backstop_calls_total":                   "caller outcome route tier",
	"backstop_attempts_total":                "outcome upstream",
	"backstop_breaker_state":                 "scope upstream",
	"backstop_breaker_transitions_total":     "cause scope to upstream",
	"backstop_keys_parked":                   "upstream",
	"backstop_call_duration_seconds":         "route tier",
	"backstop_first_token_seconds":           "upstream",
	"backstop_token_gap_seconds":             "upstream",
	"backstop_overhead_seconds":              "",
	"backstop_retry_budget_remaining":        "upstream",
	"backstop_json_repairs_total":            "kind",
	"backstop_rescues_total":                 "result",
	"backstop_inflight":                      "upstream",
	"backstop_shed_total":                    "reason upstream",
	"backstop_tokens_total":                  "direction upstream",
	"backstop_build_info":                    "",
	"backstop_config_last_reload_successful": "",
}

var descForm = regexp.MustCompile(`fqName: "([^"]+)".*variableLabels: \{([^}]*)\}`)

// registered are all metrics that a scrape can tell, with their labels.
func registered(t *testing.T) map[string]string {
	t.Helper()
	o := New(Options{State: func() backstop.State { return backstop.State{} }})
	defer o.Close()
	descs := make(chan *prometheus.Desc, 1000)
	o.metrics.registry.Describe(descs)
	close(descs)
	out := map[string]string{}
	for d := range descs {
		m := descForm.FindStringSubmatch(d.String())
		if m == nil {
			t.Fatalf("%s is not understood", d)
		}
		labels := strings.FieldsFunc(m[2], func(r rune) bool { return r == ',' || r == ' ' })
		slices.Sort(labels)
		out[m[1]] = strings.Join(labels, " ")
	}
	return out
}

func TestEveryMetricOfTheContractIsThereWithItsLabels(t *testing.T) {
	got := registered(t)
	for name, labels := range contract {
		if have, ok := got[name]; !ok || have != labels {
			t.Errorf("%s: labels %q, want %q (there: %v)", name, have, labels, ok)
		}
	}
	for _, name := range []string{"go_goroutines", "process_open_fds"} {
		if _, ok := got[name]; !ok {
			t.Errorf("%s is missing", name)
		}
	}
}

// TestAHundredThousandCallsMakeNoSeries: what callers choose (models, ids, keys)
// is no label, in either kind of metrics.
func TestAHundredThousandCallsMakeNoSeries(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	o := New(Options{Level: "error", Ring: 10})
	defer o.Close()
	o.tracing = &tracing{gauge: newGenAI(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)).Meter("test"))}
	o.Known(&backstop.Plan{
		Routes:    []backstop.Route{{Model: "gpt-4o"}, {Model: "*", Tiers: []backstop.Tier{{Upstream: "one"}, {Upstream: "two", Model: "n"}}}},
		Upstreams: []backstop.Upstream{{Name: "one"}, {Name: "two"}},
	}, []string{"web", "app"})
	draw := rand.New(rand.NewPCG(1, 2))
	call := func(i int) {
		name := fmt.Sprintf("%x-%d", draw.Uint64(), i)
		e := hung(name)
		e.Asked, e.Attempts[0].Model, e.Attempts[1].Model, e.Model = name, name, "n", name
		e.Route, e.Stream, e.OutputTokens = []string{"*", "gpt-4o"}[i%2], true, 3
		e.Caller = []string{"web", "app", "192.0.2.1", hex.EncodeToString([]byte(name))}[i%4]
		o.Call(e)
	}
	count := func() (series, points int) {
		var rm metricdata.ResourceMetrics
		if err := reader.Collect(context.Background(), &rm); err != nil {
			t.Fatal(err)
		}
		for _, s := range rm.ScopeMetrics {
			for _, m := range s.Metrics {
				switch h := m.Data.(type) {
				case metricdata.Histogram[float64]:
					points += len(h.DataPoints)
				case metricdata.Histogram[int64]:
					points += len(h.DataPoints)
				}
			}
		}
		return strings.Count(scrape(o), "\nbackstop_"), points
	}
	for i := range 100 {
		call(i)
	}
	series, points := count()
	for i := range manyCalls {
		call(i)
	}
	if s, p := count(); s != series || p != points || series < 50 || points < 5 {
		t.Errorf("%d series became %d, %d points became %d", series, s, points, p)
	}
	if text := scrape(o); !strings.Contains(text, `backstop_calls_total{caller="other",outcome="ok",route="*",tier="backup"}`) {
		t.Error("strangers are not put together")
	}
	o.tracing = nil
}
