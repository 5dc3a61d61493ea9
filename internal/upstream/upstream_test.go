package upstream

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"backstop"
	"backstop/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func local(t *testing.T, url string, o Options) *Conn {
	t.Helper()
	u := backstop.DefaultUpstream()
	u.Name, u.BaseURL, u.AllowPrivate = "u", url, true
	c, err := New(&u, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func chat(body string) *Call {
	return &Call{Key: -1, Outbound: wire.Outbound{Path: "/chat/completions", Body: []byte(body)}}
}

func TestARedirectIsAnAnswerLikeAnyOther(t *testing.T) {
	var followed atomic.Int32
	canary := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Add(1) }))
	defer canary.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, canary.URL, status)
		}))
		resp, err := local(t, srv.URL, Options{}).Do(context.Background(), chat("{}"))
		if err != nil || resp.StatusCode != status {
			t.Errorf("status %d: %v, %v", status, resp, err)
		} else {
			_ = resp.Body.Close()
		}
		srv.Close()
	}
	if n := followed.Load(); n != 0 {
		t.Fatalf("%d redirects were followed", n)
	}
}

// raw serves a handler per request, with the number of the connection and of
// the request on it.
func raw(t *testing.T, serve func(conn, request int, c net.Conn, r *http.Request) (keep bool)) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { _ = ln.Close(); <-done })
	go func() {
		defer close(done)
		for n := 1; ; n++ {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = c.Close() }()
				in := bufio.NewReader(c)
				for k := 1; ; k++ {
					r, err := http.ReadRequest(in)
					if err != nil {
						return
					}
					body, _ := io.ReadAll(r.Body)
					r.Body = io.NopCloser(bytes.NewReader(body))
					if !serve(n, k, c, r) {
						return
					}
				}
			}()
		}
	}()
	return "http://" + ln.Addr().String()
}

const okAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"

func send(t *testing.T, c *Conn, call *Call) (string, error) {
	t.Helper()
	resp, err := c.Do(context.Background(), call)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	return string(b), err
}

func TestADeadPooledConnectionIsReplayedOnceOnAFreshOne(t *testing.T) {
	big := strings.Repeat("x", 2<<20)
	for name, idempotency := range map[string]string{"plain POST": "", "with an idempotency key": "k"} {
		t.Run(name, func(t *testing.T) {
			var sizes [4]atomic.Int64
			url := raw(t, func(conn, request int, c net.Conn, r *http.Request) bool {
				b, _ := io.ReadAll(r.Body)
				sizes[conn].Store(int64(len(b)))
				if conn == 1 && request == 2 {
					return false // read it all, say nothing, hang up
				}
				_, _ = io.WriteString(c, okAnswer)
				return true
			})
			conn := local(t, url, Options{})
			if _, err := send(t, conn, chat("{}")); err != nil {
				t.Fatal(err)
			}
			call := chat(big)
			if idempotency != "" {
				call.Header = http.Header{"Idempotency-Key": {idempotency}}
			}
			var dials atomic.Int32
			call.Dialed = func() { dials.Add(1) }
			body, err := send(t, conn, call)
			if err != nil || body != "{}" || call.Replayed() != 1 || dials.Load() != 2 {
				t.Fatalf("body %q, err %v, replayed %d, dialed %d", body, err, call.Replayed(), dials.Load())
			}
			if sizes[2].Load() != int64(len(big)) {
				t.Fatalf("the replay carried %d bytes, want %d", sizes[2].Load(), len(big))
			}
		})
	}
}

func TestAFreshConnectionThatDiesIsAnOutcome(t *testing.T) {
	for name, last := range map[string]string{"without a byte": "", "after the status line": "HTTP/1.1 200 OK\r\n"} {
		t.Run(name, func(t *testing.T) {
			url := raw(t, func(_, _ int, c net.Conn, _ *http.Request) bool {
				_, _ = io.WriteString(c, last)
				return false
			})
			call := chat("{}")
			_, err := send(t, local(t, url, Options{}), call)
			o := Classify(err, false)
			if o.Class != backstop.Broken || o.Kind != backstop.KindReset || o.Counts != backstop.CountsEndpoint || !o.RetrySame || call.Replayed() != 0 {
				t.Fatalf("outcome %+v of %v, replayed %d", o, err, call.Replayed())
			}
		})
	}
}

func TestAPooledConnectionThatBeganToAnswerIsNotReplayed(t *testing.T) {
	url := raw(t, func(_, request int, c net.Conn, _ *http.Request) bool {
		if request == 2 {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n")
			return false
		}
		_, _ = io.WriteString(c, okAnswer)
		return true
	})
	conn := local(t, url, Options{})
	if _, err := send(t, conn, chat("{}")); err != nil {
		t.Fatal(err)
	}
	call := chat("{}")
	if _, err := send(t, conn, call); Classify(err, false).Kind != backstop.KindReset || call.Replayed() != 0 {
		t.Fatalf("err %v, replayed %d", err, call.Replayed())
	}
}

