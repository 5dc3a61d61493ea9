package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"backstop/internal/config"
	"backstop/internal/testkit"
	"backstop/mock"
)

func TestMain(m *testing.M) { testkit.Leaks(m) }

// house is a whole gateway in front of two mocks.
type house struct {
	*App
	t               *testing.T
	primary, backup *mock.Server
	file            string
	log             *lines
	loading         atomic.Pointer[func()] // called before the file is read
}

// lines collects the log.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) has(s string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.b.String(), s)
}

const adminToken = "an-admin-token-of-tests"

func (h *house) write(extra string) {
	h.t.Helper()
	text := fmt.Sprintf(`listen: 127.0.0.1:0
admin: {listen: "127.0.0.1:0", token: %s}
drain: {delay: 50ms, limit: 5s}
upstreams:
  primary: {dialect: openai, base_url: %s, allow_private: true}
  backup: {dialect: openai, base_url: %s, allow_private: true}
%s`, adminToken, h.url(h.primary), h.url(h.backup), extra)
	if err := os.WriteFile(h.file, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

var urls sync.Map

func (h *house) url(m *mock.Server) string {
	u, _ := urls.Load(m)
	return u.(string)
}

const usualRoutes = `routes:
  - model: "*"
    tiers:
      - {upstream: primary}
      - {upstream: backup, model: ok}
      - local: {template: {text: "busy"}}
`

func newHouse(t *testing.T, watch bool) *house {
	t.Helper()
	h := &house{t: t, primary: mock.New(mock.Options{}), backup: mock.New(mock.Options{}), log: &lines{}, file: filepath.Join(t.TempDir(), "backstop.yaml")}
	for _, m := range []*mock.Server{h.primary, h.backup} {
		srv := httptest.NewServer(m)
		t.Cleanup(func() { m.Close(); srv.Close() })
		urls.Store(m, srv.URL+"/v1")
	}
	h.write(usualRoutes)
	o := Options{Out: h.log, Load: func() (*config.Config, []config.Warning, error) {
		if before := h.loading.Load(); before != nil {
			(*before)()
		}
		return config.Load(h.file, config.Options{})
	}}
	if watch {
		o.Watch = h.file
	}
	a, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Start(); err != nil {
		t.Fatal(err)
	}
	h.App = a
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = a.Stop(ctx)
		http.DefaultClient.CloseIdleConnections()
	})
	return h
}

func (h *house) call(model string) (*http.Response, map[string]any) {
	h.t.Helper()
	resp, err := http.Post(h.URL()+"/v1/chat/completions", "application/json",
		strings.NewReader(`{"model":"`+model+`","messages":[{"role":"user","content":"hi"}]}`))
	if err != nil {
		h.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	m := map[string]any{}
	if err := json.Unmarshal(b, &m); err != nil {
		h.t.Fatalf("%d %q: %v", resp.StatusCode, b, err)
	}
	return resp, m
}

func (h *house) admin(method, path, body string) (int, string) {
	h.t.Helper()
	req, _ := http.NewRequest(method, "http://"+h.adminLn[0].Addr().String()+path, strings.NewReader(body))
	req.Header.Set("Authorization", "Bearer "+adminToken)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		h.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b)
}

// eventually polls a condition; nothing in the product is timed by it.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	end := time.Now().Add(10 * time.Second)
	for !ok() {
		if time.Now().After(end) {
			t.Fatalf("%s did not come true", what)
		}
		<-time.After(5 * time.Millisecond)
	}
}

func TestACallGoesThroughTheWholeHouse(t *testing.T) {
	h := newHouse(t, false)
	resp, m := h.call("ok")
	if resp.StatusCode != 200 || resp.Header.Get("x-backstop-tier") != "primary" || m["choices"] == nil {
		t.Fatalf("%d %v %v", resp.StatusCode, resp.Header, m)
	}
	resp, _ = h.call("503")
	if resp.Header.Get("x-backstop-tier") != "backup" || resp.Header.Get("x-backstop-reason") != "broken/overload" {
		t.Errorf("tier %q, reason %q", resp.Header.Get("x-backstop-tier"), resp.Header.Get("x-backstop-reason"))
	}
	id := resp.Header.Get("x-request-id")
	eventually(t, "the record of the call", func() bool { code, _ := h.admin("GET", "/api/calls/"+id, ""); return code == 200 })
	if code, body := h.admin("GET", "/metrics", ""); code != 200 || !strings.Contains(body, `backstop_attempts_total{outcome="broken",upstream="primary"} 1`) {
		t.Errorf("metrics %d lack the failed attempt", code)
	}
	eventually(t, "the phrase for a failed primary", func() bool { return h.log.has("[Primary Model Error]") })
}

