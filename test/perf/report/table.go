//go:build linux

package report

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"text/tabwriter"
)

// Table writes the figures for people; rival heads their second column.
func Table(w io.Writer, rival string, figures []Figure) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "backstop\t"+rival+"\tratio\tmust\taim\t\t ")
	for _, f := range figures {
		must, aim, verdict := "", "", ""
		if f.Must > 0 {
			must, aim, verdict = limit(f, f.Must), limit(f, f.Aim), "ok"
			if !f.Holds {
				verdict = "ABOVE"
			}
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t  %s\n", number(f.Backstop), number(f.Rival), ratio(f.Ratio), must, aim, verdict, name(f))
	}
	return t.Flush()
}

func name(f Figure) string {
	if f.Unit == "" {
		return f.What
	}
	return f.What + ", " + f.Unit
}

func limit(f Figure, v float64) string {
	if f.Absolute {
		return number(v)
	}
	return ratio(v)
}

func ratio(v float64) string {
	if v == 0 {
		return ""
	}
	return strconv.FormatFloat(v, 'f', 2, 64) + " x"
}

func number(v float64) string {
	switch {
	case math.IsNaN(v):
		return ""
	case math.Abs(v) < 100:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}
