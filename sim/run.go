package sim

import (
	"time"

	"backstop"
)

// ask is what a caller wants, drawn once and kept over its retries.
type ask struct {
	index   uint64
	at      int64 // when it first called
	model   string
	route   *backstop.Route
	caller  string
	replica int
	stream  bool
	json    bool
	embed   bool
	differs bool // another upstream would not answer in the same words

	troubled uint64 // sites with a fault at work when it came, as bits
	after    int    // place among the calls after an outage, -1 = none
}

// run is one call at one replica.
type run struct {
	ask    ask
	call   *backstop.Call
	live   *play
	rival  *play // the one beside it: a hedge
	began  int64
	timer  int64 // when the engine is asked again, 0 = not planned
	tries  int   // attempts so far
	again  int   // retries of the caller before this call
	mends  bool
	passes bool
	token  int64 // first token of the running attempts, 0 = none yet
	first  int64 // first token that the caller saw or will see, 0 = none yet
	broke  bool  // its stream broke after the first token
	tried  uint64
	left   bool
	over   bool
	woken  bool
	check  *witness

	ver     int32 // of the events that are planned for it
	plays   int   // attempts that name it
	returns bool  // its caller will call again
	wake    func()
}

// arrive lets a call in.
func (w *world) arrive(a ask) { w.call(a, 0) }

func (w *world) call(a ask, again int) {
	rep := w.replicas[a.replica]
	r := w.newRun()
	r.ask, r.began, r.again = a, w.now, again
	r.mends, r.passes = a.route.JSON.Repair, a.route.JSON.Truncated == "mark"
	req := backstop.Request{
		Model: a.model, Caller: a.caller, Dialect: backstop.OpenAI, Stream: a.stream, JSON: a.json || a.route.JSON.Always,
		Embed: a.embed, Streamable: true, Reask: !a.stream, Rescuable: a.stream, Retrying: again > 0,
		Wake: r.wake,
	}
	r.call = rep.engine.Begin(w.time(), req)
	if w.pauses != nil {
		w.pauses.running[r] = struct{}{}
	}
	if w.checker != nil {
		r.check = w.checker.begin(w, r)
	}
	if t := w.s.Arrivals.Timeout; t > 0 {
		w.q.push(event{at: w.now + int64(t), kind: onPatience, n: r.ver, run: r})
	}
	w.step(r)
}

func (w *world) wake(r *run) {
	if !r.woken {
		r.woken = true
		w.q.push(event{at: w.now, kind: onWake, n: r.ver, run: r})
	}
}

// step obeys the engine until it waits or is done.
func (w *world) step(r *run) {
	if r.over {
		return
	}
	for n := 0; ; n++ {
		if n > maxSteps {
			w.fail("a call takes %d steps without a wait", maxSteps)
			return
		}
		s := r.call.Next(w.time())
		if r.check != nil {
			w.checker.step(w, r, &s)
		}
		switch s.Kind {
		case backstop.Try:
			w.try(r, &s)
		case backstop.Drop:
			if p := r.attempt(s.Attempt); p != nil {
				w.drop(p)
				r.apart(p)
			}
		case backstop.Serve:
			w.tally.refused(w, r, s.Tier)
			w.local(r, &s)
		case backstop.Wait:
			w.waits(r, s.Until)
			return
		case backstop.Done:
			w.done(r, &s)
			return
		}
	}
}

// maxSteps is far above what a call may need between two waits.
const maxSteps = 64

func (w *world) try(r *run, s *backstop.Step) {
	site := w.sites[s.Upstream.Name]
	r.tries++
	site.attempts++
	if site.trouble > 0 && !s.Probe {
		site.stressed++
	}
	if s.Probe {
		site.probes++
	}
	r.tried |= 1 << uint(s.Tier&63)
	w.tally.refused(w, r, s.Tier)
	p := w.newPlay(r)
	p.site, p.id, p.model, p.key, p.embed, p.plain, p.without = site, s.Attempt, s.Model, s.Key, r.ask.embed, s.Plain, s.Without
	p.dice = roll(w.s.Seed, diceAttempt, r.ask.index, uint64(site.index), uint64(r.again*16+r.tries))
	if s.Splice {
		r.broke, p.splice = true, true
		p.apart = !s.Continue && r.ask.differs
	}
	if r.token = 0; s.Hedge {
		r.rival = p
	} else {
		r.live = p
	}
	w.begin(p)
}

