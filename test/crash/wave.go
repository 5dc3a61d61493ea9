package main

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// crowd is what many calls at once got.
type crowd struct {
	mu            sync.Mutex
	calls, whole  int
	hung, untyped int
	slow, slower  int // over 2.5 s and over 4 s, at the pace
	longest       time.Duration
	worst         *answer // the last one that was not whole
	lied          bool    // a success with another text
}

// send makes calls of a kind, one every gap, and waits for all.
func (h *gateway) send(ctx context.Context, n int, every time.Duration, q question, text string) *crowd {
	c := &crowd{}
	var wait sync.WaitGroup
	began := time.Now()
	for i := range n {
		rest(ctx, time.Until(began.Add(time.Duration(i)*every)))
		wait.Go(func() { c.add(h.ask(ctx, h.url, q, 30*time.Second), h.pace, text) })
	}
	wait.Wait()
	return c
}

func (c *crowd) add(a *answer, p pace, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
	c.longest = max(c.longest, a.took)
	switch {
	case a.whole(text):
		c.whole++
	case a.hung:
		c.hung++
	case a.success():
		c.lied = true
	case !a.typed():
		c.untyped++
	}
	if !a.whole(text) {
		c.worst = a
	}
	if a.took > p.of(2500*time.Millisecond) {
		c.slow++
	}
	if a.took > p.of(4*time.Second) {
		c.slower++
	}
}

// join adds what another crowd got.
func (c *crowd) join(o *crowd) {
	c.calls, c.whole, c.hung, c.untyped = c.calls+o.calls, c.whole+o.whole, c.hung+o.hung, c.untyped+o.untyped
	c.longest, c.lied = max(c.longest, o.longest), c.lied || o.lied
	if o.worst != nil {
		c.worst = o.worst
	}
}

// into makes the crowd the outcome of a trial.
func (c *crowd) into(t *trial) {
	t.rescued, t.typed, t.shown = c.whole == c.calls, c.untyped+c.hung == 0, c.longest
	t.detail = fmt.Sprintf("%d of %d answered, the slowest after %.2f s", c.whole, c.calls, c.longest.Seconds())
	if c.worst != nil {
		t.detail += "; " + c.worst.String()
	}
	if c.lied {
		t.lied = "a success with another text"
	}
	t.must("nothing hangs", c.hung == 0, "%d calls", c.hung)
}

// flood is X03: 50 calls a second on a cold gateway whose primary says nothing.
func flood(p pace) scenario {
	return scenario{id: "X03", title: "50 calls a second, silence", fault: "hang", heavy: true, run: func(ctx context.Context, t *trial) error {
		h, err := open(setup{pace: p, gap: time.Microsecond})
		if err != nil {
			return err
		}
		defer h.close()
		text, err := h.text(ctx, "X03 asks.")
		if err != nil {
			return err
		}
		h.primary.arm("m", "hang", armed{})
		calls := 500
		if p.scale != 1 {
			calls = 150 // the rate stays: ten times as many a second would be another test
		}
		c := h.send(ctx, calls, 20*time.Millisecond, question{model: "m", prompt: "X03 asks."}, text)
		c.into(t)
		t.primary, t.backup = len(h.primary.sightings("X03", "")), len(h.backup.sightings("X03", ""))
		if p.scale == 1 {
			t.must("at most 25 of 500 wait over 4 s", c.slower <= 25, "%d", c.slower)
			t.must("at most 125 of 500 wait over 2.5 s", c.slow <= 125, "%d", c.slow)
		}
		per := float64(t.primary+t.backup) / float64(calls)
		t.must("at most 1.35 requests a call", per <= 1.35, "%.3f", per)
		t.detail += fmt.Sprintf("; %d over 2.5 s, %d over 4 s, %.2f requests a call", c.slow, c.slower, per)
		return nil
	}}
}

// herd is X09: fifty callers meet one 429 that names two seconds.
func herd(p pace) scenario {
	return scenario{id: "X09", title: "429 on a herd", fault: "429:retry-after=2", run: func(ctx context.Context, t *trial) error {
		h, err := open(setup{pace: p})
		if err != nil {
			return err
		}
		defer h.close()
		text, err := h.text(ctx, "X09 asks.")
		if err != nil {
			return err
		}
		const callers, named = 50, 2 * time.Second
		h.primary.arm("m", "429:retry-after=2", armed{})
		q := question{model: "m", prompt: "X09 asks."}
		began := time.Now()
		first := h.send(ctx, callers, 0, q, text)
		struck := len(h.primary.sightings("X09", ""))
		second := h.send(ctx, callers, 0, q, text)
		parked := len(h.primary.sightings("X09", "")) - struck
		h.primary.disarm("m")
		last := h.primary.sightings("X09", "")[struck-1].at
		rest(ctx, time.Until(last.Add(named+100*time.Millisecond)))
		third := h.send(ctx, callers, 0, q, text)
		rest(ctx, 100*time.Millisecond)
		back := h.ask(ctx, h.url, q, 10*time.Second)
		first.join(second)
		first.join(third)
		first.into(t)
		t.must("the first wave asks the primary once each at most", struck <= callers, "%d", struck)
		t.must("while the time runs nobody asks it", parked == 0, "%d", parked)
		t.must("afterwards it is used again", back.by() == "m", "%s", back)
		t.within("nobody waits for it", first.longest, 2500*time.Millisecond)
		t.shown = time.Since(began)
		t.primary, t.backup = len(h.primary.sightings("X09", "")), len(h.backup.sightings("X09", ""))
		return nil
	}}
}

// hungProbe is X04: the primary is down, then it takes calls and says nothing,
// the probe's included. No caller may feel it, and it must be found well.
func hungProbe(p pace) scenario {
	return scenario{id: "X04", title: "the probe hangs", fault: "503, then hang", run: func(ctx context.Context, t *trial) error {
		h, err := open(setup{pace: p})
		if err != nil {
			return err
		}
		defer h.close()
		text, err := h.text(ctx, "X04 asks.")
		if err != nil {
			return err
		}
		q := question{model: "m", prompt: "X04 asks."}
		h.primary.arm("m", "503", armed{})
		c := h.send(ctx, 10, p.of(100*time.Millisecond), q, text)
		h.primary.arm("m", "hang", armed{})
		before := len(h.primary.sightings("X04", ""))
		hung := h.send(ctx, 40, p.of(300*time.Millisecond), q, text) // 12 s: the probe begins, hangs, and its lease ends
		struck, probes := len(h.primary.sightings("X04", ""))-before, len(h.primary.probes("m"))
		h.primary.disarm("m")
		began, back := time.Now(), time.Duration(0)
		for back == 0 && time.Since(began) < p.of(40*time.Second) {
			a := h.ask(ctx, h.url, q, 30*time.Second)
			c.add(a, p, text)
			if a.by() == "m" {
				back = time.Since(began)
			}
			rest(ctx, p.of(200*time.Millisecond))
		}
		c.join(hung)
		c.into(t)
		t.must("a probe was sent and hung", probes > 0, "%d", probes)
		t.must("no caller met the silent primary", struck == 0, "%d", struck)
		t.within("no caller waited", hung.longest, 1500*time.Millisecond)
		t.must("traffic returns", back > 0, "after %.1f s", back.Seconds())
		t.detail += fmt.Sprintf("; back %.1f s after the hang", back.Seconds())
		t.primary, t.backup = len(h.primary.sightings("X04", "")), len(h.backup.sightings("X04", ""))
		return nil
	}}
}
