package mock

import (
	"net"
	"net/http"
	"time"
)

// cut closes the connection in the middle of the answer. In a chunked answer
// it goes in the middle of a chunk, so that nobody can take it for an end.
func (x *exchange) cut() {
	x.flush()
	if x.over() {
		return
	}
	x.ended = EndCut
	conn := x.hijack()
	if conn == nil {
		x.abort = true
		return
	}
	if x.ask.stream && x.opened && x.r.ProtoAtLeast(1, 1) {
		_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
		_, _ = conn.Write(append([]byte("100\r\n"), x.ask.pack.torn...)) // the peer may be gone: the cut stands either way
	}
	_ = conn.Close()
}

// reset kills the connection with a RST.
func (x *exchange) reset() {
	x.ended = EndReset
	conn := x.hijack()
	if conn == nil {
		x.abort = true
		return
	}
	if tcp, ok := bare(conn).(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // close without a lingering queue = RST
	}
	_ = bare(conn).Close()
}

// closing has a connection that was taken over closed with the server. The
// function that it returns closes it before.
func (x *exchange) closing(conn net.Conn) (now func()) {
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-x.s.closed:
		case <-over:
		}
		_ = conn.Close()
	}()
	return func() { close(over); <-ended }
}

// hijack takes the connection over, nil if the server cannot give it away
// (HTTP/2, a recorder).
func (x *exchange) hijack() net.Conn {
	conn, _, err := http.NewResponseController(x.w).Hijack()
	if err != nil {
		return nil
	}
	return conn
}

// bare takes TLS off: a reset happens below it.
func bare(conn net.Conn) net.Conn {
	if wrapped, ok := conn.(interface{ NetConn() net.Conn }); ok {
		return wrapped.NetConn()
	}
	return conn
}
