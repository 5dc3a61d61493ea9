package server

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"backstop"
	"backstop/backstophttp"
)

// passer is a Runner that deals with what is passed on as told.
type passer struct {
	runner
	pass  func(ctx context.Context, w http.ResponseWriter, p *backstophttp.Passage)
	event *backstop.Event
	cut   bool
}

func (f *passer) Pass(ctx context.Context, w http.ResponseWriter, p *backstophttp.Passage) (*backstop.Event, bool) {
	f.pass(ctx, w, p)
	return f.event, f.cut
}

// passOn runs a server on a pipe in virtual time, sends text, keeps quiet for
// good and returns the answer and when the connection ended.
func passOn(t *testing.T, text string, pass func(ctx context.Context, w http.ResponseWriter, p *backstophttp.Passage)) (string, time.Duration) {
	t.Helper()
	return passBy(t, text, &passer{pass: pass}, nil)
}

// passBy is passOn with the rest of a passer, and who hears of it.
func passBy(t *testing.T, text string, runner *passer, heard func(*backstop.Event)) (string, time.Duration) {
	t.Helper()
	s := New(Options{Rooms: map[backstop.Dialect]Room{backstop.OpenAI: room{}}, Log: slog.New(slog.DiscardHandler), Observe: heard})
	s.Swap(&Plane{Runner: runner, Plan: &backstop.Plan{
		Upstreams: []backstop.Upstream{{Name: "one", Dialect: backstop.OpenAI, Passthrough: true}},
		Routes:    []backstop.Route{{Model: "*", Tiers: []backstop.Tier{{Upstream: "one"}}}},
	}})
	caller, conn := net.Pipe()
	ln := &one{conn: make(chan net.Conn, 1), done: make(chan struct{})}
	ln.conn <- conn
	var wg sync.WaitGroup
	wg.Go(func() { _ = s.Serve(ln) })
	start := time.Now()
	wg.Go(func() { _, _ = io.WriteString(caller, text) })
	over := time.AfterFunc(10*time.Minute, func() { _ = caller.Close() })
	answer, _ := io.ReadAll(caller)
	took := time.Since(start)
	over.Stop()
	_ = caller.Close()
	_ = s.Close()
	wg.Wait()
	synctest.Wait()
	return string(answer), took
}

func TestTheClockOfABodyIsOffOnceItIsRead(t *testing.T) {
	for name, frame := range map[string]string{"of a known length": "Content-Length: 4\r\n\r\nsent", "in chunks": "Transfer-Encoding: chunked\r\n\r\n4\r\nsent\r\n0\r\n\r\n"} {
		synctest.Test(t, func(t *testing.T) {
			answer, _ := passOn(t, "POST /v1/images HTTP/1.1\r\nHost: localhost\r\n"+frame, func(ctx context.Context, w http.ResponseWriter, p *backstophttp.Passage) {
				if got, err := io.ReadAll(p.Body); string(got) != "sent" || err != nil {
					t.Errorf("%s: got %q: %v", name, got, err)
				}
				if n, err := p.Body.Read(make([]byte, 1)); n != 0 || err != io.EOF { // as http.Transport does
					t.Errorf("%s: %d bytes behind the end: %v", name, n, err)
				}
				select {
				case <-ctx.Done():
					t.Errorf("%s: the caller waits, and its request was canceled", name)
				case <-time.After(50 * time.Second):
				}
				_, _ = io.WriteString(w, "an image")
			})
			if !strings.HasPrefix(answer, "HTTP/1.1 200 ") || !strings.Contains(answer, "an image") {
				t.Errorf("%s: %q", name, answer)
			}
		})
	}
}

func TestAPassageThatBreaksOffIsRecordedAndCut(t *testing.T) {
	for cut, end := range map[bool]string{true: "4\r\npart\r\n", false: "4\r\npart\r\n0\r\n\r\n"} {
		synctest.Test(t, func(t *testing.T) {
			var heard []*backstop.Event
			p := &passer{event: &backstop.Event{Op: "pass"}, cut: cut, pass: func(_ context.Context, w http.ResponseWriter, _ *backstophttp.Passage) {
				_, _ = io.WriteString(w, "part")
				_ = http.NewResponseController(w).Flush()
			}}
			answer, _ := passBy(t, "GET /v1/files/one/content HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", p, func(e *backstop.Event) { heard = append(heard, e) })
			if !strings.HasSuffix(answer, end) || len(heard) != 1 {
				t.Errorf("cut %v: %d records of %q", cut, len(heard), answer)
			}
		})
	}
}

