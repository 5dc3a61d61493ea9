package backstophttp

import (
	"cmp"
	"time"

	"backstop"
)

// pause is how late a timer may fire before the process counts as having
// stood still: then nobody's clock ran fairly.
const pause = time.Second

// idle is how long a timer sleeps when there is nothing to wait for.
const idle = 24 * time.Hour

// busyWait is when the watchdog comes again if it finds the run locked.
const busyWait = 10 * time.Millisecond

func late(due time.Time) bool { return !due.IsZero() && time.Since(due) > pause }

// arm sets the watchdog to look at the time given by the engine, or when the
// caller is owed a keep-alive comment. The caller holds r.mu.
func (r *run) arm(until time.Time) {
	r.until, r.due = until, until
	if at := r.out.keepaliveDue(r.keepalive()); !at.IsZero() && (r.due.IsZero() || at.Before(r.due)) {
		r.due = at
	}
	wait := idle
	if !r.due.IsZero() {
		wait = time.Until(r.due)
	}
	for _, a := range r.running() {
		if a != nil && a.step.Upstream.Timeouts.Idle == 0 {
			wait = min(wait, backstop.DefaultIdle) // to see whether its answer is whole by now
		}
	}
	r.timer.Reset(wait)
	if r.woken.Load() {
		r.timer.Reset(0)
	}
}

// wake is the engine's wish to be asked again. It comes from any goroutine.
func (r *run) wake() {
	r.woken.Store(true)
	r.timer.Reset(0)
}

// watch is the watchdog: while the serving goroutine waits for the upstream it
// asks the engine, and cancels the attempt that the engine drops.
func (r *run) watch() {
	if !r.mu.TryLock() {
		// An event is being passed on, maybe to a slow reader.
		r.busy.Store(true)
		r.timer.Reset(busyWait)
		return
	}
	defer r.mu.Unlock()
	defer r.contain()
	now, a := time.Now(), r.live
	if r.over || a == nil || a.cancel == nil || a.dropped {
		return
	}
	r.woken.Store(false)
	if !r.busy.Swap(false) && !r.due.IsZero() && now.Sub(r.due) > pause {
		r.paused(now)
	}
	if !r.hedges() && r.lingers(now, a) {
		return
	}
	if r.hedges() {
		r.look(now)
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

// lingers looks after an attempt of which all is here but the end of its stream:
// if that does not come it is no stall. What may come in front of it, as the
// usage does, is waited for as long as for any other token, and the engine is
// not asked meanwhile: of a whole answer it has nothing to decide. Where tokens
// have no limit the end of a whole answer has the default one.
func (r *run) lingers(now time.Time, a *attempt) bool {
	if !a.complete() {
		return false
	}
	end := a.spoke.Add(cmp.Or(a.step.Upstream.Timeouts.Idle, backstop.DefaultIdle))
	if !now.Before(end) {
		a.finished = true
		a.cancel()
		return true
	}
	if r.remind(now); r.gone {
		a.cancel()
	}
	r.arm(end)
	return true
}

// contain keeps a panic of the watchdog, above which there is nobody, to its
// call: the attempts under way end by our own fault.
func (r *run) contain() {
	if recover() == nil {
		return
	}
	for _, a := range r.running() {
		if a != nil {
			a.bugged = true
		}
	}
	r.stop()
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
