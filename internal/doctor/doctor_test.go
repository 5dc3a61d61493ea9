package doctor

import (
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"backstop"
	"backstop/internal/testkit"
	"backstop/secret"
)

func TestMain(m *testing.M) { testkit.Leaks(m) }

const canary = "sk-canary-0123456789abcdef"

// planFor is a plan with one upstream at a URL.
func planFor(url string, edit func(*backstop.Upstream)) *backstop.Plan {
	u := backstop.DefaultUpstream()
	u.Name, u.BaseURL, u.Vendor, u.Auth, u.Proxy, u.AllowPrivate = "primary", url, "generic", "bearer", "off", true
	u.Timeouts.Connect = time.Minute // a loaded machine is no finding
	u.Keys = []secret.Value{secret.New(canary)}
	if edit != nil {
		edit(&u)
	}
	return &backstop.Plan{Upstreams: []backstop.Upstream{u}}
}

// run examines one upstream and returns its report as text.
func run(t *testing.T, plan *backstop.Plan, o Options) (*Report, string) {
	t.Helper()
	r := Run(context.Background(), plan, o)
	var b bytes.Buffer
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "canary") {
		t.Errorf("the report shows a key:\n%s", b.String())
	}
	return r, b.String()
}

// says wants words in a text.
func says(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%q is missing in:\n%s", w, text)
		}
	}
}

// serve is an upstream that answers with a status and a body, and only the
// right key gets a 200.
func serve(t *testing.T, paths map[string]http.HandlerFunc) string {
	t.Helper()
	mux := http.NewServeMux()
	for path, h := range paths {
		mux.HandleFunc("GET "+path, h)
	}
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}

func reply(status int, kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

// locked answers only a good key.
func locked(key, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+key {
			reply(401, "application/json", `{"error":{"message":"Incorrect API key provided: sk-canary","code":"invalid_api_key"}}`)(w, r)
			return
		}
		reply(200, "application/json", body)(w, r)
	}
}

const list = `{"object":"list","data":[{"id":"gpt-4o","object":"model"},{"id":"gpt-4o-mini","object":"model"}]}`

func TestAGoodKeyIsAcceptedAndABadOneRefused(t *testing.T) {
	url := serve(t, map[string]http.HandlerFunc{"/v1/models": locked(canary, list)})
	plan := planFor(url+"/v1", func(u *backstop.Upstream) { u.Keys = append(u.Keys, secret.New("another-canary-key")) })
	plan.Routes = []backstop.Route{{Model: "*", Tiers: []backstop.Tier{{Upstream: "primary", Model: "gpt-4o"}, {Upstream: "primary", Model: "gpt-5o"}}}}
	r, text := run(t, plan, Options{})
	says(t, text, "key 1", "accepted", "problem: key 2 is refused (401)", "cause:", "fix:", "asks for model gpt-5o")
	if r.OK || strings.Contains(text, "model gpt-4o,") {
		t.Errorf("OK = %v:\n%s", r.OK, text)
	}
}

func TestWithoutAKeyThatIsNeededTheReportSaysSo(t *testing.T) {
	url := serve(t, map[string]http.HandlerFunc{"/v1/models": locked(canary, list)})
	_, text := run(t, planFor(url+"/v1", func(u *backstop.Upstream) { u.Keys = nil }), Options{})
	says(t, text, "wants a key (401), and none is set", `add key: "${`)
}

func TestAPublicListProvesNoKey(t *testing.T) {
	url := serve(t, map[string]http.HandlerFunc{"/v1/models": reply(200, "application/json", list)})
	r, text := run(t, planFor(url+"/v1", nil), Options{})
	says(t, text, "cannot be told without spending tokens", "shows its list of models to everybody")
	if !r.OK {
		t.Error("a public list is a problem")
	}
	_, text = run(t, planFor(url+"/v1", func(u *backstop.Upstream) { u.Keys = nil }), Options{})
	says(t, text, "none needed")
}

func TestAVendorWithoutAListIsNamed(t *testing.T) {
	url := serve(t, map[string]http.HandlerFunc{"/v1/chat/completions": reply(200, "", "")})
	r, text := run(t, planFor(url+"/v1", nil), Options{})
	says(t, text, "the key cannot be checked without spending tokens", "has no list of models (GET /v1/models: 404)")
	if !r.OK {
		t.Error("a missing list is a problem")
	}
}

