package server

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"backstop/backstophttp"
)

func TestABodyThatNobodyWantsAndThatDoesNotComeHoldsNoConnection(t *testing.T) {
	for request, status := range map[string]string{
		"GET /healthz":                 "200",
		"HEAD /readyz":                 "200",
		"POST /health":                 "405",
		"GET /v1/models":               "200",
		"GET /v1/models/none":          "404",
		"OPTIONS /v1/chat/completions": "204",
		"GET /v1/chat/completions":     "405",
		"GET /nothing":                 "404",
	} {
		for _, frame := range []string{"Content-Length: 100\r\n\r\n", "Content-Length: 100000\r\n\r\n", "Content-Length: 100\r\n\r\nsome", "Transfer-Encoding: chunked\r\n\r\n"} {
			synctest.Test(t, func(t *testing.T) {
				answer, took := passOn(t, request+" HTTP/1.1\r\nHost: localhost\r\n"+frame, func(_ context.Context, w http.ResponseWriter, _ *backstophttp.Passage) {
					w.WriteHeader(http.StatusMethodNotAllowed)
				})
				if !strings.HasPrefix(answer, "HTTP/1.1 "+status+" ") || took > 15*time.Second {
					t.Errorf("%s %q: after %s: %q", request, frame, took, answer)
				}
			})
		}
	}
}

// onPipe runs a server of small requests on a pipe in virtual time, as long as
// talk talks to it.
func onPipe(h http.HandlerFunc, talk func(peer net.Conn)) {
	peer, conn := net.Pipe()
	ln := &one{conn: make(chan net.Conn, 1), done: make(chan struct{})}
	ln.conn <- conn
	s := NewHTTP(h, slog.New(slog.DiscardHandler))
	var wg sync.WaitGroup
	wg.Go(func() { _ = s.Serve(ln) })
	talk(peer)
	_ = peer.Close()
	_ = s.Close()
	wg.Wait()
	synctest.Wait()
}

func TestAServerOfSmallRequestsDoesNotWaitForABody(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"that nobody reads": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) },
		"that is read": func(w http.ResponseWriter, r *http.Request) {
			if _, err := io.ReadAll(r.Body); err != nil {
				w.WriteHeader(http.StatusUnauthorized)
			}
		},
	} {
		for _, frame := range []string{"Content-Length: 100\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n"} {
			synctest.Test(t, func(t *testing.T) {
				onPipe(h, func(peer net.Conn) {
					over := time.AfterFunc(10*time.Minute, func() { _ = peer.Close() })
					defer over.Stop()
					start := time.Now()
					_, _ = io.WriteString(peer, "POST / HTTP/1.1\r\nHost: localhost\r\n"+frame)
					answer, _ := io.ReadAll(peer)
					if took := time.Since(start); !strings.HasPrefix(string(answer), "HTTP/1.1 401 ") || took > 15*time.Second {
						t.Errorf("%s: after %s: %q", name, took, answer)
					}
				})
			})
		}
	}
}

func TestAServerOfSmallRequestsDoesNotWaitForAReader(t *testing.T) {
	for name, write := range map[string]func(w http.ResponseWriter){
		"a head": func(w http.ResponseWriter) { w.WriteHeader(http.StatusNoContent) },
		"a body": func(w http.ResponseWriter) { _, _ = w.Write(make([]byte, 1<<20)) },
	} {
		synctest.Test(t, func(t *testing.T) {
			start, took := time.Now(), time.Duration(0)
			ended := make(chan struct{})
			h := func(w http.ResponseWriter, _ *http.Request) {
				defer close(ended)
				write(w)
				_ = http.NewResponseController(w).Flush()
				took = time.Since(start)
			}
			onPipe(h, func(peer net.Conn) {
				_, _ = io.WriteString(peer, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
				select {
				case <-ended:
				case <-time.After(10 * time.Minute):
				}
				if took == 0 || took > 15*time.Second {
					t.Errorf("%s: after %s", name, took)
				}
			})
		})
	}
}

func TestAServerOfSmallRequestsWaitsForItsHandler(t *testing.T) {
	h := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		for range 3 {
			select {
			case <-r.Context().Done():
				return
			case <-time.After(time.Minute):
			}
			_, _ = io.WriteString(w, "profiled ")
			_ = http.NewResponseController(w).Flush()
		}
	}
	for name, body := range map[string]string{
		"no body":          "\r\n",
		"a body":           "Content-Length: 4\r\n\r\nbody",
		"a body in chunks": "Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n",
	} {
		synctest.Test(t, func(t *testing.T) {
			onPipe(h, func(peer net.Conn) {
				_, _ = io.WriteString(peer, "POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"+body)
				if answer, _ := io.ReadAll(peer); strings.Count(string(answer), "profiled ") != 3 {
					t.Errorf("%s: got %q", name, answer)
				}
			})
		})
	}
}
