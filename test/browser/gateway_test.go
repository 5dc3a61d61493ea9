package browser

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"backstop/internal/app"
	"backstop/internal/config"
	"backstop/mock"
)

const token = "a-token-for-the-browser"

// gateway is a whole one in front of two mocks.
type gateway struct {
	*app.App
	t               *testing.T
	primary, backup *mock.Server
	urls            [2]string
	file            string
}

// text is a configuration in front of the two mocks.
const text = `listen: "127.0.0.1:0"
admin: {listen: "ADMIN", token: ` + token + `}
drain: {delay: 0s, limit: 5s}
defaults: {allow_private: true, breaker: {reset: 12s}}
upstreams:
  primary: {dialect: openai, base_url: PRIMARY, keys: [key-one-0123456789, key-two-0123456789], headers: {x-team: hidden-header-value}}
  backup: {dialect: openai, base_url: BACKUP, limits: {rate: 500, burst: 500}}
routes:
  - model: "*"
    tiers:
      - {upstream: primary}
      - {upstream: backup, model: backup-model}
      - local: {template: {text: "The assistant is busy, please try again in a minute."}}
`

func (h *gateway) write(text, admin string) {
	h.t.Helper()
	text = strings.NewReplacer("PRIMARY", h.urls[0], "BACKUP", h.urls[1], "ADMIN", admin).Replace(text)
	if err := os.WriteFile(h.file, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

func newGateway(t *testing.T, text string) *gateway {
	t.Helper()
	h := &gateway{t: t, file: filepath.Join(t.TempDir(), "backstop.yaml")}
	h.primary = mock.New(mock.Options{Seed: 1, Name: "primary", Tokens: 16, Delay: 80 * time.Millisecond, Gap: 2 * time.Millisecond})
	h.backup = mock.New(mock.Options{Seed: 1, Name: "backup", Tokens: 16, Delay: 40 * time.Millisecond, Gap: 2 * time.Millisecond})
	for i, m := range []*mock.Server{h.primary, h.backup} {
		srv := httptest.NewServer(m)
		t.Cleanup(func() { m.Close(); srv.Close() })
		h.urls[i] = srv.URL + "/v1"
	}
	h.write(text, "127.0.0.1:0")
	h.start()
	t.Cleanup(h.stop)
	return h
}

func (h *gateway) start() {
	h.t.Helper()
	a, err := app.New(app.Options{Version: "1.0-test", Load: func() (*config.Config, []config.Warning, error) { return config.Load(h.file, config.Options{}) }})
	if err == nil {
		err = a.Start()
	}
	if err != nil {
		h.t.Fatal(err)
	}
	h.App = a
}

func (h *gateway) stop() {
	if h.App == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_ = h.Stop(ctx)
	h.App = nil
}

// call sends one streamed call and returns its id.
func (h *gateway) call(model string) string {
	resp, err := http.Post(h.URL()+"/v1/chat/completions", "application/json", strings.NewReader(fmt.Sprintf(`{"model":%q,"stream":true,"messages":[{"role":"user","content":"hi"}]}`, model)))
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.Header.Get("X-Request-Id")
}

// mostInflight bounds the calls of a load: a gateway that hangs gets no flood.
const mostInflight = 60

// load sends calls until the test ends or the returned function is called.
func (h *gateway) load() (stop func()) {
	over := make(chan struct{})
	var all sync.WaitGroup
	places := make(chan struct{}, mostInflight)
	all.Go(func() {
		tick := time.NewTicker(30 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-over:
				return
			case <-tick.C:
			}
			select {
			case places <- struct{}{}:
				all.Go(func() { h.call("gpt-4o"); <-places })
			default:
			}
		}
	})
	var once sync.Once
	stop = func() { once.Do(func() { close(over); all.Wait() }) }
	h.t.Cleanup(stop)
	return stop
}

// dashboard is the page's URL with the token.
func (h *gateway) dashboard() string { return h.AdminURL() }

// set breaks or heals a mock.
func (h *gateway) set(m *mock.Server, fault string) {
	h.t.Helper()
	if err := m.SetFault("*", fault); err != nil {
		h.t.Fatal(err)
	}
}
