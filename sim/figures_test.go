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

func with(s Scenario, edit ...func(*Scenario)) Scenario {
	for _, f := range edit {
		f(&s)
	}
	return s
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
	for _, rate := range []float64{5, 20, 50, 200} {
		for _, p := range []string{"0.05", "0.1", "0.25", "0.4"} {
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
