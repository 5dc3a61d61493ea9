package sim

import (
	"fmt"
	"os"
	"sort"
	"testing"
	"time"
)

// The figures of docs/proof.md are measured here when BACKSTOP_FIGURES names
// them; they take minutes, so an ordinary run skips them.
func figured(t *testing.T, name string) {
	if w := os.Getenv("BACKSTOP_FIGURES"); w != name && w != "all" {
		t.Skip("set BACKSTOP_FIGURES=" + name + " to measure")
	}
}

// noise is a steady share of errors from an instant on.
func noise(word string, from, span time.Duration) Scenario {
	s := outage(word)
	s.Duration = span
	s.Faults = []Fault{{Upstream: "primary", From: from, To: span, Word: word}}
	return s
}

func TestOnsetTrips(t *testing.T) {
	figured(t, "onset")
	for _, rate := range []float64{20, 50, 200} {
		for _, p := range []string{"0.1", "0.25"} {
			opened, n := 0, 200
			for seed := range n {
				s := noise("p:"+p+":500", time.Minute, 2*time.Minute)
				s.Seed, s.Arrivals.Rate = uint64(seed+1), rate
				r, err := Run(Pair(), s)
				if err != nil {
					t.Fatal(err)
				}
				if len(r.Transitions) > 0 {
					opened++
				}
			}
			fmt.Printf("rate %g p %s: %d of %d opened within 60 s\n", rate, p, opened, n)
		}
	}
}

// seeds measures one scenario over many seeds and returns sorted figures.
func seeds(t *testing.T, n int, s Scenario, get func(*Report) float64) []float64 {
	var out []float64
	for seed := range n {
		s.Seed = uint64(seed + 1)
		r, err := Run(Pair(), s)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, get(r))
	}
	sort.Float64s(out)
	return out
}

func TestFiguresOfOneOutage(t *testing.T) {
	figured(t, "outage")
	value := func(d *Decimal) float64 {
		if d == nil {
			return 1e9
		}
		return float64(*d) / decimal
	}
	const n = 100
	show := func(what string, x []float64) {
		fmt.Printf("%-40s median %g  p99 %g  max %g\n", what, x[len(x)/2], x[len(x)*99/100], x[len(x)-1])
	}
	for _, word := range []string{"hang", "500", "503", "refuse"} {
		s := outage(word)
		show(word+": detect s", seeds(t, n, s, func(r *Report) float64 { return value(r.Detect) }))
		show(word+": recover s", seeds(t, n, s, func(r *Report) float64 { return value(r.Recover) }))
		show(word+": waited 4 s", seeds(t, n, s, func(r *Report) float64 { return float64(r.Waited4s) }))
		show(word+": amplification", seeds(t, n, s, func(r *Report) float64 { return float64(r.Amplification) / decimal }))
		s.Arrivals.Retries = 2
		show(word+": amplification, callers retry twice", seeds(t, n, s, func(r *Report) float64 { return float64(r.Amplification) / decimal }))
	}
}

func TestFalseOpens(t *testing.T) {
	figured(t, "false")
	for _, p := range []string{"0.01", "0.03", "0.05", "0.1", "0.25"} {
		s := noise("p:"+p+":500", 0, 24*time.Hour)
		opens := 0
		for day := range 3 {
			s.Seed = uint64(day + 1)
			r, err := Run(Pair(), s)
			if err != nil {
				t.Fatal(err)
			}
			opens += r.FalseOpens
		}
		fmt.Printf("p %s: %d false opens in 72 h at 50/s\n", p, opens)
	}
}

func TestSpeedOfOutagesEveryHour(t *testing.T) {
	figured(t, "speed")
	s := outage("hang")
	const hours = 30 * 24
	s.Duration, s.Faults = hours*time.Hour, nil
	for h := range hours {
		at := time.Duration(h)*time.Hour + 10*time.Minute
		s.Faults = append(s.Faults, Fault{Upstream: "primary", From: at, To: at + 5*time.Minute, Word: "hang"})
	}
	began := time.Now()
	r, err := Run(Pair(), s)
	if err != nil {
		t.Fatal(err)
	}
	d := time.Since(began)
	fmt.Printf("30 days: %d calls in %s, %.0f calls/s\n", r.Calls, d, float64(r.Calls)/d.Seconds())
}
