package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"backstop"
	"backstop/backoff"
	"backstop/internal/config"
	"backstop/sim"
)

type explainCmd struct {
	Model  string `arg:"" help:"Model name as a caller would ask for it."`
	Config string `short:"c" placeholder:"FILE" help:"Configuration (default backstop.yaml; without one, the keys in the environment, as serve does; without those, a pair with the default settings)."`
}

func (c *explainCmd) Run(s *streams) error {
	plan, source, err := c.plan(s)
	if err != nil {
		return err
	}
	r := plan.Route(c.Model)
	if r == nil {
		var names []string
		for i := range plan.Routes {
			names = append(names, plan.Routes[i].Model)
		}
		return failf(exitFailed, "no route of %s serves the model %q: a caller gets 404 not_found; routes: %s", source, c.Model, strings.Join(names, ", "))
	}
	explainRoute(s.out, plan, r, c.Model, source)
	return nil
}

func (c *explainCmd) plan(s *streams) (*backstop.Plan, string, error) {
	file := c.Config
	if file == "" {
		if _, err := os.Stat(defaultFile); errors.Is(err, os.ErrNotExist) {
			return planWithoutFile(s)
		}
		file = defaultFile
	}
	cfg, _, err := config.Load(file, config.Options{Env: simulatedEnv(s.env)})
	if err != nil {
		return nil, "", configError(err)
	}
	return cfg.Plan, file, nil
}

// planWithoutFile is what serve would run, or a pair where it would run
// nothing.
func planWithoutFile(s *streams) (*backstop.Plan, string, error) {
	if !config.KeysInEnv(s.env) {
		return sim.Pair(), "the default pair", nil
	}
	cfg, _, err := config.FromEnv(config.Options{Env: s.env})
	if err != nil {
		return nil, "", configError(err)
	}
	return cfg.Plan, "the environment", nil
}

// explainRoute writes the decision tree of a call.
func explainRoute(out io.Writer, plan *backstop.Plan, r *backstop.Route, model, source string) {
	fmt.Fprintf(out, "%s: route %q of %s, deadline %s to the first token\n", model, r.Model, source, brief(r.Deadline))
	local := false
	for i := range r.Tiers {
		t := &r.Tiers[i]
		fmt.Fprintf(out, "\n%d. %s %s\n", i+1, backstop.TierName(r, i), t.Name())
		if t.Local != nil {
			local = true
			explainLocal(out, t.Local)
			continue
		}
		explainTier(out, plan.Upstream(t.Upstream), t, model, i+1 < len(r.Tiers))
	}
	fmt.Fprintf(out, "\nwhat an attempt leads to\n")
	for _, line := range outcomeLines(r) {
		fmt.Fprintf(out, "   %-34s %s\n", line[0], line[1])
	}
	explainWorst(out, plan, r, local)
}

func explainTier(out io.Writer, u *backstop.Upstream, t *backstop.Tier, model string, lower bool) {
	line := func(what, form string, args ...any) {
		fmt.Fprintf(out, "   %-9s %s\n", what, fmt.Sprintf(form, args...))
	}
	sent := t.Model
	if sent == "" {
		sent = model + " (as asked)"
	}
	line("sends", "%s to %s (%s, %s)", sent, u.BaseURL, u.Dialect, u.Vendor)
	next := "slides down a tier"
	if !lower {
		next = "is refused"
	}
	for _, fact := range vendorWords(u, sent) {
		line(fact[0], "%s", fact[1])
	}
	line("skipped", "if its breaker is open, every key is parked, or a limit is reached: the call %s, nothing waits", next)
	line("limits", "%s", limitWords(u, t, lower))
	line("breaker", "%s", breakerWords(&u.Breaker))
	if s := suspicionOf(u); s > 0 {
		line("hang", "several calls without a token for %s, and no younger one answered: it opens and they move on (%s until 20 first tokens are known, then 1.5 x p95)", s, s)
	}
	line("timeouts", "connect %s, first token %s, idle %s, total %s", brief(u.Timeouts.Connect), brief(u.Timeouts.FirstToken), brief(u.Timeouts.Idle), brief(u.Timeouts.Total))
	line("retries", "%s", retryWords(u))
	if len(u.Keys) > 1 {
		line("keys", "%d: a parked one is passed over", len(u.Keys))
	}
	if t.Context > 0 {
		line("context", "%d tokens: takes calls that a smaller tier refused as too long", t.Context)
	}
}

func limitWords(u *backstop.Upstream, t *backstop.Tier, lower bool) string {
	var words []string
	if u.Limits.Rate > 0 {
		words = append(words, fmt.Sprintf("%s/s (burst %d)", number(u.Limits.Rate), u.Limits.Burst))
	}
	if t.Rate > 0 && lower {
		words = append(words, fmt.Sprintf("%s/s on this rung (burst %d)", number(t.Rate), t.Burst))
	}
	if u.Limits.Inflight > 0 {
		words = append(words, fmt.Sprintf("%d at once", u.Limits.Inflight))
	}
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, ", ")
}

