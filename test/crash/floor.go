package main

import (
	"bytes"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
)

// What others in the gateway's place cost on this machine: the reverse proxy of
// the standard library, and the least that could stand there, which is a relay
// that knows nothing of HTTP, for time, and a handler that only copies, for
// memory. No gateway on net/http can be below them.

// relay passes bytes on between its callers and one address.
type relay struct {
	listener net.Listener
	wait     sync.WaitGroup
}

func newRelay(to string) (*relay, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &relay{listener: l}
	r.wait.Go(func() {
		for {
			caller, err := l.Accept()
			if err != nil {
				return
			}
			r.wait.Go(func() { r.join(caller, to) })
		}
	})
	return r, nil
}

// join ends when either side does. The copies are plain reads and writes, so
// that no call of the kernel moves the bytes on its own.
func (r *relay) join(caller net.Conn, to string) {
	defer caller.Close()
	upstream, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	r.wait.Go(func() { pour(upstream, caller) })
	pour(caller, upstream)
}

func pour(to, from net.Conn) {
	defer to.Close()
	_, _ = io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{from}, make([]byte, 4<<10))
}

// close waits for the connections, which end with their callers'.
func (r *relay) close() {
	_ = r.listener.Close()
	r.wait.Wait()
}

// bare is the least handler that streams: it reads the request, and copies the
// answer piece by piece through buffers of the gateway's sizes.
func bare(to *url.URL, transport *http.Transport) http.Handler {
	transport.ReadBufferSize, transport.WriteBufferSize = 1<<10, 3<<9
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		q, err := http.NewRequestWithContext(r.Context(), r.Method, to.JoinPath(r.URL.Path).String(), bytes.NewReader(body))
		if err != nil {
			return
		}
		resp, err := transport.RoundTrip(q)
		if err != nil {
			return
		}
		defer resp.Body.Close()
		w.Header().Set("Content-Type", "text/event-stream")
		out, piece := http.NewResponseController(w), make([]byte, 512)
		for err == nil {
			var n int
			n, err = resp.Body.Read(piece)
			_, _ = w.Write(piece[:n])
			_ = out.Flush()
		}
	})
}

// stock is a reverse proxy of the standard library. It is handed whole request
// bodies: a server that begins to answer before the transport has seen the end
// of one closes the body under its hands.
func stock(to *url.URL, transport *http.Transport) http.Handler {
	proxy := &httputil.ReverseProxy{
		FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0), Transport: transport,
		Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(to) },
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	})
}
