package docs_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"backstop/internal/app"
	"backstop/internal/config"
	"backstop/mock"
)

// adminToken stands for what a reader exports as ADMIN_TOKEN.
const adminToken = "a-token-of-the-pages"

func environment(name string) (string, bool) {
	if name == "ADMIN_TOKEN" {
		return adminToken, true
	}
	return "the-value-of-" + name + "-in-the-pages", true
}

// mocks are what the pages speak of: two mocks, and a gateway in front of them.
type mocks struct {
	primary, backup *mock.Server
	urls            map[string]string // address in the pages -> base URL
}

func newMocks(t *testing.T) *mocks {
	t.Helper()
	w := &mocks{primary: mock.New(mock.Options{Seed: 1}), backup: mock.New(mock.Options{Seed: 1}), urls: map[string]string{}}
	for addr, m := range map[string]*mock.Server{"127.0.0.1:8401": w.primary, "127.0.0.1:8402": w.backup} {
		srv := httptest.NewServer(m)
		t.Cleanup(func() { m.Close(); srv.Close() })
		w.urls[addr] = srv.URL
	}
	return w
}

// gateway is one with a configuration of the pages.
type gateway struct {
	*app.App
	log  *lines
	file string
}

// open starts a gateway with the quick start's file, edited.
func (w *mocks) open(t *testing.T, edit ...string) *gateway {
	t.Helper()
	h := &gateway{log: &lines{}, file: filepath.Join(t.TempDir(), "backstop.yaml")}
	text := w.local(quickstart(t))
	for i := 0; i+1 < len(edit); i += 2 {
		if !strings.Contains(text, edit[i]) {
			t.Fatalf("the quick start's file has no %q", edit[i])
		}
		text = strings.Replace(text, edit[i], edit[i+1], 1)
	}
	write(t, h.file, text)
	load := func() (*config.Config, []config.Warning, error) {
		return config.Load(h.file, config.Options{Env: environment, Listen: "127.0.0.1:0", Admin: "127.0.0.1:0"})
	}
	a, err := app.New(app.Options{Load: load, Out: h.log, StateDir: t.TempDir(), Debug: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Start(); err != nil {
		t.Fatal(err)
	}
	h.App = a
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // nothing of a test is worth waiting for
		_ = a.Stop(ctx)
	})
	return h
}

// local puts the mocks' real addresses in the place of those in the pages.
func (w *mocks) local(text string) string {
	for addr, url := range w.urls {
		text = strings.ReplaceAll(text, "http://"+addr, url)
	}
	return text
}

// admin is the address of the admin plane.
func (h *gateway) admin() string {
	url, _, _ := strings.Cut(h.AdminURL(), "/?")
	return url
}

// quickstart is the file that the quick start tells to write.
func quickstart(t *testing.T) string {
	t.Helper()
	for _, b := range read(t, "docs/quickstart.md").blocks {
		if b.lang == "yaml" && strings.HasPrefix(b.text, "# backstop.yaml\n") {
			return b.text
		}
	}
	t.Fatal("the quick start has no backstop.yaml")
	return ""
}

// eventually polls a condition for some seconds.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); <-time.After(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s did not come true", what)
		}
	}
}

// scraped asks a gateway for its metrics.
func (h *gateway) scraped(t *testing.T) string {
	t.Helper()
	a := send(t, &request{method: http.MethodGet, url: h.admin() + "/metrics", header: http.Header{"Authorization": {"Bearer " + adminToken}}})
	return a.body
}

func TestConfigurationsAreAccepted(t *testing.T) {
	each(t, "yaml", func(t *testing.T, b block) {
		text := b.text
		if strings.HasPrefix(text, "# yaml-language-server") {
			return // a line for editors, not a file
		}
		_, warnings, err := config.Parse(b.page, []byte(text), config.Options{Env: environment})
		if err != nil {
			t.Errorf("%s:%d: %v", b.page, b.line, err)
		}
		for _, w := range warnings {
			t.Errorf("%s:%d: a reader would get the warning: %s", b.page, b.line, w.Message)
		}
	})
}

// The page of vendors gives the address of some; each must be found by its host,
// for nothing else in the example says whose it is.
func TestTheAddressesOfVendorsAreFoundByTheirHosts(t *testing.T) {
	n := 0
	for _, b := range read(t, "docs/upstreams.md").blocks {
		c, _, err := config.Parse(b.page, []byte(b.text), config.Options{Env: environment})
		if err != nil {
			t.Fatal(err)
		}
		for i := range c.Plan.Upstreams {
			n++
			if u := &c.Plan.Upstreams[i]; u.Vendor != u.Name {
				t.Errorf("%s is taken for %s", u.Name, u.Vendor)
			}
		}
	}
	if n < 10 {
		t.Errorf("only %d addresses were found", n)
	}
}

var inlineYAML = regexp.MustCompile("`([a-z]+: \\{[^`]+\\})`")

// isReference reports whether a page is the list of all keys, in any language.
func isReference(p page) bool { return filepath.Base(p.path) == "config.md" }

func TestConfigurationInTheTextIsAccepted(t *testing.T) {
	n := 0
	for _, p := range pages(t) {
		for _, m := range inlineYAML.FindAllStringSubmatch(p.text, -1) {
			if isReference(p) {
				continue // values of keys, explained where they stand
			}
			n++
			text := quickstart(t) + m[1] + "\n"
			if _, _, err := config.Parse(p.path, []byte(text), config.Options{Env: environment}); err != nil {
				t.Errorf("%s: %s: %v", p.path, m[1], err)
			}
		}
	}
	if n == 0 {
		t.Error(fmt.Errorf("no configuration was found in the text"))
	}
}
