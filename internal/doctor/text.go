package doctor

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// WriteText writes the report for people: the steps of each upstream, then
// its findings, each with cause and fix.
func (r *Report) WriteText(w io.Writer) error {
	out := bufio.NewWriter(w)
	problems, warnings := 0, 0
	for i := range r.Upstreams {
		u := &r.Upstreams[i]
		if i > 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintf(out, "%s  %s (%s, %s)\n", u.Name, u.BaseURL, u.Dialect, u.Vendor)
		for _, s := range u.Steps {
			took := ""
			if s.Millis > 0 {
				took = fmt.Sprintf("%.0f ms", s.Millis)
			}
			line := fmt.Sprintf("  %-8s %-7s %8s  %s", s.State, s.Name, took, s.Note)
			fmt.Fprintln(out, strings.TrimRight(line, " "))
		}
		for _, f := range u.Findings {
			switch f.Weight {
			case Problem:
				problems++
			case Warning:
				warnings++
			}
			fmt.Fprintf(out, "  %s: %s\n", f.Weight, f.What)
			if f.Cause != "" {
				fmt.Fprintf(out, "    cause: %s\n", f.Cause)
			}
			if f.Fix != "" {
				fmt.Fprintf(out, "    fix:   %s\n", f.Fix)
			}
		}
	}
	fmt.Fprintf(out, "\n%s, %s, %s; no token was spent\n", count(len(r.Upstreams), "upstream"), count(problems, "problem"), count(warnings, "warning"))
	return out.Flush()
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