func TestForcedOpenAndBack(t *testing.T) {
	h := newHouse(t, false)
	h.call("ok")
	if code, body := h.admin("POST", "/api/breakers/primary", `{"state":"open","for":"15m"}`); code >= 300 {
		t.Fatalf("%d %s", code, body)
	}
	if resp, _ := h.call("ok"); resp.Header.Get("x-backstop-tier") != "backup" || resp.Header.Get("x-backstop-reason") != "open" {
		t.Errorf("forced open: tier %q, reason %q", resp.Header.Get("x-backstop-tier"), resp.Header.Get("x-backstop-reason"))
	}
	if code, _ := h.admin("POST", "/api/breakers/primary", `{"state":"auto"}`); code >= 300 {
		t.Fatal("auto was refused")
	}
	if resp, _ := h.call("ok"); resp.Header.Get("x-backstop-tier") != "primary" {
		t.Errorf("after auto: tier %q", resp.Header.Get("x-backstop-tier"))
	}
}

func TestABadFileChangesNothingAndAGoodOneIsPutInForce(t *testing.T) {
	h := newHouse(t, false)
	h.write("routes: [nonsense")
	if err := h.Reload(); err == nil {
		t.Fatal("a broken file was accepted")
	}
	if resp, _ := h.call("ok"); resp.StatusCode != 200 {
		t.Fatalf("after a bad reload: %d", resp.StatusCode)
	}
	eventually(t, "a log line about the bad file", func() bool { return h.log.has("the old one stays in force") })
	h.write(strings.Replace(usualRoutes, "{upstream: primary}", "{upstream: backup}", 1))
	if err := h.Reload(); err != nil {
		t.Fatal(err)
	}
	if resp, _ := h.call("ok"); resp.Header.Get("x-backstop-upstream") != "backup" {
		t.Errorf("upstream %q answered after the reload", resp.Header.Get("x-backstop-upstream"))
	}
}

func TestAChangedFileIsReloadedByItself(t *testing.T) {
	h := newHouse(t, true)
	h.write(strings.Replace(usualRoutes, "{upstream: primary}", "{upstream: backup}", 1))
	eventually(t, "the reload", func() bool { return h.log.has("configuration reloaded") })
	if resp, _ := h.call("ok"); resp.Header.Get("x-backstop-upstream") != "backup" {
		t.Errorf("upstream %q answered after the reload", resp.Header.Get("x-backstop-upstream"))
	}
}

func TestBreakerMemorySurvivesAReload(t *testing.T) {
	h := newHouse(t, false)
	for i := 0; i < 6; i++ {
		h.call("529")
	}
	before := h.primary.Counts().Attempts
	if err := h.Reload(); err != nil {
		t.Fatal(err)
	}
	if resp, _ := h.call("529"); resp.Header.Get("x-backstop-reason") != "open" || h.primary.Counts().Attempts != before {
		t.Errorf("reason %q, primary saw %d more", resp.Header.Get("x-backstop-reason"), h.primary.Counts().Attempts-before)
	}
}

func TestDrainSaysNotReadyAndFinishesWhatRuns(t *testing.T) {
	h := newHouse(t, false)
	if err := h.primary.SetFault("slow", "slow:300ms"); err != nil {
		t.Fatal(err)
	}
	status := make(chan int, 1)
	go func() {
		resp, err := http.Post(h.URL()+"/v1/chat/completions", "application/json",
			strings.NewReader(`{"model":"slow","messages":[{"role":"user","content":"hi"}]}`))
		if err != nil {
			status <- 0
			return
		}
		resp.Body.Close()
		status <- resp.StatusCode
	}()
	eventually(t, "the call upstream", func() bool { return h.primary.Counts().Open == 1 })
	over := make(chan error, 1)
	go func() { over <- h.Drain(context.Background(), true) }()
	ready := 0
	eventually(t, "readyz 503", func() bool {
		resp, err := http.Get(h.URL() + "/readyz")
		if err != nil {
			return true // the listener is closed already
		}
		resp.Body.Close()
		ready = resp.StatusCode
		return ready == 503
	})
	if got := <-status; got != 200 {
		t.Errorf("the running call got %d", got)
	}
	if err := <-over; err != nil {
		t.Error(err)
	}
}

