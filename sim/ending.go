package sim

import (
	"time"

	"backstop"
)

// patience ends: the caller leaves unless it is being answered.
func (w *world) patience(r *run) {
	if r.over || r.ask.stream && r.first > 0 {
		return
	}
	r.left = true
	r.call.Observe(w.time(), 0, backstop.Mark{Kind: backstop.Left})
	w.step(r)
}

// done ends a call; a caller without an answer may call again.
func (w *world) done(r *run, s *backstop.Step) {
	r.over = true
	if w.pauses != nil {
		delete(w.pauses.running, r)
	}
	if r.check != nil {
		w.checker.done(w, r, s)
	}
	if s.Failure != nil && r.again < w.s.Arrivals.Retries {
		w.counted(r, s)
		d := roll(w.s.Seed, diceRetry, r.ask.index, uint64(r.again))
		pause := min(8*time.Second, time.Second/2<<min(r.again, 8))
		w.q.push(event{at: w.now + int64(d.between(pause*3/4, pause)), kind: onAgain, run: r})
		r.returns = true
		return
	}
	w.counted(r, s)
	w.tally.finish(w, r, s)
	w.leaveRun(r)
}

// comeBack lets a caller who got no answer call again.
func (w *world) comeBack(r *run) {
	w.call(r.ask, r.again+1)
	r.returns = false
	w.leaveRun(r)
}

// counted notes how far down a caller's first call got while a fault was at
// work: these are the calls that wanted the faulted upstream.
func (w *world) counted(r *run, s *backstop.Step) {
	if r.ask.troubled == 0 || r.again > 0 {
		return
	}
	last := s.Tier
	if s.Failure != nil {
		last = len(r.ask.route.Tiers) - 1
	}
	for i := 0; i <= last && i < len(r.ask.route.Tiers); i++ {
		if name := r.ask.route.Tiers[i].Upstream; name != "" {
			if site := w.sites[name]; r.ask.troubled>>uint(site.index&63)&1 == 1 {
				site.wanted++
			}
		}
	}
}
