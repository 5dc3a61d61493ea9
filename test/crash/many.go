package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// many is what thousands of slow streams showed, over each version of HTTP
// that an upstream may speak.
type many struct {
	Streams int   `json:"streams"`
	Events  int   `json:"events"` // of each
	Over    []way `json:"over"`
}

// way is a version of HTTP between gateway and upstream.
type way struct {
	Name    string  `json:"name"`
	Perfect int     `json:"perfect"` // streams with every event once, in order, and an end
	Odd     string  `json:"odd,omitempty"`
	Gateway float64 `json:"gateway_kib"` // what the gateway's process grows by, KiB a stream
	Stock   float64 `json:"stock_kib"`   // … a stock reverse proxy's
	Bare    float64 `json:"bare_kib"`    // … the least that streams over net/http
}

// measureMany opens n streams of one event a second through a gateway in a
// process of its own, the same through a stock reverse proxy, and the same
// through a handler that only copies.
func measureMany(ctx context.Context, n int, last time.Duration) (*many, error) {
	m := &many{Streams: n, Events: int(last / time.Second)}
	for _, p := range []string{plainHTTP1, secureHTTP2} {
		w, err := measureWay(ctx, p, n, m.Events)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p, err)
		}
		m.Over = append(m.Over, w)
	}
	return m, nil
}

func measureWay(ctx context.Context, version string, n, events int) (w way, err error) {
	w.Name = version
	h, err := open(setup{pace: fullPace})
	if err != nil {
		return w, err
	}
	defer h.close()
	h.primary.play("short", tick(3, time.Second))
	h.primary.play("tick", tick(events, time.Second))
	front, err := h.front(version)
	if err != nil {
		return w, err
	}
	defer front.close()
	if w.Bare, _, err = h.weigh(ctx, n, asBare, front); err != nil {
		return w, err
	}
	if w.Stock, _, err = h.weigh(ctx, n, asStock, front); err != nil {
		return w, err
	}
	var all []ticked
	if w.Gateway, all, err = h.weigh(ctx, n, asGateway, front); err != nil {
		return w, err
	}
	for _, s := range all {
		if s.err == nil && s.disorder == "" && s.events == events && s.finished {
			w.Perfect++
		} else if w.Odd == "" {
			w.Odd = fmt.Sprintf("from %s, %d events, first after %s, %s, end mark %t, %v", s.from, s.events, s.first.Round(time.Millisecond), s.disorder, s.finished, s.err)
		}
	}
	return w, nil
}

// weigh runs n streams through a process of its own and returns the KiB that
// it grows by for each: from after its first streams to its highest.
func (h *gateway) weigh(ctx context.Context, n int, role string, front *front) (float64, []ticked, error) {
	p, err := startProcess(role, front)
	if err != nil {
		return 0, nil, err
	}
	defer p.stop()
	for range 3 {
		warm, cancel := context.WithTimeout(ctx, 3*time.Second)
		_ = h.follow(warm, p.url, "short", 0)
		cancel()
	}
	base, err := p.memory()
	if err != nil {
		return 0, nil, err
	}
	over, watched := make(chan struct{}), make(chan float64)
	go func() {
		highest := 0.0
		for {
			select {
			case <-over:
				watched <- highest
				return
			case <-time.After(time.Second):
				if kib, err := p.memory(); err == nil {
					highest = max(highest, kib)
				}
			}
		}
	}()
	all := h.manyOf(ctx, n, p.url, "tick")
	close(over)
	peak := <-watched
	h.conns.CloseIdleConnections()
	if peak == 0 {
		return 0, nil, errors.New("the process was gone before its memory was read")
	}
	return (peak - base) / float64(n), all, nil
}

// manyOf runs n streams that begin over two seconds.
func (h *gateway) manyOf(ctx context.Context, n int, url, model string) []ticked {
	all := make([]ticked, n)
	var wait sync.WaitGroup
	for i := range all {
		rest(ctx, 2*time.Second/time.Duration(n))
		wait.Go(func() { all[i] = h.follow(ctx, url, model, 0) })
	}
	wait.Wait()
	return all
}

func (m *many) String() string {
	s := fmt.Sprintf("%d streams of one event a second for %d s, the gateway in a process of its own, garbage not yet collected included", m.Streams, m.Events)
	for _, w := range m.Over {
		s += fmt.Sprintf("\n  %s upstream: %d perfect; a stream takes %.1f KiB, with a stock reverse proxy %.1f KiB, with a handler that only copies %.1f KiB", w.Name, w.Perfect, w.Gateway, w.Stock, w.Bare)
		if w.Odd != "" {
			s += "; the first odd one: " + w.Odd
		}
	}
	return s
}
