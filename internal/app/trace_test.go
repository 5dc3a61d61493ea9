package app

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"backstop"
	"backstop/internal/config"
	"backstop/mock"
)

// heard is a server that remembers bodies and one header.
type heard struct {
	mu      sync.Mutex
	bodies  bytes.Buffer
	parents []string
	states  []string     // every tracestate
	then    http.Handler // nil = 200
}

func (h *heard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	h.mu.Lock()
	h.bodies.Write(body)
	h.parents = append(h.parents, r.Header.Get("Traceparent"))
	h.states = append(h.states, r.Header.Values("Tracestate")...)
	h.mu.Unlock()
	r.Body = io.NopCloser(bytes.NewReader(body))
	if h.then != nil {
		h.then.ServeHTTP(w, r)
	}
}

// TestATraceGoesThrough: the caller's trace is taken up, each upstream is told
// the span of its own attempt, and a drained process has sent all of it.
func TestATraceGoesThrough(t *testing.T) {
	m := mock.New(mock.Options{})
	upstreams, collector := &heard{then: m}, &heard{}
	up, to := httptest.NewServer(upstreams), httptest.NewServer(collector)
	t.Cleanup(func() { m.Close(); up.Close(); to.Close(); http.DefaultClient.CloseIdleConnections() })
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", to.URL)
	file := filepath.Join(t.TempDir(), "backstop.yaml")
	text := fmt.Sprintf("listen: 127.0.0.1:0\nadmin: {listen: \"127.0.0.1:0\", token: %s}\nupstreams:\n  one: {dialect: openai, base_url: %[2]s/v1, allow_private: true, key: \"sk-canary-canary\"}\n  two: {dialect: openai, base_url: %[2]s/v1, allow_private: true}\n"+
		"routes:\n  - model: \"*\"\n    tiers: [{upstream: one, model: \"529\"}, {upstream: two, model: ok}]\n", adminToken, up.URL)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	log := &lines{}
	a, err := New(Options{Out: log, Env: os.LookupEnv, Load: func() (*config.Config, []config.Warning, error) { return config.Load(file, config.Options{}) }})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Start(); err != nil {
		t.Fatal(err)
	}
	req, _ := http.NewRequest(http.MethodPost, a.URL()+"/v1/chat/completions", strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"PROMPT"}]}`))
	const theirs = "4bf92f3577b34da6a3ce929d0e0e4736"
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Traceparent", "00-"+theirs+"-00f067aa0ba902b7-01")
	req.Header.Set("Tracestate", "vendor=secret-of-theirs")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	if err := a.Drain(context.Background(), false); err != nil {
		t.Fatal(err)
	}
	sent := collector.bodies.Bytes()
	spans := map[string]bool{}
	for _, p := range upstreams.parents {
		parsed, ok := backstop.ParseTraceparent(p)
		if !ok || parsed.ID != theirs || parsed.Parent == "00f067aa0ba902b7" || spans[parsed.Parent] {
			t.Errorf("an upstream was told %q", p)
		}
		spans[parsed.Parent] = true
		if raw, _ := hex.DecodeString(parsed.Parent); !bytes.Contains(sent, raw) {
			t.Errorf("span %s was told to an upstream and not to the collector", parsed.Parent)
		}
	}
	if len(spans) != 2 {
		t.Errorf("upstreams were told %q", upstreams.parents)
	}
	if len(upstreams.states) > 0 {
		t.Errorf("an upstream was told the caller's tracestate: %q", upstreams.states)
	}
	for _, secret := range []string{"PROMPT", "canary", "lighthouse", "secret-of-theirs"} {
		if bytes.Contains(sent, []byte(secret)) {
			t.Errorf("%s was sent to the collector", secret)
		}
	}
	if !log.has(`"trace":"` + theirs + `"`) {
		t.Error("the line of the call does not name its trace")
	}
	if !log.has(`"msg":"draining","delay":"0s"`) {
		t.Error("a drain without a delay says that it has one")
	}
}

func TestAReloadThatChangesNothingSaysSo(t *testing.T) {
	h := newHouse(t, false)
	if err := h.Reload(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the line", func() bool { return h.log.has("configuration reloaded, nothing changed in effect") })
	if h.log.has("null") {
		t.Error("a line says null")
	}
}
