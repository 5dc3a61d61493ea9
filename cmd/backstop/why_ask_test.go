package main

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestWhySaysWhatIsWrongWithTheAddressTheTokenOrTheID(t *testing.T) {
	// plane is an admin plane that has forgotten every call.
	plane := func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != "Bearer right":
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte(`{"error":{"code":"unauthorized","message":"send Authorization: Bearer"}}`))
		case r.URL.Path == "/api/state":
			_, _ = w.Write([]byte(`{"uptime_s":71.4,"upstreams":[{"name":"a"}],"routes":[]}`))
		default:
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(`{"error":{"code":"not_found","message":"no call with this id is remembered"}}`))
		}
	}
	answer := func(status int, body string, header ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i+1 < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}
	}
	ours := []string{"X-Request-Id", "r1", "Request-Id", "r1"}
	for name, c := range map[string]struct {
		server http.HandlerFunc
		token  string
		want   []string
	}{
		"an old id":                     {plane, "right", []string{`"order-4711"`, "the last 10,000 since its start 1m11s ago"}},
		"a wrong token":                 {plane, "wrong", []string{"refused the token", "--token"}},
		"another host name":             {answer(403, `{"error":{"code":"forbidden","message":"x"}}`), "right", []string{"no other host name", "--admin"}},
		"the port that takes calls":     {answer(404, `{"error":{"code":"not_found"}}`, ours...), "right", []string{"takes calls", "admin.listen"}},
		"the same, with callers' keys":  {answer(401, `{"error":{"code":"unauthorized"}}`, ours...), "right", []string{"takes calls", "admin.listen"}},
		"the port of the metrics":       {answer(404, `{"error":{"code":"not_found","message":"there is nothing at this path"}}`), "right", []string{"no admin plane", "admin.listen"}},
		"some web server":               {answer(404, "<html>nothing here"), "right", []string{"no admin plane", "HTTP 404"}},
		"one that has a page for all":   {answer(200, "<html>welcome"), "right", []string{"no admin plane", "HTTP 200"}},
		"one that has JSON for all":     {answer(200, `{"ok":true}`), "right", []string{"no admin plane"}},
		"a server that wants a log-in":  {answer(401, "log in"), "right", []string{"no admin plane", "HTTP 401"}},
		"one that speaks TLS":           {answer(400, "Client sent an HTTP request to an HTTPS server."), "right", []string{"no admin plane", "HTTP 400"}},
		"one that hides what it knows":  {answer(404, "\x1b[2J{\"error\":{\"code\":\"\x1b[2J\"}}"), "right", []string{"no admin plane"}},
		"one that has nothing to do so": {answer(503, ""), "right", []string{"no admin plane", "HTTP 503"}},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(c.server)
			defer server.Close()
			var out bytes.Buffer
			code := run([]string{"why", "order-4711", "--admin", server.URL, "--token", c.token}, &streams{ctx: context.Background(), out: &out, err: &out,
				env: func(string) (string, bool) { return "", false }})
			if code != exitFailed {
				t.Errorf("exit %d", code)
			}
			for _, want := range c.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%q does not say %q", out.String(), want)
				}
			}
			if strings.ContainsAny(out.String(), "\x1b") || strings.Count(out.String(), "\n") > 2 {
				t.Errorf("%q", out.String())
			}
		})
	}
}
