package main

import (
	"context"
	"fmt"
	"time"
)

// beyond is what the benchmark leaves out; each scenario has a gateway of its
// own.
func beyond(p pace) []scenario {
	ping := "keepalive:" + p.of(time.Second).String()
	return []scenario{
		p.calls("X01", "keep-alive comments only", "keepalive", []expected{
			{ping, true, 6 * time.Second}, {ping, false, 6 * time.Second},
		}),
		dripping(p),
		flood(p),
		hungProbe(p),
		leaving(p),
		allDead(p),
		p.calls("X07", "an error inside a 200", "error-in-200", []expected{
			{"error-in-200", true, 3 * time.Second}, {"error-in-200", false, 3 * time.Second}, {"error-first", true, 3 * time.Second},
		}),
		p.calls("X08", "a 200 with nothing in it", "empty", []expected{
			{"empty", true, 3 * time.Second}, {"empty", false, 3 * time.Second}, {"role-only", true, 6 * time.Second}, {"html", false, 3 * time.Second},
		}),
		herd(p),
	}
}

// expected is a call that must be answered whole by the backup, after one
// request at the primary.
type expected struct {
	fault  string
	stream bool
	limit  time.Duration
}

// calls makes a scenario of independent calls on one gateway.
func (p pace) calls(id, title, fault string, list []expected) scenario {
	return scenario{id: id, title: title, fault: fault, run: func(ctx context.Context, t *trial) error {
		h, err := open(setup{pace: p})
		if err != nil {
			return err
		}
		defer h.close()
		whole := 0
		for i, e := range list {
			tag := fmt.Sprintf("%s-%d", id, i)
			model := fmt.Sprintf("m%d", i)
			text, err := h.text(ctx, tag+" asks.")
			if err != nil {
				return err
			}
			h.primary.arm(model, e.fault, armed{})
			a := h.ask(ctx, h.url, question{model: model, prompt: tag + " asks.", plain: !e.stream}, 45*time.Second)
			t.got(a, text)
			if a.whole(text) {
				whole++
			}
			kind := map[bool]string{true: "stream", false: "plain"}[e.stream]
			t.within(e.fault+", "+kind+": in time", a.took, e.limit)
			t.must(e.fault+", "+kind+": the primary is asked at most twice", len(h.primary.sightings(tag, "")) <= 2, "%d", len(h.primary.sightings(tag, "")))
			t.primary += len(h.primary.sightings(tag, ""))
			t.backup += len(h.backup.sightings(tag, ""))
		}
		t.rescued = whole == len(list)
		t.detail = fmt.Sprintf("%d of %d answered whole", whole, len(list))
		return nil
	}}
}

// dripping is X02: the floor that an operator may set ends a stream that
// drips, and without one a slow stream is left alone.
func dripping(p pace) scenario {
	return scenario{id: "X02", title: "a token now and then", fault: "drip", run: func(ctx context.Context, t *trial) error {
		h, err := open(setup{pace: p, gap: time.Millisecond, primary: "timeouts: {drip: 40}\n"})
		if err != nil {
			return err
		}
		defer h.close()
		calm, err := open(setup{pace: p, gap: time.Millisecond})
		if err != nil {
			return err
		}
		defer calm.close()
		left := make(chan *answer, 1)
		const few = 18
		calm.primary.arm("slow", "drip:"+p.of(time.Second).String(), armed{})
		go func() {
			left <- calm.ask(ctx, calm.url, question{model: "slow", prompt: "X02 asks slowly.", most: few}, time.Minute)
		}()
		text, err := h.text(ctx, "X02 asks.")
		if err != nil {
			return err
		}
		h.primary.arm("m", "drip:400ms", armed{})
		a := h.ask(ctx, h.url, question{model: "m", prompt: "X02 asks."}, 45*time.Second)
		t.got(a, text)
		t.must("below the floor for ten seconds: taken over", a.took <= 12*time.Second+t.slack(), "%.1f s", a.took.Seconds())
		b := <-left
		t.must("without a floor it is left alone", b.finish == "length" && b.by() == "slow" && b.code == "", "%s after %.1f s", b, b.took.Seconds())
		t.primary, t.backup = len(h.primary.sightings("X02", "")), len(h.backup.sightings("X02", ""))
		return nil
	}}
}

