package main

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"backstop/internal/load"
)

// progress is one line on a terminal that is written over and over; elsewhere
// it is silent.
type progress struct {
	w    io.Writer // nil = silent
	long int
}

func newProgress(w io.Writer) *progress {
	if !isTerminal(w) {
		w = nil
	}
	return &progress{w: w}
}

// say replaces the line.
func (p *progress) say(form string, args ...any) {
	if p.w == nil {
		return
	}
	line := fmt.Sprintf(form, args...)
	fmt.Fprintf(p.w, "\r%-*s", p.long, line)
	p.long = len(line)
}

// clear takes the line away before something else is printed.
func (p *progress) clear() {
	if p.w != nil && p.long > 0 {
		fmt.Fprintf(p.w, "\r%*s\r", p.long, "")
		p.long = 0
	}
}

// during writes what goes on and for how long until the returned function is
// called, which waits for the last write.
func (p *progress) during(what string) (stop func()) {
	if p.w == nil {
		return func() {}
	}
	over, done := make(chan struct{}), make(chan struct{})
	began := time.Now()
	go func() {
		defer close(done)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				p.say("%s, %.0f s", what, time.Since(began).Seconds())
			case <-over:
				p.clear()
				return
			}
		}
	}()
	return sync.OnceFunc(func() { close(over); <-done })
}

// watched sends load and shows on a terminal how far it is.
func watched(ctx context.Context, s *streams, what string, o load.Options) (*load.Report, error) {
	p := newProgress(s.err)
	all, done, last := o.Count, 0, time.Time{}
	if all <= 0 {
		all = int(o.Rate * o.Duration.Seconds())
	}
	before := o.Each
	o.Each = func(x load.Sample) { // one at a time
		if before != nil {
			before(x)
		}
		done++
		if now := time.Now(); now.Sub(last) > 200*time.Millisecond {
			last = now
			p.say("%s: %d of %d calls answered", what, done, all)
		}
	}
	r, err := load.Run(ctx, o)
	p.clear()
	return r, err
}
