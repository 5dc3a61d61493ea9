package admin

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"backstop"
	"backstop/secret"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const token = "admin-token-0123456789"

// desk is an admin plane on a socket, and what was switched on it.
type desk struct {
	t    *testing.T
	url  string
	http *http.Client
	stop chan struct{}

	mu      sync.Mutex
	done    []string
	reload  error
	calls   []*backstop.Event
	changes []backstop.Transition
	changed chan struct{}
}

func (d *desk) note(what string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.done = append(d.done, what)
}

func (d *desk) switched() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Join(d.done, ", ")
}

func (d *desk) Calls(limit int, keep func(*backstop.Event) bool) (out []*backstop.Event) {
	for _, e := range d.calls {
		if keep(e) && len(out) < limit {
			out = append(out, e)
		}
	}
	return out
}

func (d *desk) Call(id string) *backstop.Event {
	for _, e := range d.calls {
		if e.ID == id {
			return e
		}
	}
	return nil
}

func (d *desk) Transitions(n uint64) ([]backstop.Transition, uint64, <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.changes[min(int(n), len(d.changes)):], uint64(len(d.changes)), d.changed
}

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func open(t *testing.T, change func(*Options)) *desk {
	t.Helper()
	d := &desk{t: t, stop: make(chan struct{}), changed: make(chan struct{}), http: &http.Client{
		Transport:     &http.Transport{},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	d.calls = []*backstop.Event{
		{ID: "c2", Tier: "local", Upstream: "template", Outcome: backstop.OK, Status: 200, Skipped: []backstop.Skip{{Upstream: "one", Why: "open", Until: time.Second}}},
		{ID: "c1", Tier: "backup", Upstream: "two", Outcome: backstop.OK, Status: 200, Duration: 4700 * time.Millisecond, InputTokens: -1, OutputTokens: 3,
			Attempts: []backstop.AttemptRecord{{ID: 1, Upstream: "one", Duration: 4500 * time.Millisecond, Outcome: backstop.Outcome{Class: backstop.Hang, Kind: backstop.KindFirstToken}}, {ID: 2, Tier: 1, Upstream: "two", Outcome: backstop.Outcome{Class: backstop.OK}}}},
		{ID: "c0", Outcome: backstop.Broken, Status: 502, Failure: &backstop.Failure{Code: backstop.CodeUpstreamsExhausted, Message: "primary one: hang"}},
	}
	o := Options{
		Token: secret.New(token), Addrs: []string{"127.0.0.1:3001"}, Version: "1.2.3", Recent: d, Stop: d.stop,
		State: func() backstop.State {
			return backstop.State{Upstreams: []backstop.UpstreamState{
				{Name: "one", Vendor: "generic", Dialect: backstop.OpenAI, Keys: 2, Parked: []backstop.ParkState{{Key: 1, Until: start, Why: "rate"}},
					Scopes: []backstop.ScopeState{{Scope: "model", Model: "m", State: "open", Since: start, Cause: "hang", Run: 5, Need: 5, Suspicion: 2250 * time.Millisecond}, {Scope: "embed", State: "closed"}}},
				{Name: "two"},
			}}
		},
		Plan:   plan,
		Config: func() Config { return shown },
		Seconds: func(after time.Time) []Second {
			return slices.DeleteFunc(slices.Clone(past), func(s Second) bool { return !s.Time.After(after) })
		},
		Tally: func(name string) Tally {
			if name != "one" {
				return Tally{Lately: map[string]uint64{}, Since: map[string]uint64{}}
			}
			return Tally{Lately: map[string]uint64{"ok": 3, "hang": 1}, Since: map[string]uint64{"ok": 30, "hang": 1}, Last: Trouble{Time: start, Call: "c1", Model: "m", Outcome: "hang/first_token"}}
		},
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "backstop_up 1\n") }),
		Force: func(upstream, state string, span time.Duration) error {
			d.note(fmt.Sprintf("%s %s %s", upstream, state, span))
			return nil
		},
		Reload: func() error { d.note("reload"); return d.reload },
		Drain:  func() { d.note("drain") },
		Clock:  func() time.Time { return start.Add(time.Minute) },
	}
	if change != nil {
		change(&o)
	}
	srv := httptest.NewServer(New(o))
	t.Cleanup(func() { d.http.CloseIdleConnections(); srv.Close() })
	d.url = srv.URL
	return d
}

