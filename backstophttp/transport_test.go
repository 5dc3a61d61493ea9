package backstophttp

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"backstop"
	"backstop/internal/testkit"
	"backstop/wire"
)

// riding runs a test with an http.Client whose transport is New's.
func riding(t *testing.T, primary, backup http.HandlerFunc, test func(c *http.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		pipes := map[string]*testkit.Pipe{}
		var servers []*http.Server
		for name, handler := range map[string]http.HandlerFunc{"primary.test:80": primary, "backup.test:80": backup} {
			if handler != nil {
				p, srv := testkit.NewPipe(), &http.Server{Handler: handler}
				pipes[name], servers = p, append(servers, srv)
				go func() { _ = srv.Serve(p) }()
			}
		}
		tr, err := NewPair(backstop.Upstream{BaseURL: "http://primary.test/v1", Proxy: "off"}, backstop.Upstream{BaseURL: "http://backup.test/v1", Proxy: "off"},
			Options{Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
				if p := pipes[addr]; p != nil {
					return p.DialContext(ctx, network, addr)
				}
				return nil, &net.OpError{Op: "dial", Err: io.ErrClosedPipe}
			}})
		if err != nil {
			t.Fatal(err)
		}
		test(&http.Client{Transport: tr})
		if err := tr.Close(context.Background()); err != nil {
			t.Error(err)
		}
		for _, srv := range servers {
			_ = srv.Close()
		}
	})
}

const anywhere = "https://api.example.com/v1/chat/completions"

func TestAnHTTPClientSurvivesADeadPrimary(t *testing.T) {
	riding(t, nil, answers(good("B")...), func(c *http.Client) {
		for _, request := range []string{unary, stream} {
			resp, err := c.Post(anywhere, "application/json", strings.NewReader(request))
			if err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if err != nil || resp.StatusCode != 200 || !strings.Contains(string(b), `"content":"B"`) || resp.Header.Get("X-Backstop-Tier") != "backup" {
				t.Errorf("%v %v %s", err, resp, b)
			}
			if request == unary && resp.ContentLength != int64(len(b)) {
				t.Errorf("Content-Length %d of %d", resp.ContentLength, len(b))
			}
		}
	})
}

func TestTheResponseComesAtTheFirstTokenAndClosingItCancels(t *testing.T) {
	freed := make(chan struct{})
	primary := func(w http.ResponseWriter, r *http.Request) {
		answers(role, token("a"), "wait:1s", token("b"), "hang")(w, r)
		close(freed)
	}
	riding(t, primary, nil, func(c *http.Client) {
		began := time.Now()
		resp, err := c.Post(anywhere, "application/json", strings.NewReader(stream))
		if err != nil || time.Since(began) > 10*time.Millisecond {
			t.Fatalf("%v after %s", err, time.Since(began))
		}
		in := bufio.NewReader(resp.Body)
		for line := ""; !strings.Contains(line, `"b"`); {
			if line, err = in.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
		_ = resp.Body.Close()
		<-freed
		if took := time.Since(began); took > 1100*time.Millisecond {
			t.Errorf("freed after %s", took)
		}
	})
}

func TestTheRequestsContextEndsRoundTrip(t *testing.T) {
	riding(t, answers("hang"), answers("hang"), func(c *http.Client) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		req, _ := http.NewRequestWithContext(ctx, http.MethodPost, anywhere, strings.NewReader(unary))
		began := time.Now()
		if _, err := c.Do(req); err == nil || time.Since(began) > 1100*time.Millisecond {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}

func TestWhatIsNoModelCallIsRefused(t *testing.T) {
	riding(t, answers(good("P")...), nil, func(c *http.Client) {
		if _, err := c.Get(anywhere); err == nil {
			t.Error("a GET was taken")
		}
		if _, err := c.Post("https://api.example.com/v1/files", "application/json", strings.NewReader("{}")); err == nil {
			t.Error("another path was taken")
		}
		resp, err := c.Post(anywhere, "application/json", strings.NewReader(`{"model":1}`))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		if b, _ := io.ReadAll(resp.Body); resp.StatusCode != 400 || !strings.Contains(string(b), `"error"`) {
			t.Errorf("%d %s", resp.StatusCode, b)
		}
	})
}

func TestAPathSaysWhichCallItIs(t *testing.T) {
	for path, want := range map[string]called{
		"/v1/chat/completions":                          {op: wire.Chat, dialect: backstop.OpenAI},
		"/openai/v1/completions":                        {op: wire.Completion, dialect: backstop.OpenAI},
		"/embeddings":                                   {op: wire.Embedding, dialect: backstop.OpenAI},
		"/v1/responses":                                 {op: wire.Responses, dialect: backstop.Responses},
		"/v1/messages":                                  {op: wire.Chat, dialect: backstop.Anthropic},
		"/v1/messages/count_tokens":                     {op: wire.CountTokens, dialect: backstop.Anthropic},
		"/v1beta/models/gemini-2:generateContent":       {op: wire.Chat, dialect: backstop.Gemini, model: "gemini-2"},
		"/v1beta/models/org/name:streamGenerateContent": {op: wire.Chat, dialect: backstop.Gemini, model: "org/name", stream: true},
		"/v1beta/models/gemini-2:countTokens":           {op: wire.CountTokens, dialect: backstop.Gemini, model: "gemini-2"},
		"/v1beta/models/:generateContent":               {},
		"/v1beta/models/gemini-2:embedContent":          {},
		"/v1/responses/resp_1":                          {},
		"/v1/files":                                     {},
	} {
		if got, ok := operation(path); got != want || ok != (want != called{}) {
			t.Errorf("%s: %+v, %v", path, got, ok)
		}
	}
}

func TestAnHTTPClientMaySpeakAnotherDialect(t *testing.T) {
	riding(t, nil, answers(good("B")...), func(c *http.Client) {
		resp, err := c.Post("https://api.example.com/v1/messages", "application/json", strings.NewReader(`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != 200 || !strings.Contains(string(b), `"content":[{"type":"text","text":"B"}]`) {
			t.Errorf("%d %s, %v", resp.StatusCode, b, err)
		}
	})
}
