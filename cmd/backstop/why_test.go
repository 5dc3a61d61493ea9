package main

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWhyFindsTheTokenOfTheFileInThisFolderForItsOwnGatewayOnly(t *testing.T) {
	const token = "a-token-of-the-file-here"
	admin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = w.Write([]byte(`{"id":"order-4711","op":"chat","tier":"primary","upstream":"a","status":200}`))
	}))
	defer admin.Close()
	address := admin.Listener.Addr().String()
	_, port, _ := net.SplitHostPort(address)
	for name, c := range map[string]struct {
		listen, set string
		args        []string
		want        int
	}{
		"the same port":             {listen: address, set: token, want: exitFine},
		"no address on the line":    {listen: address, set: token, want: exitFine},
		"another port":              {listen: "127.0.0.1:1", set: token, want: exitUsage},
		"another machine":           {listen: address, set: token, args: []string{"--admin", "http://machine.invalid:" + port}, want: exitUsage},
		"a variable that is unset":  {listen: address, want: exitUsage},
		"a token on the line first": {listen: "127.0.0.1:1", args: []string{"--token", token}, want: exitFine},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			t.Chdir(dir)
			t.Setenv("XDG_CACHE_HOME", dir)
			t.Setenv("HOME", dir)
			file := "admin: {listen: \"" + c.listen + "\", token: \"${WHY_TOKEN}\"}\nupstreams: {a: {base_url: https://a.example/v1}}\n" +
				"routes: [{model: m, tiers: [{upstream: a}]}]\n"
			if err := os.WriteFile(filepath.Join(dir, "backstop.yaml"), []byte(file), 0o600); err != nil {
				t.Fatal(err)
			}
			args := c.args
			if name != "no address on the line" && (len(args) == 0 || args[0] != "--admin") {
				args = append(args, "--admin", "http://"+address)
			}
			var out bytes.Buffer
			code := run(append([]string{"why", "order-4711"}, args...), &streams{ctx: context.Background(), out: &out, err: &out,
				env: func(string) (string, bool) { return c.set, c.set != "" }})
			if code != c.want {
				t.Errorf("exit %d, want %d: %s", code, c.want, out.String())
			}
			if code == exitFine && !strings.Contains(out.String(), "answered by primary a") {
				t.Errorf("%s", out.String())
			}
		})
	}
}

func TestTheLastLineOfAStoryIsOneSentence(t *testing.T) {
	for want, c := range map[string]*whyCall{
		"answered by primary a with HTTP 200":                                       {Tier: "primary", Upstream: "a", Status: 200},
		"answered by backup b with HTTP 200, because of hang":                       {Tier: "backup", Upstream: "b", Status: 200, Reason: "hang"},
		"answered by primary a with HTTP 200, repaired fence, prose, left out seed": {Tier: "primary", Upstream: "a", Status: 200, Repaired: []string{"fence", "prose"}, Dropped: []string{"seed"}},
		"error upstream_timeout with HTTP 504, because of hang: primary a: no token for 2000 ms; no local tier": {
			Code: "upstream_timeout", Status: 504, Reason: "hang", Message: "primary a: no token for 2000 ms; no local tier"},
	} {
		if got := c.closing(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestTheStoryOfAPassageLeavesOutWhatItDoesNotHave(t *testing.T) {
	for want, c := range map[string]*whyCall{
		"pass r1, caller web, 0001-01-01T00:00:00Z\n      12.0 ms  passed on to a: ok with HTTP 200\n":                  {ID: "r1", Op: "pass", Caller: "web", Upstream: "a", Outcome: "ok", Status: 200, Duration: 12},
		"pass r1, 0001-01-01T00:00:00Z\n       0.2 ms  passed on to a: limited with HTTP 429\n":                         {ID: "r1", Op: "pass", Upstream: "a", Outcome: "limited", Status: 429, Duration: 0.2},
		"chat r1, 0001-01-01T00:00:00Z\n       0.1 ms  error unsupported_media with HTTP 415\n":                         {ID: "r1", Op: "chat", Code: "unsupported_media", Status: 415, Duration: 0.1},
		"chat r1, model \"m\", route \"*\", 0001-01-01T00:00:00Z\n       0.0 ms  answered by primary a with HTTP 200\n": {ID: "r1", Op: "chat", Asked: "m", Route: "*", Tier: "primary", Upstream: "a", Status: 200},
	} {
		var out bytes.Buffer
		if c.tell(&out); out.String() != want {
			t.Errorf("%q, want %q", out.String(), want)
		}
	}
}
