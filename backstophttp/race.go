package backstophttp

import (
	"context"
	"time"

	"backstop"
)

// On a route with hedges two attempts of a call may run at a time. Then each
// has a goroutine of its own, which the serving goroutine waits for, and
// whoever holds the run's mutex may ask the engine and obey it as far as
// attempts that run are concerned (consult). All other orders are kept for the
// serving goroutine. Without hedges none of this is used.

// hedges reports whether the call's route lets a second attempt begin.
func (r *run) hedges() bool {
	return r.route != nil && (r.route.Hedge.After > 0 || r.route.Hedge.Auto)
}

// race runs the attempts that the engine orders until there is something else
// to do: a committed stream to pass on, or an order that is no hedge.
func (r *run) race(ctx context.Context) {
	r.mu.Lock()
	if r.news == nil {
		r.news = make(chan struct{}, 1)
		r.schema() // compiled when it is first used, which both attempts may do at a time
	}
	for _, a := range r.running() {
		if a != nil {
			r.launch(ctx, a)
		}
	}
	r.waits = true
	r.consult()
	over := r.decided()
	r.mu.Unlock()
	for !over {
		<-r.news
		over = r.turn(ctx)
	}
}

// turn starts a hedge if one is ordered, and reports whether the race is over.
func (r *run) turn(ctx context.Context) bool {
	r.mu.Lock()
	hedge := r.kept && r.step.Hedge
	r.mu.Unlock()
	var a *attempt
	if hedge { // nobody touches the order meanwhile, because it is kept
		a = r.open()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if hedge {
		r.kept = false
		r.launch(ctx, a) // by now it may be the only one
		r.consult()
	}
	return r.decided()
}

// decided reports whether the race is over. From then on the loop alone asks
// the engine: attempts that were dropped may still be on their way home.
func (r *run) decided() bool {
	over := r.landed || r.kept && !r.step.Hedge
	r.waits = !over
	return over
}

// launch makes an attempt. The caller holds r.mu.
func (r *run) launch(ctx context.Context, a *attempt) {
	own, cancel := context.WithCancel(ctx)
	a.cancel = cancel
	if r.aborted {
		a.dropped = true
		cancel()
	}
	r.racers.Go(func() { r.arrive(ctx, a, r.attempt(own, a)) })
}

// arrive reports an attempt that is over, or that is as far as its commit.
func (r *run) arrive(ctx context.Context, a *attempt, o backstop.Outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.flow != nil && r.flow.a == a {
		r.send(nil)
		r.landed = true
		r.tell()
		return
	}
	a.release(r.d)
	r.apart(a)
	if a.bugged {
		o = bug()
	}
	if a.dropped && !a.stood {
		r.call.Observe(time.Now(), a.id, backstop.Mark{Kind: backstop.Ended, Outcome: unsent(backstop.Outcome{})})
	}
	switch {
	case r.over:
		return
	case ctx.Err() != nil:
		r.call.Observe(time.Now(), 0, backstop.Mark{Kind: backstop.Left})
	case !a.dropped:
		r.call.Observe(time.Now(), a.id, backstop.Mark{Kind: backstop.Ended, Outcome: o})
	}
	r.consult()
}

// consult asks the engine and drops the attempts it wants no more of. Any order
// that the loop has to obey is kept for it. While the loop does not wait, nobody
// else asks. The caller holds r.mu.
func (r *run) consult() {
	if !r.waits {
		return
	}
	now := time.Now()
	if r.gone {
		r.call.Observe(now, 0, backstop.Mark{Kind: backstop.Left})
	}
	for !r.kept {
		switch step := r.call.Next(now); {
		case step.Kind == backstop.Drop:
			r.lose(step.Attempt)
		case step.Kind == backstop.Wait && r.live != nil:
			r.arm(step.Until)
			return
		default:
			r.step, r.kept = step, true
			r.tell()
		}
	}
}

// tell wakes the serving goroutine.
func (r *run) tell() {
	select {
	case r.news <- struct{}{}:
	default:
	}
}

// running are the attempts under way, nil = none.
func (r *run) running() [2]*attempt { return [2]*attempt{r.live, r.rival} }

// stop cancels the attempts under way.
func (r *run) stop() {
	for _, a := range r.running() {
		if a != nil && a.cancel != nil {
			a.cancel()
		}
	}
}

// lose cancels an attempt that the engine dropped.
func (r *run) lose(id backstop.AttemptID) {
	for _, a := range r.running() {
		if a != nil && a.id == id {
			a.dropped = true
			if a.cancel != nil {
				a.cancel()
			}
			r.apart(a)
		}
	}
}

// apart takes an attempt out of those under way.
func (r *run) apart(a *attempt) {
	switch a {
	case r.rival:
		r.rival = nil
	case r.live:
		r.live, r.rival = r.rival, nil
	}
}

// look is the watchdog's look at a race. The caller holds r.mu.
func (r *run) look(now time.Time) {
	for _, a := range r.running() {
		if a != nil && a.cancel != nil && r.lingers(now, a) {
			return
		}
	}
	if r.remind(now); r.gone {
		r.stop()
		return
	}
	r.consult()
}