// plan is the plan in force of the desk.
func plan() *backstop.Plan {
	return &backstop.Plan{
		Upstreams: []backstop.Upstream{
			{Name: "one", BaseURL: "https://name:password@api.example.com/v1?key=secret", Account: "a", Limits: backstop.Limits{Rate: 10, Burst: 20, Inflight: 100}, Timeouts: backstop.Timeouts{FirstToken: 4500 * time.Millisecond}},
			{Name: "two"},
		},
		Routes: []backstop.Route{{Model: "*", Tiers: []backstop.Tier{{Upstream: "one"}, {Upstream: "two", Model: "n"}, {Local: &backstop.Local{Template: &backstop.Template{Text: "busy"}}}}}},
	}
}

var (
	shown = Config{Source: "f.yaml", Settings: []Setting{{Path: "listen", Value: "localhost:3000"}, {Group: "upstreams.one", Path: "upstreams.one.keys", Hidden: true}},
		Reloads: []Reload{{Time: start, OK: true, Changes: []string{"listen: a -> b"}}, {Time: start, Error: "f.yaml:1:1: wrong"}}}
	past = []Second{{Time: start, Primary: 5, P50: time.Second, P99: 2 * time.Second}, {Time: start.Add(time.Second)}}
)

type result struct {
	status int
	header http.Header
	body   string
}

func (d *desk) do(method, path, body string, headers ...string) result {
	d.t.Helper()
	req, err := http.NewRequest(method, d.url+path, strings.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			req.Host = value
			continue
		}
		req.Header.Add(name, value)
	}
	resp, err := d.http.Do(req)
	if err != nil {
		d.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, _ := io.ReadAll(resp.Body)
	return result{resp.StatusCode, resp.Header, string(data)}
}

const auth = "Authorization: Bearer " + token

func TestNothingIsServedWithoutTheToken(t *testing.T) {
	d := open(t, func(o *Options) { o.Debug = true })
	for _, at := range []string{"GET /", "GET /app.js", "GET /vendor/uplot.js", "GET /style.css", "GET /api/state", "GET /api/history", "GET /api/config", "GET /api/faults", "GET /api/openapi.json", "POST /api/faults/one", "GET /api/calls", "GET /api/calls/c1", "GET /api/events", "GET /metrics",
		"GET /debug/pprof/", "GET /nowhere", "POST /api/reload", "POST /api/drain", "POST /api/breakers/one"} {
		method, path, _ := strings.Cut(at, " ")
		for _, headers := range [][]string{nil, {"Authorization: Bearer wrong"}, {"Authorization: Bearer "}, {"Authorization: Basic " + token},
			{"X-Api-Key: " + token}, {"Cookie: backstop_admin=" + token}, {"Cookie: backstop_admin="}} {
			r := d.do(method, path, `{"state":"open"}`, append(headers, "Content-Type: application/json")...)
			if r.status != 401 || !json.Valid([]byte(r.body)) {
				t.Errorf("%s with %v: %d %.80s", at, headers, r.status, r.body)
			}
		}
		if path != "/" {
			if r := d.do(method, path+"?token="+token, ""); r.status != 401 {
				t.Errorf("%s takes the token in its URL: %d", at, r.status)
			}
		}
	}
	if s := d.switched(); s != "" {
		t.Errorf("switched: %s", s)
	}
	empty := open(t, func(o *Options) { o.Token = secret.Value{} })
	for _, h := range []string{"Authorization: Bearer ", "Authorization: Bearer", "Cookie: backstop_admin=x"} {
		if r := empty.do("GET", "/api/state", "", h); r.status != 401 {
			t.Errorf("without a token set, %q gets %d", h, r.status)
		}
	}
}

