package observe

import (
	"strings"
	"testing"
	"time"

	wiretrace "go.opentelemetry.io/proto/otlp/trace/v1"

	"backstop"
)

func TestABackgroundProbeIsATraceOfItsOwn(t *testing.T) {
	one := &backstop.Upstream{Name: "one"}
	for _, c := range []struct {
		name   string
		probe  backstop.Probe
		out    backstop.Outcome
		span   string
		has    string // key=value, separated by blanks
		failed string
	}{
		{"a healthy one", backstop.Probe{Upstream: one, Model: "m", Scope: "model", Began: midday, Key: 1},
			backstop.Outcome{Class: backstop.OK, Status: 200, InputTokens: 9, OutputTokens: 1}, "chat m",
			"gen_ai.operation.name=chat gen_ai.provider.name=deepseek gen_ai.request.model=m gen_ai.usage.input_tokens=9 gen_ai.usage.output_tokens=1 backstop.upstream=one backstop.scope=model backstop.outcome=ok backstop.key=1 http.response.status_code=200", ""},
		{"one that hangs", backstop.Probe{Upstream: one, Model: "m", Scope: "endpoint", Began: midday},
			backstop.Outcome{Class: backstop.Hang, Kind: backstop.KindFirstToken, InputTokens: -1, OutputTokens: -1}, "chat m",
			"backstop.scope=endpoint backstop.outcome=hang error.type=hang/first_token", "hang/first_token"},
		{"one of a model that no configuration names", backstop.Probe{Upstream: one, Model: "a caller's name", Scope: "embed", Embed: true, Began: midday},
			backstop.Outcome{Class: backstop.OK}, "embeddings", "gen_ai.operation.name=embeddings backstop.scope=embed", ""},
		{"one whose beginning nobody noted", backstop.Probe{Upstream: one, Model: "m"}, backstop.Outcome{Class: backstop.OK}, "chat m", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			to, end := newCollector(t), midday.Add(300*time.Millisecond)
			tell(t, Options{Clock: func() time.Time { return end }}, func(o *Observer) { o.Probe(c.probe, c.out) })
			if len(to.spans) != 1 {
				t.Fatalf("%d spans", len(to.spans))
			}
			s, began := to.spans[0], end
			if !c.probe.Began.IsZero() {
				began = c.probe.Began
			}
			if s.Name != c.span || s.Kind != wiretrace.Span_SPAN_KIND_CLIENT || len(s.ParentSpanId) != 0 || len(s.TraceId) != 16 || len(s.SpanId) != 8 {
				t.Errorf("span %v", s)
			}
			if s.StartTimeUnixNano != uint64(began.UnixNano()) || s.EndTimeUnixNano != uint64(end.UnixNano()) {
				t.Errorf("from %d to %d", s.StartTimeUnixNano, s.EndTimeUnixNano)
			}
			if failed := s.Status.GetCode() == wiretrace.Status_STATUS_CODE_ERROR; failed != (c.failed != "") || s.Status.GetMessage() != c.failed {
				t.Errorf("status %v", s.Status)
			}
			got := texts(s.Attributes)
			for pair := range strings.FieldsSeq(c.has + " backstop.probe=true") {
				if key, want, _ := strings.Cut(pair, "="); got[key] != want {
					t.Errorf("%s is %q, want %q", key, got[key], want)
				}
			}
		})
	}
}

func TestProbesAreSampledAsCallsAre(t *testing.T) {
	for sampler, want := range map[string]int{"always_off": 0, "parentbased_always_on": 2} {
		t.Run(sampler, func(t *testing.T) {
			to := newCollector(t)
			t.Setenv("OTEL_TRACES_SAMPLER", sampler)
			tell(t, Options{}, func(o *Observer) {
				for range 2 {
					o.Probe(backstop.Probe{Upstream: &backstop.Upstream{Name: "one"}, Model: "m", Scope: "model"}, backstop.Outcome{Class: backstop.OK})
				}
				o.Probe(backstop.Probe{}, backstop.Outcome{}) // of no upstream: nothing to tell
			})
			if len(to.spans) != want {
				t.Fatalf("%d spans, want %d", len(to.spans), want)
			}
			if want == 2 && string(to.spans[0].TraceId) == string(to.spans[1].TraceId) {
				t.Error("two probes share a trace")
			}
		})
	}
}