func TestGzipThatNobodyAskedForIsReadAsItComes(t *testing.T) {
	next := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept-Encoding") != "identity" {
			t.Errorf("asked for %q", r.Header.Get("Accept-Encoding"))
		}
		w.Header().Set("Content-Encoding", "gzip")
		zip := gzip.NewWriter(w)
		for _, part := range []string{"data: one\n\n", "data: two\n\n"} {
			_, _ = io.WriteString(zip, part)
			_ = zip.Flush()
			w.(http.Flusher).Flush()
			<-next
		}
		_ = zip.Close()
	}))
	defer srv.Close()
	resp, err := local(t, srv.URL, Options{}).Do(context.Background(), chat("{}"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	in := bufio.NewReader(resp.Body)
	for _, want := range []string{"data: one\n", "data: two\n"} {
		line, err := in.ReadString('\n') // arrives although the upstream waits for us
		if err != nil || line != want {
			t.Fatalf("%q, %v, want %q", line, err, want)
		}
		_, _ = in.ReadString('\n')
		next <- struct{}{}
	}
	if rest, err := io.ReadAll(in); err != nil || len(rest) != 0 {
		t.Fatalf("rest %q, %v", rest, err)
	}
}

func TestABombIsStoppedEarly(t *testing.T) {
	var zipped bytes.Buffer
	zip := gzip.NewWriter(&zipped)
	zeros := make([]byte, 1<<20)
	for range 8 {
		_, _ = zip.Write(zeros)
	}
	_ = zip.Close()
	resp := &http.Response{Header: http.Header{"Content-Encoding": {"gzip"}}, Body: io.NopCloser(&zipped)}
	if err := inflate(resp); err != nil {
		t.Fatal(err)
	}
	n, err := io.Copy(io.Discard, resp.Body)
	if !errors.Is(err, errBomb) || n > 2<<20 {
		t.Fatalf("%d bytes came out, %v", n, err)
	}
	if o := Classify(err, true); o.Class != backstop.Garbled || o.Kind != backstop.KindProtocol {
		t.Fatalf("outcome %+v", o)
	}
}

func TestClassify(t *testing.T) {
	const refused = "127.0.0.1:1" // a port that nobody is given
	plainHTTP := httptest.NewServer(http.NotFoundHandler())
	defer plainHTTP.Close()
	selfSigned := httptest.NewTLSServer(http.NotFoundHandler())
	selfSigned.Config.ErrorLog = nil
	defer selfSigned.Close()
	garbage := raw(t, func(_, _ int, c net.Conn, _ *http.Request) bool {
		_, _ = io.WriteString(c, "SSH-2.0-OpenSSH_9.6\r\n\r\n")
		return false
	})
	endless := raw(t, func(_, _ int, c net.Conn, _ *http.Request) bool {
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n")
		for range 3000 {
			if _, err := io.WriteString(c, "X-A: "+strings.Repeat("a", 100)+"\r\n"); err != nil {
				return false
			}
		}
		return false
	})
	hung := func(ctx context.Context, _, _ string) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() }
	noName := func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "secret.example"}}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	for _, c := range []struct {
		name, url, want string
		o               Options
		ctx             context.Context
	}{
		{"connection refused", "http://" + refused, "broken/dial", Options{}, nil},
		{"no such name", "http://secret.example", "broken/dns", Options{Dial: noName}, nil},
		{"plain HTTP on a TLS address", "https" + strings.TrimPrefix(plainHTTP.URL, "http"), "broken/tls", Options{}, nil},
		{"a certificate nobody trusts", selfSigned.URL, "broken/tls", Options{}, nil},
		{"another protocol", garbage, "garbled/protocol", Options{}, nil},
		{"headers without end", endless, "garbled/protocol", Options{}, nil},
		{"the caller left", "http://secret.example", "canceled/caller", Options{Dial: hung}, ctx},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.ctx == nil {
				c.ctx = context.Background()
			}
			_, err := local(t, c.url, c.o).Do(c.ctx, chat("{}"))
			o := Classify(err, false)
			if o.Reason() != c.want {
				t.Fatalf("%s, want %s (%v)", o.Reason(), c.want, err)
			}
			if o.Message != "" || o.Body != nil {
				t.Fatal("the outcome carries words of the error")
			}
			if o.Class == backstop.Broken && (!o.NextTier || o.Counts != backstop.CountsEndpoint) {
				t.Fatalf("outcome %+v", o)
			}
		})
	}
}

func TestCancelingEndsACallThatTheUpstreamNeverReads(t *testing.T) {
	release := make(chan struct{})
	ln, _ := net.Listen("tcp", "127.0.0.1:0")
	defer func() { _ = ln.Close() }()
	defer close(release)
	go func() {
		c, err := ln.Accept()
		if err == nil {
			<-release
			_ = c.Close()
		}
	}()
	conn := local(t, "http://"+ln.Addr().String(), Options{})
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(20*time.Millisecond, cancel)
	_, err := conn.Do(ctx, chat(strings.Repeat("x", 16<<20))) // nobody reads on for as long as this takes
	if o := Classify(err, false); o.Class != backstop.Canceled {
		t.Fatal(err)
	}
}

func TestAReloadTakesIdleConnectionsOver(t *testing.T) {
	var conns atomic.Int32
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") }))
	srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			conns.Add(1)
		}
	}
	srv.Start()
	defer srv.Close()
	first := local(t, srv.URL, Options{})
	if _, err := send(t, first, chat("{}")); err != nil {
		t.Fatal(err)
	}
	second := local(t, srv.URL, Options{Previous: first})
	second.Own()
	first.Close()
	if _, err := send(t, second, chat("{}")); err != nil {
		t.Fatal(err)
	}
	if n := conns.Load(); n != 1 {
		t.Fatalf("%d connections were made, want 1", n)
	}
}