func TestTheDashboardURLIsExchangedForACookie(t *testing.T) {
	d := open(t, nil)
	if r := d.do("GET", "/?token=wrong", ""); r.status != 401 || len(r.header["Set-Cookie"]) != 0 {
		t.Errorf("a wrong token: %d %v", r.status, r.header)
	}
	r := d.do("GET", "/?token="+token, "")
	cookie := r.header.Get("Set-Cookie")
	if r.status != 303 || r.header.Get("Location") != "/" || strings.Contains(cookie, token) ||
		!strings.Contains(cookie, "HttpOnly") || !strings.Contains(cookie, "SameSite=Strict") {
		t.Fatalf("%d %v", r.status, r.header)
	}
	pair, _, _ := strings.Cut(cookie, ";")
	for path, part := range map[string]string{"/": "/app.js", "/app.js": "import", "/style.css": ":root", "/api/state": `"one"`} {
		if r := d.do("GET", path, "", "Cookie: "+pair); r.status != 200 || !strings.Contains(r.body, part) {
			t.Errorf("GET %s with the cookie: %d %.80s", path, r.status, r.body)
		}
	}
}

func TestForeignPagesAndHostsStayOutside(t *testing.T) {
	d := open(t, nil)
	host := strings.TrimPrefix(d.url, "http://")
	for _, c := range []struct {
		name    string
		headers []string
		status  int // of GET /api/state
		post    int // of POST /api/reload
	}{
		{"a program", nil, 200, 200},
		{"localhost", []string{"Host: localhost:3001"}, 200, 200},
		{"::1", []string{"Host: [::1]:3001"}, 200, 200},
		{"a rebound name", []string{"Host: evil.example:3001"}, 403, 403},
		{"a name that begins well", []string{"Host: localhost.evil.example"}, 403, 403},
		{"another address", []string{"Host: 10.1.2.3:3001"}, 403, 403},
		{"our own page", []string{"Origin: http://" + host, "Sec-Fetch-Site: same-origin"}, 200, 200},
		{"another port of this host", []string{"Origin: http://127.0.0.1:5173"}, 403, 403},
		{"another port, by the fetch header", []string{"Sec-Fetch-Site: same-site"}, 403, 403},
		{"a foreign page", []string{"Origin: https://evil.example"}, 403, 403},
		{"a foreign page, by the fetch header", []string{"Sec-Fetch-Site: cross-site"}, 403, 403},
		{"a sandboxed page", []string{"Origin: null"}, 403, 403},
		{"two origins", []string{"Origin: http://" + host, "Origin: https://evil.example"}, 403, 403},
		{"a navigation from elsewhere", []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"}, 403, 403},
	} {
		headers := append(c.headers, auth)
		if r := d.do("GET", "/api/state", "", headers...); r.status != c.status {
			t.Errorf("%s: GET gives %d, want %d", c.name, r.status, c.status)
		}
		if r := d.do("POST", "/api/reload", "", headers...); r.status != c.post {
			t.Errorf("%s: POST gives %d, want %d", c.name, r.status, c.post)
		}
	}
	if r := d.do("GET", "/?token="+token, "", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"); r.status != 303 {
		t.Errorf("a link to the dashboard: %d", r.status)
	}

	wide := open(t, func(o *Options) { o.Addrs = []string{"[::]:3001"} })
	for _, c := range []struct {
		host, key string
		status    int
	}{
		{"10.1.2.3:3001", auth, 200}, {"backstop:3001", auth, 200}, {"backstop:3001", "X: y", 403}, {"10.1.2.3:3001", "X: y", 401},
	} {
		if r := wide.do("GET", "/api/state", "", "Host: "+c.host, c.key); r.status != c.status {
			t.Errorf("on all addresses, Host %s: %d, want %d", c.host, r.status, c.status)
		}
	}
}

func TestEveryAnswerLocksTheBrowserDown(t *testing.T) {
	d := open(t, nil)
	for _, path := range []string{"/", "/api/state", "/nowhere", "/metrics"} {
		h := d.do("GET", path, "", auth).header
		if csp := h.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") {
			t.Errorf("%s: policy %q", path, csp)
		}
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Cache-Control") != "no-store" || h.Get("Referrer-Policy") != "no-referrer" || h.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %v", path, h)
		}
	}
}

