package cases

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"backstop/internal/app"
	"backstop/internal/config"
)

// Credentials that no caller may ever see.
const (
	primaryKey = "sk-primary-4f0c9f7d2b"
	backupKey  = "sk-backup-9a17c3e05d"
	adminToken = "admin-token-of-the-cases"
)

// unscaled is the 4.5 s of S0 as they are.
const unscaled = 4500 * time.Millisecond

// setup is S0 of the page where nothing is said. Its limits are the page's own
// unless the case is about one of them: what must not run out should not do so
// on a busy machine either.
type setup struct {
	primary, backup *fake
	template        string // text of the local tier, "" = there is none
	local           string // YAML of local tiers instead

	scaled             bool          // the primary's limits are 4.5 s at the case's pace
	first, idle, total time.Duration // of the primary, instead
	reset              time.Duration // 0 = 60 s of the page
	retries            int
	unary              string // "" = plain
	rescue             string // "" = off
	keepalive          time.Duration

	primaryYAML, backupYAML, routeYAML, topYAML string // more lines: of an upstream, of the route, of the file

	file string // "" = made of the above
}

// yaml is the file that the program reads.
func (s *setup) yaml() []byte {
	if s.file != "" {
		return []byte(s.file)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "listen: \"127.0.0.1:0\"\nadmin: {listen: \"127.0.0.1:0\", token: %s}\nlog: {format: json}\n%s", adminToken, indent("", s.topYAML))
	b.WriteString("upstreams:\n")
	s.upstream(&b, s.primary, primaryKey, s.primaryYAML)
	tiers := "      - {upstream: primary, model: m}\n"
	if s.backup != nil {
		s.upstream(&b, s.backup, backupKey, s.backupYAML)
		tiers += "      - {upstream: backup, model: mb}\n"
	}
	if s.template != "" {
		tiers += "      - local: {template: {text: " + quote(s.template) + "}}\n"
	}
	tiers += indent("      ", s.local)
	fmt.Fprintf(&b, "routes:\n  - model: \"*\"\n    tiers:\n%s    stream: {rescue: %s, keepalive: %s}\n%s", tiers, or(s.rescue, "off"), s.keepalive, indent("    ", s.routeYAML))
	return []byte(b.String())
}

func (s *setup) upstream(b *strings.Builder, f *fake, key, more string) {
	limit := unscaled
	var first, idle, total time.Duration
	if f == s.primary {
		first, idle, total = s.first, s.idle, s.total
		if s.scaled {
			limit = f.pace.sec(4.5)
		}
	}
	fmt.Fprintf(b, "  %s:\n", f.name)
	if !strings.Contains(more, "base_url:") {
		fmt.Fprintf(b, "    base_url: http://%s/hidden-%s%s\n", f.addr(), f.name, f.fixture.place)
	}
	b.WriteString(indent("    ", f.fixture.config))
	fmt.Fprintf(b, `    allow_private: true
    proxy: "off"
    unary: %s
    timeouts: {connect: 10s, first_token: %s, idle: %s, total: %s}
`, or(s.unary, "plain"), or(first, limit), or(idle, limit), max(or(total, limit), or(first, limit)))
	if !strings.Contains(more, "breaker:") {
		fmt.Fprintf(b, "    breaker: {failures: 5, window: 30s, reset: %s, hang: false, probe: live}\n", or(s.reset, f.pace.sec(60)))
	}
	if !strings.Contains(more, "retry:") {
		fmt.Fprintf(b, "    retry: {max: %d, jitter: %s-%s}\n", s.retries, f.pace.sec(0.2), f.pace.sec(0.5))
	}
	if !strings.Contains(more, "key:") && !strings.Contains(more, "keys:") {
		fmt.Fprintf(b, "    key: %s\n", key)
	}
	b.WriteString(indent("    ", more))
}

func or[T comparable](v, instead T) T {
	var zero T
	if v == zero {
		return instead
	}
	return v
}

func indent(by, text string) string {
	if text == "" {
		return ""
	}
	var b strings.Builder
	for line := range strings.Lines(strings.TrimSuffix(text, "\n") + "\n") {
		b.WriteString(by + line)
	}
	return b.String()
}

// gateway is the whole program with its fakes, as one case uses it.
type gateway struct {
	t     testing.TB
	app   *app.App
	url   string
	admin string // base URL of the admin plane
	label string
	quiet int // goroutines of the program before its first call
	fakes []*fake
	conns *http.Transport // the caller's
	began time.Time

	mu      sync.Mutex
	answers []*answer
}

// start runs the program; the closing check comes with the end of the test.
func start(t testing.TB, s setup) *gateway {
	t.Helper()
	g := &gateway{t: t, label: t.Name(), began: time.Now(),
		conns: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 100}}
	for _, f := range []*fake{s.primary, s.backup} {
		if f != nil {
			g.fakes = append(g.fakes, f)
		}
	}
	file := s.yaml()
	var err error
	pprof.Do(context.Background(), pprof.Labels("case", g.label), func(context.Context) {
		g.app, err = app.New(app.Options{Version: "case", StateDir: t.TempDir(), Load: func() (*config.Config, []config.Warning, error) {
			return config.Parse("case.yaml", file, config.Options{})
		}})
		if err == nil {
			err = g.app.Start()
		}
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, file)
	}
	g.url = "http://" + g.app.Addr()
	g.admin, _, _ = strings.Cut(g.app.AdminURL(), "/?")
	eventually(t, "the program is up", func() bool { // goroutines that never ran are not in the profile yet
		before := g.quiet
		g.quiet = g.goroutines()
		return g.quiet > 0 && g.quiet == before
	})
	t.Cleanup(g.close)
	return g
}