func TestAKeyEndpointIsAskedWhereTheListIsPublic(t *testing.T) {
	url := serve(t, map[string]http.HandlerFunc{
		"/api/v1/models": reply(200, "application/json", list),
		"/api/v1/key":    locked("another", `{"data":{"label":"x"}}`),
	})
	_, text := run(t, planFor(url+"/api/v1", func(u *backstop.Upstream) { u.Vendor = "openrouter" }), Options{})
	says(t, text, "GET /api/v1/key: 401", "key 1 is refused (401)")
}

func TestWrongBaseURLsAreExplained(t *testing.T) {
	page := reply(200, "text/html; charset=utf-8", "<!doctype html><title>Welcome</title>")
	anthropic := reply(200, "application/json", `{"data":[{"type":"model","id":"claude-sonnet-4-5"}],"has_more":false,"first_id":"a"}`)
	gemini := reply(200, "application/json", `{"models":[{"name":"models/gemini-2.5-flash"}]}`)
	for name, c := range map[string]struct {
		paths map[string]http.HandlerFunc
		base  string
		edit  func(*backstop.Upstream)
		want  []string
	}{
		"no version in the path":            {map[string]http.HandlerFunc{"/v1/models": locked(canary, list)}, "", nil, []string{"base_url lacks /v1", "/v1"}},
		"a site at the root, the API below": {map[string]http.HandlerFunc{"/": page, "/v1/models": locked("x", list)}, "", nil, []string{"base_url lacks /v1"}},
		"a web page":                        {map[string]http.HandlerFunc{"/": page}, "/v1", nil, []string{"a web page (200) instead of JSON", "fix:"}},
		"a bot check":                       {map[string]http.HandlerFunc{"/": reply(403, "text/html", "<html>Just a moment</html>")}, "/v1", nil, []string{"bot check"}},
		"one endpoint":                      {map[string]http.HandlerFunc{}, "/v1/chat/completions", nil, []string{"base_url ends in /chat/completions", "fix:   base_url: http://127.0.0.1"}},
		"an Anthropic list":                 {map[string]http.HandlerFunc{"/v1/models": anthropic}, "/v1", nil, []string{"answers in dialect anthropic", "set dialect: anthropic"}},
		"a Gemini list":                     {map[string]http.HandlerFunc{"/v1/models": gemini}, "/v1", nil, []string{"answers in dialect gemini"}},
		"an OpenAI list for Anthropic": {map[string]http.HandlerFunc{"/v1/models": reply(200, "application/json", list)}, "",
			func(u *backstop.Upstream) { u.Dialect, u.Auth = backstop.Anthropic, "x-api-key" }, []string{"answers in dialect openai"}},
		"a redirect": {map[string]http.HandlerFunc{"/": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://elsewhere.example/v1?key=secret-words", http.StatusMovedPermanently)
		}}, "/v1", nil, []string{"sends elsewhere (301 to https://elsewhere.example)"}},
		"an empty account":      {map[string]http.HandlerFunc{"/": reply(402, "application/json", `{"error":{"message":"Insufficient Balance"}}`)}, "/v1", nil, []string{"no quota left (402)"}},
		"a busy account":        {map[string]http.HandlerFunc{"/": reply(429, "application/json", `{"error":{"message":"slow down","type":"requests","code":"rate_limit_exceeded"}}`)}, "/v1", nil, []string{"warning: key 1: rate-limited just now (429)"}},
		"a server that is down": {map[string]http.HandlerFunc{"/": reply(503, "application/json", `{}`)}, "/v1", nil, []string{"answers 503"}},
	} {
		t.Run(name, func(t *testing.T) {
			url := serve(t, c.paths)
			_, text := run(t, planFor(url+c.base, c.edit), Options{})
			says(t, text, c.want...)
			if strings.Contains(text, "secret-words") {
				t.Errorf("the query of a redirect is shown:\n%s", text)
			}
		})
	}
}

