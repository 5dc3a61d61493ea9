package observe

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"backstop/internal/testkit"
)

// alert is one rule: when it fires, what is wrong and what to do.
type alert struct {
	name, severity string
	expr           string
	wait           string // how long the expression holds before it fires
	summary, todo  string
}

var alerts = []alert{
	{"BackstopDown", "critical", `absent(backstop_build_info)`, "5m",
		"no Backstop is scraped", "see whether the process runs and the scrape port (metrics.listen) is reachable"},
	{"BackstopLastResort", "critical",
		`sum(rate(backstop_calls_total{tier=~"local|none",outcome!~"rejected|canceled"}[5m])) / sum(rate(backstop_calls_total{outcome!~"rejected|canceled"}[5m])) > 0.05`, "2m",
		"{{ $value | humanizePercentage }} of the calls got a local answer or none", "all upstreams of a route are out: open the dashboard, see the cause of each breaker, add a tier at another vendor"},
	{"BackstopCallsFail", "critical",
		`sum(rate(backstop_calls_total{tier="none",outcome!~"rejected|canceled"}[5m])) / sum(rate(backstop_calls_total{outcome!~"rejected|canceled"}[5m])) > 0.01`, "5m",
		"{{ $value | humanizePercentage }} of the calls got an error", "give the route a template as its last tier, and see backstop why for one of the calls"},
	{"BackstopBreakerOpen", "warning", `max by (job, upstream, scope) (backstop_breaker_state{scope!="quality"}) == 1`, "5m",
		"{{ $labels.upstream }} is out ({{ $labels.scope }}) and its calls go elsewhere", "nothing, if it is the vendor's outage: background probes bring it back; else backstop doctor"},
	{"BackstopBreakerFlaps", "warning", `sum by (job, upstream) (increase(backstop_breaker_transitions_total{to="open"}[30m])) > 6`, "0m",
		"the breaker of {{ $labels.upstream }} opened {{ $value | humanize }} times in half an hour", "the upstream is half broken: hold it open by hand, or raise breaker.failures"},
	{"BackstopPrimaryAvoided", "warning",
		`sum(rate(backstop_calls_total{tier="backup"}[15m])) / sum(rate(backstop_calls_total{tier=~"primary|backup"}[15m])) > 0.5`, "15m",
		"{{ $value | humanizePercentage }} of the answers come from backups", "the outage is long: see limits and costs of the backup"},
	{"BackstopKeysParked", "warning", `max by (job, upstream) (backstop_keys_parked) > 0`, "30m",
		"{{ $value | humanize }} keys of {{ $labels.upstream }} cannot be used", "the quota is used up or the key is refused: see the dashboard for which, and until when"},
	{"BackstopBudgetEmpty", "warning", `min by (job, upstream) (backstop_retry_budget_remaining) < 1`, "10m",
		"no retry is left for {{ $labels.upstream }}", "it fails too often for retries to help; they go to the next tier"},
	{"BackstopSlowFirstToken", "warning",
		`histogram_quantile(0.95, sum by (job, le, upstream) (rate(backstop_first_token_seconds_bucket[10m]))) > 4`, "10m",
		"the first token of {{ $labels.upstream }} takes {{ $value | humanizeDuration }} at p95", "near timeouts.first_token healthy answers are cut: raise it for this upstream, or put a faster one first"},
	{"BackstopSlowItself", "warning", `histogram_quantile(0.99, sum by (job, le) (rate(backstop_overhead_seconds_bucket[10m]))) > 0.05`, "10m",
		"Backstop itself adds {{ $value | humanizeDuration }} at p99", "the machine is too busy: give it CPU, or run another instance"},
	{"BackstopRescuesFail", "warning", `sum by (job) (increase(backstop_rescues_total{result="failed"}[15m])) > 5`, "0m",
		"{{ $value | humanize }} broken streams could not be taken over", "the backup says something else: callers got an error event; see stream.rescue"},
	{"BackstopReloadFailed", "warning", `backstop_config_last_reload_successful == 0`, "5m",
		"the newest configuration of {{ $labels.instance }} is not in force", "the log names the line; backstop check shows it as well"},
	{"BackstopLogDropped", "warning", `increase(backstop_log_dropped_total[10m]) > 0`, "0m",
		"nobody takes the log of {{ $labels.instance }} in time", "see the disk or the pipe behind stdout"},
	{"BackstopTelemetryLost", "info", `increase(backstop_telemetry_failures_total[15m]) > 0`, "0m",
		"the collector takes no telemetry from {{ $labels.instance }}", "the log names the error; calls are not touched"},
	{"BackstopFilesRunOut", "warning", `(process_open_fds / process_max_fds > 0.8) and on (job, instance) backstop_build_info`, "5m",
		"{{ $labels.instance }} uses {{ $value | humanizePercentage }} of its files", "raise LimitNOFILE (ulimit -n): each running call takes two"},
}

func TestTheAlertsAskWhatIsThere(t *testing.T) {
	metrics := registered(t)
	seen := map[string]bool{}
	for _, a := range alerts {
		for _, problem := range checkExpression(metrics, a.expr) {
			t.Errorf("%s: %s\n%s", a.name, problem, a.expr)
		}
		if _, err := time.ParseDuration(a.wait); err != nil || seen[a.name] || !strings.HasPrefix(a.name, "Backstop") {
			t.Errorf("%s: %v", a.name, err)
		}
		seen[a.name] = true
	}
	testkit.Golden(t, "../../../deploy/prometheus/alerts.yaml", ruled())
}

// ruled are the alerts as Prometheus loads them.
func ruled() []byte {
	var b strings.Builder
	b.WriteString("# Alert rules for Prometheus. Made by go test ./internal/observe -run Alerts -update; edit there.\ngroups:\n  - name: backstop\n    rules:\n")
	for _, a := range alerts {
		fmt.Fprintf(&b, "      - alert: %s\n        expr: %s\n        for: %s\n        labels: {severity: %s}\n        annotations:\n          summary: %s\n          description: %s\n",
			a.name, strconv.Quote(a.expr), a.wait, a.severity, strconv.Quote(a.summary), strconv.Quote("What to do: "+a.todo+"."))
	}
	return []byte(b.String())
}

func TestTheAlertFileIsYAMLOfRules(t *testing.T) {
	data, err := os.ReadFile("../../deploy/prometheus/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	if err := yaml.UnmarshalWithOptions(data, &file, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	if len(file.Groups) != 1 || len(file.Groups[0].Rules) != len(alerts) {
		t.Fatalf("%+v", file)
	}
	for i, r := range file.Groups[0].Rules {
		if r.Expr != alerts[i].expr || r.Labels["severity"] == "" || r.Annotations["summary"] == "" {
			t.Errorf("%+v", r)
		}
	}
}
