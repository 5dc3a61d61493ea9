package docs_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"backstop/internal/load"
)

// TestLogLinesAndMetricsAreThoseOfARun plays an outage and compares what the
// gateway wrote and served with what docs/operations.md says.
func TestLogLinesAndMetricsAreThoseOfARun(t *testing.T) {
	t.Parallel()
	w := newMocks(t)
	h := w.open(t,
		`primary: {`, `primary: {passthrough: true, timeouts: {connect: 30s, first_token: 3200ms}, breaker: {reset: 2s}, `,
		"agent: {", "drain: {delay: 10ms, limit: 1s}\nagent: {")
	ask := func(path, body string) {
		send(t, &request{method: http.MethodPost, url: "http://" + h.Addr() + path, body: body, header: http.Header{"Content-Type": {"application/json"}}})
	}
	ask("/api/agent", `{"prompt":"hello","model":"503"}`)
	ask("/api/agent", `{"prompt":"hello","model":"fenced","json":true}`)
	ask("/api/agent", `{"prompt":"hello","model":"cut@3","stream":true}`)
	ask("/nowhere", `{}`)
	ask("/v1/files", `{}`)
	// Half of first_token passes before the breaker may open: long enough for the
	// line that comes once a second from half a second of silence on.
	w.set(t, "hang")
	if _, err := load.Run(context.Background(), load.Options{Rate: 40, Duration: 3 * time.Second, URL: "http://" + h.Addr() + "/api/agent",
		Body: func(int) []byte { return []byte(`{"prompt":"hello"}`) }}); err != nil {
		t.Fatal(err)
	}
	w.set(t, "ok")
	eventually(t, "recovery", func() bool {
		ask("/api/agent", `{"prompt":"hello"}`)
		return strings.Contains(h.log.text(), "HALF-OPEN -> CLOSED")
	})
	metrics := h.scraped(t)
	if err := h.Reload(); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(h.file)
	if err != nil {
		t.Fatal(err)
	}
	write(t, h.file, "routes: nonsense\n")
	if h.Reload() == nil {
		t.Fatal("a bad file was put in force")
	}
	write(t, h.file, string(good))
	if err := h.Drain(context.Background(), true); err != nil {
		t.Fatal(err)
	}
	compareLog(t, h.log.text())
	compareMetrics(t, metrics)
}

func (w *mocks) set(t *testing.T, fault string) {
	t.Helper()
	if err := w.primary.SetFault("*", fault); err != nil {
		t.Fatal(err)
	}
}

func compareLog(t *testing.T, text string) {
	var messages []string
	for line := range strings.Lines(text) {
		var l struct{ Msg string }
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Errorf("no JSON line: %s", line)
		}
		messages = append(messages, l.Msg)
	}
	each(t, "log", func(t *testing.T, b block) {
		for shown := range strings.Lines(b.text) {
			found := false
			for _, m := range messages {
				found = found || matches(shown, m)
			}
			if !found {
				t.Errorf("%s: no such line was written: %s", b.page, shown)
			}
		}
	})
	page := read(t, "docs/operations.md").text
	for _, m := range messages {
		if tag := regexp.MustCompile(`^\[[A-Z][A-Za-z ]+\]`).FindString(m); tag != "" && !strings.Contains(page, tag) {
			t.Errorf("docs/operations.md does not know lines of %s: %s", tag, m)
		}
	}
}

var (
	metricWord = regexp.MustCompile(`\bbackstop_[a-z_]+[a-z]`)
	metricType = regexp.MustCompile(`(?m)^# TYPE (backstop_[a-z_]+) `)
	metricRow  = regexp.MustCompile("(?m)^\\| `(backstop_[a-z_]+)` \\| ([a-z, ]*)\\|")
	labelWord  = regexp.MustCompile(`[a-z]+`)
)

func compareMetrics(t *testing.T, text string) {
	served := map[string]bool{}
	for _, m := range metricType.FindAllStringSubmatch(text, -1) {
		served[m[1]] = true
	}
	for _, p := range pages(t) {
		for _, span := range append(spans(p), blockTexts(p)...) {
			for _, name := range metricWord.FindAllString(span, -1) {
				if !served[name] && name != "backstop_admin" {
					t.Errorf("%s: %s is not served", p.path, name)
				}
			}
		}
	}
	for _, m := range metricRow.FindAllStringSubmatch(read(t, "docs/operations.md").text, -1) {
		delete(served, m[1])
		sample := regexp.MustCompile(`(?m)^` + m[1] + `(?:_count)?(?:\{([^}]*)\})? `).FindStringSubmatch(text)
		if sample == nil {
			t.Errorf("%s has no sample", m[1])
			continue
		}
		for _, label := range labelWord.FindAllString(m[2], -1) {
			if !strings.Contains(","+sample[1], ","+label+"=") {
				t.Errorf("%s has no label %s: {%s}", m[1], label, sample[1])
			}
		}
		if n := strings.Count(sample[1], "="); n != len(labelWord.FindAllString(m[2], -1)) {
			t.Errorf("%s has %d labels: {%s}", m[1], n, sample[1])
		}
	}
	for name := range served {
		t.Errorf("docs/operations.md does not list %s", name)
	}
}
