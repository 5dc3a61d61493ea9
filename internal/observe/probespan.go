package observe

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"backstop"
)

// probe sends a finished background probe as a trace of its own: no caller
// waited for it, so it belongs to none of theirs. The sampler decides about it
// as about a call that begins a trace.
func (t *tracing) probe(n *names, p *backstop.Probe, out *backstop.Outcome, end time.Time) {
	if t.spans == nil || p.Upstream == nil {
		return
	}
	op := "chat"
	if p.Embed {
		op = "embedding"
	}
	name := spanName(op, n.model(p.Model))
	root, began := context.Background(), p.Began
	if began.IsZero() || began.After(end) {
		began = end
	}
	_, place := t.first.Start(root, name, trace.WithSpanKind(trace.SpanKindClient))
	sc := place.SpanContext()
	if !sc.IsSampled() {
		return
	}
	ctx := context.WithValue(root, idsKey{}, ids{sc.TraceID().String(), sc.SpanID().String()})
	_, span := t.spans.Start(ctx, name, trace.WithTimestamp(began),
		trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(probeAttributes(n, op, p, out)...))
	failUnlessAnswered(span, out)
	span.End(trace.WithTimestamp(end))
}

func probeAttributes(n *names, op string, p *backstop.Probe, out *backstop.Outcome) []attribute.KeyValue {
	list := attributes{
		attribute.String(opKey, opWord(op)), attribute.Bool("backstop.probe", true),
		attribute.String("backstop.scope", safe(p.Scope)), attribute.String("backstop.outcome", out.Class.String()),
		attribute.Int("backstop.key", p.Key),
	}
	list.text(vendorKey, n.vendor(p.Upstream.Name))
	list.text(upstreamKey, p.Upstream.Name)
	list.text(askedKey, p.Model)
	list.whole("http.response.status_code", out.Status)
	list.whole(inputKey, out.InputTokens)
	list.whole(outputKey, out.OutputTokens)
	return list
}
