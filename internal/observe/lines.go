package observe

import (
	"context"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"backstop"
)

// maxText is the most bytes of a caller's text in a line or a record.
const maxText = 128

func newLogger(out io.Writer, text bool, level string) *slog.Logger {
	var least slog.Level // info
	if least.UnmarshalText([]byte(level)) != nil {
		least = slog.LevelInfo
	}
	o := &slog.HandlerOptions{Level: least}
	if text {
		return slog.New(slog.NewTextHandler(out, o))
	}
	return slog.New(slog.NewJSONHandler(out, o))
}

// asText decides what auto means.
func asText(o Options) bool {
	switch o.Format {
	case "text":
		return true
	case "json":
		return false
	}
	f, ok := o.Out.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

func (o *Observer) line(level slog.Level, message string, attrs ...slog.Attr) {
	o.log.LogAttrs(context.Background(), level, message, attrs...)
}

// logCall writes the line of a call.
func (o *Observer) logCall(e *backstop.Event) {
	level := slog.LevelInfo
	switch e.Outcome {
	case backstop.OK, backstop.Rejected, backstop.Refused, backstop.Canceled:
	default:
		level = slog.LevelWarn
	}
	if !o.log.Enabled(context.Background(), level) {
		return
	}
	l, _ := o.spare.Get().(*line)
	if l == nil {
		l = &line{text: o.text}
	}
	defer o.spare.Put(l)
	l.begin(time.Now(), level, "call")
	l.word("id", clip(e.ID))
	l.word("op", e.Op)
	l.word("dialect", string(e.Dialect))
	l.flag("stream", e.Stream)
	if e.JSON {
		l.flag("json", true)
	}
	l.word("outcome", e.Outcome.String())
	l.whole("status", e.Status)
	l.whole("attempts", e.Calls())
	l.number("ms", millis(e.Duration))
	l.given("caller", e.Caller)
	l.given("route", e.Route)
	l.given("asked", e.Asked)
	l.given("tier", e.Tier)
	l.given("upstream", e.Upstream)
	l.given("model", e.Model)
	l.given("reason", e.Reason)
	if e.Failure != nil {
		l.given("code", string(e.Failure.Code)) // the message may quote an upstream, the code cannot
	}
	l.outcome(e)
	l.given("trace", e.Trace.ID)
	l.tries(e)
	_, _ = o.queue.Write(l.end())
	if len(e.Repaired) > 0 {
		o.line(slog.LevelInfo, "[Schema Repair] "+nameOf(e.Upstream)+": "+clip(strings.Join(e.Repaired, ", ")), slog.String("id", clip(e.ID)))
	}
}

// outcome adds what only some calls have.
func (l *line) outcome(e *backstop.Event) {
	if e.FirstToken > 0 {
		l.number("first_token_ms", millis(e.FirstToken))
	}
	l.given("rescued", e.Rescued)
	l.given("repaired", strings.Join(e.Repaired, ","))
	l.given("dropped", strings.Join(e.Dropped, ","))
	if e.Truncated {
		l.flag("truncated", true)
	}
	if e.Stale > 0 {
		l.number("stale_s", e.Stale.Seconds())
	}
	if e.InputTokens > 0 || e.OutputTokens > 0 { // -1 = not reported
		l.counted("input_tokens", e.InputTokens)
		l.counted("output_tokens", e.OutputTokens)
	}
}

// logPrimary writes a line for each failed attempt at the primary, as far as
// the storm rule allows.
func (o *Observer) logPrimary(e *backstop.Event) {
	for i := range e.Attempts {
		a := &e.Attempts[i]
		if a.Tier != 0 || !modelError(a.Outcome.Class) || !o.outage.admit(a) {
			continue
		}
		attrs := []slog.Attr{slog.String("id", clip(e.ID)), slog.String("model", clip(a.Model))}
		if a.Outcome.Status != 0 {
			attrs = append(attrs, slog.Int("status", a.Outcome.Status))
		}
		o.line(slog.LevelWarn, "[Primary Model Error] "+nameOf(a.Upstream)+": "+a.Outcome.Reason()+" after "+a.Duration.Round(time.Millisecond).String(), attrs...)
	}
}

// logSwitched tells once that an upstream refused to stream a model.
func (o *Observer) logSwitched(e *backstop.Event) {
	for i := range e.Attempts {
		if a := &e.Attempts[i]; a.Switched {
			o.line(slog.LevelWarn, "upstream "+nameOf(a.Upstream)+" refused to stream: it is asked for plain bodies until a reload, and a hang is seen at the end only",
				slog.String("model", clip(a.Model)), slog.String("id", clip(e.ID)))
		}
	}
}

// modelError tells the faults of an upstream from what is the caller's doing.
func modelError(c backstop.Class) bool {
	switch c {
	case backstop.Hang, backstop.Limited, backstop.Broken, backstop.Garbled:
		return true
	}
	return false
}

func (o *Observer) logTransition(t *backstop.Transition) {
	level, what := slog.LevelWarn, "[Circuit Breaker] "
	switch {
	case t.Trial:
		level, what = slog.LevelInfo, "[Trial Breaker] "
	case t.To == "closed":
		level = slog.LevelInfo
	}
	attrs := []slog.Attr{slog.String("scope", t.Scope)}
	if t.Model != "" {
		attrs = append(attrs, slog.String("model", clip(t.Model)))
	}
	o.line(level, what+nameOf(t.Upstream)+" "+strings.ToUpper(t.From)+" -> "+strings.ToUpper(t.To)+" ("+t.Cause+")", attrs...)
}

func (o *Observer) logProbe(p *backstop.Probe, out *backstop.Outcome) {
	name := ""
	if p.Upstream != nil {
		name = p.Upstream.Name
	}
	o.line(slog.LevelDebug, "probe", slog.String("upstream", name), slog.String("model", clip(p.Model)),
		slog.String("scope", p.Scope), slog.String("outcome", out.Reason()))
}

// nameOf is a config name in the text of a line.
func nameOf(name string) string {
	if name == "" {
		return "none"
	}
	return clip(name)
}

// clip cuts a caller's text. Escaping is done where the line is written.
func clip(s string) string {
	if len(s) <= maxText {
		return s
	}
	return strings.ToValidUTF8(s[:maxText], "") + "…"
}

func millis(d time.Duration) float64 {
	return float64(d.Round(10*time.Microsecond)) / float64(time.Millisecond)
}
