package admin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"backstop"
	"backstop/mock"
	"backstop/secret"
)

// faultDesk is a desk whose upstream "it" is at a URL.
func faultDesk(t *testing.T, url string, private bool) *desk {
	return open(t, func(o *Options) {
		o.Plan = func() *backstop.Plan {
			return &backstop.Plan{Upstreams: []backstop.Upstream{{Name: "it", BaseURL: url, AllowPrivate: private, Keys: []secret.Value{secret.New("canary-key-0123456789")}, Headers: map[string]string{"X-Secret": "canary"}}}}
		}
		state := o.State
		o.State = func() backstop.State {
			st := state()
			st.Upstreams = append(st.Upstreams, backstop.UpstreamState{Name: "it"})
			return st
		}
	})
}

func TestAFaultIsInjectedIntoOurMockAndTakenAway(t *testing.T) {
	m := mock.New(mock.Options{})
	srv := httptest.NewServer(m)
	defer func() { m.Close(); srv.Close() }()
	d := faultDesk(t, srv.URL+"/v1", true)
	var v faultsView
	for _, c := range []struct{ body, model, fault string }{
		{`{"fault":"hang"}`, "*", "hang"},
		{`{"fault":"429:retry-after=2","model":"gpt-4o"}`, "gpt-4o", "429:retry-after=2"},
		{`{"fault":"","model":"*"}`, "*", ""},
		{`{"fault":"","model":"gpt-4o"}`, "gpt-4o", ""},
	} {
		r := d.do("POST", "/api/faults/it", c.body, auth, "Content-Type: application/json")
		v = faultsView{}
		if err := json.Unmarshal([]byte(r.body), &v); err != nil || r.status != 200 || v.Faults[c.model] != c.fault {
			t.Errorf("%s: %d %.300s", c.body, r.status, r.body)
		}
	}
	if !v.Mock || !knows(v.Words, "hang") || len(v.Faults) != 0 {
		t.Errorf("%+v", v)
	}
	r := d.do("POST", "/api/faults/it", `{"fault":"nonsense"}`, auth, "Content-Type: application/json")
	if r.status != 400 || !strings.Contains(r.body, "nonsense") {
		t.Errorf("a fault that does not exist: %d %s", r.status, r.body)
	}
	for _, body := range []string{``, `[]`, `{"fault":"hang","url":"http://evil"}`, `{"fault":"` + strings.Repeat("x", 300) + `"}`} {
		if r := d.do("POST", "/api/faults/it", body, auth, "Content-Type: application/json"); r.status != 400 {
			t.Errorf("%.40s: %d", body, r.status)
		}
	}
	if r := d.do("POST", "/api/faults/it", `{"fault":"hang"}`, auth, "Content-Type: text/plain"); r.status != 415 {
		t.Errorf("not JSON: %d", r.status)
	}
}

func TestEveryOrderThatIsCarriedOutIsALine(t *testing.T) {
	m := mock.New(mock.Options{})
	srv := httptest.NewServer(m)
	defer func() { m.Close(); srv.Close() }()
	var text bytes.Buffer
	logged := func(o *Options) {
		state := o.State
		o.State = func() backstop.State {
			st := state()
			st.Upstreams = append(st.Upstreams, backstop.UpstreamState{Name: "it"})
			return st
		}
		o.Plan = func() *backstop.Plan {
			return &backstop.Plan{Upstreams: []backstop.Upstream{{Name: "it", BaseURL: srv.URL + "/v1", AllowPrivate: true}}}
		}
		o.Log = slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}}))
	}
	d := open(t, logged)
	for _, c := range []struct{ path, body, want string }{
		{"/api/breakers/it", `{"state":"open","for":"15m"}`, `level=INFO msg="admin plane: the breakers of it were set" state=open for=15m`},
		{"/api/breakers/it", `{"state":"closed"}`, `level=INFO msg="admin plane: the breakers of it were set" state=closed for="until changed" parks=lifted`},
		{"/api/breakers/it", `{"state":"auto"}`, `level=INFO msg="admin plane: the breakers of it were set" state=auto for="until changed" parks=lifted`},
		{"/api/faults/it", `{"fault":"hang","model":"m\n[Circuit Breaker]"}`, `level=WARN msg="admin plane: the mock behind it was told what to do" model="m\n[Circuit Breaker]" fault=hang`},
		{"/api/faults/it", `{"fault":""}`, `level=WARN msg="admin plane: the mock behind it was told what to do" model=* fault=none`},
		{"/api/breakers/it", `{"state":"ajar"}`, ``},
		{"/api/breakers/none", `{"state":"auto"}`, ``},
		{"/api/faults/it", `{"fault":"nonsense"}`, ``},
	} {
		text.Reset()
		d.do("POST", c.path, c.body, auth, "Content-Type: application/json")
		if got := strings.TrimSuffix(text.String(), "\n"); got != c.want {
			t.Errorf("%s %s:\n%s\nwant\n%s", c.path, c.body, got, c.want)
		}
	}
}

func TestNothingIsSentToWhatIsNotOurMock(t *testing.T) {
	var posts, gets atomic.Int32
	answer := func(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, values := range r.Header {
			if strings.Contains(fmt.Sprint(values), "canary") || name == "Authorization" || name == "Cookie" || name == "Origin" {
				t.Errorf("a header of ours is sent along: %s", name)
			}
		}
		if r.URL.Path != "/mock/faults" || r.URL.RawQuery != "" {
			t.Errorf("asked for %s", r.URL)
		}
		if gets.Add(1); r.Method == http.MethodPost {
			posts.Add(1)
		}
		answer(w, r)
	}))
	defer srv.Close()
	for name, say := range map[string]func(http.ResponseWriter, *http.Request){
		"a 404":          answer,
		"another JSON":   func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"object":"list","data":[]}`) },
		"HTML":           func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `<html>hang ok</html>`) },
		"a redirect":     func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) },
		"an endless one": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat(" ", 1<<20)) },
		"a cut one": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "{")
		},
	} {
		answer = say
		d := faultDesk(t, srv.URL+"/v1", true)
		if r := d.do("POST", "/api/faults/it", `{"fault":"hang"}`, auth, "Content-Type: application/json"); r.status != 409 || !strings.Contains(r.body, "backstop mock") {
			t.Errorf("%s: %d %s", name, r.status, r.body)
		}
		if r := d.do("GET", "/api/faults", "", auth); r.status != 200 || !strings.Contains(r.body, `"mock":false`) {
			t.Errorf("%s: %d %s", name, r.status, r.body)
		}
	}
	if posts.Load() != 0 {
		t.Errorf("%d orders were sent", posts.Load())
	}
	// A vendor is not even asked.
	asked := gets.Load()
	d := faultDesk(t, srv.URL+"/v1", false)
	if r := d.do("POST", "/api/faults/it", `{"fault":"hang"}`, auth, "Content-Type: application/json"); r.status != 409 || gets.Load() != asked {
		t.Errorf("without allow_private: %d, %d requests", r.status, gets.Load()-asked)
	}
	for _, url := range []string{"http://192.0.2.1:1/v1", "http://169.254.169.254/v1", "http://[fd00:ec2::254]/v1", "http://%zz/"} {
		if r := faultDesk(t, url, true).do("POST", "/api/faults/it", `{"fault":"hang"}`, auth, "Content-Type: application/json"); r.status != 409 {
			t.Errorf("%s: %d %s", url, r.status, r.body)
		}
	}
}
