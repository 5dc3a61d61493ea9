package cases

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// pingTime is when a silent HTTP/2 connection is found to be dead at the
// latest: the interval of pings and the wait for their answer, as they are.
const pingTime = 15 * time.Second

// TestF08DeadHTTP2Connection takes the product's own ping times, unscaled. Its
// breaker needs more failures than the window can have, so that what is seen
// is the connection's recovery and not the breaker's.
func TestF08DeadHTTP2Connection(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes the ping interval and its timeout, 15 s")
	}
	up := newDeaf(t)
	p, b := pair(t, fin) // nobody reaches the plain listener of the primary
	g := start(t, setup{primary: p, backup: b, primaryYAML: "base_url: " + up.url + "\nca: " + up.ca +
		"\nbreaker: {failures: 60, window: 30s, reset: 60s, hang: false, probe: live}\n"})
	g.ask(call{stream: true}).success("primary", "ab")
	if up.served.Load() != 1 {
		t.Fatal("the first request did not come over HTTP/2")
	}
	up.deafen()
	began, over := time.Now(), 0
	for {
		next := time.After(time.Second)
		a := g.ask(call{stream: true})
		if a.header.Get("X-Backstop-Tier") == "primary" {
			a.success("primary", "ab")
			break
		}
		a.fromBackup("hang")
		over++
		if time.Since(began) > pingTime+2*time.Second+slack(began) {
			t.Fatalf("%d calls moved over in %s, and the dead connection is still in use", over, time.Since(began))
		}
		<-next
	}
	t.Logf("%d calls moved over in %s", over, time.Since(began).Round(time.Millisecond))
	for range 5 {
		a := g.ask(call{stream: true})
		a.success("primary", "ab")
		below(t, "an answer over the new connection", a.took, atOnce)
	}
	if n := up.served.Load(); n != 7 {
		t.Errorf("%d requests were served over HTTP/2, want 1 before and 6 after", n)
	}
	p.unreached = len(g.outcomes("primary")) // none of them came to the plain listener
	for _, r := range g.records() {
		for _, a := range r.Attempts {
			p.unreached += a.Replays
		}
	}
}

// deaf is an HTTP/2 server whose connections can stop answering, pings
// included, while they stay open.
type deaf struct {
	url, ca string
	served  atomic.Int64
	mu      sync.Mutex
	conns   []*deafConn
}

func newDeaf(t *testing.T) *deaf {
	t.Helper()
	d := &deaf{ca: filepath.Join(t.TempDir(), "ca.pem")}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d.url = "https://" + ln.Addr().String() + "/hidden-primary/v1"
	srv := &http.Server{
		Handler:   http.HandlerFunc(d.serve),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate(t, d.ca)}},
		ErrorLog:  log.New(io.Discard, "", 0),
	}
	var works sync.WaitGroup
	works.Go(func() { _ = srv.ServeTLS(&deafListener{ln, d}, "", "") })
	t.Cleanup(func() { _ = srv.Close(); works.Wait() })
	return d
}

func (d *deaf) serve(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	if r.ProtoMajor == 2 {
		d.served.Add(1)
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range []string{role(), tok("a"), tok("b"), end("stop"), done} {
		_, _ = io.WriteString(w, e+"\n\n")
	}
}

// deafen makes every connection that stands deaf; later ones hear.
func (d *deaf) deafen() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.conns {
		c.deaf.Store(true)
	}
}

type deafListener struct {
	net.Listener
	d *deaf
}

func (l *deafListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	made := &deafConn{Conn: c}
	l.d.mu.Lock()
	l.d.conns = append(l.d.conns, made)
	l.d.mu.Unlock()
	return made, nil
}

type deafConn struct {
	net.Conn
	deaf atomic.Bool
}

// Read swallows what comes while the connection is deaf.
func (c *deafConn) Read(p []byte) (int, error) {
	for {
		n, err := c.Conn.Read(p)
		if err != nil || !c.deaf.Load() {
			return n, err
		}
	}
}

func (c *deafConn) Write(p []byte) (int, error) {
	if c.deaf.Load() {
		return len(p), nil
	}
	return c.Conn.Write(p)
}

// certificate makes one for 127.0.0.1 and writes it as its own authority.
func certificate(t *testing.T, file string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, form, form, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
