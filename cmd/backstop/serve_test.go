package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// gateway runs the serve command in-process and reads its log.
type gateway struct {
	t        *testing.T
	mu       sync.Mutex
	out, err bytes.Buffer
	code     chan int
}

func (g *gateway) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.out.Write(p)
}

func (g *gateway) text() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.out.String()
}

// wait polls the log for a line.
func (g *gateway) wait(pattern string) []string {
	g.t.Helper()
	re := regexp.MustCompile(pattern)
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); <-time.After(5 * time.Millisecond) {
		if m := re.FindStringSubmatch(g.text()); m != nil {
			return m
		}
	}
	g.t.Fatalf("the log never said %s:\n%s", pattern, g.text())
	return nil
}

func startGateway(t *testing.T, env map[string]string, args ...string) (*gateway, string) {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	g := &gateway{t: t, code: make(chan int, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	s := &streams{ctx: ctx, in: strings.NewReader(""), out: g, err: &g.err, env: func(k string) (string, bool) { v, ok := env[k]; return v, ok }}
	args = append([]string{"serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"}, args...)
	go func() { g.code <- run(args, s) }()
	t.Cleanup(func() {
		cancel()
		http.DefaultClient.CloseIdleConnections()
	})
	url := g.wait(`gateway on (http://[^"\s]+)`)[1]
	g.wait(`dashboard on`)
	return g, url
}

func (g *gateway) ended() int {
	g.t.Helper()
	select {
	case c := <-g.code:
		return c
	case <-time.After(20 * time.Second):
		g.t.Fatalf("serve does not end:\n%s", g.text())
		return -1
	}
}

func TestServeFromTheEnvironmentPrintsItsPlanAndNoKey(t *testing.T) {
	const key = "sk-0123456789abcdef"
	g, url := startGateway(t, map[string]string{"DEEPSEEK_API_KEY": key, "ANTHROPIC_API_KEY": "sk-ant-0123456789"})
	resp, err := http.Get(url + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != 200 {
		t.Errorf("healthz %d", resp.StatusCode)
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if c := g.ended(); c != exitFine {
		t.Errorf("exit code %d", c)
	}
	all := g.text() + g.err.String()
	if !strings.Contains(all, "upstream  deepseek") || !strings.Contains(all, "upstream  anthropic") {
		t.Errorf("the plan is not told:\n%s", all)
	}
	if strings.Contains(all, key) || strings.Contains(all, "sk-ant-") {
		t.Error("a key stands in the output")
	}
}

func TestSigtermDrainsAndSighupReloads(t *testing.T) {
	file := t.TempDir() + "/b.yaml"
	write := func(text string) {
		if err := os.WriteFile(file, []byte("drain: {delay: 1m, limit: 2s}\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const good = "upstreams:\n  a: {dialect: openai, base_url: http://127.0.0.1:9/v1, allow_private: true}\nroutes:\n  - {model: \"*\", tiers: [{upstream: a}, {local: {template: {text: busy}}}]}\n"
	write(good)
	g, url := startGateway(t, nil, "-c", file)
	post := func() int {
		resp, err := http.Post(url+"/api/agent", "application/json", strings.NewReader(`{"prompt":"hi"}`))
		if err != nil {
			return 0
		}
		defer resp.Body.Close()
		_, _ = io.Copy(io.Discard, resp.Body)
		return resp.StatusCode
	}
	if c := post(); c != 200 {
		t.Fatalf("a dead upstream with a template: %d", c)
	}
	write("routes: nonsense\n")
	_ = syscall.Kill(os.Getpid(), syscall.SIGHUP)
	g.wait(`the old one stays in force`)
	if c := post(); c != 200 {
		t.Errorf("after a bad reload: %d", c)
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGTERM)
	g.wait(`draining`)
	if resp, err := http.Get(url + "/readyz"); err == nil {
		_ = resp.Body.Close()
		if resp.StatusCode != 503 {
			t.Errorf("readyz while draining: %d", resp.StatusCode)
		}
	}
	if c := post(); c != 200 {
		t.Errorf("a call in the drain delay: %d", c)
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGTERM) // the second one ends the delay
	if c := g.ended(); c != exitFine {
		t.Errorf("exit code %d", c)
	}
}

func TestSigtermEndsAProcessWhoseFileDoesNotLetItselfBeRead(t *testing.T) {
	file := t.TempDir() + "/b.yaml"
	text := "drain: {delay: 1ms, limit: 2s}\nupstreams:\n  a: {base_url: http://127.0.0.1:9/v1, allow_private: true}\nroutes:\n  - {model: \"*\", tiers: [{upstream: a}]}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	g, _ := startGateway(t, nil, "-c", file)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Skip("no pipes here: ", err)
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGHUP)
	_ = syscall.Kill(os.Getpid(), syscall.SIGTERM)
	g.wait(`draining`)
	if c := g.ended(); c != exitFine {
		t.Errorf("exit code %d", c)
	}
	pipe, err := os.OpenFile(file, os.O_RDWR, 0) // lets the reload end as well
	if err != nil {
		t.Fatal(err)
	}
	_ = pipe.Close()
}
