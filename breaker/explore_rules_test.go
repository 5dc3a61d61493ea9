package breaker

import (
	"fmt"
	"time"
)

// edge is one move with what was before and after it.
type edge struct {
	from  *world
	base  machine // from.m when only the time has passed
	aged  verdict // of that
	mv    move
	got   got
	to    *world
	owned bool // the ticket of the move was of the present generation
	pass  pass
}

// along makes a move and looks at it.
func along(from *world, mv move, to *world) edge {
	*to = *from
	e := edge{from: from, base: from.m, mv: mv, to: to}
	if from.rng != 0 {
		e.base.rng = from.rng
	}
	e.aged = e.base.step(event{kind: evLook}, from.now)
	if p := &from.seats[mv.seat]; p.live {
		e.pass, e.owned = *p, e.base.owns(p.ticket)
	}
	e.got = to.do(mv)
	return e
}

// broken names the invariant that an edge breaks, "" for none.
func (e *edge) broken() string {
	rules := []func(*edge) string{
		(*edge).changes, (*edge).oneProbe, (*edge).word, (*edge).prober,
		(*edge).stale, (*edge).neutral, (*edge).admission, (*edge).evidence, (*edge).waits, (*edge).ways,
	}
	if e.mv.kind == mvTick {
		rules = rules[:4] // the machine hears of the time with the next move
	}
	for _, rule := range rules {
		if what := rule(e); what != "" {
			return what
		}
	}
	return ""
}

// changes: I8, each change begins where the last one ended, with a higher
// generation, and the generation never goes back.
func (e *edge) changes() string {
	mode, gen := e.from.m.mode, e.from.m.gen
	for _, c := range e.got.v.changes[:e.got.v.n] {
		if c.from != mode || c.to == c.from || c.gen <= gen || c.cause == "" {
			return fmt.Sprintf("I8: change %+v after %s of generation %d", c, mode, gen)
		}
		mode, gen = c.to, c.gen
	}
	if m := &e.to.m; m.mode != mode || m.gen < gen || m.gen < e.from.m.gen {
		return fmt.Sprintf("I8: %s of generation %d, but the changes end in %s of %d", m.mode, m.gen, mode, gen)
	}
	return ""
}

// oneProbe: I1, at most one probe of the present generation is out, and it is
// there exactly if the machine waits for one.
func (e *edge) oneProbe() string {
	n := 0
	for i := range e.to.seats {
		p := &e.to.seats[i]
		if p.live && p.ticket.Probe() && e.to.m.owns(p.ticket) {
			n++
			if p.ticket.probe() != e.to.m.trial.probe {
				return "I1: the machine waits for another probe than the one that is out"
			}
		}
	}
	if n > 1 || (n == 1) != (e.to.m.trial.probe != probeNone) {
		return fmt.Sprintf("I1: %d probes are out, the machine knows of kind %d", n, e.to.m.trial.probe)
	}
	return ""
}

// same reports whether all but the hang evidence is equal.
func same(a, b *machine) bool {
	return a.mode == b.mode && a.gen == b.gen && a.since == b.since && a.cause == b.cause && a.held == b.held && a.trial == b.trial && a.trip == b.trip
}

// stale: I2, the ticket of an earlier generation changes nothing but what is
// known about first tokens.
func (e *edge) stale() string {
	if e.pass.live && !e.owned && (e.mv.kind == mvDone || e.mv.kind == mvProgress || e.mv.kind == mvSuspect) && e.stepped() && !same(&e.to.m, &e.base) {
		return "I2: a ticket of an earlier generation changed something"
	}
	return ""
}

// stepped reports whether the move got as far as the machine.
func (e *edge) stepped() bool {
	switch e.mv.kind {
	case mvProgress:
		return !e.pass.token || e.pass.ticket.Probe() && e.from.m.owns(e.pass.ticket)
	}
	return true
}

// neutral: I7, what says nothing about the upstream changes nothing.
func (e *edge) neutral() string {
	if e.mv.kind == mvDone && e.mv.result > Failure && !e.pass.ticket.Probe() && !same(&e.to.m, &e.base) {
		return "I7: an outcome that says nothing changed something"
	}
	if e.mv.kind == mvPause {
		b := e.base
		b.trial.lease = e.to.m.trial.lease
		if !same(&e.to.m, &b) {
			return "J8: a pause changed more than a lease"
		}
	}
	return ""
}

// admission: I4, an open scope admits only its probe, a forced one nobody.
func (e *edge) admission() string {
	if e.mv.kind != mvAllow && e.mv.kind != mvClaim || !e.got.yes {
		return ""
	}
	mode := e.base.mode
	switch {
	case mode == ForcedOpen:
		return "I4: admitted although it is forced open"
	case (mode == Open || mode == HalfOpen) != (e.got.probe == probeLive):
		return fmt.Sprintf("I4: admitted as probe %d while %s", e.got.probe, mode)
	case mode == Open && e.mv.kind == mvAllow && e.from.now < e.base.trial.live:
		return "I4: a caller's probe before its time"
	}
	return ""
}

