package breaker

import (
	"fmt"
	"time"
)

// heals checks I3 from a state: if the upstream answers from now on, the
// breaker closes in time, although every running call hangs for ever and
// although the next probes of callers may come to nothing. It also does if no
// background probe can be made, or if nobody makes them.
func heals(w *world) string {
	for i, h := range []healer{
		{}, {name: "hung", bad: 1, hangs: true}, {name: "canceled", bad: 3, r: Neutral}, {name: "failed", bad: 1, r: Failure},
		{prober: idle}, {prober: keyless},
	} {
		if i > 0 && w.m.mode == Closed {
			return ""
		}
		h.w = *w
		bad, limit := h.bad, h.limit()
		if took := h.run(); took > limit {
			return fmt.Sprintf("I3: %d %s live probes (prober %d), then answers: still %s after %s, the bound is %s", bad, h.name, h.prober, h.w.m.mode, took, limit)
		}
	}
	return ""
}

type healer struct {
	w      world
	name   string
	bad    int // live probes that come to nothing
	hangs  bool
	r      Result
	prober int
}

// What a prober may be other than well.
const (
	idle    = 1 // it never runs
	keyless = 2 // all it can say is that no probe can be made
)

// limit is the longest wait (the flap guard's reset, or 1.1 x the last wait)
// and lease that may lie before a probe, once more for each that fails, the
// growing delays after neutral ones, and what two probes take.
func (h *healer) limit() time.Duration {
	m, bad := &h.w.m, h.bad
	wait := max(m.cfg.Reset, m.scaled(waits[len(waits)-1])*11/10) + m.lease() + m.cfg.Reset/10
	return wait + time.Duration(bad)*wait + m.scaled(waits[0])*2 + 10*h.beat()
}

func (h *healer) beat() time.Duration { return h.w.m.cfg.Window / 40 }

// run plays traffic and prober until it is closed and says how long it took.
func (h *healer) run() time.Duration {
	w := &h.w
	for i := range w.seats {
		w.seats[i] = pass{} // nobody ever hears of them again
	}
	switch {
	case w.m.held > w.now:
		w.now = w.m.held
	case w.m.held == 0 && (w.m.mode == ForcedOpen || w.m.mode == ForcedClosed):
		w.do(move{kind: mvForce, state: Closed})
	}
	began := w.now
	for range 500 {
		var due got
		if h.prober != idle {
			due = w.do(move{kind: mvDue})
		}
		if due.yes && h.prober == keyless {
			w.do(move{kind: mvDone, seat: probeSeat, result: Void})
			due = got{}
		}
		if due.yes {
			w.now += h.beat()
			w.do(move{kind: mvProgress, seat: probeSeat})
			w.do(move{kind: mvDone, seat: probeSeat})
			continue
		}
		if h.call(); w.m.mode == Closed {
			return w.now - began
		}
		// To the next time that the prober or a refused caller was told.
		next := max(w.m.until(w.now), w.now+h.beat())
		if h.prober != 0 {
			next = w.now + 10*h.beat()
		}
		if due.next > w.now {
			next = min(next, due.next)
		}
		w.now = next
	}
	return never
}

// call is one caller.
func (h *healer) call() {
	w := &h.w
	if g := w.do(move{kind: mvAllow, hash: 0}); !g.yes {
		return
	}
	if w.seats[0].ticket.Probe() && h.bad > 0 {
		h.bad--
		w.now += h.beat()
		if !h.hangs {
			w.do(move{kind: mvDone, result: h.r})
		}
		w.seats[0] = pass{}
		return
	}
	w.now += h.beat()
	w.do(move{kind: mvProgress})
	w.do(move{kind: mvDone})
}