func TestABusyPortIsNamed(t *testing.T) {
	h := newHouse(t, false)
	cfg := config.Options{Listen: h.Addr()}
	b, err := New(Options{Load: func() (*config.Config, []config.Warning, error) { return config.Load(h.file, cfg) }})
	if err != nil {
		t.Fatal(err)
	}
	err = b.Start()
	var busy *BusyError
	if !errors.As(err, &busy) || busy.Addr != h.Addr() || busy.Flag != "--listen" {
		t.Errorf("error %v", err)
	}
}

func TestAMadeUpTokenIsKeptForItsOwnerOnly(t *testing.T) {
	dir := t.TempDir()
	tok, err := makeToken(&config.Config{}, Options{StateDir: dir}, "3001")
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(tok.file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v, %v", info.Mode(), err)
	}
	text, _ := os.ReadFile(tok.file)
	if strings.TrimSpace(string(text)) != tok.value.Reveal() || len(tok.value.Reveal()) < 32 {
		t.Error("the file does not hold the token")
	}
}

func TestBreakerMemorySurvivesARestart(t *testing.T) {
	h := newHouse(t, false)
	state := filepath.Join(t.TempDir(), "state.json")
	start := func() *App {
		h.write("state: {file: " + state + "}\n" + usualRoutes)
		a, err := New(Options{Out: h.log, Load: func() (*config.Config, []config.Warning, error) { return config.Load(h.file, config.Options{}) }})
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Start(); err != nil {
			t.Fatal(err)
		}
		h.App = a
		return a
	}
	stop := func(a *App) {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = a.Stop(ctx)
	}
	first := h.App
	defer stop(first)
	a := start()
	for i := 0; i < 6; i++ {
		h.call("529")
	}
	stop(a)
	before := h.primary.Counts().Attempts
	b := start()
	if resp, _ := h.call("529"); resp.Header.Get("x-backstop-reason") != "open" || h.primary.Counts().Attempts != before {
		t.Errorf("after a restart: reason %q, the primary saw %d more", resp.Header.Get("x-backstop-reason"), h.primary.Counts().Attempts-before)
	}
	stop(b)
	if err := os.WriteFile(state, []byte("{damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := start()
	if resp, _ := h.call("ok"); resp.StatusCode != 200 || resp.Header.Get("x-backstop-tier") != "primary" {
		t.Errorf("a damaged memory: %d, tier %q", resp.StatusCode, resp.Header.Get("x-backstop-tier"))
	}
	stop(c)
}

func TestOnlyAPlainSmallFileIsReadAsBreakerMemory(t *testing.T) {
	dir := t.TempDir()
	plain, large := filepath.Join(dir, "plain"), filepath.Join(dir, "large")
	for name, size := range map[string]int64{plain: 10, large: maxMemory + 1} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(name, size); err != nil { // takes no room on the disk
			t.Fatal(err)
		}
	}
	if text, err := readMemory(plain); err != nil || len(text) != 10 {
		t.Errorf("a plain file: %d bytes, %v", len(text), err)
	}
	for _, name := range []string{large, dir, os.DevNull} {
		if text, err := readMemory(name); err == nil {
			t.Errorf("%s: %d bytes", name, len(text))
		}
	}
	if _, err := readMemory(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

func TestAnAgentAnswerWithoutContentIsAnAnswer(t *testing.T) {
	h := newHouse(t, false)
	for model, want := range map[string]string{"refusal": "help", "toolcall": ""} {
		for _, stream := range []string{"", `,"stream":true`} {
			resp, err := http.Post(h.URL()+"/api/agent", "application/json", strings.NewReader(`{"prompt":"x","model":"`+model+`"`+stream+`}`))
			if err != nil {
				t.Fatal(err)
			}
			b, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			if resp.StatusCode != 200 || !strings.Contains(string(b), want) || !strings.Contains(string(b), `"tier":"primary"`) {
				t.Errorf("%s%s: %d %s", model, stream, resp.StatusCode, b)
			}
		}
	}
}
