package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"syscall"
	"time"
)

// Limits on a connection. Bodies and answers have their own clocks.
const (
	headTime  = 10 * time.Second
	idleTime  = 60 * time.Second
	headBytes = 64 << 10
)

// NewHTTP returns an HTTP/1.1 server with the limits of every Backstop
// listener. Its own complaints, which are about the peers' bytes, are logged
// at debug.
func NewHTTP(h http.Handler, log *slog.Logger) *http.Server {
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

// Listen opens the listeners of an address. The host "localhost" means both
// loopback addresses on one port; that one of them is missing on a machine is
// no error. Port 0 takes a free port.
func Listen(ctx context.Context, addr string) ([]net.Listener, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("listen address %q: use host:port or :port", addr)
	}
	if host != "localhost" {
		ln, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
		if err != nil {
			return nil, err
		}
		return []net.Listener{ln}, nil
	}
	for try := 0; ; try++ {
		lns, err := listenBoth(ctx, port)
		// A free port of one family may be taken in the other.
		if err == nil || port != "0" || try == 9 {
			return lns, err
		}
	}
}

func listenBoth(ctx context.Context, port string) ([]net.Listener, error) {
	var lc net.ListenConfig
	four, err4 := lc.Listen(ctx, "tcp4", net.JoinHostPort("127.0.0.1", port))
	if err4 == nil {
		_, port, _ = net.SplitHostPort(four.Addr().String())
	}
	six, err6 := lc.Listen(ctx, "tcp6", net.JoinHostPort("::1", port))
	switch {
	case err4 == nil && err6 == nil:
		return []net.Listener{four, six}, nil
	case err4 == nil && !taken(err6):
		return []net.Listener{four}, nil
	case err6 == nil && !taken(err4):
		return []net.Listener{six}, nil
	}
	for _, ln := range []net.Listener{four, six} {
		if ln != nil {
			_ = ln.Close()
		}
	}
	if err4 != nil {
		return nil, err4
	}
	return nil, err6
}

// taken tells a port that somebody else holds from an address family that the
// machine lacks.
func taken(err error) bool {
	const windowsInUse = syscall.Errno(10048)
	var number syscall.Errno
	return errors.As(err, &number) && (number == syscall.EADDRINUSE || number == windowsInUse)
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
func (s *Server) Shutdown(ctx context.Context) error { return s.http.Shutdown(ctx) }

// Close drops every connection at once.
func (s *Server) Close() error { return s.http.Close() }

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
