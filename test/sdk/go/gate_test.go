package sdk

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
)

// gate holds an upstream's stream back after some events until the caller has
// received a keep-alive, so that there is one in every run and on every
// machine.
type gate struct {
	after int // events
	open  chan struct{}
}

type gateKey struct{}

func behind(ctx context.Context, g *gate) context.Context {
	return context.WithValue(ctx, gateKey{}, g)
}

// shut makes the streams of an upstream wait until open is called.
func (r *recorder) shut(upstream string, after int) (open func()) {
	g := &gate{after: after, open: make(chan struct{})}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gates[upstream] = g
	return func() { close(g.open) }
}

func (r *recorder) holdBack(answer *http.Response) error {
	ctx := answer.Request.Context()
	if g, ok := ctx.Value(gateKey{}).(*gate); ok {
		answer.Body = &gated{from: bufio.NewReader(answer.Body), close: answer.Body, ctx: ctx, gate: g}
	}
	return nil
}

// gated reads line by line and stops in front of one event.
type gated struct {
	from   *bufio.Reader
	close  io.Closer
	ctx    context.Context
	gate   *gate
	rest   []byte
	events int
}

func (g *gated) Read(b []byte) (int, error) {
	if len(g.rest) == 0 {
		line, err := g.from.ReadBytes('\n')
		if len(line) == 0 {
			return 0, err
		}
		if g.rest = line; len(bytes.TrimSpace(line)) == 0 {
			g.events++
		}
		if g.events == g.gate.after && len(bytes.TrimSpace(line)) != 0 {
			select {
			case <-g.gate.open:
			case <-g.ctx.Done():
				return 0, g.ctx.Err()
			}
		}
	}
	n := copy(b, g.rest)
	g.rest = g.rest[n:]
	return n, nil
}

func (g *gated) Close() error { return g.close.Close() }
