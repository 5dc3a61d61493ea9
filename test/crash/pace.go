package main

import (
	"context"
	"sync"
	"time"
)

// pace says how fast the clock of a run goes: every limit of the gateway and
// every time of a fault is multiplied by it.
type pace struct {
	name  string
	scale float64
}

var (
	fullPace = pace{"full", 1}
	fastPace = pace{"fast", 0.1}
)

// of is a time of the full profile at this pace.
func (p pace) of(d time.Duration) time.Duration { return time.Duration(float64(d) * p.scale) }

// The defaults that limits are derived from.
const (
	firstToken = 4500 * time.Millisecond
	idle       = 10 * time.Second
	reset      = 60 * time.Second
)

// lines are the defaults of the gateway at this pace; the full profile says
// nothing, for its defaults are what is tested.
func (p pace) lines() string {
	if p.scale == 1 {
		return ""
	}
	return "defaults:\n" +
		"  timeouts: {first_token: " + p.of(firstToken).String() + ", idle: " + p.of(idle).String() + "}\n" +
		"  breaker: {window: " + p.of(30*time.Second).String() + ", reset: " + p.of(reset).String() + "}\n" +
		"  retry: {jitter: " + p.of(200*time.Millisecond).String() + "-" + p.of(500*time.Millisecond).String() + "}\n"
}

// gauge measures how late timers of this process fire. On a busy machine no
// limit can be kept better than that, so it is granted on top of each.
type gauge struct {
	mu   sync.Mutex
	late []overshoot
}

type overshoot struct {
	at time.Time
	by time.Duration
}

const gaugeStep = 5 * time.Millisecond

// measure runs until ctx ends.
func (g *gauge) measure(ctx context.Context) {
	for {
		began := time.Now()
		select {
		case <-time.After(gaugeStep):
		case <-ctx.Done():
			return
		}
		if by := time.Since(began) - gaugeStep; by > 2*time.Millisecond {
			g.mu.Lock()
			g.late = append(g.late, overshoot{time.Now(), by})
			g.mu.Unlock()
		}
	}
}

// since is the worst lateness from a moment on.
func (g *gauge) since(t time.Time) (worst time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := len(g.late) - 1; i >= 0 && g.late[i].at.After(t); i-- {
		worst = max(worst, g.late[i].by)
	}
	return worst
}

// rest waits, or until ctx is over.
func rest(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
