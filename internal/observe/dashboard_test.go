package observe

import (
	"encoding/json"
	"strings"
	"testing"

	"backstop/internal/testkit"
)

// panel is one picture of the dashboard. Every query has its expression and
// the legend of its lines.
type panel struct {
	title, kind, unit string
	queries           [][2]string
}

// section is a row of panels.
type section struct {
	title  string
	panels []panel
}

const (
	series = "timeseries"
	figure = "stat"
	states = "state-timeline"
)

// The dashboard: what an operator looks at from the top down. What is broken,
// what was done about it, what it cost.
var dashboard = []section{
	{"Is anything broken", []panel{
		{"Answered by the primary", figure, "percentunit", [][2]string{{`sum(rate(backstop_calls_total{route=~"$route",tier="primary"}[5m])) / sum(rate(backstop_calls_total{route=~"$route"}[5m]))`, ""}}},
		{"Answered by a local tier or nobody", figure, "percentunit", [][2]string{{`sum(rate(backstop_calls_total{route=~"$route",tier=~"local|none",outcome!~"rejected|canceled"}[5m])) / sum(rate(backstop_calls_total{route=~"$route",outcome!~"rejected|canceled"}[5m]))`, ""}}},
		{"Breakers", states, "", [][2]string{{`max by (upstream, scope) (backstop_breaker_state{upstream=~"$upstream"})`, "{{upstream}} {{scope}}"}}},
		{"Keys parked", series, "short", [][2]string{{`max by (upstream) (backstop_keys_parked{upstream=~"$upstream"})`, "{{upstream}}"}}},
	}},
	{"What the callers get", []panel{
		{"Calls by tier", series, "reqps", [][2]string{{`sum by (tier) (rate(backstop_calls_total{route=~"$route"}[$__rate_interval]))`, "{{tier}}"}}},
		{"Calls by outcome", series, "reqps", [][2]string{{`sum by (outcome) (rate(backstop_calls_total{route=~"$route"}[$__rate_interval]))`, "{{outcome}}"}}},
		{"Calls by caller", series, "reqps", [][2]string{{`sum by (caller) (rate(backstop_calls_total{route=~"$route"}[$__rate_interval]))`, "{{caller}}"}}},
		{"Duration of calls", series, "s", [][2]string{
			{`histogram_quantile(0.5, sum by (le) (rate(backstop_call_duration_seconds_bucket{route=~"$route"}[$__rate_interval])))`, "p50"},
			{`histogram_quantile(0.99, sum by (le) (rate(backstop_call_duration_seconds_bucket{route=~"$route"}[$__rate_interval])))`, "p99"},
		}},
		{"Our own part of it", series, "s", [][2]string{
			{`histogram_quantile(0.5, sum by (le) (rate(backstop_overhead_seconds_bucket[$__rate_interval])))`, "p50"},
			{`histogram_quantile(0.99, sum by (le) (rate(backstop_overhead_seconds_bucket[$__rate_interval])))`, "p99"},
		}},
		{"JSON repairs", series, "ops", [][2]string{{`sum by (kind) (rate(backstop_json_repairs_total[$__rate_interval]))`, "{{kind}}"}}},
		{"Streams that broke and were to be taken over", series, "ops", [][2]string{{`sum by (result) (rate(backstop_rescues_total[$__rate_interval]))`, "{{result}}"}}},
	}},
	{"Upstreams", []panel{
		{"Attempts by outcome", series, "reqps", [][2]string{{`sum by (upstream, outcome) (rate(backstop_attempts_total{upstream=~"$upstream"}[$__rate_interval]))`, "{{upstream}} {{outcome}}"}}},
		{"First token", series, "s", [][2]string{
			{`histogram_quantile(0.5, sum by (le, upstream) (rate(backstop_first_token_seconds_bucket{upstream=~"$upstream"}[$__rate_interval])))`, "{{upstream}} p50"},
			{`histogram_quantile(0.95, sum by (le, upstream) (rate(backstop_first_token_seconds_bucket{upstream=~"$upstream"}[$__rate_interval])))`, "{{upstream}} p95"},
		}},
		{"Between two tokens, p95", series, "s", [][2]string{{`histogram_quantile(0.95, sum by (le, upstream) (rate(backstop_token_gap_seconds_bucket{upstream=~"$upstream"}[$__rate_interval])))`, "{{upstream}}"}}},
		{"Attempts that run", series, "short", [][2]string{{`sum by (upstream) (backstop_inflight{upstream=~"$upstream"})`, "{{upstream}}"}}},
		{"Tiers passed over", series, "reqps", [][2]string{{`sum by (upstream, reason) (rate(backstop_shed_total{upstream=~"$upstream"}[$__rate_interval]))`, "{{upstream}} {{reason}}"}}},
		{"Changes of breakers", series, "short", [][2]string{{`sum by (upstream, to, cause) (increase(backstop_breaker_transitions_total{upstream=~"$upstream"}[$__rate_interval]))`, "{{upstream}} {{to}} ({{cause}})"}}},
		{"What trial settings would have done", series, "short", [][2]string{{`sum by (upstream, to, cause) (increase(backstop_trial_transitions_total{upstream=~"$upstream"}[$__rate_interval]))`, "{{upstream}} {{to}} ({{cause}})"}}},
		{"Passed on as they are", series, "reqps", [][2]string{{`sum by (upstream, outcome) (rate(backstop_passthrough_total{upstream=~"$upstream"}[$__rate_interval]))`, "{{upstream}} {{outcome}}"}}},
		{"Background probes", series, "reqps", [][2]string{{`sum by (upstream, outcome) (rate(backstop_probes_total{upstream=~"$upstream"}[$__rate_interval]))`, "{{upstream}} {{outcome}}"}}},
		{"Retries left in the budget", series, "short", [][2]string{{`min by (upstream) (backstop_retry_budget_remaining{upstream=~"$upstream"})`, "{{upstream}}"}}},
		{"Tokens", series, "short", [][2]string{{`sum by (upstream, direction) (rate(backstop_tokens_total{upstream=~"$upstream"}[$__rate_interval]))`, "{{upstream}} {{direction}}"}}},
		{"Events that could not be read", series, "ops", [][2]string{{`sum by (upstream) (rate(backstop_malformed_events_total{upstream=~"$upstream"}[$__rate_interval]))`, "{{upstream}}"}}},
	}},
	{"The process", []panel{
		{"Version", figure, "short", [][2]string{{`max by (version) (backstop_build_info)`, "{{version}}"}}},
		{"Latest configuration in force", figure, "short", [][2]string{{`min by (instance) (backstop_config_last_reload_successful)`, "{{instance}}"}}},
		{"Log lines and telemetry that nobody took", series, "ops", [][2]string{
			{`sum(rate(backstop_log_dropped_total[$__rate_interval]))`, "log lines"},
			{`sum(rate(backstop_telemetry_failures_total[$__rate_interval]))`, "batches of telemetry"},
		}},
		{"CPU", series, "short", [][2]string{{`rate(process_cpu_seconds_total[$__rate_interval]) and on (job, instance) backstop_build_info`, "{{instance}}"}}},
		{"Memory", series, "bytes", [][2]string{{`process_resident_memory_bytes and on (job, instance) backstop_build_info`, "{{instance}}"}}},
		{"Goroutines and files", series, "short", [][2]string{
			{`go_goroutines and on (job, instance) backstop_build_info`, "{{instance}} goroutines"},
			{`process_open_fds and on (job, instance) backstop_build_info`, "{{instance}} files"},
		}},
	}},
}

