package backstophttp

import (
	"context"
	"sync"
	"time"

	"backstop"
)

// loop is the whole driver: ask, do, report. It returns when the call is done.
// Everything that takes time happens in carry, pump and sleep; the watchdog
// asks the engine in the meantime.
func (r *run) loop(ctx context.Context) {
	for {
		if r.next(ctx); r.flow != nil && r.step.Kind != backstop.Wait {
			r.abandon()
		}
		switch r.step.Kind {
		case backstop.Try:
			r.open()
		case backstop.Wait:
			switch {
			case r.flow != nil:
				r.pump(ctx)
			case r.live != nil && r.hedges():
				r.race(ctx)
			case r.live != nil:
				r.carry(ctx)
			default:
				r.sleep(ctx, r.step.Until)
			}
		case backstop.Serve:
			r.serveLocal()
		case backstop.Drop:
			r.mu.Lock()
			r.lose(r.step.Attempt)
			r.mu.Unlock()
		case backstop.Done:
			return
		}
	}
}

// next reports a caller who left and asks for the next step.
func (r *run) next(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kept {
		r.kept = false
		return
	}
	now := time.Now()
	if ctx.Err() != nil || r.gone {
		r.call.Observe(now, 0, backstop.Mark{Kind: backstop.Left})
	}
	r.step = r.call.Next(now)
}

// carry runs the live attempt under the eyes of the watchdog, to its end or to
// the first token that goes to the caller.
func (r *run) carry(ctx context.Context) {
	a := r.live
	own, cancel := context.WithCancel(ctx)
	r.mu.Lock()
	a.cancel = cancel
	if r.aborted {
		a.dropped = true
		cancel()
	}
	r.arm(r.step.Until)
	r.mu.Unlock()
	if o := r.tries(own, a); r.flow == nil {
		r.ended(ctx, a, o)
	}
}

// tries makes the attempt. That of a stream caller goes as far as its first
// token on a goroutine of its own, headers included, because a goroutine keeps
// the stack it ever needed: the one that then waits for token after token stays
// at half of it.
func (r *run) tries(ctx context.Context, a *attempt) (o backstop.Outcome) {
	if !r.req.Stream {
		return r.attempt(ctx, a)
	}
	var deep sync.WaitGroup
	deep.Go(func() {
		if o = r.attempt(ctx, a); r.flow != nil {
			r.flow.flush()
		}
	})
	deep.Wait()
	return o
}

// pump passes the rest of a committed stream on. It is called from the loop and
// not from the depth of the attempt, so that an idle stream keeps a small stack.
func (r *run) pump(ctx context.Context) {
	f := r.flow
	if s, ok := f.src.(*sniffer); ok {
		f.src = s.rest()
	}
	r.mu.Lock()
	r.landed, r.waits = false, true
	r.arm(r.step.Until)
	r.mu.Unlock()
	if f.run(); f.verdict.Class != backstop.OK {
		f.flush() // nothing may wait for what comes next
	}
	r.ended(ctx, f.a, *f.verdict)
}

// abandon lets go of a committed stream that the engine wants no more of.
func (r *run) abandon() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.timer.Stop()
	a := r.flow.a
	a.dropped = true
	a.release(r.d)
	r.flow, r.live, r.landed = nil, nil, false
}

// ended reports the end of the attempt and gives its connection back.
func (r *run) ended(ctx context.Context, a *attempt, o backstop.Outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.timer.Stop()
	r.live, r.flow, r.waits = nil, nil, false
	a.release(r.d)
	if a.bugged {
		o = bug()
	}
	if !a.dropped && ctx.Err() == nil {
		r.call.Observe(time.Now(), a.id, backstop.Mark{Kind: backstop.Ended, Outcome: o})
	}
}

// sleep waits between two attempts: a backoff, or a delay that an upstream named.
func (r *run) sleep(ctx context.Context, until time.Time) {
	if until.IsZero() {
		until = time.Now().Add(idle) // nothing can come any more except the caller's leaving
	}
	t := time.NewTimer(time.Until(until))
	defer t.Stop()
	select {
	case <-r.d.aborted:
	case <-t.C:
		if late(until) {
			r.mu.Lock()
			r.paused(time.Now())
			r.mu.Unlock()
		}
	case <-ctx.Done():
	}
}
