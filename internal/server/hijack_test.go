package server

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"backstop"
	"backstop/backstophttp"
	"backstop/internal/testkit"
)

// desk is a server in virtual time and one caller's connection to it.
type desk struct {
	*Server
	t      *testing.T
	runner *runner
	events []*backstop.Event
	net    *testkit.Pipe
	conn   net.Conn
	in     *bufio.Reader
}

// atDesk runs a server whose driver answers as told, as long as talk talks.
func atDesk(t *testing.T, answer func(ctx context.Context, w http.ResponseWriter, c *backstophttp.Call) *backstop.Event, talk func(d *desk)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := &desk{t: t, runner: &runner{answer: answer}, net: testkit.NewPipe()}
		o := Options{Rooms: rooms(), Log: slog.New(slog.DiscardHandler), Observe: func(e *backstop.Event) { d.events = append(d.events, e) }}
		o.Rooms[backstop.OpenAI] = room{}
		d.Server = New(o)
		d.Swap(&Plane{Plan: testPlan(), Runner: d.runner, Callers: testCallers()})
		over := make(chan error, 1)
		go func() { over <- d.Serve(d.net) }()
		d.dial()
		talk(d)
		_ = d.conn.Close()
		_ = d.Close()
		if err := <-over; err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if n := d.Conns(); n != 0 {
			t.Errorf("%d connections are left", n)
		}
	})
}

func (d *desk) dial() {
	d.t.Helper()
	conn, err := d.net.DialContext(d.t.Context(), "tcp", "gateway")
	if err != nil {
		d.t.Fatal(err)
	}
	d.conn, d.in = conn, bufio.NewReader(conn)
}

// post is a request on the wire.
func post(body string, headers ...string) string {
	return "POST /v1/chat/completions HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer " + webKey + "\r\nContent-Type: application/json\r\nContent-Length: " +
		strconv.Itoa(len(body)) + "\r\n" + strings.Join(append(headers, ""), "\r\n") + "\r\n" + body
}

// inChunks is the same without saying how long the body is.
func inChunks(body string, headers ...string) string {
	wire := strings.Replace(post(body, headers...), "Content-Length: "+strconv.Itoa(len(body)), "Transfer-Encoding: chunked", 1)
	return strings.Replace(wire, body, fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body), 1)
}

const streaming = `{"model":"gpt-4o","stream":true}`

// send writes as a caller would, who does not wait for it to be read.
func (d *desk) send(wire string) { go func() { _, _ = io.WriteString(d.conn, wire) }() }

// reply reads the next answer to its end.
func (d *desk) reply() (*http.Response, string) {
	d.t.Helper()
	r, err := http.ReadResponse(d.in, &http.Request{Method: "POST"})
	if err != nil {
		d.t.Fatal(err)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		d.t.Fatalf("%v after %q", err, body)
	}
	return r, string(body)
}

