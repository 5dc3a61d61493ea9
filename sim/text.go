package sim

import (
	"fmt"
	"io"
	"strings"
)

// mostShown is how many transitions a text report spells out.
const mostShown = 24

// WriteText writes the report for people.
func (r *Report) WriteText(out io.Writer) error {
	var b strings.Builder
	if r.Name != "" {
		fmt.Fprintf(&b, "%s (seed %d)\n", r.Name, r.Seed)
	}
	fmt.Fprintf(&b, "calls     %d, answered %s\n", r.Calls, percent(r.Answered, r.Calls))
	fmt.Fprintf(&b, "tiers     primary %s, backup %s, local %s\n", percent(r.Tiers.Primary, r.Calls), percent(r.Tiers.Backup, r.Calls), percent(r.Tiers.Local, r.Calls))
	fmt.Fprintf(&b, "\n%-11s%10s%10s%10s%10s   first token, ms\n", "phase", "p50", "p99", "p99.9", "max")
	l := &r.Latency
	for _, row := range []struct {
		name string
		l    Latency
	}{{"all", l.All}, {"before", l.Before}, {"detecting", l.Detecting}, {"open", l.Open}, {"recovered", l.Recovered}} {
		fmt.Fprintf(&b, "%-11s%10s%10s%10s%10s\n", row.name, row.l.P50, row.l.P99, row.l.P999, row.l.Max)
	}
	fmt.Fprintf(&b, "\ndetected after %s, recovered after %s, waited 4 s or more: %d\n", sinceWhen(r.Detect), sinceWhen(r.Recover), r.Waited4s)
	fmt.Fprintf(&b, "attempts ")
	for _, u := range r.rows {
		fmt.Fprintf(&b, " %s %d", u, r.Attempts[u])
	}
	fmt.Fprintf(&b, "; amplification %s, probes %d\n", r.Amplification, r.Probes)
	fmt.Fprintf(&b, "breakers  %d flips, %d false opens\n", r.Flips, r.FalseOpens)
	r.writeTransitions(&b)
	r.writeExpect(&b)
	_, err := io.WriteString(out, b.String())
	return err
}

func (r *Report) writeTransitions(b *strings.Builder) {
	for i, t := range r.Transitions {
		if i == mostShown {
			fmt.Fprintf(b, "  … and %d more\n", len(r.Transitions)-i)
			break
		}
		fmt.Fprintf(b, "  %10ss  %s %s: %s -> %s (%s)\n", t.T, t.Upstream, t.Scope, t.From, t.To, t.Cause)
	}
}

func (r *Report) writeExpect(b *strings.Builder) {
	if len(r.Expect) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%-16s%-14s%-14s\n", "expected", "", "got")
	for _, v := range r.Expect {
		word := "ok"
		if !v.OK {
			word = "NOT MET"
		}
		fmt.Fprintf(b, "%-16s%-14s%-14s%s\n", v.What, v.Want, v.Got, word)
	}
}

func percent(n, of int) string {
	d := Decimal(0)
	if of > 0 {
		d = Decimal(int64(n) * 100 * 1000 / int64(of) * 1000)
	}
	return fmt.Sprintf("%d (%s %%)", n, d)
}

func sinceWhen(d *Decimal) string {
	if d == nil {
		return "never"
	}
	return d.String() + " s"
}
