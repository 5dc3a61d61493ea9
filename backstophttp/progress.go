package backstophttp

import (
	"time"

	"backstop"
	"backstop/wire"
)

// progress reports a meaningful token. The first one of an answer that is
// passed on commits the call if it is ready for that, unless the engine sees
// that its time is up.
func (f *follower) progress(sig *wire.Signal, ready bool) bool {
	r, now := f.r, time.Now()
	f.a.spoke = now
	held := f.refusing() // the next tier may have an answer
	commits := f.a.writer != nil && !f.committed && f.join == nil && ready && !held
	switch {
	case commits && r.hedges():
		if r.consult(); f.a.dropped || !r.call.Runs(f.a.id) {
			f.decide(backstop.Outcome{Class: backstop.Canceled, Kind: backstop.KindCaller})
			return false
		}
	case commits:
		if step := r.call.Next(now); step.Kind != backstop.Wait {
			f.a.dropped = step.Kind == backstop.Drop
			f.decide(backstop.Outcome{Class: backstop.Canceled, Kind: backstop.KindCaller})
			return false
		}
	}
	mark := backstop.Mark{Kind: backstop.Progress, Bytes: sig.Bytes}
	if !f.a.takesOver() && !held {
		r.shown.listen(f.a.stream, sig.Bytes)
		mark.Outcome.NoRescue = !r.shown.kept
	}
	if r.call.Observe(now, f.a.id, mark); r.rival != nil {
		r.consult() // it is decided
	}
	f.gap(now)
	if commits {
		f.commit(now)
	}
	return true
}

// commit sends the first bytes to the caller.
func (f *follower) commit(now time.Time) {
	r := f.r
	r.call.Observe(now, f.a.id, backstop.Mark{Kind: backstop.Committed})
	f.committed = true
	r.won = f.a
	if w, ok := f.a.writer.(wire.Grafter); ok && r.out.early {
		w.Hold()
	}
	r.start()
	r.write(f.held) // it leaves together with the token
	f.held = nil
}

// gap reports the time between two tokens.
func (f *follower) gap(now time.Time) {
	report := f.r.d.options.Gap
	if report == nil {
		return
	}
	if !f.last.IsZero() {
		report(f.a.step.Upstream.Name, now.Sub(f.last))
	}
	f.last = now
}
