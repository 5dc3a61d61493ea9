package backstop_test

import (
	"strings"
	"testing"

	"backstop"
)

const (
	traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
	spanID  = "00f067aa0ba902b7"
)

func TestATraceparentIsReadAsTraceContextSays(t *testing.T) {
	for header, want := range map[string]backstop.Trace{
		"00-" + traceID + "-" + spanID + "-01":       {ID: traceID, Parent: spanID, Sampled: true},
		"00-" + traceID + "-" + spanID + "-00":       {ID: traceID, Parent: spanID},
		"00-" + traceID + "-" + spanID + "-03":       {ID: traceID, Parent: spanID, Sampled: true},
		"cc-" + traceID + "-" + spanID + "-01-later": {ID: traceID, Parent: spanID, Sampled: true},
		"": {}, "00": {}, "00-1-2-3": {},
		"00-" + traceID + "-" + spanID + "-01-more":                        {},
		"ff-" + traceID + "-" + spanID + "-01":                             {},
		"00-" + strings.ToUpper(traceID) + "-" + spanID + "-01":            {},
		"00-" + strings.Repeat("0", 32) + "-" + spanID + "-01":             {},
		"00-" + traceID + "-" + strings.Repeat("0", 16) + "-01":            {},
		"00-" + traceID + "-" + spanID + "-0g":                             {},
		"00-" + traceID + "-" + spanID[:15] + "\n-01":                      {},
		"01-" + traceID + "-" + spanID + "-01-" + strings.Repeat("x", 200): {},
	} {
		got, ok := backstop.ParseTraceparent(header)
		if got != want || ok != (want.ID != "") {
			t.Errorf("%q: %+v %v", header, got, ok)
		}
	}
}

func TestEveryAttemptHasASpanOfItsOwn(t *testing.T) {
	seen := map[string]bool{}
	for _, span := range []string{spanID, "ffffffffffffffff", "0000000000000001"} {
		tr := backstop.Trace{ID: traceID, Span: span, Sampled: true}
		seen[span] = true
		for id := range backstop.AttemptID(50) {
			s := tr.AttemptSpan(id + 1)
			if len(s) != 16 || seen[s] || s != tr.AttemptSpan(id+1) {
				t.Errorf("attempt %d of %s: %q", id+1, span, s)
			}
			seen[s] = true
			got, ok := backstop.ParseTraceparent(tr.Traceparent(s))
			if !ok || got.ID != traceID || got.Parent != s || !got.Sampled {
				t.Errorf("%q: %+v %v", tr.Traceparent(s), got, ok)
			}
		}
	}
	if s := (backstop.Trace{}).AttemptSpan(1); s != "" || (backstop.Trace{}).Traceparent(s) != "" {
		t.Errorf("a call that nobody traces sends %q", s)
	}
}

func FuzzParseTraceparent(f *testing.F) {
	f.Add("00-" + traceID + "-" + spanID + "-01")
	f.Add("cc-" + traceID + "-" + spanID + "-01-x")
	f.Fuzz(func(t *testing.T, header string) {
		tr, ok := backstop.ParseTraceparent(header)
		if !ok {
			return
		}
		again, ok := backstop.ParseTraceparent(tr.Traceparent(tr.Parent))
		if !ok || again != tr {
			t.Errorf("%q: %+v became %+v", header, tr, again)
		}
	})
}
