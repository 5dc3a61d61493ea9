package main

import (
	"context"
	"fmt"
	"time"
)

// The outage of S15.
const (
	outage     = 60 * time.Second
	flapCalls  = 20
	flapEvery  = 4 * time.Second
	comeBackIn = 30 * time.Second
)

// flapping is S15: a call every four seconds, the first minute of them in an
// outage.
func (h *gateway) flapping() scenario {
	return scenario{id: "S15", title: "primary down, then well", fault: "503 for " + h.pace.of(outage).String(), run: func(ctx context.Context, t *trial) error {
		const model, prompt = "s15", "S15 asks in sixty words what a gateway is for."
		text, err := h.text(ctx, prompt)
		if err != nil {
			return err
		}
		began := time.Now()
		well := began.Add(h.pace.of(outage))
		h.primary.arm(model, "503", armed{until: well})
		defer h.primary.disarm(model)
		f := flap{text: text, well: well}
		for i := range flapCalls {
			rest(ctx, time.Until(began.Add(time.Duration(i)*h.pace.of(flapEvery))))
			f.add(h.ask(ctx, h.url, question{model: model, prompt: prompt}, 30*time.Second), model)
		}
		f.judge(t)
		t.shown = time.Since(began)
		during := 0
		for _, s := range h.primary.sightings("S15", "") {
			t.primary++
			if s.faulty {
				during++
			}
		}
		t.backup = len(h.backup.sightings("S15", ""))
		t.should("fewer requests than calls during the outage", during < f.outage, "%d for %d calls, and %d probes", during, f.outage, len(h.primary.probes(model)))
		h.alive(ctx, t)
		return nil
	}}
}

// flap sums up the calls of S15.
type flap struct {
	text           string
	well           time.Time
	calls, whole   int
	outage, served int
	hung, untyped  int
	back           time.Duration // end of the outage to the first answer of the primary, 0 = none
	worst          *answer
}

func (f *flap) add(a *answer, model string) {
	f.calls++
	if a.hung {
		f.hung++
	}
	if !a.success() && !a.typed() {
		f.untyped++
	}
	good := a.whole(f.text)
	if good {
		f.whole++
	} else {
		f.worst = a
	}
	if a.began.Before(f.well) {
		f.outage++
		if good {
			f.served++
		}
	} else if good && a.by() == model && f.back == 0 {
		f.back = a.began.Sub(f.well)
	}
}

func (f *flap) judge(t *trial) {
	t.rescued, t.typed = f.whole == f.calls, f.untyped == 0
	t.detail = fmt.Sprintf("%d of %d answered, back after %.1f s", f.whole, f.calls, f.back.Seconds())
	if f.worst != nil {
		t.detail += "; " + f.worst.String()
		if f.worst.success() {
			t.lied = "a success with another text"
		}
	}
	t.must("nothing hangs", f.hung == 0, "%d calls", f.hung)
	t.must("served during the outage", f.served == f.outage, "%d of %d", f.served, f.outage)
	t.must("the primary is used again", f.back > 0, "%.1f s after the outage", f.back.Seconds())
	t.within("and in time", f.back, comeBackIn)
}
