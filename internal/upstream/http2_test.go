package upstream

import (
	"context"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"backstop"
)

// relay is a TCP path to a server that can stop carrying bytes while its
// connections stay open.
type relay struct {
	ln    net.Listener
	conns atomic.Int32
	mute  atomic.Int32 // connections up to this number carry nothing
	wg    sync.WaitGroup
	mu    sync.Mutex
	open  []net.Conn
}

func newRelay(t *testing.T, to string) *relay {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{ln: ln}
	r.wg.Go(func() {
		for {
			near, err := ln.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", to)
			if err != nil {
				_ = near.Close()
				continue
			}
			n := r.conns.Add(1)
			r.mu.Lock()
			r.open = append(r.open, near, far)
			r.mu.Unlock()
			r.wg.Go(func() { r.carry(n, near, far) })
			r.wg.Go(func() { r.carry(n, far, near) })
		}
	})
	t.Cleanup(func() {
		_ = ln.Close()
		r.mu.Lock()
		for _, c := range r.open {
			_ = c.Close()
		}
		r.mu.Unlock()
		r.wg.Wait()
	})
	return r
}

func (r *relay) carry(n int32, from, to net.Conn) {
	buf := make([]byte, 4096)
	for {
		k, err := from.Read(buf)
		if err != nil {
			_ = to.Close()
			return
		}
		if n > r.mute.Load() {
			_, _ = to.Write(buf[:k])
		}
	}
}

func TestADeadHTTP2ConnectionIsFoundByItsPings(t *testing.T) {
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Proto)
	}))
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	path := newRelay(t, strings.TrimPrefix(srv.URL, "https://"))

	u := backstop.DefaultUpstream()
	u.Name, u.BaseURL, u.AllowPrivate, u.CAFile = "u", "https://"+path.ln.Addr().String(), true, ca
	conn, err := New(&u, Options{Ping: 50 * time.Millisecond, PingTimeout: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for range 2 {
		if body, err := send(t, conn, chat("{}")); err != nil || body != "HTTP/2.0" {
			t.Fatalf("%q, %v", body, err)
		}
	}
	if path.conns.Load() != 1 {
		t.Fatalf("%d connections for two calls", path.conns.Load())
	}
	path.mute.Store(1)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	call := chat("{}")
	resp, err := conn.Do(ctx, call)
	if err != nil {
		t.Fatalf("the call did not get over the dead connection: %v", err)
	}
	_ = resp.Body.Close()
	if call.Replayed() != 1 {
		t.Errorf("replayed %d times", call.Replayed())
	}
	if _, err := send(t, conn, chat("{}")); err != nil {
		t.Error(err)
	}
}