// evidence: I5, no trip without enough failures and waiting calls of this
// generation within the window, or an operator's word.
func (e *edge) evidence() string {
	m := &e.to.m
	if e.base.mode != Closed || m.mode != Open {
		return ""
	}
	if m.cause == causeRestored && e.mv.kind == mvRestore {
		return ""
	}
	n, span := 0, m.cfg.Window+m.cfg.Window/30
	for _, t := range e.from.failed[:e.from.nFailed] {
		if e.from.now-t <= span {
			n++
		}
	}
	switch e.mv.kind {
	case mvDone:
		if e.mv.result == Failure {
			n++
		}
		fallthrough
	case mvSuspect:
		n += e.old()
	default:
		return "I5: opened by " + e.mv.String()
	}
	if n < m.cfg.Failures {
		return fmt.Sprintf("I5: opened for %q on %d of %d pieces of evidence", m.cause, n, m.cfg.Failures)
	}
	return ""
}

// old are the calls that wait suspiciously long.
func (e *edge) old() (n int) {
	age := e.base.hang.age()
	for i := range e.to.seats {
		p := &e.to.seats[i]
		if age > 0 && p.live && p.suspect && !p.token && p.ticket.gen() == e.base.gen&genMask && p.ticket.at > e.base.hang.youngest && e.from.now-p.ticket.at >= age {
			n++
		}
	}
	return n
}

// waits: I9, how long it stays open.
func (e *edge) waits() string {
	m, t, now := &e.to.m, &e.to.m.trial, e.from.now
	if m.mode != Open || m.trial.probe != probeNone || m.gen == e.from.m.gen || m.cause == causeRestored {
		return ""
	}
	reset, in := m.cfg.Reset, func(d, low, high time.Duration) bool { return d >= low-1 && d <= high+1 }
	switch {
	case m.cfg.Literal:
		if t.live-now != reset {
			return fmt.Sprintf("I9: open for %s, the card says %s", t.live-now, reset)
		}
	case m.cfg.Live:
		if !in(t.live-now, reset*9/10, reset) {
			return fmt.Sprintf("I9: a caller may probe after %s of %s", t.live-now, reset)
		}
	default:
		if e.mv.kind == mvDone && e.mv.result >= Neutral {
			break // the slot went back
		}
		// A wait counts from the start of the probe before it, but leaves a
		// breath after its end; that of a flapping breaker counts from the end.
		least, most, breath := m.scaled(waits[0])*9/10, m.scaled(waits[len(waits)-1])*11/10, m.scaled(time.Second)
		flaps := t.flaps >= flapLimit && now-t.tripped < calmSpan
		switch d := t.due - now; {
		case flaps && !in(d, reset*9/10, reset):
			return fmt.Sprintf("I9: a flapping breaker probes after %s", d)
		case !flaps && !in(d, breath, breath) && !(d > breath && in(t.due-t.started, least, most)):
			return fmt.Sprintf("I9: the next probe is after %s, %s after the last one began", d, t.due-t.started)
		}
	}
	return ""
}

// ways: only a live call that got a token or a good end closes it, only a
// probe or a caller whose time has come makes it half-open.
func (e *edge) ways() string {
	from, to := e.base.mode, e.to.m.mode
	if from == to || e.mv.kind == mvForce || !e.stepped() {
		return ""
	}
	p, good := &e.pass, e.mv.kind == mvDone && e.mv.result == Success || e.mv.kind == mvProgress && e.pass.ticket.sight() == Watched
	switch {
	case to == Closed && !(from == HalfOpen && p.live && e.owned && p.ticket.probe() == probeLive && good),
		to == HalfOpen && e.mv.kind == mvDone && !(from == Open && e.owned && p.ticket.probe() == probeBackground && e.mv.result == Success),
		to == HalfOpen && e.mv.kind != mvDone && e.mv.kind != mvAllow && e.mv.kind != mvClaim,
		from == HalfOpen && to == Open && !(e.owned && p.ticket.Probe()),
		to == ForcedOpen, to == ForcedClosed:
		return fmt.Sprintf("%s -> %s by %s", from, to, e.mv)
	}
	return ""
}

// word: what Allow sees without the lock says the same as the machine.
func (e *edge) word() string {
	w := e.to.m.word()
	g, until := gate(w>>gateShift), time.Duration(w&msMask)*time.Millisecond
	m, now := e.to.m, e.to.now
	v := m.step(event{kind: evAllow}, now)
	switch {
	case g == gateRefused && now < until && v.yes:
		return "the word refuses a call that the machine admits"
	case (g == gateClosed || g == gateForced && now < until) && (!v.yes || v.probe != probeNone):
		return "the word admits a call that the machine refuses or takes for a probe"
	case uint32(w>>genShift)&genMask != e.to.m.gen&genMask:
		return "the word is of another generation"
	}
	return ""
}

// prober: while it is open somebody is always told to come back, later than now.
func (e *edge) prober() string {
	m, now := e.to.m, e.to.now
	if m.mode != Open && m.mode != HalfOpen {
		return ""
	}
	v := m.step(event{kind: evDue}, now)
	switch {
	case v.yes:
		return ""
	case v.next != 0 && v.next <= now:
		return fmt.Sprintf("the prober is told to come back %s ago", now-v.next)
	case v.next == 0 && m.mode == Open && !m.callersProbe():
		return "the prober of an open breaker is told to sleep for ever"
	}
	return ""
}