func TestAPassageKeepsWhatItsBodyIsAndOnWhichConditionItIs(t *testing.T) {
	kept := []string{"Accept: image/png", "Anthropic-Beta: files", "Content-Encoding: gzip", "Content-Range: bytes 0-9/10", "Content-Type: text/csv", "Idempotency-Key: once", `If-Match: "a"`,
		"If-Modified-Since: Tue, 14 Nov 2023 22:13:20 GMT", `If-None-Match: "b"`, `If-Range: "c"`, "If-Unmodified-Since: Tue, 14 Nov 2023 22:13:20 GMT", "Range: bytes=0-9"}
	left := []string{"Authorization: Bearer a-key-of-a-caller", "Cookie: a=b", "Expect: 100-continue", "Te: trailers", "X-Forwarded-For: 10.0.0.1", "Origin-Of: nothing"}
	synctest.Test(t, func(t *testing.T) {
		var got []string
		passOn(t, "PUT /v1/files/one HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n"+strings.Join(append(left, kept...), "\r\n")+"\r\n\r\n", func(_ context.Context, w http.ResponseWriter, p *backstophttp.Passage) {
			for name, values := range p.Header {
				got = append(got, name+": "+strings.Join(values, " and "))
			}
			w.WriteHeader(http.StatusOK)
		})
		slices.Sort(got)
		if !slices.Equal(got, kept) {
			t.Errorf("passed on %q, want %q", got, kept)
		}
	})
}

func TestABodyThatDoesNotComeHoldsNothingUpAlthoughNobodyReadsIt(t *testing.T) {
	for name, c := range map[string]struct {
		frame string
		reads bool
		after time.Duration
	}{
		"refused at once":         {"Content-Length: 100\r\n\r\n", false, 0},
		"refused after a minute":  {"Content-Length: 100\r\n\r\n", false, time.Minute},
		"a part of it was read":   {"Content-Length: 100\r\n\r\nx", true, 0},
		"in chunks":               {"Transfer-Encoding: chunked\r\n\r\n", false, 0},
		"in chunks, a part of it": {"Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n", true, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			answer, took := passOn(t, "POST /v1/files HTTP/1.1\r\nHost: localhost\r\n"+c.frame, func(_ context.Context, w http.ResponseWriter, p *backstophttp.Passage) {
				if c.reads {
					_, _ = p.Body.Read(make([]byte, 1))
				}
				time.Sleep(c.after)
				w.WriteHeader(http.StatusTooManyRequests)
				_, _ = io.WriteString(w, "all keys are parked")
				_ = http.NewResponseController(w).Flush()
			})
			if !strings.HasPrefix(answer, "HTTP/1.1 429 ") || !strings.Contains(answer, "all keys are parked") || took > c.after+15*time.Second {
				t.Errorf("%s: after %s: %q", name, took, answer)
			}
		})
	}
}

// deadlines is a connection that notes the latest read deadline.
type deadlines struct {
	http.ResponseWriter
	at time.Time
}

func (d *deadlines) SetReadDeadline(at time.Time) error { d.at = at; return nil }

func TestAReaderDoesNotPutOffTheEndOfItsPassage(t *testing.T) {
	now := time.Now()
	conn := &deadlines{}
	body := &paced{from: strings.NewReader("x"), rc: http.NewResponseController(conn), start: now}
	if n, err := body.Read(make([]byte, 1)); n != 1 || err != nil || !conn.at.After(now) {
		t.Fatalf("%d bytes, %v, deadline %s", n, err, conn.at)
	}
	if err := http.NewResponseController(&halfway{conn, body}).SetReadDeadline(now); err != nil || !conn.at.Equal(now) {
		t.Fatalf("%v, deadline %s", err, conn.at)
	}
	// This reader was about to read when the passage ended.
	if n, err := body.Read(make([]byte, 1)); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) || !conn.at.Equal(now) {
		t.Errorf("%d bytes, %v, deadline %s", n, err, conn.at)
	}
}

func TestTheEndOfAPassageLeavesAConnectionAloneWhoseBodyIsRead(t *testing.T) {
	conn := &deadlines{}
	body := &paced{from: strings.NewReader(""), rc: http.NewResponseController(conn), start: time.Now()}
	if _, err := body.Read(make([]byte, 1)); err != io.EOF || !conn.at.IsZero() {
		t.Fatalf("%v, deadline %s", err, conn.at)
	}
	if err := http.NewResponseController(&halfway{conn, body}).SetReadDeadline(time.Now()); err != nil || !conn.at.IsZero() {
		t.Errorf("%v, deadline %s", err, conn.at)
	}
}

func TestWhatVendorsHaveBehindPathsOfOursIsPassedOnToo(t *testing.T) {
	for request, passed := range map[string]bool{
		"DELETE /v1/models/ft:one":             true,
		"POST /v1/models/one:predict":          true,
		"GET /v1/chat/completions?limit=2":     true,
		"GET /v1/responses/resp_1/input_items": true,
		"POST /v1/models":                      false,
		"GET /v1/models":                       false,
		"GET /v1/models/one":                   false,
		"GET /v1/files/a%2Fb/content":          true,
		"GET /v1%2Ffiles":                      false,
		"DELETE /v1/models/ft%3Aone%2Ftwo":     true,
		"GET /api/agent":                       false,
	} {
		synctest.Test(t, func(t *testing.T) {
			got := false
			answer, _ := passOn(t, request+" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", func(_ context.Context, w http.ResponseWriter, p *backstophttp.Passage) {
				got = p.Method+" "+p.Path == strings.SplitN(request, "?", 2)[0]
				w.WriteHeader(http.StatusOK)
			})
			if got != passed {
				t.Errorf("%s: passed on %v, want %v: %q", request, got, passed, answer)
			}
		})
	}
}
