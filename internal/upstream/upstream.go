// Package upstream carries requests to one configured upstream and nowhere
// else. Destination, credential and framing come from the plan; of a caller's
// request only the body that a dialect room made and a fixed list of headers
// go out.
//
// Stability: internal.
package upstream

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"time"

	"backstop"
	"backstop/wire"
)

// Options are the knobs of a Conn that a plan does not hold.
type Options struct {
	// Dial replaces the dialer together with its guard; tests use it.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Previous hands over its pooled connections if they still lead to the
	// same place in the same way. It stays usable for calls in flight.
	Previous *Conn
	// Ping and PingTimeout find dead HTTP/2 connections: a connection that was
	// silent for Ping is asked, and closed without an answer in PingTimeout.
	// Zero means 10 s and 5 s.
	Ping, PingTimeout time.Duration
}

// Conn is the way to one upstream: a pool of connections and everything of a
// request that is the same each time. It is safe for concurrent use.
type Conn struct {
	upstream *backstop.Upstream
	dest     destination
	headers  *headers
	pool     *pool
	rekeying
}

// New prepares the way to u. It fails on a base URL, header, proxy or CA file
// that can never work; the text of the error names the setting, never a key.
func New(u *backstop.Upstream, o Options) (*Conn, error) {
	t, err := newDestination(u)
	if err != nil {
		return nil, err
	}
	h, err := newHeaders(u)
	if err != nil {
		return nil, err
	}
	c := &Conn{upstream: u, dest: t, headers: h}
	if c.pool, err = takePool(c, u, &o); err != nil {
		return nil, err
	}
	return c, nil
}

// Own makes c responsible for connections that it shares with a previous
// Conn. It is called once the new plan is in force.
func (c *Conn) Own() { c.pool.owner.Store(c) }

// Close closes idle connections, unless a later Conn owns them.
func (c *Conn) Close() {
	if c.pool.owner.Load() == c {
		c.pool.close()
	}
}

// Call is one request to the upstream.
type Call struct {
	Outbound wire.Outbound
	Key      int         // index into the upstream's keys, -1 = no credential
	Header   http.Header // the caller's headers, of which few are passed on; may be nil
	Dialed   func()      // called once a connection stands, fresh or pooled; may be nil

	replayed atomic.Int32
}

// Replayed counts transparent replays after a pooled connection turned out to
// be dead. It may be asked while Do runs.
func (c *Call) Replayed() int { return int(c.replayed.Load()) }

// Do sends the request and returns the answer once its headers are here. The
// caller closes the body; canceling ctx ends a blocked read of it.
//
// A pooled connection that dies without a byte of an answer is the pool's
// matter: the request is sent once more on a fresh one. Errors are to be judged
// with [Classify]; their text may name hosts and is not for callers.
func (c *Conn) Do(ctx context.Context, call *Call) (*http.Response, error) {
	url, err := c.dest.url(call.Outbound.Path)
	if err != nil {
		return nil, err
	}
	req := &http.Request{
		Method: http.MethodPost, URL: url, Host: c.dest.host,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: c.headers.build(call), ContentLength: int64(len(call.Outbound.Body)),
	}
	e := exchange{dialed: call.Dialed}
	resp, err := e.send(ctx, c.pool.kept, req, call.Outbound.Body)
	if err != nil && e.dead(ctx, err) {
		call.replayed.Add(1)
		again := exchange{dialed: call.Dialed}
		resp, err = again.send(ctx, c.pool.fresh, req, call.Outbound.Body)
	}
	if err != nil {
		return nil, err
	}
	if err := inflate(resp); err != nil {
		_ = resp.Body.Close()
		return nil, err
	}
	return resp, nil
}

// exchange watches one sending of a request.
type exchange struct {
	dialed   func()
	reused   bool
	answered atomic.Bool
	body     bytes.Reader
}

func (e *exchange) send(ctx context.Context, t http.RoundTripper, req *http.Request, body []byte) (*http.Response, error) {
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn:              e.gotConn,
		GotFirstResponseByte: e.gotByte,
		WroteRequest:         e.wrote,
	})
	r := req.WithContext(traced)
	// A type that the transport knows to be in memory: head and body leave in
	// one write.
	e.body.Reset(body)
	r.Body = io.NopCloser(&e.body)
	// GetBody stays nil: it would let the transport replay on its own terms,
	// without our count.
	return t.RoundTrip(r)
}

func (e *exchange) gotConn(info httptrace.GotConnInfo) {
	e.reused = info.Reused
	if e.dialed != nil {
		e.dialed()
	}
}

func (e *exchange) gotByte() { e.answered.Store(true) }

// wrote lets go of a body that is sent: the transport holds its request until
// the last byte of the answer, which may be many minutes and a long prompt.
func (e *exchange) wrote(info httptrace.WroteRequestInfo) {
	if info.Err == nil {
		e.body.Reset(nil)
	}
}

// dead reports whether the sending failed because a pooled connection was no
// longer one. HTTP/2 streams that the upstream ended on a living connection
// are its answer, unless it says that it never looked at them.
func (e *exchange) dead(ctx context.Context, err error) bool {
	if !e.reused || e.answered.Load() || ctx.Err() != nil {
		return false
	}
	text := err.Error()
	return !strings.HasPrefix(text, "stream error:") || strings.Contains(text, "REFUSED_STREAM")
}