// upstreamOf is the common start of most cases: a primary with a script, and a
// backup that always answers well.
func pair(t testing.TB, s script) (primary, backup *fake) {
	return newFake(t, "primary", s), newFake(t, "backup", healthy(backupVoice, "B1", "B2"))
}

// ask the admin plane.
func (g *gateway) look(path string, into any) {
	g.t.Helper()
	req, err := http.NewRequest(http.MethodGet, g.admin+path, nil)
	if err != nil {
		g.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+adminToken)
	resp, err := g.conns.RoundTrip(req)
	if err != nil {
		g.t.Fatal(err)
	}
	defer resp.Body.Close()
	var b bytes.Buffer
	_, err = b.ReadFrom(resp.Body)
	switch text, raw := into.(*string); {
	case err != nil || resp.StatusCode != 200:
		g.t.Fatalf("admin %s: %d %v %s", path, resp.StatusCode, err, b.String())
	case raw:
		*text = b.String()
	default:
		if err := json.Unmarshal(b.Bytes(), into); err != nil {
			g.t.Fatalf("admin %s: %v in %s", path, err, b.String())
		}
	}
}

// record is what the admin plane says about a call.
type record struct {
	ID        string    `json:"id"`
	Time      time.Time `json:"time"`
	Tier      string    `json:"tier"`
	Outcome   string    `json:"outcome"`
	Status    int       `json:"status"`
	Code      string    `json:"code"`
	Committed bool      `json:"committed"`
	Truncated bool      `json:"truncated"`
	Repaired  []string  `json:"repaired"`
	Dropped   []string  `json:"dropped"`
	Input     int       `json:"input_tokens"`
	Output    int       `json:"output_tokens"`
	Attempts  []attempt `json:"attempts"`
}

type attempt struct {
	Upstream   string  `json:"upstream"`
	Start      float64 `json:"start_ms"`
	Waited     float64 `json:"waited_ms"`
	FirstByte  float64 `json:"first_byte_ms"`
	FirstToken float64 `json:"first_token_ms"`
	Key        int     `json:"key"`
	Outcome    string  `json:"outcome"`
	Status     int     `json:"status"`
	Again      bool    `json:"retry"`
	Replays    int     `json:"replays"`
}

// records are all calls, oldest first.
func (g *gateway) records() []record {
	g.t.Helper()
	var r struct{ Calls []record }
	g.look("/api/calls?limit=1000", &r)
	for i, j := 0, len(r.Calls)-1; i < j; i, j = i+1, j-1 {
		r.Calls[i], r.Calls[j] = r.Calls[j], r.Calls[i]
	}
	return r.Calls
}

// last is the latest call, once it is recorded: that happens after its answer.
func (g *gateway) last(n int) record {
	g.t.Helper()
	var all []record
	if !eventually(g.t, fmt.Sprintf("%d calls are recorded", n), func() bool { all = g.records(); return len(all) >= n }) {
		g.t.FailNow()
	}
	return all[n-1]
}

// outcomes are those of all attempts at an upstream, in order of the calls.
func (g *gateway) outcomes(upstream string) (list []string) {
	g.t.Helper()
	for _, r := range g.records() {
		for _, a := range r.Attempts {
			if a.Upstream == upstream {
				list = append(list, a.Outcome)
			}
		}
	}
	return list
}

// condition is an upstream as GET /api/state shows it.
type condition struct {
	Name   string
	State  string
	Parked []struct {
		Key   int
		Model string
		Until time.Time
		Why   string
	}
	Scopes []struct {
		Scope, Model, State, Cause string
		Since, Next                *time.Time
		Run                        int
	}
}

func (g *gateway) state(upstream string) condition {
	g.t.Helper()
	var s struct{ Upstreams []condition }
	g.look("/api/state", &s)
	for _, u := range s.Upstreams {
		if u.Name == upstream {
			return u
		}
	}
	g.t.Fatalf("no upstream %s in the state", upstream)
	return condition{}
}

// run is the number of failures in a row that an upstream's breakers hold
// against it, JSON quality apart.
func (c condition) run() (n int) {
	for _, s := range c.Scopes {
		if s.Scope != "quality" {
			n += s.Run
		}
	}
	return n
}

// metric sums the series of a metric whose labels hold all the given pairs.
func (g *gateway) metric(name string, labels ...string) (sum float64) {
	g.t.Helper()
	var text string
	g.look("/metrics", &text)
	for line := range strings.Lines(text) {
		head, value, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || head != name && !strings.HasPrefix(head, name+"{") {
			continue
		}
		match := true
		for _, l := range labels {
			match = match && strings.Contains(head, l)
		}
		if v, err := strconv.ParseFloat(value, 64); match && err == nil {
			sum += v
		}
	}
	return sum
}
