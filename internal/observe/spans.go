package observe

import (
	"context"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"backstop"
)

// call sends what there is to send about a finished call.
func (t *tracing) call(n *names, e *backstop.Event) {
	if t.gauge != nil && e.Op != backstop.OpPass {
		t.gauge.call(n, e)
	}
	if t.spans == nil || !e.Trace.Sampled {
		return
	}
	ctx := context.Background()
	if e.Trace.Parent != "" {
		ctx = under(ctx, e.Trace.ID, e.Trace.Parent, true)
	}
	ctx = context.WithValue(ctx, idsKey{}, ids{e.Trace.ID, e.Trace.Span})
	ctx, span := t.spans.Start(ctx, spanName(e.Op, n.model(e.Asked)), trace.WithTimestamp(e.Time),
		trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(callAttributes(n, e)...))
	for i := range e.Skipped {
		s := &e.Skipped[i]
		span.AddEvent("backstop.skipped", trace.WithTimestamp(e.Time.Add(s.At)), trace.WithAttributes(
			attribute.String(upstreamKey, safe(s.Upstream)), attribute.String("backstop.reason", safe(s.Why))))
	}
	if e.Failure != nil {
		fail(span, string(e.Failure.Code))
	}
	for i := range e.Attempts {
		t.attempt(ctx, n, e, &e.Attempts[i])
	}
	span.End(trace.WithTimestamp(e.Time.Add(e.Duration)))
}

// attempt is one request to an upstream: the child of its call, under the id
// that the upstream was told.
func (t *tracing) attempt(ctx context.Context, n *names, e *backstop.Event, a *backstop.AttemptRecord) {
	start := e.Time.Add(a.Start)
	ctx = context.WithValue(ctx, idsKey{}, ids{e.Trace.ID, e.Trace.AttemptSpan(a.ID)})
	_, span := t.spans.Start(ctx, spanName(e.Op, n.model(a.Model)), trace.WithTimestamp(start),
		trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attemptAttributes(n, e, a)...))
	if a.FirstToken > 0 {
		span.AddEvent("backstop.first_token", trace.WithTimestamp(start.Add(a.FirstToken)))
	}
	failUnlessAnswered(span, &a.Outcome)
	span.End(trace.WithTimestamp(start.Add(a.Duration)))
}

// failUnlessAnswered marks the span of a request to an upstream that failed. A
// refusal is an answer, and who cancels does not blame.
func failUnlessAnswered(span trace.Span, out *backstop.Outcome) {
	switch out.Class {
	case backstop.OK, backstop.Refused, backstop.Canceled:
	default:
		fail(span, out.Reason())
	}
}

// fail marks a span. What went wrong is a fixed word: messages may quote.
func fail(span trace.Span, why string) {
	why = safe(why)
	span.SetAttributes(attribute.String(errorKey, why))
	span.SetStatus(codes.Error, why)
}

// spanName is operation and model; a model that no configuration names is left
// out, for names of spans are to be few.
func spanName(op, model string) string {
	if model == other || model == "none" {
		return opWord(op)
	}
	return opWord(op) + " " + model
}

func callAttributes(n *names, e *backstop.Event) []attribute.KeyValue {
	list := attributes{
		attribute.String(opKey, opWord(e.Op)), attribute.String("backstop.id", safe(e.ID)),
		attribute.String("backstop.outcome", e.Outcome.String()), attribute.String("backstop.tier", tierWord(e.Tier)),
		attribute.String("backstop.route", n.route(e.Route)), attribute.String("backstop.caller", n.caller(e.Caller)),
		attribute.Int("backstop.attempts", e.Calls()), attribute.Bool("backstop.stream", e.Stream),
	}
	list.text(askedKey, e.Asked)
	list.text(answeredKey, e.Model)
	list.text(vendorKey, n.vendor(e.Upstream))
	list.text(upstreamKey, e.Upstream)
	list.text("backstop.reason", e.Reason)
	list.text("backstop.rescued", e.Rescued)
	list.text("backstop.repaired", strings.Join(e.Repaired, ","))
	if e.JSON {
		list.text("gen_ai.output.type", "json")
	}
	if e.Truncated {
		list = append(list, attribute.Bool("backstop.truncated", true))
	}
	list.seconds("backstop.first_token", e.FirstToken)
	list.seconds("backstop.stale", e.Stale)
	list.whole("http.response.status_code", e.Status)
	list.whole(inputKey, e.InputTokens)
	list.whole(outputKey, e.OutputTokens)
	return list
}

func attemptAttributes(n *names, e *backstop.Event, a *backstop.AttemptRecord) []attribute.KeyValue {
	list := attributes{
		attribute.String(opKey, opWord(e.Op)), attribute.Int("backstop.attempt", int(a.ID)),
		attribute.String("backstop.outcome", a.Outcome.Class.String()), attribute.Int("backstop.key", a.Key),
		attribute.Int("backstop.tier_index", a.Tier),
	}
	list.text(vendorKey, n.vendor(a.Upstream))
	list.text(upstreamKey, a.Upstream)
	list.text(askedKey, a.Model)
	list.seconds("backstop.first_token", a.FirstToken)
	list.seconds("backstop.waited", a.Waited)
	list.whole("http.response.status_code", a.Outcome.Status)
	list.whole(inputKey, a.Outcome.InputTokens)
	list.whole(outputKey, a.Outcome.OutputTokens)
	for _, f := range []struct {
		name string
		on   bool
	}{{"backstop.retry", a.Retry}, {"backstop.hedge", a.Hedge}, {"backstop.probe", a.Probe}} {
		if f.on {
			list = append(list, attribute.Bool(f.name, true))
		}
	}
	return list
}

// attributes leave out what is not known.
type attributes []attribute.KeyValue

func (l *attributes) text(key, value string) {
	if value != "" {
		*l = append(*l, attribute.String(key, safe(value)))
	}
}

func (l *attributes) whole(key string, n int) {
	if n > 0 {
		*l = append(*l, attribute.Int(key, n))
	}
}

func (l *attributes) seconds(key string, d time.Duration) {
	if d > 0 {
		*l = append(*l, attribute.Float64(key, d.Seconds()))
	}
}

// safe cuts a text of others and makes it UTF-8: one wrong byte, and a
// collector refuses the whole batch.
func safe(s string) string { return strings.ToValidUTF8(clip(s), "?") }