func TestTheDashboardShowsEveryMetricAndNoOther(t *testing.T) {
	metrics := registered(t)
	shown := ""
	for _, s := range dashboard {
		for _, p := range s.panels {
			for _, q := range p.queries {
				shown += q[0] + "\n"
				for _, problem := range checkExpression(metrics, q[0]) {
					t.Errorf("%s: %s\n%s", p.title, problem, q[0])
				}
			}
		}
	}
	for name := range metrics {
		if strings.HasPrefix(name, "backstop_") && !strings.Contains(shown, name) {
			t.Errorf("%s is on no panel", name)
		}
	}
	testkit.Golden(t, "../../../deploy/grafana/backstop.json", drawn(t, metrics))
}

// drawn is the dashboard as Grafana imports it.
func drawn(t *testing.T, metrics map[string]string) []byte {
	t.Helper()
	const columns, width, height = 24, 8, 8
	list, y := []any{}, 0
	for _, s := range dashboard {
		list = append(list, map[string]any{"type": "row", "id": len(list) + 1, "title": s.title, "collapsed": false, "panels": []any{}, "gridPos": place(0, y, columns, 1)})
		y++
		for i, p := range s.panels {
			list = append(list, p.drawn(len(list)+1, place(i*width%columns, y+i*width/columns*height, width, height)))
		}
		y += (len(s.panels)*width + columns - 1) / columns * height
	}
	out, err := json.MarshalIndent(map[string]any{
		"title": "Backstop", "uid": "backstop", "schemaVersion": 39, "version": 1, "editable": true, "refresh": "10s", "tags": []string{"backstop", "llm"},
		"time": map[string]string{"from": "now-1h", "to": "now"}, "timezone": "browser", "graphTooltip": 1, "panels": list, "annotations": map[string]any{"list": []any{}},
		"templating": map[string]any{"list": []any{
			map[string]any{"name": "source", "label": "Prometheus", "type": "datasource", "query": "prometheus", "current": map[string]any{}},
			variable("route", "backstop_calls_total"), variable("upstream", "backstop_breaker_state"),
		}},
	}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(out, '\n')
}

func place(x, y, w, h int) map[string]int { return map[string]int{"x": x, "y": y, "w": w, "h": h} }

func variable(label, metric string) map[string]any {
	return map[string]any{
		"name": label, "label": strings.ToUpper(label[:1]) + label[1:], "type": "query", "datasource": source(), "refresh": 2, "includeAll": true, "multi": true, "allValue": ".*",
		"query": map[string]any{"query": "label_values(" + metric + "," + label + ")", "refId": label}, "current": map[string]any{"text": "All", "value": "$__all"},
	}
}

func source() map[string]string { return map[string]string{"type": "prometheus", "uid": "${source}"} }

func (p panel) drawn(id int, at map[string]int) map[string]any {
	targets := make([]any, len(p.queries))
	for i, q := range p.queries {
		targets[i] = map[string]any{"refId": string(rune('A' + i)), "datasource": source(), "expr": q[0], "legendFormat": q[1], "range": true}
	}
	defaults := map[string]any{"unit": p.unit, "min": 0}
	options := map[string]any{"legend": map[string]any{"displayMode": "list", "placement": "bottom"}, "tooltip": map[string]any{"mode": "multi", "sort": "desc"}}
	switch p.kind {
	case states:
		delete(defaults, "unit")
		defaults["mappings"] = []any{map[string]any{"type": "value", "options": map[string]any{
			"0": map[string]any{"text": "closed", "color": "green", "index": 0},
			"1": map[string]any{"text": "open", "color": "red", "index": 1},
			"2": map[string]any{"text": "half-open", "color": "yellow", "index": 2},
		}}}
		options = map[string]any{"showValue": "never", "mergeValues": true, "legend": map[string]any{"displayMode": "list", "placement": "bottom"}}
	case figure:
		options = map[string]any{"reduceOptions": map[string]any{"calcs": []string{"lastNotNull"}}, "textMode": "value_and_name"}
	}
	return map[string]any{
		"id": id, "title": p.title, "type": p.kind, "gridPos": at, "datasource": source(), "targets": targets,
		"fieldConfig": map[string]any{"defaults": defaults, "overrides": []any{}}, "options": options,
	}
}
