package breaker

import (
	"fmt"
	"time"
)

// heals checks I3 from a state: if the upstream answers from now on, the
// breaker closes in time, although every running call hangs for ever and
// although the next probes of callers may come to nothing.
func heals(w *world) string {
	for _, bad := range []struct {
		name  string
		r     Result
		hangs bool
		n     int
	}{{"", 0, false, 0}, {"hung", 0, true, 1}, {"canceled", Neutral, false, 3}, {"failed", Failure, false, 1}} {
		if bad.n > 0 && w.m.mode == Closed {
			return ""
		}
		h := healer{w: *w, bad: bad.n, hangs: bad.hangs, r: bad.r}
		if took, limit := h.run(), h.limit(bad.n); took > limit {
			return fmt.Sprintf("I3: %d %s live probes, then answers: still %s after %s, the bound is %s", bad.n, bad.name, h.w.m.mode, took, limit)
		}
	}
	return ""
}

type healer struct {
	w     world
	bad   int // live probes that come to nothing
	hangs bool
	r     Result
}

// limit is the longest wait (the flap guard's reset, or 1.1 x the last wait)
// and lease that may lie before a probe, once more for each that fails, the
// growing delays after neutral ones, and what two probes take.
func (h *healer) limit(bad int) time.Duration {
	m := &h.w.m
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
		due := w.do(move{kind: mvDue})
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
