package upstream

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"backstop"
	"backstop/secret"
	"backstop/wire"
)

// pinned is an upstream with everything that a request could try to override.
func pinned(t testing.TB) (*backstop.Upstream, *Conn) {
	t.Helper()
	u := backstop.DefaultUpstream()
	u.Name, u.BaseURL, u.Proxy = "pinned", "https://api.example.com/v1", "off"
	u.Keys = []secret.Value{secret.New("key-one-of-the-plan"), secret.New("key-two-of-the-plan")}
	u.Headers = map[string]string{"OpenAI-Organization": "org", "openai-beta": "ours"}
	u.Query = map[string]string{"api-version": "2024-10-21", "a": "b c"}
	c, err := New(&u, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &u, c
}

// capture takes the place of the network.
type capture struct{ got *http.Request }

func (c *capture) send(conn *Conn, call *Call) error {
	url, err := conn.dest.url(call.Outbound.Path)
	if err != nil {
		return err
	}
	req := &http.Request{Method: http.MethodPost, URL: url, Host: conn.dest.host, Header: conn.headers.build(call)}
	e := exchange{}
	_, err = e.send(context.Background(), c, req, call.Outbound.Body)
	return err
}

func (c *capture) RoundTrip(r *http.Request) (*http.Response, error) {
	c.got = r
	return &http.Response{StatusCode: 200, Body: http.NoBody}, nil
}

func TestARequestIsMadeFromThePlanAlone(t *testing.T) {
	_, conn := pinned(t)
	var c capture
	err := c.send(conn, &Call{
		Key: 1, Outbound: wire.Outbound{Path: "/chat/completions", Body: []byte(`{}`), Stream: true},
		Header: http.Header{
			"Authorization": {"Bearer caller"}, "X-Api-Key": {"caller"}, "Cookie": {"s=1"}, "Host": {"evil"}, "X-Forwarded-For": {"1.2.3.4"},
			"Openai-Beta": {"theirs"}, "Anthropic-Version": {"2023-06-01"}, "Traceparent": {"00-1-2-3"}, "Tracestate": {"theirs=secret"}, "Baggage": {"id=1"}, "Idempotency-Key": {"k\r\nX-Evil: 1"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := c.got.URL.String(), "https://api.example.com/v1/chat/completions?a=b+c&api-version=2024-10-21"; got != want {
		t.Errorf("URL %s, want %s", got, want)
	}
	want := http.Header{
		"Authorization": {"Bearer key-two-of-the-plan"}, "Openai-Organization": {"org"}, "Openai-Beta": {"ours"},
		"Traceparent": {"00-1-2-3"}, "Accept": {"text/event-stream"},
		"Accept-Encoding": {"identity"}, "Content-Type": {"application/json"}, "User-Agent": {"backstop"},
	}
	for name := range c.got.Header {
		if want.Get(name) != c.got.Header.Get(name) {
			t.Errorf("header %s: %q, want %q", name, c.got.Header.Get(name), want.Get(name))
		}
	}
	if len(c.got.Header) != len(want) {
		t.Errorf("headers %v, want %v", c.got.Header, want)
	}
	if again := conn.headers.build(&Call{Key: 1}); again.Get("Traceparent") != "" {
		t.Error("a caller's header stayed behind for the next call")
	}
}

func TestHeadersOfADialectGoOnlyToUpstreamsOfIt(t *testing.T) {
	caller := http.Header{"Anthropic-Version": {"2099-01-01"}, "Anthropic-Beta": {"b"}, "Openai-Beta": {"o"}, "Idempotency-Key": {"k"}}
	for name, c := range map[string]struct {
		dialect backstop.Dialect
		plan    map[string]string
		caller  http.Header
		want    http.Header
	}{
		"an OpenAI upstream":                           {backstop.OpenAI, nil, caller, http.Header{"Openai-Beta": {"o"}, "Idempotency-Key": {"k"}}},
		"an Anthropic upstream":                        {backstop.Anthropic, nil, caller, http.Header{"Anthropic-Version": {"2099-01-01"}, "Anthropic-Beta": {"b"}, "Idempotency-Key": {"k"}}},
		"an Anthropic upstream and nobody's version":   {backstop.Anthropic, nil, nil, http.Header{"Anthropic-Version": {"2023-06-01"}}},
		"an Anthropic upstream and the plan's version": {backstop.Anthropic, map[string]string{"anthropic-version": "2030-01-01"}, caller, http.Header{"Anthropic-Version": {"2030-01-01"}, "Anthropic-Beta": {"b"}, "Idempotency-Key": {"k"}}},
		"a Gemini upstream":                            {backstop.Gemini, nil, caller, http.Header{"Idempotency-Key": {"k"}}},
	} {
		t.Run(name, func(t *testing.T) {
			u := backstop.DefaultUpstream()
			u.Name, u.BaseURL, u.Dialect, u.Headers = "x", "https://api.example.com", c.dialect, c.plan
			conn, err := New(&u, Options{})
			if err != nil {
				t.Fatal(err)
			}
			got := conn.headers.build(&Call{Key: -1, Header: c.caller})
			for _, name := range [...]string{"Anthropic-Version", "Anthropic-Beta", "Openai-Beta", "Idempotency-Key"} {
				if got.Get(name) != c.want.Get(name) || len(got[name]) > 1 {
					t.Errorf("%s: %q, want %q", name, got[name], c.want.Get(name))
				}
			}
		})
	}
}

func TestARoomsQueryIsAddedToThePlans(t *testing.T) {
	_, conn := pinned(t)
	for path, want := range map[string]string{
		"/models/m:streamGenerateContent?alt=sse": "https://api.example.com/v1/models/m:streamGenerateContent?alt=sse&a=b+c&api-version=2024-10-21",
		"/models/m?x=../secret":                   "",
		"/models/m?":                              "",
		"/models/m?a=b#c":                         "",
	} {
		url, err := conn.dest.url(path)
		if (err != nil) != (want == "") || err == nil && url.String() != want {
			t.Errorf("%s: %v, %v, want %q", path, url, err, want)
		}
	}
}

func TestEachAuthWordPutsTheKeyIntoItsHeader(t *testing.T) {
	for auth, header := range map[string]string{"bearer": "Authorization", "x-api-key": "X-Api-Key", "api-key": "Api-Key", "x-goog-api-key": "X-Goog-Api-Key"} {
		u, _ := pinned(t)
		u.Auth = auth
		conn, err := New(u, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := conn.headers.build(&Call{Key: 0}).Get(header); strings.TrimPrefix(got, "Bearer ") != "key-one-of-the-plan" {
			t.Errorf("%s: header %s is %q", auth, header, got)
		}
		if got := conn.headers.build(&Call{Key: -1}).Get(header); got != "" {
			t.Errorf("%s without a key: header %s is %q", auth, header, got)
		}
	}
}

func TestSettingsThatCanNeverWorkAreRefused(t *testing.T) {
	for name, mend := range map[string]func(*backstop.Upstream){
		"no scheme":             func(u *backstop.Upstream) { u.BaseURL = "api.example.com/v1" },
		"another scheme":        func(u *backstop.Upstream) { u.BaseURL = "file:///etc/passwd" },
		"no host":               func(u *backstop.Upstream) { u.BaseURL = "https:///v1" },
		"a user in the URL":     func(u *backstop.Upstream) { u.BaseURL = "https://k:v@api.example.com" },
		"a query in the URL":    func(u *backstop.Upstream) { u.BaseURL = "https://api.example.com/v1?k=v" },
		"dots in the URL":       func(u *backstop.Upstream) { u.BaseURL = "https://api.example.com/v1/../x" },
		"a framing header":      func(u *backstop.Upstream) { u.Headers = map[string]string{"transfer-encoding": "chunked"} },
		"a header with a break": func(u *backstop.Upstream) { u.Headers = map[string]string{"X-A": "1\r\nX-B: 2"} },
		"a key with a break":    func(u *backstop.Upstream) { u.Keys = []secret.Value{secret.New("a\nb")} },
		"an unknown auth word":  func(u *backstop.Upstream) { u.Auth = "basic" },
		"a proxy without host":  func(u *backstop.Upstream) { u.Proxy = "nonsense" },
		"a missing ca file":     func(u *backstop.Upstream) { u.CAFile = "/nonexistent/ca.pem" },
	} {
		t.Run(name, func(t *testing.T) {
			u, _ := pinned(t)
			mend(u)
			_, err := New(u, Options{})
			if err == nil {
				t.Fatal("New accepted it")
			}
			if strings.Contains(err.Error(), "a\nb") || !strings.Contains(err.Error(), "upstream pinned") {
				t.Errorf("the error %q shows a key or does not name the upstream", err)
			}
		})
	}
}

// FuzzOutbound: whatever a caller sends, the request goes to the pinned place
// with the pinned credential, or nowhere.
func FuzzOutbound(f *testing.F) {
	f.Add("/chat/completions", "Authorization", "Bearer x", []byte(`{"api_base":"http://evil"}`), 0)
	f.Add("/../admin", "Host", "evil", []byte("x"), 1)
	f.Add("//evil/v1", "X-Api-Key", "k", []byte(""), -1)
	f.Add("@evil", "Idempotency-Key", "a\r\nHost: evil", []byte(""), 7)
	f.Add("/a?b=c#d", "Traceparent", "00", []byte(""), 0)
	f.Add("/%2e%2e/x", "Api-Key", "00", []byte(""), 0)
	_, conn := pinned(f)
	f.Fuzz(func(t *testing.T, path, name, value string, body []byte, key int) {
		header := http.Header{name: {value}}
		header.Set(name, value)
		var c capture
		if err := c.send(conn, &Call{Key: key, Outbound: wire.Outbound{Path: path, Body: body}, Header: header}); err != nil {
			return
		}
		got := c.got
		if got.URL.Scheme != "https" || got.URL.Host != "api.example.com" || got.Host != "api.example.com" || got.URL.User != nil ||
			!strings.HasPrefix(got.URL.EscapedPath(), "/v1/") || strings.Contains(got.URL.EscapedPath(), "..") ||
			got.URL.RawQuery != "a=b+c&api-version=2024-10-21" || got.URL.Fragment != "" {
			t.Fatalf("path %q went to %s, host %s", path, got.URL, got.Host)
		}
		want := ""
		switch key {
		case 0:
			want = "Bearer key-one-of-the-plan"
		case 1:
			want = "Bearer key-two-of-the-plan"
		}
		if got.Header.Get("Authorization") != want {
			t.Fatalf("key %d: credential %q, want %q", key, got.Header.Get("Authorization"), want)
		}
		for _, other := range []string{"X-Api-Key", "Api-Key", "X-Goog-Api-Key", "Cookie", "Proxy-Authorization"} {
			if got.Header.Get(other) != "" {
				t.Fatalf("the caller's %s went out", other)
			}
		}
		for name, values := range got.Header {
			for _, v := range values {
				if !token(name) || !fieldValue(v) {
					t.Fatalf("header %q: %q is not legal", name, v)
				}
			}
		}
		if sent, _ := io.ReadAll(got.Body); string(sent) != string(body) {
			t.Fatal("the body changed on its way")
		}
	})
}
