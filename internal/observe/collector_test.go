package observe

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	colmetric "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	wiremetric "go.opentelemetry.io/proto/otlp/metrics/v1"
	wiretrace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"backstop"
)

// collector is a small OpenTelemetry collector: it reads what it gets as
// strictly as a real one.
type collector struct {
	t        *testing.T
	mu       sync.Mutex
	raw      bytes.Buffer // all bodies
	headers  http.Header
	spans    []*wiretrace.Span
	metrics  []*wiremetric.Metric
	resource map[string]string
	status   int // of answers; 0 = 200
}

// newCollector starts one and points the environment at it.
func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{t: t}
	srv := httptest.NewServer(c)
	t.Cleanup(srv.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", srv.URL)
	return c
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/x-protobuf" {
		c.t.Errorf("%s %s %v: %v", r.Method, r.URL, r.Header, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.status != 0 {
		w.WriteHeader(c.status)
		return
	}
	c.raw.Write(body)
	c.headers = r.Header
	switch r.URL.Path {
	case "/v1/traces":
		var q coltrace.ExportTraceServiceRequest
		c.decode(body, &q)
		for _, rs := range q.ResourceSpans {
			c.resource = texts(rs.Resource.Attributes)
			for _, ss := range rs.ScopeSpans {
				c.spans = append(c.spans, ss.Spans...)
			}
		}
	case "/v1/metrics":
		var q colmetric.ExportMetricsServiceRequest
		c.decode(body, &q)
		for _, rm := range q.ResourceMetrics {
			for _, sm := range rm.ScopeMetrics {
				c.metrics = append(c.metrics, sm.Metrics...)
			}
		}
	default:
		c.t.Errorf("nothing belongs to %s", r.URL.Path)
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

func (c *collector) decode(body []byte, into proto.Message) {
	if err := proto.Unmarshal(body, into); err != nil {
		c.t.Error(err)
	}
	if len(into.ProtoReflect().GetUnknown()) > 0 {
		c.t.Error("fields that are not in the protocol")
	}
}

// texts are attributes as a map; all values as text.
func texts(list []*common.KeyValue) map[string]string {
	out := map[string]string{}
	for _, kv := range list {
		v := kv.Value
		switch v.Value.(type) {
		case *common.AnyValue_StringValue:
			out[kv.Key] = v.GetStringValue()
		case *common.AnyValue_IntValue:
			out[kv.Key] = fmt.Sprint(v.GetIntValue())
		case *common.AnyValue_DoubleValue:
			out[kv.Key] = fmt.Sprint(v.GetDoubleValue())
		case *common.AnyValue_BoolValue:
			out[kv.Key] = fmt.Sprint(v.GetBoolValue())
		}
	}
	return out
}

// tell opens an observer with telemetry, lets it hear something and closes it.
func tell(t *testing.T, o Options, hear func(*Observer)) {
	t.Helper()
	o.Telemetry = Telemetry{Traces: true, Metrics: true}
	b := New(o)
	b.Known(&backstop.Plan{
		Routes: []backstop.Route{{Model: "gpt-4o", Tiers: []backstop.Tier{{Upstream: "one", Model: "m"}, {Upstream: "two", Model: "n"}}}},
		Upstreams: []backstop.Upstream{
			{Name: "one", Vendor: "deepseek", Dialect: backstop.OpenAI}, {Name: "two", Vendor: "generic", Dialect: backstop.Anthropic},
		},
	}, []string{"web"})
	hear(b)
	b.Close()
}

const (
	theirTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	theirSpan  = "00f067aa0ba902b7"
)

var midday = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

func TestACollectorGetsASpanForACallAndOneForEachAttempt(t *testing.T) {
	c := newCollector(t)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-team=blue")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")
	e := hung("id-1")
	e.Time, e.Attempts[0].ID, e.Attempts[1].ID = midday, 1, 2
	e.Attempts[1].Start, e.Attempts[1].Duration, e.Attempts[1].Outcome.Status = 4500*time.Millisecond, 200*time.Millisecond, 200
	e.Skipped = []backstop.Skip{{Upstream: "three", Why: "open", At: time.Second}}
	tell(t, Options{Version: "1.2.3"}, func(o *Observer) {
		e.Trace = o.Trace("00-" + theirTrace + "-" + theirSpan + "-01")
		o.Call(e)
	})
	if len(c.spans) != 3 || c.headers.Get("X-Team") != "blue" {
		t.Fatalf("%d spans, headers %v", len(c.spans), c.headers)
	}
	for key, want := range map[string]string{"service.name": "backstop", "service.version": "1.2.3", "deployment.environment.name": "test"} {
		if c.resource[key] != want {
			t.Errorf("resource %s is %q", key, c.resource[key])
		}
	}
	first, second, call := c.spans[0], c.spans[1], c.spans[2]
	for _, w := range []struct {
		span           *wiretrace.Span
		name           string
		id, parent     string
		kind           wiretrace.Span_SpanKind
		start, end     time.Time
		failed         bool
		has            map[string]string
		events, status string
	}{
		{call, "chat gpt-4o", e.Trace.Span, theirSpan, wiretrace.Span_SPAN_KIND_SERVER, midday, midday.Add(e.Duration), false, map[string]string{
			"gen_ai.operation.name": "chat", "gen_ai.provider.name": "anthropic", "gen_ai.request.model": "gpt-4o", "gen_ai.response.model": "n",
			"backstop.route": "gpt-4o", "backstop.caller": "web", "backstop.tier": "backup", "backstop.upstream": "two", "backstop.outcome": "ok",
			"backstop.attempts": "2", "backstop.reason": "hang/first_token", "backstop.id": "id-1", "backstop.first_token": "4.6", "http.response.status_code": "200",
		}, "backstop.skipped", ""},
		{first, "chat m", e.Trace.AttemptSpan(1), e.Trace.Span, wiretrace.Span_SPAN_KIND_CLIENT, midday, midday.Add(4500 * time.Millisecond), true, map[string]string{
			"gen_ai.provider.name": "deepseek", "gen_ai.request.model": "m", "error.type": "hang/first_token", "backstop.outcome": "hang", "backstop.attempt": "1",
		}, "", "hang/first_token"},
		{second, "chat n", e.Trace.AttemptSpan(2), e.Trace.Span, wiretrace.Span_SPAN_KIND_CLIENT, midday.Add(4500 * time.Millisecond), midday.Add(4700 * time.Millisecond), false, map[string]string{
			"gen_ai.usage.input_tokens": "7", "gen_ai.usage.output_tokens": "11", "http.response.status_code": "200", "backstop.tier_index": "1",
		}, "backstop.first_token", ""},
	} {
		got := texts(w.span.Attributes)
		for key, want := range w.has {
			if got[key] != want {
				t.Errorf("%s: %s is %q, want %q", w.name, key, got[key], want)
			}
		}
		if w.span.Name != w.name || fmt.Sprintf("%x", w.span.TraceId) != theirTrace || fmt.Sprintf("%x", w.span.SpanId) != w.id || fmt.Sprintf("%x", w.span.ParentSpanId) != w.parent || w.span.Kind != w.kind {
			t.Errorf("want %s %s under %s, got %v", w.name, w.id, w.parent, w.span)
		}
		if w.span.StartTimeUnixNano != uint64(w.start.UnixNano()) || w.span.EndTimeUnixNano != uint64(w.end.UnixNano()) {
			t.Errorf("%s: from %d to %d", w.name, w.span.StartTimeUnixNano, w.span.EndTimeUnixNano)
		}
		if failed := w.span.Status.GetCode() == wiretrace.Status_STATUS_CODE_ERROR; failed != w.failed || w.span.Status.GetMessage() != w.status {
			t.Errorf("%s: status %v", w.name, w.span.Status)
		}
		if w.events != "" && (len(w.span.Events) != 1 || w.span.Events[0].Name != w.events) {
			t.Errorf("%s: events %v", w.name, w.span.Events)
		}
	}
}

func TestACallWithoutATraceBeginsOne(t *testing.T) {
	c := newCollector(t)
	seen := map[string]bool{}
	tell(t, Options{}, func(o *Observer) {
		for _, header := range []string{"", "junk", "00-" + strings.Repeat("0", 32) + "-" + theirSpan + "-01"} {
			e := skipped("id", "backup", "open")
			e.Trace = o.Trace(header)
			if e.Trace.Parent != "" || !e.Trace.Sampled || len(e.Trace.ID) != 32 || seen[e.Trace.ID] {
				t.Errorf("%q: %+v", header, e.Trace)
			}
			seen[e.Trace.ID] = true
			o.Call(e)
		}
	})
	if len(c.spans) != 6 {
		t.Errorf("%d spans", len(c.spans))
	}
	for _, s := range c.spans {
		if s.Kind == wiretrace.Span_SPAN_KIND_SERVER && len(s.ParentSpanId) != 0 {
			t.Errorf("%v has a parent", s)
		}
	}
}

func TestWhatIsRecordedIsTheSamplersBusiness(t *testing.T) {
	for _, c := range []struct {
		sampler, arg, header string
		want                 bool
	}{
		{"", "", "", true},
		{"", "", "00-" + theirTrace + "-" + theirSpan + "-00", false},
		{"always_on", "", "00-" + theirTrace + "-" + theirSpan + "-00", true},
		{"always_off", "", "", false},
		{"parentbased_always_off", "", "00-" + theirTrace + "-" + theirSpan + "-01", true},
		{"traceidratio", "0", "", false},
	} {
		t.Run(c.sampler+c.header, func(t *testing.T) {
			to := newCollector(t)
			if c.sampler != "" {
				t.Setenv("OTEL_TRACES_SAMPLER", c.sampler)
				t.Setenv("OTEL_TRACES_SAMPLER_ARG", c.arg)
			}
			tell(t, Options{}, func(o *Observer) {
				e := skipped("id", "backup", "open")
				e.Trace = o.Trace(c.header)
				if e.Trace.Sampled != c.want || e.Trace.ID == "" {
					t.Errorf("%+v", e.Trace)
				}
				o.Call(e)
			})
			if got := len(to.spans) > 0; got != c.want {
				t.Errorf("%d spans", len(to.spans))
			}
			if len(to.metrics) == 0 {
				t.Error("numbers are not sampled")
			}
		})
	}
}

func TestNothingOfABodyAndNoBrokenTextReachesACollector(t *testing.T) {
	c := newCollector(t)
	const secret = "sk-CANARY"
	tell(t, Options{}, func(o *Observer) {
		e := hung("id\xff\xfe")
		e.Trace = o.Trace("")
		e.Asked, e.Model, e.Attempts[0].Model, e.Caller = strings.Repeat("é", 80)+"\xff", "\xc3", "\xf0\x28", "192.0.2.7"
		e.Failure = &backstop.Failure{Code: backstop.CodeUpstreamRejected, Message: secret, Body: []byte(secret), Param: secret}
		e.Attempts[0].Outcome.Message, e.Attempts[0].Outcome.Body = secret, []byte(secret)
		o.Call(e)
	})
	if len(c.spans) != 3 {
		t.Errorf("%d spans: one wrong byte must not cost a batch", len(c.spans))
	}
	if raw := c.raw.String(); strings.Contains(raw, "CANARY") || strings.Contains(raw, "192.0.2.7") {
		t.Error("a secret left the house")
	}
	for _, s := range c.spans {
		if len(s.Name) > 40 {
			t.Errorf("a caller's text names a span: %q", s.Name)
		}
	}
}

func TestTheNumbersOfTheConventionAreSent(t *testing.T) {
	c := newCollector(t)
	e := hung("id-1")
	e.Stream, e.OutputTokens = true, 11
	bad := hung("id-2")
	bad.Failure = &backstop.Failure{Code: backstop.CodeUpstreamsExhausted}
	tell(t, Options{}, func(o *Observer) { o.Call(e); o.Call(bad) })
	got := map[string]*wiremetric.Metric{}
	for _, m := range c.metrics {
		got[m.Name] = m
	}
	for name, want := range map[string]struct {
		unit   string
		points int
		labels string
	}{
		"gen_ai.server.request.duration":      {"s", 2, "gen_ai.operation.name gen_ai.provider.name gen_ai.request.model gen_ai.response.model"},
		"gen_ai.server.time_to_first_token":   {"s", 1, "gen_ai.operation.name gen_ai.provider.name gen_ai.request.model gen_ai.response.model"},
		"gen_ai.server.time_per_output_token": {"s", 1, "gen_ai.operation.name gen_ai.provider.name gen_ai.request.model gen_ai.response.model"},
		"gen_ai.client.operation.duration":    {"s", 2, "gen_ai.operation.name gen_ai.provider.name gen_ai.request.model backstop.upstream"},
		"gen_ai.client.token.usage":           {"{token}", 2, "gen_ai.operation.name gen_ai.provider.name gen_ai.request.model gen_ai.token.type backstop.upstream"},
	} {
		m := got[name]
		if m == nil || m.Unit != want.unit || len(m.GetHistogram().GetDataPoints()) != want.points {
			t.Errorf("%s: %v", name, m)
			continue
		}
		for _, p := range m.GetHistogram().DataPoints {
			has := texts(p.Attributes)
			for label := range strings.FieldsSeq(want.labels) {
				if has[label] == "" {
					t.Errorf("%s has no %s: %v", name, label, has)
				}
			}
		}
	}
	if len(got) != 5 {
		t.Errorf("%d metrics", len(got))
	}
}

// A collector that takes nothing must not hold a call up: were a call to wait
// for it, this test would not end.
func TestACollectorThatHangsCostsSpansAndNoCall(t *testing.T) {
	free := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-free }))
	t.Cleanup(srv.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", srv.URL)
	t.Setenv("OTEL_BSP_MAX_QUEUE_SIZE", "64")
	t.Setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "16")
	tell(t, Options{}, func(o *Observer) {
		o.tracing.flush = 50 * time.Millisecond
		for i := range 1000 {
			e := skipped(fmt.Sprint(i), "backup", "open")
			e.Trace = o.Trace("")
			o.Call(e)
		}
	})
	close(free)
}

