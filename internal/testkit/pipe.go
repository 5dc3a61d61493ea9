package testkit

import (
	"context"
	"net"
	"sync"
)

// Pipe is a network of one listener in memory. It touches no socket, so
// goroutines that wait on it count as idle inside a testing/synctest bubble
// and virtual time goes on. Make it inside the bubble that uses it.
//
// It is a net.Listener for a server; its DialContext fits http.Transport.
type Pipe struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// NewPipe returns an open network.
func NewPipe() *Pipe {
	return &Pipe{conns: make(chan net.Conn), closed: make(chan struct{})}
}

// DialContext connects to the listener, whatever the address says. It waits
// for an Accept until ctx is over or the listener is closed.
func (p *Pipe) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	var err error
	select {
	case p.conns <- far:
		return near, nil
	case <-p.closed:
		err = net.ErrClosed
	case <-ctx.Done():
		err = ctx.Err()
	}
	near.Close()
	far.Close()
	return nil, &net.OpError{Op: "dial", Net: "pipe", Err: err}
}

// Accept implements net.Listener.
func (p *Pipe) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, &net.OpError{Op: "accept", Net: "pipe", Err: net.ErrClosed}
	}
}

// Close implements net.Listener. Connections that stand stay open.
func (p *Pipe) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

// Addr implements net.Listener.
func (p *Pipe) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "pipe" }
