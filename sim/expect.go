package sim

import (
	"fmt"
	"strconv"
	"strings"
)

// Expectation is one line of `expect`: a figure of the report and what it must
// be, for example {"detect", "<= 2.3s"}.
type Expectation struct{ What, Want string }

// measure is how a figure is read and written.
type measure uint8

const (
	number measure = iota
	shared         // of all calls, as a percentage or a number from 0 to 1
	timed          // seconds inside
)

// figure is a line of the table of figures. value is nil if the run has none.
type figure struct {
	name    string
	measure measure
	least   bool // a bare value is the least that will do
	value   func(*Report) *Decimal
}

func figures() []figure {
	count := func(get func(*Report) int) func(*Report) *Decimal {
		return func(r *Report) *Decimal { d := Decimal(get(r)) * decimal; return &d }
	}
	part := func(get func(*Report) int) func(*Report) *Decimal {
		return func(r *Report) *Decimal {
			d := Decimal(int64(get(r)) * decimal / int64(max(r.Calls, 1)))
			return &d
		}
	}
	wait := func(get func(*Report) Decimal) func(*Report) *Decimal {
		return func(r *Report) *Decimal { d := get(r) / 1000; return &d }
	}
	return []figure{
		{"answered", shared, true, part(func(r *Report) int { return r.Answered })},
		{"degraded", shared, false, part(func(r *Report) int { return r.Degraded })},
		{"primary", shared, true, part(func(r *Report) int { return r.Tiers.Primary })},
		{"backup", shared, true, part(func(r *Report) int { return r.Tiers.Backup })},
		{"local", shared, false, part(func(r *Report) int { return r.Tiers.Local })},
		{"detect", timed, false, func(r *Report) *Decimal { return r.Detect }},
		{"recover", timed, false, func(r *Report) *Decimal { return r.Recover }},
		{"waited_4s", number, false, count(func(r *Report) int { return r.Waited4s })},
		{"amplification", number, false, func(r *Report) *Decimal { return &r.Amplification }},
		{"probes", number, false, count(func(r *Report) int { return r.Probes })},
		{"flips", number, false, count(func(r *Report) int { return r.Flips })},
		{"false_opens", number, false, count(func(r *Report) int { return r.FalseOpens })},
		{"p50", timed, false, wait(func(r *Report) Decimal { return r.Latency.All.P50 })},
		{"p99", timed, false, wait(func(r *Report) Decimal { return r.Latency.All.P99 })},
		{"max", timed, false, wait(func(r *Report) Decimal { return r.Latency.All.Max })},
		{"detecting_p99", timed, false, wait(func(r *Report) Decimal { return r.Latency.Detecting.P99 })},
		{"open_p99", timed, false, wait(func(r *Report) Decimal { return r.Latency.Open.P99 })},
		{"recovered_p99", timed, false, wait(func(r *Report) Decimal { return r.Latency.Recovered.P99 })},
	}
}

// Figures lists what an expectation may be about.
func Figures() []string {
	var names []string
	for _, f := range figures() {
		names = append(names, f.name)
	}
	return names
}

// Check says what is wrong with an expectation, nil if it can be judged.
func (e Expectation) Check() error {
	_, _, _, err := e.parse()
	return err
}

// parse takes "<= 2.3s" apart.
func (e Expectation) parse() (f figure, op string, want Decimal, err error) {
	found := false
	for _, f = range figures() {
		if found = f.name == e.What; found {
			break
		}
	}
	if !found {
		return f, "", 0, fmt.Errorf("expect: no figure is called %q: use one of %s", e.What, strings.Join(Figures(), " "))
	}
	text := strings.TrimSpace(e.Want)
	for _, o := range []string{"<=", ">=", "==", "<", ">", "="} {
		if rest, ok := strings.CutPrefix(text, o); ok {
			op, text = strings.TrimSuffix(o, "="), strings.TrimSpace(rest)
			if o == "<=" || o == ">=" {
				op = o
			} else if op == "" || op == "=" {
				op = "="
			}
			break
		}
	}
	if op == "" {
		op = "="
		if f.least {
			op = ">="
		}
	}
	want, err = f.parse(text)
	if err != nil {
		return f, "", 0, fmt.Errorf("expect: %s: %q %w", e.What, e.Want, err)
	}
	return f, op, want, nil
}

var units = []struct {
	suffix string
	times  int64
	over   int64
}{{"ms", 1, 1000}, {"us", 1, 1_000_000}, {"s", 1, 1}, {"m", 60, 1}, {"h", 3600, 1}}

func (f figure) parse(text string) (Decimal, error) {
	switch f.measure {
	case shared:
		if n, ok := strings.CutSuffix(text, "%"); ok {
			d, err := parseDecimal(n)
			return d / 100, err
		}
	case timed:
		for _, u := range units {
			if n, ok := strings.CutSuffix(text, u.suffix); ok {
				d, err := parseDecimal(n)
				return Decimal(int64(d) * u.times / u.over), err
			}
		}
		return 0, fmt.Errorf("has no unit: write for example <= 2.3s")
	}
	return parseDecimal(text)
}

// parseDecimal reads digits with at most six of them after the point.
func parseDecimal(text string) (Decimal, error) {
	wrong := fmt.Errorf("is no comparison with a number: write for example <= 1.01")
	whole, frac, _ := strings.Cut(strings.TrimSpace(text), ".")
	if len(frac) > 6 || len(whole) > 9 || whole+frac == "" || strings.ContainsAny(whole+frac, "+-_") {
		return 0, wrong
	}
	n, err := strconv.ParseInt(whole+frac+strings.Repeat("0", 6-len(frac)), 10, 64)
	if err != nil {
		return 0, wrong
	}
	return Decimal(n), nil
}

// judge compares with a run. A figure that the run does not have fails.
func (e Expectation) judge(r *Report) (Verdict, error) {
	f, op, want, err := e.parse()
	if err != nil {
		return Verdict{}, err
	}
	v := Verdict{What: e.What, Want: strings.TrimSpace(e.Want), Got: "never"}
	got := f.value(r)
	if got == nil {
		return v, nil
	}
	v.Got = f.write(*got)
	switch op {
	case "<=":
		v.OK = *got <= want
	case ">=":
		v.OK = *got >= want
	case "<":
		v.OK = *got < want
	case ">":
		v.OK = *got > want
	default:
		v.OK = *got == want
	}
	return v, nil
}

func (f figure) write(d Decimal) string {
	switch f.measure {
	case shared:
		return (d * 100).String() + "%"
	case timed:
		return d.String() + "s"
	}
	return d.String()
}