func TestDialectsAreAskedAtTheirOwnPaths(t *testing.T) {
	for name, c := range map[string]struct {
		dialect    backstop.Dialect
		base, want string
	}{
		"openai":                       {backstop.OpenAI, "/v1", "/v1/models"},
		"anthropic":                    {backstop.Anthropic, "", "/v1/models"},
		"anthropic with its version":   {backstop.Anthropic, "/v1", "/v1/models"},
		"gemini":                       {backstop.Gemini, "", "/v1beta/models"},
		"gemini with its version":      {backstop.Gemini, "/v1beta", "/v1beta/models"},
		"a path that only looks close": {backstop.Anthropic, "/v1beds", "/v1beds/v1/models"},
	} {
		t.Run(name, func(t *testing.T) {
			asked := make(chan *http.Request, 8)
			url := serve(t, map[string]http.HandlerFunc{"/": func(w http.ResponseWriter, r *http.Request) {
				asked <- r
				w.WriteHeader(http.StatusUnauthorized)
			}})
			run(t, planFor(url+c.base, func(u *backstop.Upstream) { u.Dialect = c.dialect }), Options{})
			r := <-asked
			if r.URL.Path != c.want {
				t.Errorf("asked %s, want %s", r.URL.Path, c.want)
			}
			if got := r.Header.Get("Anthropic-Version") != ""; got != (c.dialect == backstop.Anthropic) {
				t.Errorf("anthropic-version sent: %v", got)
			}
			if r.ContentLength > 0 || r.Header.Get("Content-Type") != "" {
				t.Error("a body was sent")
			}
		})
	}
}

func TestPrivateAddressesBehindANameNeedAllowPrivate(t *testing.T) {
	url := serve(t, map[string]http.HandlerFunc{"/": reply(200, "application/json", list)})
	url = strings.Replace(url, "127.0.0.1", "localhost", 1)
	r, text := run(t, planFor(url+"/v1", func(u *backstop.Upstream) { u.AllowPrivate = false }), Options{})
	says(t, text, "localhost is a loopback or private address, and allow_private is not set", "add allow_private: true to upstream primary")
	if r.OK {
		t.Error("no problem is reported")
	}
}

func TestTLSIsJudgedAsCallsWould(t *testing.T) {
	s := httptest.NewUnstartedServer(locked(canary, list))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // the refused handshake is the point
	s.StartTLS()
	defer s.Close()
	_, text := run(t, planFor(s.URL+"/v1", nil), Options{})
	says(t, text, "failed   tls", "is not trusted", "set ca: FILE")

	ca := filepath.Join(t.TempDir(), "ca.pem")
	data := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(ca, data, 0o600); err != nil {
		t.Fatal(err)
	}
	r, text := run(t, planFor(s.URL+"/v1", func(u *backstop.Upstream) { u.CAFile = ca }), Options{})
	says(t, text, "ok       tls", "TLS 1.3, certificate until", "accepted")
	if !r.OK {
		t.Error("a problem is reported")
	}
	late := func() time.Time { return s.Certificate().NotAfter.Add(-24 * time.Hour) }
	_, text = run(t, planFor(s.URL+"/v1", func(u *backstop.Upstream) { u.CAFile = ca }), Options{Now: late})
	says(t, text, "warning: the certificate of 127.0.0.1 ends on")

	plain := serve(t, map[string]http.HandlerFunc{"/": reply(200, "application/json", list)})
	_, text = run(t, planFor(strings.Replace(plain, "http:", "https:", 1)+"/v1", nil), Options{})
	says(t, text, "speaks no TLS on this port", "write http://")
}

func TestAWrongClockIsNoticed(t *testing.T) {
	url := serve(t, map[string]http.HandlerFunc{"/v1/models": locked(canary, list)})
	for skew, want := range map[time.Duration]string{time.Hour: "problem: the clock of this machine is 1h0m", -2 * time.Minute: "behind that of", 0: ""} {
		_, text := run(t, planFor(url+"/v1", nil), Options{Now: func() time.Time { return time.Now().Add(skew) }})
		if want == "" && strings.Contains(text, "clock") {
			t.Errorf("a right clock is wrong:\n%s", text)
		}
		says(t, text, want)
	}
}