// leaving is X05: the caller goes away in every phase; the upstream is let go
// at once and nobody else is asked.
func leaving(p pace) scenario {
	return scenario{id: "X05", title: "the caller leaves", fault: "hang, drip, stall", run: func(ctx context.Context, t *trial) error {
		h, err := open(setup{pace: p})
		if err != nil {
			return err
		}
		defer h.close()
		for _, c := range []struct {
			name, fault string
			tokens      int
			plain       bool
		}{
			{"before a header", "hang", 0, false},
			{"before a header, plain", "hang", 0, true},
			{"between tokens", "drip:" + p.of(time.Second).String(), 2, false},
			{"in silence after tokens", "stall@5", 0, false},
		} {
			h.primary.arm(c.name, c.fault, armed{})
			tag := "X05" + c.fault
			leave, cancel := context.WithCancel(ctx)
			if c.tokens == 0 {
				time.AfterFunc(p.of(2*time.Second), cancel)
			}
			a := h.ask(leave, h.url, question{model: c.name, prompt: tag + " asks.", plain: c.plain, leave: c.tokens}, 30*time.Second)
			cancel()
			seen := h.let(ctx, c.name)
			t.must(c.name+": the upstream is let go within a second", !seen.ended.IsZero() && seen.ended.Sub(a.ended) <= time.Second, "%.3f s", seen.ended.Sub(a.ended).Seconds())
			n, m := len(h.primary.sightings("", c.name)), len(h.backup.sightings(tag, ""))
			t.must(c.name+": nobody else is asked", n == 1 && m == 0, "%d and %d requests", n, m)
			t.primary, t.backup, t.shown = t.primary+n, t.backup+m, max(t.shown, seen.ended.Sub(a.ended))
		}
		t.rescued, t.detail = true, fmt.Sprintf("let go after %.3f s at most", t.shown.Seconds())
		return nil
	}}
}

// let waits for the end of a model's first request at the primary.
func (h *gateway) let(ctx context.Context, model string) sighting {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	for {
		list := h.primary.sightings("", model)
		if len(list) > 0 && !list[0].ended.IsZero() || ctx.Err() != nil {
			return append(list, sighting{})[0]
		}
		rest(ctx, time.Millisecond)
	}
}

// allDead is X06: the local tier answers everybody, and a caller who wants
// none gets an error that says why.
func allDead(p pace) scenario {
	return scenario{id: "X06", title: "both upstreams dead", fault: "hang and 503", run: func(ctx context.Context, t *trial) error {
		const text = "Busy, try again in a minute."
		h, err := open(setup{pace: p, local: text})
		if err != nil {
			return err
		}
		defer h.close()
		h.primary.arm("m", "hang", armed{})
		h.backup.arm("ok", "503", armed{})
		whole, calls := 0, 0
		began := time.Now()
		for _, plain := range []bool{false, true} {
			a := h.ask(ctx, h.url, question{model: "m", prompt: "X06 asks.", plain: plain}, 30*time.Second)
			t.got(a, text)
			t.within("the local answer in time", a.took, 6*time.Second)
			t.must("it says that it is local", a.header.Get("X-Backstop-Tier") == "local", "%q", a.header.Get("X-Backstop-Tier"))
			if calls++; a.whole(text) {
				whole++
			}
		}
		a := h.ask(ctx, h.url, question{model: "m", prompt: "X06 asks.", header: "X-Backstop-No-Local: 1"}, 30*time.Second)
		t.must("without the local tier a typed error", a.status == 503 && a.code == "upstreams_exhausted", "%s", a)
		t.rescued, t.detail, t.shown = whole == calls, fmt.Sprintf("%d of %d answered locally; else %s", whole, calls, a), time.Since(began)
		t.primary, t.backup = len(h.primary.sightings("X06", "")), len(h.backup.sightings("X06", ""))
		return nil
	}}
}
