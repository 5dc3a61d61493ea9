package mock_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"backstop/mock"
)

// In these tests time is virtual: 20 s pass at once and to the nanosecond.

func TestFaultsTakeTheTimeTheySay(t *testing.T) {
	opts := mock.Options{Delay: 300 * time.Millisecond, Gap: 10 * time.Millisecond, Tokens: 11}
	for _, c := range []struct {
		name, model string
		stream      bool
		first, took time.Duration
	}{
		{"a healthy stream has a delay and gaps", "ok", true, 300 * time.Millisecond, 400 * time.Millisecond},
		{"a healthy body takes as long as its tokens", "ok", false, 400 * time.Millisecond, 400 * time.Millisecond},
		{"slow adds to the first token", "slow:20s", true, 20300 * time.Millisecond, 20400 * time.Millisecond},
		{"slow delays a body", "slow:20s", false, 20400 * time.Millisecond, 20400 * time.Millisecond},
		{"slowhead comes before all", "slowhead:2s", true, 2300 * time.Millisecond, 2400 * time.Millisecond},
		{"drip widens the gaps", "drip:2s", true, 300 * time.Millisecond, 20400 * time.Millisecond},
		{"a queue of ten seconds", "blanklines:10s", true, 10300 * time.Millisecond, 10400 * time.Millisecond},
		{"a queue of ten seconds before a body", "blanklines:10s", false, 10400 * time.Millisecond, 10400 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, p := overPipes(t, opts)
				g := p.chat(c.model, c.stream, "", time.Hour)
				if g.err != nil || g.first != c.first || g.took != c.took {
					t.Errorf("first token after %v, end after %v (%v), want %v and %v", g.first, g.took, g.err, c.first, c.took)
				}
			})
		})
	}
}

func TestAHangEndsWithTheCaller(t *testing.T) {
	for _, model := range []string{"hang", "role-only", "stall@2", "keepalive", "slow:1h", "drip:1h", "slowhead:1h", "blanklines:1h"} {
		for _, stream := range []bool{false, true} {
			t.Run(model, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					m, p := overPipes(t, mock.Options{})
					g := p.chat(model, stream, "", 4500*time.Millisecond)
					if g.err == nil {
						t.Fatalf("the fault ended by itself: %d", g.status)
					}
					synctest.Wait()
					if a := m.Log()[0]; a.Ended != mock.EndCanceled || a.Seconds != 4.5 {
						t.Errorf("the log says %q after %v s", a.Ended, a.Seconds)
					}
				})
			})
		}
	}
}

func TestSwitchingBackFreesNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, p := overPipes(t, mock.Options{Faults: map[string]string{"*": "hang"}})
		hung := make(chan got)
		go func() { hung <- p.chat("m", true, "", time.Minute) }()
		synctest.Wait()
		if err := m.SetFault("*", ""); err != nil {
			t.Fatal(err)
		}
		if g := p.chat("m", true, "", time.Minute); g.err != nil {
			t.Errorf("after switching back: %v", g.err)
		}
		if g := <-hung; g.took != time.Minute {
			t.Errorf("the hanging attempt ended after %v, want its caller's minute", g.took)
		}
	})
}

func TestCloseEndsWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, p := overPipes(t, mock.Options{})
		time.AfterFunc(time.Second, m.Close)
		if g := p.chat("keepalive", true, "", time.Hour); g.took != time.Second {
			t.Errorf("took %v, want the second until Close", g.took)
		}
	})
}

func TestCloseEndsAConnectionThatIsHalfClosed(t *testing.T) {
	m, p := overSockets(t, mock.Options{})
	conn, err := net.Dial("tcp", strings.TrimPrefix(p.base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	body := chatBody("halfclose:1h", false, "")
	fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: mock\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	if answer, err := io.ReadAll(conn); err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 200 ") {
		t.Fatalf("%v: %q", err, answer)
	}
	if a := m.Log()[0]; a.Ended != mock.EndOpen {
		t.Fatalf("it is over already: %+v", a)
	}
	m.Close()
	waitFor(t, func() bool { return m.Counts().Open == 0 })
}

func TestFlapAlternates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, p := overPipes(t, mock.Options{})
		var seen strings.Builder
		for range 12 {
			seen.WriteString(map[int]string{200: "+", 529: "-"}[p.chat("flap:60s:529", false, "", time.Minute).status])
			time.Sleep(20 * time.Second)
		}
		if seen.String() != "+++---+++---" {
			t.Errorf("every 20 s: %s", seen.String())
		}
		if err := m.SetFault("x", "flap:1m"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(59 * time.Second)
		if g := p.chat("x", false, "", time.Minute); g.status != 200 {
			t.Errorf("a fault that was just set starts bad: %d", g.status)
		}
	})
}

func TestAServerThatCannotHijackStillCutsAndResets(t *testing.T) {
	for model, status := range map[string]int{"cut@3": 200, "reset": 0} {
		t.Run(model, func(t *testing.T) {
			m := mock.New(mock.Options{})
			w := httptest.NewRecorder()
			w.Code = 0
			defer func() {
				if recover() != http.ErrAbortHandler {
					t.Error("want http.ErrAbortHandler")
				}
				if a := m.Log()[0]; a.Ended == mock.EndDone || a.Ended == mock.EndOpen || a.Status != status {
					t.Errorf("the log says %+v", a)
				}
			}()
			m.ServeHTTP(w, httptest.NewRequest("POST", "/v1/chat/completions", strings.NewReader(chatBody(model, true, ""))))
		})
	}
}

func TestACallerWhoIsGoneGetsNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, w := range mock.Words() {
		m := mock.New(mock.Options{})
		func() {
			defer func() { _ = recover() }() // reset and cut, see above
			r := httptest.NewRequestWithContext(ctx, "POST", "/v1/chat/completions", strings.NewReader(chatBody(w.Example, true, "")))
			m.ServeHTTP(httptest.NewRecorder(), r)
		}()
		if c := m.Counts(); c.Open != 0 || c.Attempts != 1 {
			t.Errorf("%s: %+v", w.Example, c)
		}
	}
}