// brief writes 10m, not 10m0s; a limit of 0 is none.
func brief(d time.Duration) string {
	if d == 0 {
		return "none"
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func number(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

func breakerWords(b *backstop.BreakerSettings) string {
	grows := ", more where errors are usual; or half of at least 20"
	if b.Literal {
		grows = ""
	}
	back := "background probes after 5, 10, then 15 s"
	switch {
	case b.Literal:
		back = "a live call probes"
	case b.Probe == backstop.ProbeLive:
		back = "live calls probe"
	case b.Reset < time.Minute:
		back = "background probes, at first after " + (b.Reset / 12).Round(time.Millisecond).String()
	}
	return fmt.Sprintf("opens after %d failures in a row within %s%s; %s, at the latest after %s", b.Failures, brief(b.Window), grows, back, brief(b.Reset))
}

// suspicionOf is the age at which a silent call is suspect while nothing is
// known of an upstream.
func suspicionOf(u *backstop.Upstream) time.Duration {
	if !u.Breaker.Hang || u.Breaker.Literal || u.Unary == backstop.UnaryPlain {
		return 0
	}
	return u.Timeouts.FirstToken / 2
}

func retryWords(u *backstop.Upstream) string {
	if u.Retry.Max == 0 || u.Retry.Budget == 0 {
		return "none at the same upstream"
	}
	return fmt.Sprintf("%d at the same upstream after %s to %s, for a reset or 5xx before the first token, within a budget of %s %% of successes",
		u.Retry.Max, u.Retry.JitterMin, longestBackoff(u), number(u.Retry.Budget*100))
}

// longestBackoff is the longest wait before the last retry.
func longestBackoff(u *backstop.Upstream) time.Duration {
	return max(u.Retry.JitterMax, min(backoff.Most, backoff.Base<<min(max(u.Retry.Max-1, 0), 8)))
}

func explainLocal(out io.Writer, l *backstop.Local) {
	if l.Cache != nil {
		fmt.Fprintf(out, "   answers   with the last good answer to the same request, at most %s old; on a miss the call goes on\n", brief(l.Cache.Age))
		return
	}
	json := "calls that were promised JSON are passed over"
	if l.Template.JSON != nil {
		json = "calls that were promised JSON get its JSON"
	}
	fmt.Fprintf(out, "   answers   at once, without network; %s\n", json)
}

// outcomeLines is the outcome table in words.
func outcomeLines(r *backstop.Route) [][2]string {
	refusal := "to the caller, as it is"
	if r.RefusalNext {
		refusal = "next tier (refusal: next)"
	}
	broken := "error frame, no finish reason"
	if r.Stream.Rescue == "splice" || r.Stream.Rescue == "continue" {
		broken = "one further tier takes the stream over (" + r.Stream.Rescue + "), else an error frame"
	}
	lines := [][2]string{
		{"hang (connect, no first token)", "counts as a failure; next tier at once, never a retry"},
		{"dial, DNS, TLS", "counts for the endpoint; next tier"},
		{"reset, 5xx before a token", "counts; retry within budget, then next tier"},
		{"503, 529, overload", "counts; next tier; parks the upstream if it named a delay"},
		{"429 rate", "parks the key until the named time, else 1 s doubling; next key, next tier"},
		{"429 quota, 401, 403", "parks the key (quota 15 min doubling, auth 10 min); next key, next tier"},
		{"404 model", "parks the model for 5 min; next tier"},
		{"400, 413, 422", "to the caller, as it is; counts nothing"},
		{"refusal, content filter", refusal},
		{"200 without an answer", "counts; next tier"},
		{"broken after the first token", "stream callers: " + broken + "; others: next tier"},
		{"the caller leaves", "the upstream is let go; counts only if it was silent for suspiciously long"},
	}
	return append(lines, promiseLines(&r.JSON)...)
}

// promiseLines say what becomes of promised JSON that is none.
func promiseLines(j *backstop.JSONSettings) [][2]string {
	mended := "not touched (repair: off)"
	if j.Repair {
		mended = "repaired where nothing has to be made up"
	}
	then := "next tier"
	switch j.Invalid {
	case "reask":
		then = "asked once more with the list of violations, then next tier"
	case "error":
		then = "an error"
	}
	cut := "next tier; if none is left, closed and marked as truncated"
	if j.Truncated == "mark" {
		cut = "closed and marked as truncated"
	}
	if !j.Repair {
		cut = "next tier"
	}
	return [][2]string{
		{"promised JSON that is none", mended + ", else " + then + "; counts for the quality breaker"},
		{"promised JSON that was cut off", "never asked again at the same place; " + cut + "; counts nothing"},
	}
}

// explainWorst adds up the worst case.
func explainWorst(out io.Writer, plan *backstop.Plan, r *backstop.Route, local bool) {
	calls, spent := 0, time.Duration(0)
	var parts []string
	for i := range r.Tiers {
		u := plan.Upstream(r.Tiers[i].Upstream)
		if u == nil || calls >= backstop.MaxAttempts {
			continue
		}
		n := 1
		if u.Retry.Budget > 0 {
			n += u.Retry.Max
		}
		n = min(n, backstop.MaxAttempts-calls)
		d := time.Duration(n)*u.Timeouts.FirstToken + time.Duration(n-1)*longestBackoff(u)
		calls, spent = calls+n, spent+d
		parts = append(parts, fmt.Sprintf("%s %d x %s", u.Name, n, u.Timeouts.FirstToken))
	}
	end := "then an error"
	if local {
		end = "then the local answer"
	}
	fmt.Fprintf(out, "\nworst case\n   first token after %s, %s (%s", min(spent, r.Deadline), end, strings.Join(parts, ", "))
	if spent > r.Deadline {
		fmt.Fprintf(out, " and backoff would take %s, the deadline cuts it", spent)
	}
	fmt.Fprintf(out, ")\n   %d upstream requests (never more than %d)\n", calls, backstop.MaxAttempts)
}
