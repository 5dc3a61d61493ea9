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
	Streams  int
	Events   int // of each
	Perfect  int // streams with every event once, in order, and an end
	Odd      string
	Direct   float64 // KiB of memory a stream with caller and upstream alone
	Through  float64 // and with the gateway between them
	Gateway  float64 // the difference: what a stream costs the gateway
	Longest  time.Duration
	Observed time.Duration
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
	h.primary.play("short", tick(15, time.Second))
	h.primary.play("tick", tick(m.Events, time.Second))
	base, err := calmMemory()
	if err != nil {
		return nil, err
	}
	peak, _ := h.manyOf(ctx, n, "http://"+h.primary.addr, "short")
	m.Direct = (peak - base) / float64(n)
	h.conns.CloseIdleConnections()
	rest(ctx, time.Second)
	if base, err = calmMemory(); err != nil {
		return nil, err
	}
	began := time.Now()
	peak, all := h.manyOf(ctx, n, h.url, "tick")
	m.Observed = time.Since(began)
	m.Through = (peak - base) / float64(n)
	m.Gateway = m.Through - m.Direct
	for _, s := range all {
		if s.err == nil && s.disorder == "" && s.events == m.Events && s.finished {
			m.Perfect++
		} else if m.Odd == "" {
			m.Odd = fmt.Sprintf("%d events, %s, end mark %t, %v", s.events, s.disorder, s.finished, s.err)
		}
	}
	return m, nil
}

// manyOf runs n streams that begin over two seconds and returns the highest
// memory of the process while they all run.
func (h *house) manyOf(ctx context.Context, n int, url, model string) (peak float64, all []ticked) {
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
	s := fmt.Sprintf("%d streams of one event a second for %d s: %d perfect; memory a stream %.1f KiB directly, %.1f KiB through the gateway, so %.1f KiB for the gateway",
		m.Streams, m.Events, m.Perfect, m.Direct, m.Through, m.Gateway)
	if m.Odd != "" {
		s += "; the first odd one: " + m.Odd
	}
	return s
}
