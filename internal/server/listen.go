package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// Limits on a connection. Bodies and answers have their own clocks.
const (
	headTime  = 10 * time.Second
	idleTime  = 60 * time.Second
	headBytes = 64 << 10
)

// NewHTTP returns an HTTP/1.1 server for small requests and answers: beside the
// limits of every Backstop listener it gives a body time to come and each write
// time to be taken.
func NewHTTP(h http.Handler, log *slog.Logger) *http.Server { return newHTTP(timed(h), log) }

// newHTTP returns an HTTP/1.1 server with the limits of every Backstop
// listener. Its own complaints, which are about the peers' bytes, are logged
// at debug.
func newHTTP(h http.Handler, log *slog.Logger) *http.Server {
	var plain http.Protocols
	plain.SetHTTP1(true)
	return &http.Server{
		Handler:           h,
		Protocols:         &plain,
		ReadHeaderTimeout: headTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    headBytes,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		// "OPTIONS *" goes through the door like everything else.
		DisableGeneralOptionsHandler: true,
	}
}

// Serve answers connections of ln until [Server.Shutdown] or [Server.Close];
// it may run for several listeners. It returns nil after those.
func (s *Server) Serve(ln net.Listener) error {
	err := s.http.Serve(&counted{Listener: ln, gate: &s.conns})
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Shutdown stops listening and waits for the running calls until ctx is done.
func (s *Server) Shutdown(ctx context.Context) error {
	s.streams.close()
	if err := s.http.Shutdown(ctx); err != nil {
		return err
	}
	return s.streams.wait(ctx)
}

// Close drops every connection at once.
func (s *Server) Close() error {
	s.streams.kill()
	return s.http.Close()
}

// Conns is the number of open caller connections.
func (s *Server) Conns() int { return int(s.conns.open.Load()) }

// Shed is the number of connections that were closed at once because there
// were too many.
func (s *Server) Shed() int { return int(s.conns.shed.Load()) }

// gate counts connections.
type gate struct {
	most int64
	open atomic.Int64
	shed atomic.Int64
}

// counted is a listener that bounds its open connections and watches their
// framing. A connection too many is closed rather than queued: callers in the
// queue would look alive and get nothing.
type counted struct {
	net.Listener
	gate *gate
}

func (l *counted) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.gate.open.Add(1) > l.gate.most {
			l.gate.open.Add(-1)
			l.gate.shed.Add(1)
			_ = c.Close()
			continue
		}
		return &framed{Conn: c, gone: func() { l.gate.open.Add(-1) }}, nil
	}
}
