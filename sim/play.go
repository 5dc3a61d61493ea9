package sim

import (
	"backstop"
)

// play is one attempt at a site: of a call, or a background probe.
type play struct {
	site  *site
	run   *run     // nil = a probe
	probe *probing // nil = a call
	id    backstop.AttemptID
	model string
	key   int
	embed bool
	plain bool

	began  int64 // for the engine
	served int64 // the site took it up
	fate   fate
	dice   dice
	ver    int32 // of the events that are planned for it
	slot   int   // in site.waiting, -1 = not there

	without []string
	splice  bool // it takes over a broken stream
	apart   bool // in other words

	queued bool
	holds  bool // room at the site
	seen   bool // it had a token
	over   bool // for the engine
}

// begin starts an attempt at its site.
func (w *world) begin(p *play) {
	p.began, p.served = w.now, w.now
	p.slot = len(p.site.waiting)
	p.site.waiting = append(p.site.waiting, p)
	w.enter(p)
}

// forget takes an attempt out of those that wait for a token.
func (s *site) forget(p *play) {
	if p.slot < 0 {
		return
	}
	last := len(s.waiting) - 1
	s.waiting[p.slot] = s.waiting[last]
	s.waiting[p.slot].slot = p.slot
	s.waiting[last] = nil
	s.waiting = s.waiting[:last]
	p.slot = -1
}

// serve decides what becomes of an attempt and plans its events. full is what
// a site without room does to it.
func (w *world) serve(p *play, full act) {
	p.served = w.now
	s := p.site
	if w.tape != nil {
		p.fate = w.tape.fate(p, w.now)
		w.unfold(p)
		return
	}
	p.fate = s.healthy(p, &p.dice)
	if full != nil {
		x := w.strikeOf(p, 0)
		full(&x)
		w.unfold(p)
		return
	}
	for _, t := range s.active {
		if t.concerns(p) {
			x := w.strikeOf(p, w.now-t.from)
			if t.act(&x) {
				break
			}
		}
	}
	w.unfold(p)
}

// strike changes what becomes of an attempt that is under way.
func (w *world) strike(p *play, t *trouble) {
	x := w.strikeOf(p, 0)
	if t.act(&x) {
		p.ver++
		w.unfold(p)
	}
}

func (w *world) strikeOf(p *play, since int64) strike {
	x := strike{fate: &p.fate, dice: &p.dice, since: since, age: w.now - p.served, plain: p.plain, without: p.without, mends: true}
	switch {
	case p.run != nil:
		x.stream = p.run.ask.stream
		x.json = p.run.ask.json && !x.stream
		x.mends, x.passes = p.run.mends, p.run.passes
	default:
		x.json = p.probe.p.JSON
	}
	return x
}

// unfold queues the events of an attempt.
func (w *world) unfold(p *play) {
	f := &p.fate
	age := w.now - p.served
	at := func(offset int64) int64 { return p.served + max(offset, age) }
	if f.dialed && p.run != nil {
		p.run.call.Observe(w.time(), p.id, backstop.Mark{Kind: backstop.Dialed})
	}
	if f.head >= 0 {
		w.q.push(event{at: at(f.head), kind: onHead, n: p.ver, play: p})
	}
	if f.token >= 0 && !p.plain && !p.seen {
		w.q.push(event{at: at(f.token), kind: onToken, n: p.ver, play: p})
	}
	if f.end >= 0 {
		w.q.push(event{at: at(f.end), kind: onEnd, n: p.ver, play: p})
	}
}

// head, token, beat and finish are what the driver of live traffic would see.

func (w *world) head(p *play) {
	if !p.over && p.run != nil {
		p.run.call.Observe(w.time(), p.id, backstop.Mark{Kind: backstop.FirstByte})
		w.step(p.run)
	}
}

func (w *world) token(p *play) {
	if p.over {
		return
	}
	p.seen = true
	p.site.forget(p)
	w.nextBeat(p)
	if p.probe != nil {
		w.probeToken(p)
		return
	}
	w.progress(p, bytesPerToken)
}

func (w *world) beat(p *play) {
	if p.over || p.fate.beat <= 0 {
		return
	}
	w.nextBeat(p)
	if p.run != nil {
		w.progress(p, p.fate.bytes)
	}
}

// nextBeat plans the next report of flowing tokens, if there are any.
func (w *world) nextBeat(p *play) {
	f := &p.fate
	if f.beat <= 0 {
		return
	}
	if at := w.now + f.beat; f.end >= 0 && at < p.served+f.end {
		w.q.push(event{at: at, kind: onBeat, n: p.ver, play: p})
	}
}

func (w *world) finish(p *play) {
	w.leave(p)
	if p.over {
		w.leavePlay(p)
		return
	}
	p.over = true
	p.site.forget(p)
	o := goodOutcome
	if p.fate.outcome != nil {
		o = *p.fate.outcome
	}
	if p.run != nil && p.run.check != nil {
		w.checker.release(w, p.run, p, o.Class == backstop.OK, o.Class != backstop.OK && o.Class != backstop.Refused)
	}
	if p.probe != nil {
		w.probeEnd(p, o)
		return
	}
	w.ended(p, o)
	w.leavePlay(p)
}

// goodOutcome is an answer that is fine.
var goodOutcome = backstop.Outcome{Class: backstop.OK, Status: 200, InputTokens: -1, OutputTokens: -1}

// drop gives an attempt up. A site with a queue does not notice.
func (w *world) drop(p *play) {
	if p.over {
		return
	}
	p.over = true
	p.site.forget(p)
	if p.run != nil && p.run.check != nil {
		w.checker.release(w, p.run, p, false, true)
	}
	if p.queued || p.holds && p.site.queues && p.fate.end >= 0 {
		return // it will be worked on to its end
	}
	w.leave(p)
	w.leavePlay(p)
}
