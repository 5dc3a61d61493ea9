package load

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// Summary is some calls in numbers, for JSON output. Times are milliseconds.
type Summary struct {
	Name       string             `json:"name"`
	FromS      float64            `json:"from_s"`
	ToS        float64            `json:"to_s"`
	Calls      int                `json:"calls"`
	Success    float64            `json:"success"`    // share of whole answers with HTTP 200
	Tiers      map[string]float64 `json:"tiers"`      // shares; "" = not said
	Statuses   map[int]int        `json:"statuses"`   // 0 = no answer
	Errors     map[string]int     `json:"errors"`     // by what was wrong
	Attempts   *float64           `json:"attempts"`   // per call, null = not said
	Latency    map[string]float64 `json:"latency_ms"` // mean p50 p90 p99 p999 max
	FirstToken map[string]float64 `json:"first_token_ms,omitempty"`
	LagP99     float64            `json:"lag_p99_ms"` // of the generator itself
}

// Summarize puts a phase into numbers.
func (p *Phase) Summarize() Summary {
	s := Summary{
		Name: p.Name, FromS: p.From.Seconds(), ToS: p.To.Seconds(), Calls: len(p.Samples), Success: p.Success(),
		Tiers: map[string]float64{}, Statuses: p.Statuses(), Errors: p.Errors(),
		Latency: p.Latency().milliseconds(), FirstToken: p.FirstToken().milliseconds(), LagP99: milli(p.Lag().P99),
	}
	for tier, n := range p.Tiers() {
		s.Tiers[tier] = share(n, len(p.Samples))
	}
	if a := p.MeanAttempts(); !math.IsNaN(a) {
		s.Attempts = &a
	}
	return s
}

func (s Spread) milliseconds() map[string]float64 {
	if s.N == 0 {
		return nil
	}
	return map[string]float64{
		"mean": milli(s.Mean), "p50": milli(s.P50), "p90": milli(s.P90), "p99": milli(s.P99), "p999": milli(s.P999), "max": milli(s.Max),
	}
}

func milli(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// WritePhases prints phases for people, one a line.
func WritePhases(w io.Writer, phases []Phase) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "phase\tcalls\t200\tp50\tp90\tp99\tp99.9\tmax\tattempts\ttiers\t")
	for i := range phases {
		p := &phases[i]
		s := p.Latency()
		attempts := "-"
		if a := p.MeanAttempts(); !math.IsNaN(a) {
			attempts = Ratio.write(a)
		}
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", p.Name, len(p.Samples), Share.write(p.Success()),
			writeTime(s.P50), writeTime(s.P90), writeTime(s.P99), writeTime(s.P999), writeTime(s.Max), attempts, p.writeTiers())
	}
	return t.Flush()
}

// WriteFailures prints what was wrong with the calls that got no whole answer,
// the most frequent first; nothing if there is none.
func (l Samples) WriteFailures(w io.Writer) error {
	wrong := map[string]int{}
	for i := range l {
		s := &l[i]
		switch {
		case s.OK():
		case s.Err != "" && (s.Status == 0 || s.Status == http.StatusOK):
			wrong[s.Err]++
		default:
			wrong["HTTP "+strconv.Itoa(s.Status)]++
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	var parts []string
	for _, what := range slices.SortedFunc(maps.Keys(wrong), func(a, b string) int {
		return cmp.Or(cmp.Compare(wrong[b], wrong[a]), cmp.Compare(a, b))
	}) {
		parts = append(parts, fmt.Sprintf("%d x %s", wrong[what], what))
	}
	_, err := fmt.Fprintf(w, "\nfailed: %s\n", strings.Join(parts, ", "))
	return err
}

// writeTiers is "primary 1 % backup 99 %", known tiers in their order first.
func (l Samples) writeTiers() string {
	tiers := l.Tiers()
	names := []string{"primary", "backup", "local"}
	for name := range tiers {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names[3:])
	var parts []string
	for _, name := range names {
		if n := tiers[name]; n > 0 {
			label := name
			if label == "" {
				label = "?"
			}
			parts = append(parts, label+" "+Share.write(share(n, len(l))))
		}
	}
	return strings.Join(parts, " ")
}
