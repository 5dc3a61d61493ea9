package observe

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// functions are the words of PromQL that our expressions may use.
var functions = strings.Fields("sum max min avg by rate increase histogram_quantile absent clamp_min and or unless on group_left ignoring bool quantile time changes")

// scraped are labels that a scrape or a histogram adds.
var scraped = strings.Fields("le job instance version goversion")

// lexeme is one word of an expression: a text, a name, a number with its unit,
// a variable of a dashboard, or a sign.
var lexeme = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|\$?[a-zA-Z_:][a-zA-Z0-9_:]*|[0-9][0-9.]*[a-z]*|=~|!~|!=|==|>=|<=|[-+*/%<>=(){}\[\],]|\s+`)

// checkExpression is stricter than it is clever: every bracket closes, every
// name is a metric of the registry, one of its labels, or a function.
func checkExpression(metrics map[string]string, text string) (problems []string) {
	rest, closing := text, ""
	labels := slices.Clone(scraped)
	var names, unknown []string
	for rest != "" {
		at := lexeme.FindStringIndex(rest)
		if at == nil || at[0] != 0 {
			return append(problems, fmt.Sprintf("%q is no word of an expression", rest))
		}
		w := rest[:at[1]]
		rest = rest[at[1]:]
		switch {
		case strings.Contains("([{", w):
			closing = string(")]}"[strings.Index("([{", w)]) + closing
		case strings.Contains(")]}", w):
			if !strings.HasPrefix(closing, w) {
				return append(problems, w+" closes nothing")
			}
			closing = closing[1:]
		case w[0] == '"' || w[0] == '$' || w[0] >= '0' && w[0] <= '9' || !plainName(w):
		case metricOf(metrics, w) != "":
			labels = append(labels, strings.Fields(metrics[metricOf(metrics, w)])...)
			names = append(names, w)
		case !slices.Contains(functions, w):
			unknown = append(unknown, w)
		}
	}
	for _, w := range unknown { // a label may stand before its metric
		if !slices.Contains(labels, w) {
			problems = append(problems, w+" is no metric, label or function")
		}
	}
	if closing != "" {
		problems = append(problems, closing+" is missing")
	}
	if len(names) == 0 {
		problems = append(problems, "no metric is asked")
	}
	return problems
}

func plainName(w string) bool { return regexp.MustCompile(`^[a-zA-Z_:]`).MatchString(w) }

// metricOf is the metric that a name of a series belongs to, "" for none.
func metricOf(metrics map[string]string, name string) string {
	for _, end := range []string{"", "_bucket", "_count", "_sum"} {
		m, ok := strings.CutSuffix(name, end)
		if _, there := metrics[m]; ok && there && (end == "" || strings.HasSuffix(m, "_seconds")) {
			return m
		}
	}
	return ""
}

func TestAStrangeExpressionIsSeen(t *testing.T) {
	metrics := registered(t)
	for text, ok := range map[string]bool{
		`sum by (tier) (rate(backstop_calls_total{route=~"$route"}[5m]))`:                               true,
		`histogram_quantile(0.99, sum by (le) (rate(backstop_call_duration_seconds_bucket[1m]))) > 4.5`: true,
		`backstop_calls`: false, `sum(rate(backstop_calls_total[5m])`: false, `sum by (flavour) (backstop_calls_total)`: false,
		`backstop_calls_total{tier="local")`: false, `rat(backstop_calls_total[5m])`: false, `1 + 1`: false, `backstop_calls_total_bucket`: false, "a`b": false,
	} {
		if problems := checkExpression(metrics, text); (len(problems) == 0) != ok {
			t.Errorf("%s: %v", text, problems)
		}
	}
}
