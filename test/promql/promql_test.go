package promql

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"
)

// expr is a line of the rules; the file is checked as YAML by the room that
// makes it.
var expr = regexp.MustCompile(`(?m)^\s+expr: (".*")$`)

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile("../../deploy/" + path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func parse(t *testing.T, text string) parser.Expr {
	t.Helper()
	text = strings.ReplaceAll(text, "$__rate_interval", "5m")
	e, err := parser.NewParser(parser.Options{}).ParseExpr(text)
	if err != nil {
		t.Errorf("%s\n%v", text, err)
		return nil
	}
	if e.Type() != parser.ValueTypeVector {
		t.Errorf("%s is a %s, not a vector", text, e.Type())
	}
	return e
}

func TestPrometheusReadsTheAlerts(t *testing.T) {
	found := expr.FindAllSubmatch(read(t, "prometheus/alerts.yaml"), -1)
	if len(found) < 10 {
		t.Fatalf("%d expressions", len(found))
	}
	for _, m := range found {
		var text string
		if err := json.Unmarshal(m[1], &text); err != nil {
			t.Fatal(err)
		}
		// A rule that ends in no comparison fires for ever.
		compares := strings.HasPrefix(text, "absent(")
		parser.Inspect(parse(t, text), func(n parser.Node, _ []parser.Node) error {
			b, ok := n.(*parser.BinaryExpr)
			compares = compares || ok && b.Op.IsComparisonOperator()
			return nil
		})
		if !compares {
			t.Errorf("%s compares nothing", text)
		}
	}
}

func TestPrometheusReadsTheDashboard(t *testing.T) {
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(read(t, "grafana/backstop.json"), &board); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, p := range board.Panels {
		for _, q := range p.Targets {
			n++
			parse(t, q.Expr)
		}
	}
	if n < 20 {
		t.Errorf("%d expressions", n)
	}
}
