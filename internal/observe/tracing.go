package observe

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"backstop"
)

// flushTime is how long the last spans and numbers may take to leave.
const flushTime = 3 * time.Second

// tracing sends spans and gen_ai metrics. Spans are made when a call is over,
// from its record, under the ids that its requests went out with; they wait in
// a bounded queue, and what does not fit is dropped. So a collector that is
// slow or gone costs telemetry, and no call a microsecond of waiting.
type tracing struct {
	// first decides at the start of a call whether it is recorded, and gives
	// it its ids. It has the sampler of OTEL_TRACES_SAMPLER and no exporter.
	first trace.Tracer
	spans trace.Tracer // of records, with ids given; nil = no traces
	gauge *genAI       // nil = no metrics

	stops []func(context.Context) error
	flush time.Duration
	told  atomic.Int64 // when a failure was last logged, unix seconds
}

func newTracing(o *Options, b *Observer) *tracing {
	t := &tracing{flush: flushTime}
	ctx := context.Background()
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { t.failed(b, err) }))
	about, err := resource.New(ctx, resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", "backstop"), attribute.String("service.version", o.Version)),
		resource.WithFromEnv()) // the last word counts
	if err != nil {
		t.failed(b, err)
	}
	if o.Telemetry.Traces {
		if to, err := otlptracehttp.New(ctx); err != nil {
			t.failed(b, err)
		} else {
			t.record(to, about)
		}
	}
	if o.Telemetry.Metrics {
		if to, err := otlpmetrichttp.New(ctx); err != nil {
			t.failed(b, err)
		} else {
			p := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewPeriodicReader(to)), sdkmetric.WithResource(about))
			t.gauge = newGenAI(p.Meter("backstop"))
			t.stops = append(t.stops, p.Shutdown)
		}
	}
	return t
}

// record sends spans to an exporter, through a queue of bounded size.
func (t *tracing) record(to sdktrace.SpanExporter, about *resource.Resource) {
	t.first = sdktrace.NewTracerProvider(sdktrace.WithResource(about)).Tracer("backstop")
	p := sdktrace.NewTracerProvider(sdktrace.WithBatcher(to), sdktrace.WithResource(about),
		sdktrace.WithSampler(sdktrace.AlwaysSample()), sdktrace.WithIDGenerator(givenIDs{}))
	t.spans = p.Tracer("backstop")
	t.stops = append(t.stops, p.Shutdown)
}

// failed counts what an exporter could not do, and logs it once a minute.
func (t *tracing) failed(b *Observer, err error) {
	b.metrics.undelivered.Inc()
	now, last := b.clock().Unix(), t.told.Load()
	if now-last >= 60 && t.told.CompareAndSwap(last, now) {
		b.line(slog.LevelWarn, "telemetry is not delivered; calls go on without it", slog.String("error", clip(err.Error())))
	}
}

// close sends what waits, for a bounded time.
func (t *tracing) close() {
	ctx, cancel := context.WithTimeout(context.Background(), t.flush)
	defer cancel()
	var over sync.WaitGroup
	for _, stop := range t.stops {
		over.Go(func() { _ = stop(ctx) }) // its failure went to failed
	}
	over.Wait()
}

// Trace finds the place of a new call in the trace of whoever calls, or begins
// a trace; the zero value if traces are off. A traceparent that cannot be read
// is as good as none.
func (o *Observer) Trace(traceparent string) backstop.Trace {
	if o.tracing == nil || o.tracing.first == nil {
		return backstop.Trace{}
	}
	ctx := context.Background()
	t, ok := backstop.ParseTraceparent(traceparent)
	if ok {
		ctx = under(ctx, t.ID, t.Parent, t.Sampled)
	}
	_, span := o.tracing.first.Start(ctx, "call")
	sc := span.SpanContext()
	return backstop.Trace{ID: sc.TraceID().String(), Span: sc.SpanID().String(), Parent: t.Parent, Sampled: sc.IsSampled()}
}

// Traced reports whether [Observer.Trace] gives calls a place.
func (o *Observer) Traced() bool { return o.tracing != nil && o.tracing.first != nil }

// under is a context in which the next span is the child of a span elsewhere.
func under(ctx context.Context, id, span string, sampled bool) context.Context {
	traceID, _ := trace.TraceIDFromHex(id)
	spanID, _ := trace.SpanIDFromHex(span)
	return trace.ContextWithRemoteSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: traceID, SpanID: spanID, TraceFlags: trace.TraceFlags(0).WithSampled(sampled), Remote: true,
	}))
}

// givenIDs gives a span the ids that its context names.
type givenIDs struct{}

type idsKey struct{}

type ids struct{ trace, span string }

// NewIDs implements sdktrace.IDGenerator.
func (g givenIDs) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	given, _ := ctx.Value(idsKey{}).(ids)
	id, _ := trace.TraceIDFromHex(given.trace)
	return id, g.NewSpanID(ctx, id)
}

// NewSpanID implements sdktrace.IDGenerator.
func (givenIDs) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	given, _ := ctx.Value(idsKey{}).(ids)
	id, _ := trace.SpanIDFromHex(given.span)
	return id
}
