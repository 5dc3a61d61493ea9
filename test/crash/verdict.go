package main

import (
	"fmt"
	"strings"
	"time"
)

// The verdicts, best first.
const (
	pass    = "pass"
	partial = "partial"
	safe    = "safe"
	fail    = "fail"
)

var verdicts = []string{pass, partial, safe, fail}

// finding is one check and what was seen.
type finding struct {
	Check    string `json:"check"`
	OK       bool   `json:"ok"`
	Advisory bool   `json:"advisory,omitempty"`
	Seen     string `json:"seen"`
}

// trial collects what one scenario showed.
type trial struct {
	pace     pace
	late     *gauge
	began    time.Time
	rescued  bool   // the caller got what there was to get
	typed    bool   // or else an error that says what it is
	lied     string // what was passed off as a whole answer, "" = nothing
	detail   string // what the caller got, in words
	shown    time.Duration
	primary  int // requests at the primary, probes apart
	backup   int
	findings []finding
}

// must adds a check that fails the scenario.
func (t *trial) must(check string, ok bool, seen string, args ...any) {
	t.findings = append(t.findings, finding{check, ok, false, fmt.Sprintf(seen, args...)})
}

// should adds a check that makes a pass a partial one.
func (t *trial) should(check string, ok bool, seen string, args ...any) {
	t.findings = append(t.findings, finding{check, ok, true, fmt.Sprintf(seen, args...)})
}

// workTime is granted on top of a scaled limit: the work itself does not get
// faster, and a test must also pass on a busy machine. The faults of the fast
// profile last far longer than that or say by their conduct what they are.
const workTime = 2 * time.Second

// within checks a time against a limit of the full profile.
func (t *trial) within(check string, got, limit time.Duration) {
	scaled := t.pace.of(limit)
	if t.pace.scale != 1 {
		scaled += workTime
	}
	slack := t.slack()
	t.must(check, got <= scaled+slack, "%.3f s of %.3f s, and %.3f s granted for late timers", got.Seconds(), scaled.Seconds(), slack.Seconds())
}

// slack is what the machine itself came late: the worst timer of this process,
// and at the fast pace, where a test must also pass on a busy machine, three
// of them, for several are involved in a call.
func (t *trial) slack() time.Duration {
	late := t.late.since(t.began)
	if t.pace.scale != 1 {
		late *= 3
	}
	return late
}

// got takes the caller's answer as the outcome of the scenario.
func (t *trial) got(a *answer, text string) {
	t.detail, t.shown = a.String(), a.took
	t.rescued, t.typed = a.whole(text), a.typed()
	if a.success() && a.text != text {
		t.lied = fmt.Sprintf("a success with %d of %d bytes of the text", len(a.text), len(text))
	}
	t.must("it ends", !a.hung, "%s", a)
	t.must("one id and one model in the whole answer", a.voices == 0, "%d changes", a.voices)
	t.must("after an error nothing looks like an end", a.code == "" || a.finish == "" && !a.done, "finish %q, end mark %t", a.finish, a.done)
}

// result is a judged scenario.
type result struct {
	ID       string    `json:"id"`
	Title    string    `json:"title"`
	Fault    string    `json:"fault"`
	Verdict  string    `json:"verdict"`
	Reason   string    `json:"reason"`
	Seconds  float64   `json:"seconds"`
	Primary  int       `json:"primary_requests"`
	Backup   int       `json:"backup_requests"`
	Findings []finding `json:"checks"`
}

// judge turns a trial into a verdict.
func (t *trial) judge() (verdict, reason string) {
	var hard, soft []string
	for _, f := range t.findings {
		switch {
		case f.OK:
		case f.Advisory:
			soft = append(soft, f.Check+" ("+f.Seen+")")
		default:
			hard = append(hard, f.Check+" ("+f.Seen+")")
		}
	}
	switch {
	case t.lied != "":
		return fail, t.lied
	case len(hard) > 0:
		return fail, "not so: " + strings.Join(hard, "; ") + "; " + t.detail
	case !t.rescued && t.typed:
		return safe, t.detail
	case !t.rescued:
		return fail, "neither an answer nor a typed error: " + t.detail
	case len(soft) > 0:
		return partial, "advisory: " + strings.Join(soft, "; ")
	}
	return pass, t.detail
}