func TestACollectorThatRefusesIsToldOfOnce(t *testing.T) {
	c := newCollector(t)
	c.status = http.StatusBadRequest
	t.Setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "4")
	out := &sink{}
	var text string
	tell(t, Options{Out: out, Format: "json"}, func(o *Observer) {
		for i := range 100 {
			e := skipped(fmt.Sprint(i), "backup", "open")
			e.Trace = o.Trace("")
			o.Call(e)
		}
		o.tracing.close()
		text = scrape(o)
	})
	if n := strings.Count(out.String(), "telemetry is not delivered"); n != 1 {
		t.Errorf("told %d times", n)
	}
	if strings.Contains(text, "backstop_telemetry_failures_total 0\n") || !strings.Contains(text, "backstop_telemetry_failures_total ") {
		t.Error("failures are not counted")
	}
}

func TestTelemetryIsOffUnlessAnEndpointIsSet(t *testing.T) {
	for _, c := range []struct {
		env      string
		want     Telemetry
		warnings int
	}{
		{"", Telemetry{}, 0},
		{"OTEL_SERVICE_NAME=x", Telemetry{}, 0},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318", Telemetry{true, true}, 0},
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://c:4318/v1/traces", Telemetry{Traces: true}, 0},
		{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=http://c:4318/v1/metrics", Telemetry{Metrics: true}, 0},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318 OTEL_SDK_DISABLED=true", Telemetry{}, 0},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318 OTEL_METRICS_EXPORTER=none", Telemetry{Traces: true}, 0},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318 OTEL_TRACES_EXPORTER=zipkin", Telemetry{Metrics: true}, 1},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4317 OTEL_EXPORTER_OTLP_PROTOCOL=grpc", Telemetry{true, true}, 1},
	} {
		env := map[string]string{}
		for pair := range strings.FieldsSeq(c.env) {
			name, value, _ := strings.Cut(pair, "=")
			env[name] = value
		}
		got, warnings := TelemetryFrom(func(name string) string { return env[name] })
		if got != c.want || len(warnings) != c.warnings {
			t.Errorf("%s: %+v %q", c.env, got, warnings)
		}
	}
	o := New(Options{})
	defer o.Close()
	if o.Traced() || o.Trace("00-"+theirTrace+"-"+theirSpan+"-01") != (backstop.Trace{}) {
		t.Error("a call is traced for nobody")
	}
}

func BenchmarkTracedCall(b *testing.B) {
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer srv.Close()
	b.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", srv.URL)
	o := New(Options{Format: "json", Telemetry: Telemetry{Traces: true, Metrics: true}})
	defer o.Close()
	b.ReportAllocs()
	for b.Loop() {
		e := skipped("id", "backup", "open")
		e.Trace = o.Trace("")
		o.Call(e)
	}
}
