package main

import (
	"fmt"
	"sync"
	"time"

	"backstop/internal/load"
)

// ticker prints what came back in each second of a scene.
type ticker struct {
	*demo
	scene scene
	from  time.Time
	at    *int // seconds since the start of the demo

	mu   sync.Mutex
	now  load.Samples
	once sync.Once
	end  chan struct{}
}

func (t *ticker) done() chan struct{} {
	t.once.Do(func() { t.end = make(chan struct{}) })
	return t.end
}

func (t *ticker) add(s load.Sample) {
	t.mu.Lock()
	t.now = append(t.now, s)
	t.mu.Unlock()
}

// run prints a line a second until over is closed.
func (t *ticker) run(over <-chan struct{}) {
	defer close(t.done())
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			*t.at++
			t.print()
		case <-over:
			t.mu.Lock()
			rest := len(t.now)
			t.mu.Unlock()
			if rest > 0 {
				*t.at++
				t.print()
			}
			return
		}
	}
}

func (t *ticker) print() { t.row(t.breaker()) }

// demoHead names the columns of [ticker.row].
const demoHead = "  time  primary is        calls   200  primary backup  local        p50      p99  breaker"

func (t *ticker) row(breaker string) {
	t.mu.Lock()
	s := t.now
	t.now = nil
	t.mu.Unlock()
	tiers, l := s.Tiers(), s.Latency()
	fmt.Fprintf(t.out, "%4d s  %-16s %6d %5d  %7d %6d %6d %10s %8s  %s\n", *t.at, t.scene.name, len(s), s.Good(),
		tiers["primary"], tiers["backup"], tiers["local"], shortLatency(l.P50), shortLatency(l.P99), breaker)
}

// shortLatency writes a latency in few digits, without making nothing of a short one.
func shortLatency(d time.Duration) string {
	switch {
	case d <= 0:
		return "-" // nothing was measured
	case d < 999500*time.Nanosecond:
		return fmt.Sprintf("%.0f µs", max(float64(d)/1e3, 1))
	case d < 9950*time.Microsecond:
		return fmt.Sprintf("%.1f ms", float64(d)/1e6)
	}
	return fmt.Sprintf("%.0f ms", float64(d)/1e6)
}

// breaker is the state of the primary's worst breaker.
func (t *ticker) breaker() string {
	worst, note := "closed", ""
	for _, u := range t.stage.app.State().Upstreams {
		if u.Name != "primary" {
			continue
		}
		for _, s := range u.Scopes {
			if s.State != "closed" {
				worst = s.State
			}
		}
		if len(u.Parked) > 0 {
			note = ", key parked"
		}
	}
	return worst + note
}

// judge says what a scene had to show.
func (d *demo) judge(sc scene, r *load.Report, since time.Time) load.Verdict {
	l := r.Samples
	v := load.Verdict{{What: sc.name + ": calls answered with HTTP 200", Want: "100 %", Got: fmt.Sprintf("%d of %d", l.Good(), len(l)), OK: l.Good() == len(l)}}
	line := func(what, want, got string, ok bool) {
		v = append(v, load.Line{What: sc.name + ": " + what, Want: want, Got: got, OK: ok})
	}
	switch sc.fault {
	case "hang":
		slow, half := l.Slower(4*time.Second), l.Slower(2500*time.Millisecond)
		line("slower than 4 s", "<= 25", fmt.Sprint(slow), slow <= 25)
		line("slower than 2.5 s", "<= 125", fmt.Sprint(half), half <= 125)
		open := l.Between(5*time.Second, 0)
		p := open.Latency().P99
		// A call that still waits for the primary takes 2 s and more; a slow
		// laptop with a browser open takes 300 ms.
		line("p99 once the breaker is open (backup needs ~90 ms)", "< 1 s", millis(p), p < time.Second)
	case "ok":
		if sc.name == "recovery" {
			n := l.Between(time.Duration(sc.secs-1)*time.Second, 0).Tier("primary")
			line("back on the primary in the last second", ">= 95 %", fmt.Sprintf("%.0f %%", 100*n), n >= 0.95)
		}
	case "429:retry-after=2":
		calls, _ := seen(d.stage.primary, since)
		line("requests to the limited primary", "<= 20", fmt.Sprint(calls), calls <= 20)
	}
	return v
}