// tells answers a stream in the given pieces, each flushed and a second apart,
// and anything else with "whole".
func tells(pieces ...string) func(ctx context.Context, w http.ResponseWriter, c *backstophttp.Call) *backstop.Event {
	return func(ctx context.Context, w http.ResponseWriter, c *backstophttp.Call) *backstop.Event {
		if !c.Request.Stream {
			_, _ = io.WriteString(w, "whole")
			return answered(c)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		out := http.NewResponseController(w)
		for i, p := range pieces {
			if i > 0 {
				select {
				case <-time.After(time.Second):
				case <-ctx.Done():
					return answered(c)
				}
			}
			_, _ = io.WriteString(w, p)
			_ = out.Flush()
		}
		return answered(c)
	}
}

func TestAConnectionServesStreamsAndOtherCallsInTurn(t *testing.T) {
	atDesk(t, tells("a", "bc"), func(d *desk) {
		for i, body := range []string{streaming, chat, streaming, streaming, chat} {
			d.send(post(body))
			r, got := d.reply()
			want, chunked := "abc", "chunked"
			if body == chat {
				want, chunked = "whole", ""
			}
			if got != want || r.StatusCode != 200 || r.Close || strings.Join(r.TransferEncoding, "") != chunked || r.Header.Get("Date") == "" || r.Header.Get("X-Request-Id") == "" {
				t.Errorf("call %d: %q %v %v", i, got, r.Header, r.TransferEncoding)
			}
			time.Sleep(45 * time.Second) // less than what it may idle
		}
		if len(d.events) != 5 || d.Conns() != 1 {
			t.Errorf("%d events, %d connections", len(d.events), d.Conns())
		}
	})
}

func TestRequestsSentAheadAreAnsweredInOrder(t *testing.T) {
	atDesk(t, tells("a", "b"), func(d *desk) {
		d.send(post(streaming) + "\r\n" + post(chat) + post(streaming) + "\r\n\r\n" + post(streaming))
		for i, want := range []string{"ab", "whole", "ab", "ab"} {
			if _, got := d.reply(); got != want {
				t.Errorf("answer %d is %q, want %q", i, got, want)
			}
		}
	})
}

func TestAConnectionEndsWithTheAnswerWhereItMust(t *testing.T) {
	old := strings.Replace(post(streaming), "HTTP/1.1", "HTTP/1.0", 1)
	for name, wire := range map[string]string{"asked to": post(streaming, "Connection: close"), "an old caller": old, "a body without a length": inChunks(streaming)} {
		t.Run(name, func(t *testing.T) {
			atDesk(t, tells("a", "b"), func(d *desk) {
				d.send(wire)
				r, got := d.reply()
				rest, err := io.ReadAll(d.in)
				if got != "ab" || !r.Close || len(rest) > 0 || err != nil {
					t.Errorf("%q, closes: %t, then %q %v", got, r.Close, rest, err)
				}
			})
		})
	}
}

func TestAnAnswerThatIsNoStreamSaysHowLongItIs(t *testing.T) {
	large := strings.Repeat("x", 3*largestPiece)
	for _, c := range []struct {
		status  int
		body    string
		headers string // Content-Length that the handler set
		chunked bool
	}{
		{503, `{"error":{}}`, "", false}, {200, "", "", false}, {529, "busy", "4", false}, {200, large, "", true}, {200, large, strconv.Itoa(len(large)), false},
	} {
		atDesk(t, func(_ context.Context, w http.ResponseWriter, q *backstophttp.Call) *backstop.Event {
			if c.headers != "" {
				w.Header().Set("Content-Length", c.headers)
			}
			w.WriteHeader(c.status)
			w.WriteHeader(204) // too late
			for b := c.body; len(b) > 0; {
				n, err := io.WriteString(w, b[:min(len(b), 1000)])
				if b = b[n:]; err != nil {
					t.Fatal(err)
				}
			}
			return answered(q)
		}, func(d *desk) {
			d.send(post(streaming))
			r, got := d.reply()
			if got != c.body || r.StatusCode != c.status || c.chunked != (r.ContentLength < 0) || !c.chunked && r.ContentLength != int64(len(c.body)) {
				t.Errorf("%d: %d bytes, length %d, want %d", r.StatusCode, len(got), r.ContentLength, len(c.body))
			}
			d.send(post(chat))
			d.reply()
		})
	}
}

func TestACallerWhoLeavesEndsItsCallInEveryPhase(t *testing.T) {
	for name, begun := range map[string]bool{"before the first byte": false, "in the middle": true, "with bytes behind a body without a length": false} {
		wire := post(streaming)
		if strings.HasPrefix(name, "with") {
			wire = inChunks(streaming) + "POST"
		}
		t.Run(name, func(t *testing.T) {
			var left time.Time
			atDesk(t, func(ctx context.Context, w http.ResponseWriter, c *backstophttp.Call) *backstop.Event {
				if begun {
					_, _ = io.WriteString(w, "a")
					_ = http.NewResponseController(w).Flush()
				}
				<-ctx.Done()
				left = time.Now()
				return answered(c)
			}, func(d *desk) {
				d.send(wire)
				if begun {
					_, _ = d.in.Peek(1)
				}
				time.Sleep(3 * time.Second)
				_ = d.conn.Close()
				at := time.Now()
				synctest.Wait()
				if left != at || d.Conns() != 0 {
					t.Errorf("noticed at %s, left at %s, %d connections", left, at, d.Conns())
				}
			})
		})
	}
}

func TestARestingConnectionIsClosedInTime(t *testing.T) {
	atDesk(t, tells("a"), func(d *desk) {
		d.send(post(streaming))
		d.reply()
		began := time.Now()
		_, err := d.in.ReadByte()
		if lasted := time.Since(began); err != io.EOF || lasted != idleTime {
			t.Errorf("%v after %s", err, lasted)
		}
		d.dial()
		d.send(post(streaming) + "\r\nPOST")
		d.reply()
		began = time.Now()
		_, err = io.ReadAll(d.in)
		if lasted := time.Since(began); err != nil || lasted > 2*headTime {
			t.Errorf("half a head: %v after %s", err, lasted)
		}
	})
}

func TestShutdownWaitsForStreamsAndLetsRestingConnectionsGo(t *testing.T) {
	atDesk(t, tells("a", "b", "c"), func(d *desk) {
		d.send(post(streaming))
		d.reply()
		rests := d.in
		d.dial()
		d.send(post(streaming))
		_, _ = d.in.Peek(1)
		began, over := time.Now(), make(chan error, 1)
		go func() { over <- d.Shutdown(d.t.Context()) }()
		if _, err := rests.ReadByte(); err != io.EOF || time.Since(began) > time.Second {
			t.Errorf("the one that rests: %v after %s", err, time.Since(began))
		}
		if _, got := d.reply(); got != "abc" {
			t.Errorf("the stream was %q", got)
		}
		if _, err := d.in.ReadByte(); err != io.EOF {
			t.Error("another request could follow")
		}
		if err := <-over; err != nil || time.Since(began) > 3*time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}

func TestAShutdownInHasteCutsStreams(t *testing.T) {
	atDesk(t, tells(strings.Split(strings.Repeat("a", 100), "")...), func(d *desk) {
		d.send(post(streaming))
		_, _ = d.in.Peek(1)
		ctx, cancel := context.WithTimeout(d.t.Context(), 5*time.Second)
		defer cancel()
		if err := d.Shutdown(ctx); err != context.DeadlineExceeded {
			t.Errorf("Shutdown: %v", err)
		}
		_ = d.Close()
		synctest.Wait()
		if d.Conns() != 0 || len(d.events) != 1 {
			t.Errorf("%d connections, %d events", d.Conns(), len(d.events))
		}
	})
}

func TestAPanicCutsItsOwnStreamOnly(t *testing.T) {
	atDesk(t, func(ctx context.Context, w http.ResponseWriter, c *backstophttp.Call) *backstop.Event {
		_, _ = io.WriteString(w, "a")
		_ = http.NewResponseController(w).Flush()
		panic("oh")
	}, func(d *desk) {
		left := d.budget.left.Load()
		for range 3 { // each gives back what it held
			d.dial()
			d.send(post(`{"model":"gpt-4o","stream":true,"x":"` + strings.Repeat("x", 2*smallBody) + `"}`))
			r, err := http.ReadResponse(d.in, nil)
			if err != nil {
				t.Fatal(err)
			}
			if b, err := io.ReadAll(r.Body); string(b) != "a" || err != io.ErrUnexpectedEOF {
				t.Errorf("%q %v: must not look whole", b, err)
			}
			synctest.Wait()
		}
		if d.budget.left.Load() != left {
			t.Errorf("%d bytes of the budget are gone", left-d.budget.left.Load())
		}
	})
}

func TestAReaderWhoDoesNotReadIsCut(t *testing.T) {
	atDesk(t, func(ctx context.Context, w http.ResponseWriter, c *backstophttp.Call) *backstop.Event {
		out := http.NewResponseController(w)
		if err := out.SetWriteDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Error(err)
		}
		began := time.Now()
		_, _ = w.Write(bytes.Repeat([]byte("x"), 1<<20))
		if err := out.Flush(); err == nil || ctx.Err() == nil || time.Since(began) != 10*time.Second {
			t.Errorf("%v, %v after %s", err, ctx.Err(), time.Since(began))
		}
		return answered(c)
	}, func(d *desk) {
		d.send(post(streaming))
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := d.Conns(); n != 0 {
			t.Errorf("%d connections", n)
		}
	})
}

// FuzzPieces: in whatever pieces an answer is written and flushed, its reader
// gets those bytes, and the connection goes on.
func FuzzPieces(f *testing.F) {
	f.Add([]byte{1, 0, 200, 0, 0, 3})
	f.Add([]byte{255, 255, 255, 255, 0})
	f.Fuzz(func(t *testing.T, plan []byte) {
		if len(plan) > 64 {
			return
		}
		var want []byte
		atDesk(t, func(ctx context.Context, w http.ResponseWriter, c *backstophttp.Call) *backstop.Event {
			for i, n := range plan {
				piece := bytes.Repeat([]byte{byte(i)}, int(n)*int(n))
				if want = append(want, piece...); n == 0 {
					_ = http.NewResponseController(w).Flush()
				}
				_, _ = w.Write(piece)
			}
			return answered(c)
		}, func(d *desk) {
			for range 2 {
				want = nil
				d.send(post(streaming))
				if _, got := d.reply(); got != string(want) {
					t.Errorf("%d bytes, want %d", len(got), len(want))
				}
			}
		})
	})
}

func TestACallIsOverForItsCallersLimitsBeforeItsEndIsSent(t *testing.T) {
	large := `{"model":"gpt-4o","stream":true,"x":"` + strings.Repeat("x", 2*smallBody) + `"}`
	for _, headers := range [][]string{nil, {"Connection: close"}} {
		atDesk(t, tells("a"), func(d *desk) {
			callers := testCallers()
			callers[0].Inflight = 1
			d.Swap(&Plane{Plan: testPlan(), Runner: d.runner, Callers: callers})
			left := d.budget.left.Load()
			for range 3 {
				d.dial()
				d.send(post(large, headers...) + "P") // the beginning of another one is there already
				r, err := http.ReadResponse(d.in, nil)
				if err != nil || r.StatusCode != 200 {
					t.Errorf("%v %v", r, err)
					return
				}
				_, _ = io.ReadFull(r.Body, make([]byte, 1))
				synctest.Wait() // the rest is not read: this is as far as it can go
				if held := left - d.budget.left.Load(); held != 0 || len(d.events) == 0 {
					t.Errorf("%d bytes are held, %d events", held, len(d.events))
				}
			}
		})
	}
}

// A caller who closes its half of the connection counts as one who left, but
// can still read that.
func TestWhatACallerIsToldWhenItLeavesIsSentToItsEnd(t *testing.T) {
	for name, c := range map[string]struct{ before, after, end string }{
		"an answer of its own":          {"", "left", "\r\n\r\nleft"},
		"nothing":                       {"", "", ""},
		"the last words of a stream":    {"a", "left", "\r\n1\r\na\r\n4\r\nleft\r\n0\r\n\r\n"},
		"a stream that ended just then": {"a", "", "\r\n1\r\na\r\n0\r\n\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			b := serve(t, Options{})
			b.runner.answer = func(ctx context.Context, w http.ResponseWriter, q *backstophttp.Call) *backstop.Event {
				if c.before != "" {
					_, _ = io.WriteString(w, c.before)
					_ = http.NewResponseController(w).Flush()
				}
				<-ctx.Done()
				if c.after != "" {
					w.WriteHeader(499)
					_, _ = io.WriteString(w, c.after)
				}
				return answered(q)
			}
			conn, err := net.Dial("tcp", b.addr)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_, _ = io.WriteString(conn, strings.Replace(post(streaming), "Host: g", "Host: localhost", 1))
			_ = conn.(*net.TCPConn).CloseWrite()
			got, err := io.ReadAll(conn)
			if !strings.HasSuffix(string(got), c.end) || c.end == "" && len(got) > 0 || err != nil {
				t.Errorf("%q %v, want the end %q", got, err, c.end)
			}
		})
	}
}
