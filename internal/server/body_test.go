package server

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"backstop"
	"backstop/backstophttp"
)

func zipped(t testing.TB, data []byte) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(data); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	return b.String()
}

func padded(size int) string {
	const head, tail = `{"model":"gpt-4o","x":"`, `"}`
	return head + strings.Repeat("x", size-len(head)-len(tail)) + tail
}

func TestBodiesAreTakenUpToTheBound(t *testing.T) {
	const bound = 1 << 20
	b := serve(t, Options{MaxBody: bound})
	for _, c := range []struct {
		name, body string
		headers    []string
		status     int
	}{
		{"at the bound", padded(bound), nil, 200},
		{"one byte more", padded(bound + 1), nil, 413},
		{"far more", padded(4 << 20), nil, 413},
		{"gzip", zipped(t, []byte(chat)), []string{"Content-Encoding: gzip"}, 200},
		{"gzip in capitals", zipped(t, []byte(chat)), []string{"Content-Encoding: GZIP"}, 200},
		{"identity", chat, []string{"Content-Encoding: identity"}, 200},
		{"gzip at the bound", zipped(t, []byte(padded(bound))), []string{"Content-Encoding: gzip"}, 200},
		{"gzip beyond it", zipped(t, []byte(padded(bound+1))), []string{"Content-Encoding: gzip"}, 413},
		{"gzip in two members", zipped(t, []byte(chat[:9])) + zipped(t, []byte(chat[9:])), []string{"Content-Encoding: gzip"}, 200},
		{"gzip in gzip", zipped(t, []byte(zipped(t, []byte(chat)))), []string{"Content-Encoding: gzip, gzip"}, 415},
		{"zstd", "x", []string{"Content-Encoding: zstd"}, 415},
		{"br", "x", []string{"Content-Encoding: br"}, 415},
		{"two codings in two lines", "x", []string{"Content-Encoding: gzip", "Content-Encoding: gzip"}, 415},
		{"not gzip", chat, []string{"Content-Encoding: gzip"}, 400},
		{"cut gzip", zipped(t, []byte(chat))[:20], []string{"Content-Encoding: gzip"}, 400},
		{"gzip with a wrong sum", flipLast(zipped(t, []byte(chat))), []string{"Content-Encoding: gzip"}, 400},
		{"gzip with a tail", zipped(t, []byte(chat)) + "tail", []string{"Content-Encoding: gzip"}, 400},
		{"empty", "", nil, 400},
		{"a bad body", "{", nil, 400},
	} {
		r := b.do("POST", "/v1/chat/completions", c.body, c.headers...)
		if r.status != c.status {
			t.Errorf("%s: %d, want %d: %s", c.name, r.status, c.status, r.body)
		}
	}
	if got := b.budget.left.Load(); got != DefaultBodyBudget {
		t.Errorf("the budget is %d after all calls, want %d", got, DefaultBodyBudget)
	}
}

func flipLast(s string) string {
	b := []byte(s)
	b[len(b)-5] ^= 1
	return string(b)
}

func TestABombIsStoppedByItsRatio(t *testing.T) {
	b := serve(t, Options{})
	bomb := zipped(t, make([]byte, 19<<20)) // below the bound, but 1000 times its size
	r := b.do("POST", "/v1/chat/completions", bomb, "Content-Encoding: gzip")
	b.want(r, 413)
	if !strings.Contains(r.body, "inflates") {
		t.Errorf("body %s", r.body)
	}
}

func TestLargeBodiesShareABudget(t *testing.T) {
	hold, entered := make(chan struct{}), make(chan struct{}, 1)
	b := serve(t, Options{BodyBudget: 300 << 10})
	b.runner.answer = func(ctx context.Context, w http.ResponseWriter, c *backstophttp.Call) *backstop.Event {
		if len(c.Request.Body) > smallBody {
			entered <- struct{}{}
			<-hold
		}
		_, _ = w.Write(chatBody("x", "stop"))
		return answered(c)
	}
	first := make(chan int, 1)
	go func() { first <- b.do("POST", "/v1/chat/completions", padded(200<<10)).status }()
	<-entered
	r := b.do("POST", "/v1/chat/completions", padded(200<<10))
	b.want(r, 503)
	if r.header.Get("Retry-After") != "1" || !strings.Contains(r.body, "overloaded") {
		t.Errorf("%v %s", r.header, r.body)
	}
	b.want(b.do("POST", "/v1/chat/completions", padded(50<<10)), 200)
	close(hold)
	if s := <-first; s != 200 {
		t.Errorf("the first call got %d", s)
	}
	b.runner.answer = nil
	b.want(b.do("POST", "/v1/chat/completions", padded(200<<10)), 200)
}

func TestAnAnnouncedLengthCostsNothing(t *testing.T) {
	b := serve(t, Options{})
	conn, err := net.Dial("tcp", b.addr)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(conn, okHead+"Content-Length: 1000000000\r\n\r\n{")
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || resp.StatusCode != 413 || !resp.Close {
		t.Errorf("answer %+v, %v", resp, err)
	}
	_ = conn.Close()
	in := intake{source: &paced{}, max: DefaultMaxBody, budget: &b.budget}
	_ = in.fill(iotest.ErrReader(io.ErrUnexpectedEOF), DefaultMaxBody)
	if cap(in.body) > smallBody {
		t.Errorf("a buffer of %d bytes for a body that never came", cap(in.body))
	}
}

