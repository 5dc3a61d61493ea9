package upstream

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"sync/atomic"
	"time"

	"backstop"
)

const (
	idleLife       = 75 * time.Second
	idlePerHost    = 4096
	maxHeaderBytes = 64 << 10
	// These are enough for a head with a small body, and for several events;
	// larger bodies go past the buffers. Each open stream keeps both of them.
	writeBuffer, readBuffer = 1536, 1024
	// connectGrace lets the engine's own connect clock speak first; the
	// dialer's limit only ends dials that nobody waits for any more.
	connectGrace = 500 * time.Millisecond
)

// way is everything that decides how connections to an upstream are made: two
// upstreams with equal ways can share them.
type way struct {
	scheme, host, proxy, ca string
	allowPrivate            bool
	connect                 time.Duration
}

// pool holds the connections of an upstream: kept ones, and a way to get one
// that was never used before.
type pool struct {
	way         way
	kept, fresh *http.Transport
	owner       atomic.Pointer[Conn]
}

func takePool(c *Conn, u *backstop.Upstream, o *Options) (*pool, error) {
	w := way{
		scheme: c.dest.scheme, host: c.dest.host, proxy: u.Proxy, ca: u.CAFile,
		allowPrivate: u.AllowPrivate, connect: u.Timeouts.Connect,
	}
	if o.Previous != nil && o.Dial == nil && o.Previous.pool.way == w && w.ca == "" {
		return o.Previous.pool, nil // owned by the previous Conn until Own
	}
	p, err := newPool(u.Name, w, o)
	if err != nil {
		return nil, err
	}
	p.owner.Store(c)
	return p, nil
}

func newPool(name string, w way, o *Options) (*pool, error) {
	proxy, err := proxyOf(w)
	if err != nil {
		return nil, fmt.Errorf("upstream %s: %w", name, err)
	}
	roots, err := rootsOf(w.ca)
	if err != nil {
		return nil, fmt.Errorf("upstream %s: %w", name, err)
	}
	connect := w.connect
	if connect <= 0 {
		connect = backstop.DefaultConnect
	}
	connect += connectGrace
	dial := o.Dial
	if dial == nil {
		// A proxy is the operator's own word and stands where it stands.
		dial = newDial(connect, w.allowPrivate, proxy == nil)
	}
	t := &http.Transport{
		DialContext:            dial,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, ClientSessionCache: tls.NewLRUClientSessionCache(64)},
		TLSHandshakeTimeout:    connect,
		DisableCompression:     true,
		MaxIdleConnsPerHost:    idlePerHost,
		IdleConnTimeout:        idleLife,
		MaxResponseHeaderBytes: maxHeaderBytes,
		ReadBufferSize:         readBuffer,
		WriteBufferSize:        writeBuffer,
		ForceAttemptHTTP2:      true,
		HTTP2: &http.HTTP2Config{
			SendPingTimeout: or(o.Ping, 10*time.Second),
			PingTimeout:     or(o.PingTimeout, 5*time.Second),
		},
	}
	if proxy != nil {
		t.Proxy = http.ProxyURL(proxy)
	}
	fresh := t.Clone()
	fresh.DisableKeepAlives = true
	return &pool{way: w, kept: t, fresh: fresh}, nil
}

func (p *pool) close() {
	p.kept.CloseIdleConnections()
	p.fresh.CloseIdleConnections()
}

// proxyOf resolves the proxy setting for the one destination there is.
func proxyOf(w way) (*url.URL, error) {
	switch w.proxy {
	case "off":
		return nil, nil
	case "", "env":
		u, err := http.ProxyFromEnvironment(&http.Request{URL: &url.URL{Scheme: w.scheme, Host: w.host}})
		if err != nil {
			return nil, errors.New("the proxy named in the environment is not a URL: mend HTTPS_PROXY, or set proxy: off")
		}
		return u, nil
	}
	u, err := url.Parse(w.proxy)
	if err != nil || u.Host == "" {
		return nil, errors.New("proxy is not a URL: write http://HOST:PORT, env or off")
	}
	switch u.Scheme {
	case "http", "https", "socks5", "socks5h":
		return u, nil
	}
	return nil, errors.New("proxy needs http://, https:// or socks5:// in front")
}

func rootsOf(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, errors.New("the ca file cannot be read: check its path and rights")
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, errors.New("the ca file holds no certificate in PEM")
	}
	return roots, nil
}

func or(d, instead time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return instead
}