func TestTheStateIsShown(t *testing.T) {
	d := open(t, nil)
	var got stateView
	r := d.do("GET", "/api/state", "", auth)
	if err := json.Unmarshal([]byte(r.body), &got); err != nil {
		t.Fatal(err)
	}
	one, two := got.Upstreams[0], got.Upstreams[1]
	if got.Version != "1.2.3" || one.State != "open" || two.State != "closed" || one.Scopes[0].Suspicion != 2250 || !one.Scopes[0].Since.Equal(start) || one.Parked[0].Why != "rate" {
		t.Errorf("%+v", got)
	}
	if one.BaseURL != "https://api.example.com/v1" || one.Account != "a" || one.Limits.Inflight != 100 || one.FirstToken != 4500 || one.Lately["hang"] != 1 || one.Trouble.Call != "c1" || two.Trouble != nil {
		t.Errorf("what the plan and the tally say: %+v", one)
	}
	if len(got.Routes) != 1 || len(got.Routes[0].Tiers) != 3 || got.Routes[0].Tiers[2].Name != "template" || !got.Routes[0].Tiers[2].Local {
		t.Errorf("routes %+v", got.Routes)
	}
	if strings.Contains(r.body, "password") || strings.Contains(r.body, "secret") {
		t.Errorf("a credential of a URL is shown: %s", r.body)
	}
	if strings.Contains(r.body, "0001-01-01") || strings.Contains(r.body, "null") {
		t.Errorf("a time or list that is not there is shown: %s", r.body)
	}
}

func TestCallsAreListedAndFound(t *testing.T) {
	d := open(t, nil)
	for query, want := range map[string]string{
		"": "c2 c1 c0", "?limit=1": "c2", "?tier=backup": "c1", "?tier=none": "c0", "?outcome=ok&tier=local": "c2", "?outcome=broken": "c0", "?outcome=hang": "",
	} {
		var got struct{ Calls []callView }
		r := d.do("GET", "/api/calls"+query, "", auth)
		if err := json.Unmarshal([]byte(r.body), &got); err != nil || r.status != 200 {
			t.Fatal(err, r.status)
		}
		var ids []string
		for _, c := range got.Calls {
			ids = append(ids, c.ID)
		}
		if s := strings.Join(ids, " "); s != want {
			t.Errorf("%s: %s, want %s", query, s, want)
		}
	}
	for _, query := range []string{"?limit=0", "?limit=x", "?limit=5000", "?tier=first", "?outcome=bad"} {
		if r := d.do("GET", "/api/calls"+query, "", auth); r.status != 400 {
			t.Errorf("%s: %d", query, r.status)
		}
	}
	var c callView
	if err := json.Unmarshal([]byte(d.do("GET", "/api/calls/c1", "", auth).body), &c); err != nil {
		t.Fatal(err)
	}
	if len(c.Attempts) != 2 || c.Attempts[0].Outcome != "hang/first_token" || c.Attempts[0].Duration != 4500 || c.Input != -1 || c.Output != 3 {
		t.Errorf("%+v", c)
	}
	if r := d.do("GET", "/api/calls/none", "", auth); r.status != 404 {
		t.Errorf("an unknown id: %d", r.status)
	}
}