func TestWhoWaitsForAContinueGetsItsRefusalAtOnce(t *testing.T) {
	b := serve(t, Options{MaxBody: 100})
	got := b.raw(okHead + "Expect: 100-continue\r\nContent-Length: 5000\r\n\r\n")
	if strings.Join(got, " ") != "413" { // a server that waits for the body says 408
		t.Errorf("answers %v", got)
	}
}

// trickle runs a server on a pipe in virtual time, sends head and then one
// byte a second, and returns the answer and when the connection ended.
func trickle(t *testing.T, head string) (string, time.Duration) {
	t.Helper()
	s := New(Options{Rooms: map[backstop.Dialect]Room{backstop.OpenAI: room{}}, Log: slog.New(slog.DiscardHandler)})
	s.Swap(&Plane{Plan: testPlan(), Runner: &runner{}})
	caller, conn := net.Pipe()
	ln := &one{conn: make(chan net.Conn, 1), done: make(chan struct{})}
	ln.conn <- conn
	var wg sync.WaitGroup
	wg.Go(func() { _ = s.Serve(ln) })
	start := time.Now()
	wg.Go(func() {
		_, err := io.WriteString(caller, head)
		for err == nil {
			time.Sleep(time.Second)
			_, err = caller.Write([]byte("x"))
		}
	})
	answer, _ := io.ReadAll(caller)
	took := time.Since(start)
	_ = caller.Close()
	_ = s.Close()
	wg.Wait()
	synctest.Wait()
	if s.Conns() != 0 {
		t.Errorf("%d connections are left", s.Conns())
	}
	return string(answer), took
}

func TestSlowCallersAreCut(t *testing.T) {
	for _, c := range []struct {
		name, head, answer string
		from, to           time.Duration
	}{
		{"a byte a second is progress, but not enough for a body", okHead + "Content-Length: 100000\r\n\r\n{", "HTTP/1.1 408 ", 10 * time.Second, 14 * time.Second},
		{"a head that never ends", okHead + "X-Slow: ", "", 10 * time.Second, 11 * time.Second},
		{"a connection that says nothing more", "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /", "HTTP/1.1 200 ", 10 * time.Second, 71 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			if answer, took := trickle(t, c.head); !strings.HasPrefix(answer, c.answer) || took < c.from || took > c.to {
				t.Errorf("%s: after %s: %s", c.name, took, answer)
			}
		})
	}
}

// one is a listener for one connection.
type one struct {
	conn chan net.Conn
	done chan struct{}
}

func (l *one) Accept() (net.Conn, error) {
	select {
	case c := <-l.conn:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}
func (l *one) Close() error   { close(l.done); return nil }
func (l *one) Addr() net.Addr { return &net.TCPAddr{} }

func TestACallerWhoLeavesCancelsItsCall(t *testing.T) {
	b := serve(t, Options{})
	left, entered := make(chan struct{}), make(chan struct{})
	b.runner.answer = func(ctx context.Context, w http.ResponseWriter, c *backstophttp.Call) *backstop.Event {
		close(entered)
		<-ctx.Done()
		close(left)
		return &backstop.Event{ID: c.ID, Outcome: backstop.Canceled}
	}
	conn, err := net.Dial("tcp", b.addr)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(conn, okHead+sized(padded(100<<10)))
	<-entered
	_ = conn.Close()
	select {
	case <-left:
	case <-time.After(5 * time.Second):
		t.Fatal("the call runs on for nobody")
	}
}

func TestAConnectionTooManyIsClosed(t *testing.T) {
	b := serve(t, Options{MaxConns: 2})
	var conns []net.Conn
	for range 2 {
		c, err := net.Dial("tcp", b.addr)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(c, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
		if _, err := c.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
	}
	c, err := net.Dial("tcp", b.addr)
	if err == nil {
		_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
		if _, err := c.Read(make([]byte, 1)); err == nil {
			t.Error("the third connection got an answer")
		}
		_ = c.Close()
	}
	if b.Conns() != 2 || b.Shed() != 1 {
		t.Errorf("%d open, %d shed", b.Conns(), b.Shed())
	}
	for _, c := range conns {
		_ = c.Close()
	}
}

func TestAPanicStaysWithItsCall(t *testing.T) {
	b := serve(t, Options{})
	b.runner.answer = func(context.Context, http.ResponseWriter, *backstophttp.Call) *backstop.Event { panic("boom") }
	if got := b.raw(okHead + sized(chat)); len(got) != 0 {
		t.Errorf("answers %v", got)
	}
	b.runner.mu.Lock()
	b.runner.answer = nil
	b.runner.mu.Unlock()
	b.want(b.do("POST", "/v1/chat/completions", chat), 200)
}
