package testkit_test

import (
	"context"
	"errors"
	"flag"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"backstop/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Leaks(m) }

func TestAServerThatHangsIsCutInVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pipe := testkit.NewPipe()
		srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/hang" {
				<-r.Context().Done()
			}
			io.WriteString(w, "ok")
		})}
		go srv.Serve(pipe)
		tr := &http.Transport{DialContext: pipe.DialContext}
		ask := func(path string, limit time.Duration) (string, error) {
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			req, err := http.NewRequestWithContext(ctx, "GET", "http://upstream"+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := tr.RoundTrip(req)
			if err != nil {
				return "", err
			}
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			return string(body), err
		}

		if body, err := ask("/", time.Second); body != "ok" || err != nil {
			t.Fatalf("got %q, %v", body, err)
		}
		start := time.Now()
		if _, err := ask("/hang", 4500*time.Millisecond); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("got %v, want a deadline", err)
		}
		if took := time.Since(start); took != 4500*time.Millisecond {
			t.Fatalf("cut after %v of virtual time", took)
		}
		tr.CloseIdleConnections()
		srv.Close()
		synctest.Wait()
	})
}

func TestAClosedNetworkRefusesAndADialThatNobodyAcceptsEnds(t *testing.T) {
	pipe := testkit.NewPipe()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := pipe.DialContext(ctx, "tcp", "x"); !errors.Is(err, context.Canceled) {
		t.Fatalf("an unanswered dial gives %v", err)
	}
	pipe.Close()
	pipe.Close()
	if _, err := pipe.DialContext(t.Context(), "tcp", "x"); !errors.Is(err, net.ErrClosed) {
		t.Fatalf("a dial to a closed network gives %v", err)
	}
	if _, err := pipe.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Fatalf("an accept on a closed network gives %v", err)
	}
}

// failures records what Golden would report.
type failures struct {
	testing.TB
	n int
}

func (f *failures) Helper()               {}
func (f *failures) Errorf(string, ...any) { f.n++ }

func TestGoldenComparesWithTheFile(t *testing.T) {
	testkit.Golden(t, "golden.txt", []byte("one line\n"))
	if flag.Lookup("update").Value.String() == "true" {
		return // the next call would write its wrong text
	}
	f := &failures{TB: t}
	testkit.Golden(f, "golden.txt", []byte("another line\n"))
	if f.n != 1 {
		t.Fatal("a difference from the golden file was not reported")
	}
}
