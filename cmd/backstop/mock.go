package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"backstop/mock"
)

type mockCmd struct {
	Listen string        `default:"127.0.0.1:8401" placeholder:"ADDR" help:"Address to listen on."`
	Fault  []string      `placeholder:"MODEL=FAULT" help:"Tie a fault to a model name; '*' is every model. May be repeated."`
	Delay  time.Duration `help:"Time before the first token of an answer."`
	Gap    time.Duration `help:"Time between two tokens."`
	Tokens int           `help:"Tokens of a healthy answer (default 48)."`
	Seed   uint64        `help:"Moves the text of every answer and every draw."`
}

func (c *mockCmd) Run(s *streams) error {
	faults := map[string]string{}
	for _, f := range c.Fault {
		model, fault, ok := strings.Cut(f, "=")
		if !ok {
			return failf(exitUsage, "--fault %q: write MODEL=FAULT, for example '*=hang'", f)
		}
		if _, err := mock.Parse(fault); err != nil {
			return failf(exitUsage, "--fault %s: %s", model, err)
		}
		faults[model] = fault
	}
	m := mock.New(mock.Options{Seed: c.Seed, Faults: faults, Delay: c.Delay, Gap: c.Gap, Tokens: c.Tokens})
	ln, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return busy("mock", c.Listen, "--listen", err)
	}
	ctx, stop := signal.NotifyContext(s.ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	fmt.Fprintf(s.out, "mock upstream on http://%s/v1: the model name picks the fault (ok, hang, 429:retry-after=2, cut@40, ...)\n", ln.Addr())
	return serveHTTP(ctx, ln, m)
}

// serveHTTP serves until ctx ends; open connections are then dropped, because
// a mock's answers may hang for ever.
func serveHTTP(ctx context.Context, ln net.Listener, h http.Handler) error {
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	over := make(chan error, 1)
	go func() { over <- srv.Serve(ln) }()
	select {
	case err := <-over:
		return err
	case <-ctx.Done():
	}
	_ = srv.Close()
	if err := <-over; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// busy explains a listener that could not be opened.
func busy(what, addr, flag string, err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return failf(exitFailed, "%s cannot listen on %s: the port is in use; choose another with %s", what, addr, flag)
	}
	return failf(exitFailed, "%s cannot listen on %s: %s; choose another address with %s", what, addr, plainReason(err), flag)
}

func plainReason(err error) string {
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		return op.Err.Error()
	}
	return err.Error()
}
