package server

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// streams are the hijacked connections of a server: those with an answer under
// way, and those that wait for their next request. The zero value has none.
type streams struct {
	mu      sync.Mutex
	resting map[*hijacked]bool // all of them; true: waits for a request
	closing bool               // no request follows on any
	killed  bool
	pieces  sync.Pool     // buffers: each is an answer's from a write to its flush
	empty   chan struct{} // is closed when the last one is gone; nil = nobody waits
}

// enter is called before a connection is taken from net/http, so that it is
// always known to one of the two.
func (s *streams) enter(h *hijacked) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.resting == nil {
		s.resting = map[*hijacked]bool{}
	}
	s.resting[h] = false
}

func (s *streams) took(h *hijacked, conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h.conn = conn; s.killed {
		_ = conn.Close()
	}
}

// rest notes that an answer is over, and reports whether it was to be the last.
func (s *streams) rest(h *hijacked) (last bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resting[h] = true
	return s.closing
}

func (s *streams) forget(h *hijacked) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.resting, h)
	if len(s.resting) == 0 && s.empty != nil {
		close(s.empty)
		s.empty = nil
	}
}

// close closes the connections that wait for a request, and those with an
// answer at its end.
func (s *streams) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closing = true
	for h, rests := range s.resting {
		if rests {
			_ = h.conn.Close()
		}
	}
}

// wait waits for the last connection until ctx is done.
func (s *streams) wait(ctx context.Context) error {
	s.mu.Lock()
	if len(s.resting) > 0 && s.empty == nil {
		s.empty = make(chan struct{})
	}
	empty := s.empty
	s.mu.Unlock()
	if empty == nil {
		return nil
	}
	select {
	case <-empty:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// kill closes all connections.
func (s *streams) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closing, s.killed = true, true
	for h := range s.resting {
		if h.conn != nil {
			_ = h.conn.Close()
		}
	}
}

// resume gives a connection to net/http, with what was read of its next
// request.
func (s *Server) resume(conn *framed, first []byte) {
	conn.first = first
	one := &single{conn: conn}
	if err := s.http.Serve(one); err == http.ErrServerClosed && one.conn != nil {
		_ = conn.Close() // it was not taken any more
	}
}

// single is a listener that accepts one connection and is closed.
type single struct{ conn net.Conn }

// Accept implements net.Listener.
func (l *single) Accept() (net.Conn, error) {
	c := l.conn
	if l.conn = nil; c == nil {
		return nil, net.ErrClosed
	}
	return c, nil
}

// Close implements net.Listener.
func (l *single) Close() error { return nil }

// Addr implements net.Listener.
func (l *single) Addr() net.Addr { return nil }
