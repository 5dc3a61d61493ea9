package load

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"
	"time"
)

// Line is one line of a verdict.
type Line struct {
	What string `json:"what"`
	Want string `json:"want"` // "" = for information
	Got  string `json:"got"`
	OK   bool   `json:"ok"`
}

// Verdict is the outcome of some checks.
type Verdict []Line

// OK reports whether every line is.
func (v Verdict) OK() bool {
	for _, l := range v {
		if !l.OK {
			return false
		}
	}
	return true
}

// WriteTable prints the verdict for people.
func (v Verdict) WriteTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "check\twant\tgot\t")
	for _, l := range v {
		word := "ok"
		switch {
		case !l.OK:
			word = "FAILED"
		case l.Want == "":
			word = ""
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", l.What, l.Want, l.Got, word)
	}
	return t.Flush()
}

// Check is a number that must hold. Got returns NaN for what could not be
// measured; that fails unless the check is Optional.
type Check struct {
	What     string
	Op       string // <= < >= or "" for information
	Want     float64
	Unit     Unit
	Optional bool
	Got      func(*Facts) float64
}

// Unit says how the number of a check is written.
type Unit string

// The units. Times are in seconds.
const (
	Count   Unit = "count"
	Share   Unit = "share" // 0 to 1, written in percent
	Ratio   Unit = "ratio"
	Seconds Unit = "seconds"
)

// Judge holds facts against checks.
func Judge(f *Facts, checks ...[]Check) Verdict {
	var v Verdict
	for _, list := range checks {
		for i := range list {
			v = append(v, list[i].judge(f))
		}
	}
	return v
}

func (c *Check) judge(f *Facts) Line {
	got := c.Got(f)
	l := Line{What: c.What, Got: c.Unit.write(got)}
	if c.Op != "" {
		l.Want = c.Op + " " + c.Unit.write(c.Want)
	}
	switch {
	case math.IsNaN(got):
		l.OK = c.Optional || c.Op == ""
	case c.Op == "<=":
		l.OK = got <= c.Want
	case c.Op == "<":
		l.OK = got < c.Want
	case c.Op == ">=":
		l.OK = got >= c.Want
	default:
		l.OK = c.Op == ""
	}
	return l
}

// write rounds so that a number never looks better than its bound: what is
// just under 100 % is not written as 100 %.
func (u Unit) write(n float64) string {
	switch {
	case math.IsNaN(n):
		return "not measured"
	case u == Share:
		return fmt.Sprintf("%g %%", math.Floor(n*1e5)/1e3)
	case u == Ratio:
		return fmt.Sprintf("%g", math.Ceil(n*1e4-1e-6)/1e4)
	case u == Seconds:
		return writeTime(time.Duration(n * float64(time.Second)))
	}
	return fmt.Sprintf("%g", n)
}

// writeTime keeps three digits or so.
func writeTime(d time.Duration) string {
	switch {
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= 10*time.Millisecond:
		return d.Round(100 * time.Microsecond).String()
	}
	return d.Round(time.Microsecond).String()
}