func TestProxiesAreNamedWithoutTheirPassword(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodConnect {
			w.WriteHeader(http.StatusProxyAuthRequired)
			return
		}
		locked(canary, list)(w, r)
	}))
	defer proxy.Close()
	at := strings.Replace(proxy.URL, "http://", "http://name:secret-words@", 1)
	r, text := run(t, planFor("http://model.example/v1", func(u *backstop.Upstream) { u.Proxy = at }), Options{})
	says(t, text, "calls go through the proxy "+proxy.URL, "proxy of this upstream names it", "accepted")
	if !r.OK || strings.Contains(text, "secret-words") {
		t.Errorf("OK = %v:\n%s", r.OK, text)
	}
	_, text = run(t, planFor("https://model.example/v1", func(u *backstop.Upstream) { u.Proxy = at }), Options{})
	says(t, text, "refuses the connection (407)")
	proxy.Close()
	_, text = run(t, planFor("http://model.example/v1", func(u *backstop.Upstream) { u.Proxy = at }), Options{})
	says(t, text, "the proxy "+proxy.URL+" cannot be reached")
}

func TestAProxyThatOnlyOthersWouldFollowIsTold(t *testing.T) {
	for _, c := range []struct {
		name    string
		env     []string
		proxy   string
		private bool
		told    bool
	}{
		{"curl's variable alone", []string{"ALL_PROXY"}, "env", false, true},
		{"in lower case", []string{"all_proxy"}, "env", false, true},
		{"the usual one beside it, and an exception for this host", []string{"ALL_PROXY", "https_proxy"}, "env", false, false},
		{"none", nil, "env", false, false},
		{"a direct way is meant", []string{"ALL_PROXY"}, "off", false, false},
		{"a server at home", []string{"ALL_PROXY"}, "env", true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, text := run(t, planFor("https://model.example/v1", func(u *backstop.Upstream) { u.Proxy, u.AllowPrivate = c.proxy, c.private }), Options{
				Env:  func(name string) (string, bool) { return "socks5://127.0.0.1:7891", slices.Contains(c.env, name) },
				Dial: func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no way") },
			})
			if strings.Contains(text, "calls do not follow it") != c.told {
				t.Errorf("told: %v, want %v:\n%s", !c.told, c.told, text)
			}
		})
	}
}

func TestNothingThatListensIsExplained(t *testing.T) {
	r, text := run(t, planFor("http://127.0.0.1:1/v1", nil), Options{}) // a port that nobody is given
	says(t, text, "nothing listens at", "the model server is not started")
	if r.OK {
		t.Error("no problem is reported")
	}
}

func TestEveryUpstreamIsExaminedAndCounted(t *testing.T) {
	url := serve(t, map[string]http.HandlerFunc{"/v1/models": locked(canary, list)})
	plan := &backstop.Plan{}
	const n = 40
	for i := range n {
		u := planFor(url+"/v1", nil).Upstreams[0]
		u.Name = fmt.Sprintf("u%d", i)
		plan.Upstreams = append(plan.Upstreams, u)
	}
	last := 0
	r, _ := run(t, plan, Options{Each: func(done, all int) {
		if done != last+1 || all != n {
			t.Errorf("told %d of %d after %d", done, all, last)
		}
		last = done
	}})
	for i := range r.Upstreams {
		if r.Upstreams[i].Name != fmt.Sprintf("u%d", i) || len(r.Upstreams[i].Steps) == 0 {
			t.Errorf("upstream %d is %+v", i, r.Upstreams[i])
		}
	}
	if last != n || !r.OK {
		t.Errorf("%d done, OK = %v", last, r.OK)
	}
}

func TestAnInterruptedExaminationEnds(t *testing.T) {
	block := make(chan struct{})
	url := serve(t, map[string]http.HandlerFunc{"/": func(_ http.ResponseWriter, r *http.Request) { close(block); <-r.Context().Done() }})
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-block; cancel() }()
	r := Run(ctx, planFor(url+"/v1", nil), Options{})
	if r.OK || r.Upstreams[0].Findings[0].What != "the check was interrupted" {
		t.Errorf("report = %+v", r)
	}
}
