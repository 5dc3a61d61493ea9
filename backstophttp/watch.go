package backstophttp

import (
	"time"

	"backstop"
)

// pause is how late a timer may fire before the process counts as having
// stood still: then nobody's clock ran fairly.
const pause = time.Second

func late(due time.Time) bool { return !due.IsZero() && time.Since(due) > pause }

// arm sets the watchdog to look at the time given by the engine, or when the
// caller is owed a keep-alive comment. Callers hold r.mu, or nothing runs yet.
func (r *run) arm(until time.Time) {
	r.until, r.due = until, until
	if at := r.out.keepaliveDue(r.keepalive()); !at.IsZero() && (r.due.IsZero() || at.Before(r.due)) {
		r.due = at
	}
	wait := 24 * time.Hour
	if !r.due.IsZero() {
		wait = time.Until(r.due)
	}
	if t := r.timer.Load(); t == nil {
		r.timer.Store(time.AfterFunc(wait, r.watch))
	} else {
		t.Reset(wait)
	}
	if r.woken.Load() {
		r.timer.Load().Reset(0)
	}
}

func (r *run) disarm() {
	if t := r.timer.Load(); t != nil {
		t.Stop()
	}
}

// wake is the engine's wish to be asked again. It comes from any goroutine.
func (r *run) wake() {
	r.woken.Store(true)
	if t := r.timer.Load(); t != nil {
		t.Reset(0)
	}
}

// watch is the watchdog: while the serving goroutine waits for the upstream it
// asks the engine, and cancels the attempt that the engine drops.
func (r *run) watch() {
	fired := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.live
	if r.over || a == nil || a.dropped {
		return
	}
	r.woken.Store(false)
	if !r.due.IsZero() && fired.Sub(r.due) > pause {
		r.paused(fired)
	}
	now := time.Now() // the lock may have been held by a write to a slow reader
	if !r.until.IsZero() && !now.Before(r.until) && a.complete() {
		// All is here but the end of the stream does not come: that is no stall.
		a.finished = true
		a.cancel()
		return
	}
	step := r.call.Next(now)
	if step.Kind == backstop.Drop {
		a.dropped = true
		a.cancel()
		return
	}
	if r.remind(now); r.gone {
		a.cancel()
		return
	}
	r.arm(step.Until)
}

// paused voids what passed while the process stood still.
func (r *run) paused(now time.Time) {
	r.call.Observe(now, 0, backstop.Mark{Kind: backstop.Paused})
	r.d.engine.Paused(now)
}

// keepalive is the longest silence towards the caller, 0 = any.
func (r *run) keepalive() time.Duration {
	if r.route == nil || !r.c.Request.Stream {
		return 0
	}
	return r.route.Stream.Keepalive
}
