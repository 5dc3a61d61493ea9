package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"
)

// many is what thousands of slow streams showed.
type many struct {
	Streams int     `json:"streams"`
	Events  int     `json:"events"`  // of each
	Perfect int     `json:"perfect"` // streams with every event once, in order, and an end
	Odd     string  `json:"odd,omitempty"`
	Direct  float64 `json:"direct_kib"`  // KiB of memory a stream with caller and upstream alone
	Stock   float64 `json:"stock_kib"`   // what it costs more with a stock reverse proxy between them
	Gateway float64 `json:"gateway_kib"` // and with the gateway between them
}

// measureMany opens n streams of one event a second. The process holds caller,
// upstream and gateway; the same streams without the gateway are taken off.
func measureMany(ctx context.Context, n int, last time.Duration) (*many, error) {
	m := &many{Streams: n, Events: int(last / time.Second)}
	h, err := open(setup{pace: fullPace, primary: "limits: {inflight: 0}\n"})
	if err != nil {
		return nil, err
	}
	defer h.close()
	h.primary.play("short", tick(30, time.Second))
	h.primary.play("tick", tick(m.Events, time.Second))
	stock := h.stock()
	defer stock.Close()
	if m.Direct, _, err = h.weigh(ctx, n, "http://"+h.primary.addr, "short"); err != nil {
		return nil, err
	}
	if m.Stock, _, err = h.weigh(ctx, n, stock.URL, "short"); err != nil {
		return nil, err
	}
	var all []ticked
	if m.Gateway, all, err = h.weigh(ctx, n, h.url, "tick"); err != nil {
		return nil, err
	}
	m.Stock, m.Gateway = m.Stock-m.Direct, m.Gateway-m.Direct
	for _, s := range all {
		if s.err == nil && s.disorder == "" && s.events == m.Events && s.finished {
			m.Perfect++
		} else if m.Odd == "" {
			m.Odd = fmt.Sprintf("from %s, %d events, first after %s, %s, end mark %t, %v", s.from, s.events, s.first.Round(time.Millisecond), s.disorder, s.finished, s.err)
		}
	}
	return m, nil
}

// weigh runs n streams and returns the memory of each in KiB.
func (h *gateway) weigh(ctx context.Context, n int, url, model string) (float64, []ticked, error) {
	base, err := calmMemory()
	if err != nil {
		return 0, nil, err
	}
	peak, all := h.manyOf(ctx, n, url, model)
	h.conns.CloseIdleConnections()
	rest(ctx, time.Second)
	return (peak - base) / float64(n), all, nil
}

// manyOf runs n streams that begin over two seconds and returns the highest
// memory of the process while they all run.
func (h *gateway) manyOf(ctx context.Context, n int, url, model string) (peak float64, all []ticked) {
	all = make([]ticked, n)
	over, watched := make(chan struct{}), make(chan float64)
	go func() {
		highest := 0.0
		for {
			select {
			case <-over:
				watched <- highest
				return
			case <-time.After(time.Second):
				if kib, err := memory(); err == nil {
					highest = max(highest, kib)
				}
			}
		}
	}()
	var wait sync.WaitGroup
	for i := range all {
		rest(ctx, 2*time.Second/time.Duration(n))
		wait.Go(func() { all[i] = h.follow(ctx, url, model, 0) })
	}
	wait.Wait()
	close(over)
	return <-watched, all
}

// calmMemory is the memory after everything unused was given back.
func calmMemory() (float64, error) {
	debug.FreeOSMemory()
	return memory()
}

var errMemory = errors.New("the memory of the process is unknown; the figure needs Linux")

// memory is the resident memory of this process in KiB.
func memory() (float64, error) {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, errMemory
	}
	_, rest, ok := bytes.Cut(data, []byte("VmRSS:"))
	line, _, _ := strings.Cut(string(rest), "kB")
	kib, err := strconv.ParseFloat(strings.TrimSpace(line), 64)
	if !ok || err != nil {
		return 0, errMemory
	}
	return kib, nil
}

func (m *many) String() string {
	s := fmt.Sprintf("%d streams of one event a second for %d s: %d perfect; at the peak a stream takes %.1f KiB of caller and upstream, and more with a stock reverse proxy %.1f KiB, with the gateway %.1f KiB, garbage not yet collected included",
		m.Streams, m.Events, m.Perfect, m.Direct, m.Stock, m.Gateway)
	if m.Odd != "" {
		s += "; the first odd one: " + m.Odd
	}
	return s
}