func TestTheSwitches(t *testing.T) {
	d := open(t, nil)
	const media = "Content-Type: application/json"
	for _, c := range []struct {
		path, body, media string
		status            int
	}{
		{"/api/breakers/one", `{"state":"open","for":"15m"}`, media, 200},
		{"/api/breakers/one", `{"state":"auto"}`, media, 200},
		{"/api/breakers/none", `{"state":"open"}`, media, 404},
		{"/api/breakers/one", `{"state":"ajar"}`, media, 400},
		{"/api/breakers/one", `{"state":"open","for":"-1m"}`, media, 400},
		{"/api/breakers/one", `{"state":"open","for":"soon"}`, media, 400},
		{"/api/breakers/one", `{"state":"open","for":"9000h"}`, media, 400},
		{"/api/breakers/one", `{"state":"open","url":"http://evil"}`, media, 400},
		{"/api/breakers/one", `{"state":"open"}{}`, media, 400},
		{"/api/breakers/one", `{"state":"open","for":"` + strings.Repeat("1", 5000) + `"}`, media, 400},
		{"/api/breakers/one", ``, media, 400},
		{"/api/breakers/one", `{"state":"open"}`, "Content-Type: text/plain", 415},
		{"/api/reload", ``, media, 200},
		{"/api/drain", ``, media, 202},
	} {
		if r := d.do("POST", c.path, c.body, c.media, auth); r.status != c.status || !json.Valid([]byte(r.body)) {
			t.Errorf("POST %s %.60s: %d %s", c.path, c.body, r.status, r.body)
		}
	}
	if s := d.switched(); s != "one open 15m0s, one auto 0s, reload, drain" {
		t.Errorf("switched: %s", s)
	}
	d.reload = errors.New("backstop.yaml:3:1: unknown key")
	if r := d.do("POST", "/api/reload", "", auth); r.status != 422 || !strings.Contains(r.body, "unknown key") {
		t.Errorf("a bad file: %d %s", r.status, r.body)
	}
	for _, path := range []string{"/api/reload", "/api/drain", "/api/breakers/one"} {
		if r := d.do("GET", path, "", auth); r.status != 405 || r.header.Get("Allow") != "POST" {
			t.Errorf("GET %s: %d %v", path, r.status, r.header["Allow"])
		}
	}
}

func TestEventsStreamTheStateAndTransitions(t *testing.T) {
	d := open(t, nil)
	req, _ := http.NewRequest("GET", d.url+"/api/events", nil)
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := d.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	next := func() (name, data string) {
		for lines.Scan() && lines.Text() != "" {
			if v, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				name = v
			}
			if v, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				data = v
			}
		}
		return name, data
	}
	if name, data := next(); name != "state" || !json.Valid([]byte(data)) {
		t.Fatalf("%s %s", name, data)
	}
	d.mu.Lock()
	d.changes = append(d.changes, backstop.Transition{Upstream: "one", From: "closed", To: "open", Cause: "hang"})
	close(d.changed)
	d.changed = make(chan struct{})
	d.mu.Unlock()
	for {
		name, data := next()
		if name == "transition" {
			if !strings.Contains(data, `"to":"open"`) {
				t.Errorf("transition %s", data)
			}
			break
		}
		if name == "" {
			t.Fatal("the stream ended")
		}
	}
	close(d.stop)
	for {
		if name, _ := next(); name == "" {
			break
		}
	}
}

func TestPprofIsThereForDebuggingOnly(t *testing.T) {
	if r := open(t, nil).do("GET", "/debug/pprof/", "", auth); r.status != 404 {
		t.Errorf("without debug: %d", r.status)
	}
	if r := open(t, func(o *Options) { o.Debug = true }).do("GET", "/debug/pprof/", "", auth); r.status != 200 || !strings.Contains(r.body, "goroutine") {
		t.Errorf("with debug: %d", r.status)
	}
}

func TestTheMetricsListenerHasMetricsOnly(t *testing.T) {
	h := MetricsOnly(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "backstop_up 1\n") }))
	for at, status := range map[string]int{"GET /metrics": 200, "HEAD /metrics": 200, "POST /metrics": 405, "GET /": 404, "GET /api/state": 404, "POST /api/drain": 404} {
		method, path, _ := strings.Cut(at, " ")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(method, path, nil))
		if w.Code != status {
			t.Errorf("%s = %d, want %d", at, w.Code, status)
		}
	}
}
