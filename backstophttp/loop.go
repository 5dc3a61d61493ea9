package backstophttp

import (
	"context"
	"time"

	"backstop"
)

// loop is the whole driver: ask, do, report. It returns how the call ended.
// Everything that takes time happens in carry and sleep; the watchdog asks the
// engine in the meantime.
func (r *run) loop(ctx context.Context) backstop.Step {
	for {
		switch step := r.next(ctx); step.Kind {
		case backstop.Try:
			r.open(step)
		case backstop.Wait:
			if r.live != nil {
				r.carry(ctx, step.Until)
			} else {
				r.sleep(ctx, step.Until)
			}
		case backstop.Serve:
			r.serveLocal(step)
		case backstop.Drop:
			r.live = nil
		case backstop.Done:
			return step
		}
	}
}

// next reports a caller who left and asks for the next step.
func (r *run) next(ctx context.Context) backstop.Step {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if ctx.Err() != nil || r.gone {
		r.call.Observe(now, 0, backstop.Mark{Kind: backstop.Left})
	}
	return r.call.Next(now)
}

// carry runs the live attempt to its end under the eyes of the watchdog.
func (r *run) carry(ctx context.Context, until time.Time) {
	a := r.live
	own, cancel := context.WithCancel(ctx)
	r.mu.Lock()
	a.cancel = cancel
	r.arm(until)
	r.mu.Unlock()
	o := r.attempt(own, a)

	r.mu.Lock()
	defer r.mu.Unlock()
	r.timer.Stop()
	r.live = nil
	a.release(r.d)
	if !a.dropped && ctx.Err() == nil {
		r.call.Observe(time.Now(), a.id, backstop.Mark{Kind: backstop.Ended, Outcome: o})
	}
}

// sleep waits between two attempts: a backoff, or a delay that an upstream named.
func (r *run) sleep(ctx context.Context, until time.Time) {
	if until.IsZero() {
		<-ctx.Done() // nothing can come any more except the caller's leaving
		return
	}
	t := time.NewTimer(time.Until(until))
	defer t.Stop()
	select {
	case <-t.C:
		if late(until) {
			r.mu.Lock()
			r.paused(time.Now())
			r.mu.Unlock()
		}
	case <-ctx.Done():
	}
}