// attempt finds a running attempt, nil = it is over.
func (r *run) attempt(id backstop.AttemptID) *play {
	for _, p := range [...]*play{r.live, r.rival} {
		if p != nil && p.id == id {
			return p
		}
	}
	return nil
}

// apart takes an attempt out of those that run.
func (r *run) apart(p *play) {
	switch p {
	case r.rival:
		r.rival = nil
	case r.live:
		if r.live, r.rival = r.rival, nil; r.live == nil {
			r.token = 0
		}
	}
}

// local lets a local tier answer. Caches are empty in a simulation.
func (w *world) local(r *run, s *backstop.Step) {
	l := r.ask.route.Tiers[s.Tier].Local
	o := goodOutcome
	if l.Template == nil || r.ask.json && l.Template.JSON == nil {
		o = backstop.Outcome{Class: backstop.Canceled, Kind: backstop.KindMiss}
	}
	r.call.Observe(w.time(), s.Attempt, backstop.Mark{Kind: backstop.Ended, Outcome: o})
}

// waits plans the next look at a call. A later one than is planned already is
// found out when the earlier one comes.
func (w *world) waits(r *run, until time.Time) {
	if until.IsZero() {
		return
	}
	at := int64(until.Sub(w.epoch))
	if at <= w.now {
		w.fail("a wait is over already")
		return
	}
	if r.timer == 0 || at < r.timer {
		r.timer = at
		w.q.push(event{at: at, kind: onTimer, n: r.ver, run: r})
	}
}

func (w *world) progress(p *play, bytes int) {
	r := p.run
	if r.attempt(p.id) != p {
		return
	}
	now := w.time()
	r.call.Observe(now, p.id, backstop.Mark{Kind: backstop.Progress, Bytes: bytes})
	if p.splice && r.token == 0 {
		r.token = w.now
		if p.apart {
			w.diverge(p)
			return
		}
		w.seam(p)
	}
	if r.token == 0 {
		r.token, r.first = w.now, w.now
		if r.ask.stream {
			r.call.Observe(now, p.id, backstop.Mark{Kind: backstop.Committed})
		}
		if r.check != nil {
			w.checker.token(w, r, p)
		}
	}
	w.step(r)
}

func (w *world) ended(p *play, o backstop.Outcome) {
	r := p.run
	if r.attempt(p.id) != p {
		return
	}
	if p.splice && r.token == 0 && o.Class == backstop.OK { // one body: all of it is here at once
		r.token = w.now
		if p.apart {
			w.diverge(p)
			return
		}
		w.seam(p)
	}
	if answers := o.Class == backstop.OK || o.Class == backstop.Refused; answers && r.token == 0 && !r.broke {
		r.first = w.now
	}
	r.apart(p)
	r.call.Observe(w.time(), p.id, backstop.Mark{Kind: backstop.Ended, Outcome: o})
	w.step(r)
}

// seam lets the caller's stream go on with a rescuer's tokens.
func (w *world) seam(p *play) {
	p.run.call.Observe(w.time(), p.id, backstop.Mark{Kind: backstop.Seam})
	if p.run.check != nil {
		p.run.check.shown = p.id
	}
}

// diverge ends a rescuer whose text is not the one that the caller has.
func (w *world) diverge(p *play) {
	o := failed(backstop.Garbled, backstop.KindDiverged, backstop.CountsNone)
	o.Status = 200
	w.drop(p)
	p.run.apart(p)
	p.run.call.Observe(w.time(), p.id, backstop.Mark{Kind: backstop.Ended, Outcome: o})
	w.step(p.run)
}
