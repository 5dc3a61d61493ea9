package breaker

import (
	"fmt"
	"time"
)

// world is a breaker without its atomics: the machine, a clock and the running
// tickets with the memory that their slots would have. It is plain data, so
// that assigning it copies it. What do does around machine.step is what the
// methods of Breaker do.
type world struct {
	m     machine
	now   time.Duration
	rng   uint64 // of every step, 0 = the machine's own
	seats [seatCount]pass

	failed  [maxRun]time.Duration // when failures of this generation ended, newest last
	nFailed int
}

const (
	callerSeats = 4
	seatCount   = callerSeats + 1 // the last one is the background probe's
	probeSeat   = callerSeats
)

// pass is a ticket that was given out.
type pass struct {
	ticket               Ticket
	live, token, suspect bool
}

func (p *pass) flags() (f uint64) {
	if p.token {
		f |= flagToken
	}
	if p.suspect {
		f |= flagSuspect
	}
	return f | flagLive
}

type moveKind uint8

const (
	mvAllow moveKind = iota
	mvClaim
	mvProgress
	mvSuspect
	mvDone
	mvDue
	mvForce
	mvPause
	mvRestore
	mvTick
)

var moveWords = [...]string{"Allow", "Claim", "Progress", "Suspect", "Done", "Due", "Force", "Pause", "Restore", "tick"}

// move is something that a caller, the prober, an operator or time does.
type move struct {
	kind     moveKind
	seat     int
	sight    Sight
	hash     uint64
	result   Result
	overload bool
	state    State
	span     time.Duration
	tick     tickKind
}

type tickKind uint8

const (
	tickBeat  tickKind = iota // a little
	tickShy                   // to just before something happens by itself
	tickNext                  // to when it happens
	tickAged                  // until all evidence is too old
	tickYears                 // until flaps are forgotten
)

func (mv move) String() string {
	out := moveWords[mv.kind]
	switch mv.kind {
	case mvAllow, mvClaim:
		out += fmt.Sprintf("(%d blind=%v)", mv.seat, mv.sight == Blind)
	case mvProgress, mvSuspect:
		out += fmt.Sprintf("(%d)", mv.seat)
	case mvDone:
		out += fmt.Sprintf("(%d %s)", mv.seat, [...]string{"success", "failure", "neutral", "moved", "void"}[mv.result])
	case mvForce, mvRestore:
		out += fmt.Sprintf("(%s %s)", mv.state, mv.span)
	case mvTick:
		out += [...]string{" a beat", " to just before", " to the next time", " past the window", " 11 minutes"}[mv.tick]
	}
	return out
}

// got is what the one who made the move was told.
type got struct {
	yes   bool
	gen   uint32
	probe probeKind
	next  time.Duration
	v     verdict // of the step, if one was made
}

// can reports whether the move means anything now.
func (w *world) can(mv move) bool {
	switch mv.kind {
	case mvAllow, mvClaim:
		return !w.seats[mv.seat].live
	case mvProgress, mvDone:
		return w.seats[mv.seat].live
	case mvSuspect:
		p := &w.seats[mv.seat]
		return p.live && !p.token && p.ticket.sight() == Watched && w.m.hang.age() > 0
	case mvDue:
		return !w.seats[probeSeat].live
	case mvForce:
		return mv.state != Closed || w.m.mode == ForcedOpen || w.m.mode == ForcedClosed
	case mvRestore:
		return w.m.mode == Closed
	case mvTick:
		return mv.tick != tickShy && mv.tick != tickNext || w.next() > w.now+1
	}
	return true
}

// do makes a move.
func (w *world) do(mv move) got {
	switch p := &w.seats[mv.seat]; mv.kind {
	case mvAllow:
		return w.allow(mv)
	case mvClaim:
		g := w.allow(mv)
		if g.yes {
			return g
		}
		then := w.let(mv, w.step(event{kind: evAllow, claim: true}))
		g.v.n += copy(g.v.changes[g.v.n:], then.v.changes[:then.v.n])
		then.v = g.v
		return then
	case mvProgress:
		if !p.live {
			return got{}
		}
		first := !p.token
		p.token = true
		if !first && (p.ticket.probe() == probeNone || !w.m.owns(p.ticket)) {
			return got{}
		}
		return got{v: w.step(event{kind: evProgress, ticket: p.ticket, flags: p.flags(), first: first})}
	case mvSuspect:
		if !p.live || p.ticket.sight() == Blind || w.m.hang.age() == 0 {
			return got{}
		}
		first := !p.suspect
		p.suspect = true
		if p.token {
			return got{}
		}
		v := w.step(event{kind: evSuspect, ticket: p.ticket, first: first})
		return got{yes: v.yes, v: v}
	case mvDone:
		if !p.live {
			return got{}
		}
		over := *p
		*p = pass{}
		return got{v: w.step(event{kind: evDone, ticket: over.ticket, flags: over.flags(), result: mv.result, overload: mv.overload})}
	case mvDue:
		if g := gate(w.m.word() >> gateShift); g == gateClosed || g == gateRamp {
			return got{}
		}
		v := w.step(event{kind: evDue})
		g := got{yes: v.yes, gen: v.gen, probe: v.probe, next: v.next, v: v}
		if v.yes {
			g.probe = probeBackground
			w.seat(probeSeat, v.gen, Watched, probeBackground)
		}
		return g
	case mvForce:
		return got{v: w.step(event{kind: evForce, state: mv.state, span: mv.span})}
	case mvPause:
		return got{v: w.step(event{kind: evPause})}
	case mvRestore:
		return got{v: w.step(event{kind: evRestore, span: mv.span, nth: uint8(mv.seat)})}
	case mvTick:
		w.tick(mv.tick)
	}
	return got{}
}

// allow is Breaker.Allow: the word alone decides if it can.
func (w *world) allow(mv move) got {
	word := w.m.word()
	until := time.Duration(word&msMask) * time.Millisecond
	in := func() got {
		gen := uint32(word>>genShift) & genMask
		w.seat(mv.seat, gen, mv.sight, probeNone)
		return got{yes: true, gen: gen}
	}
	switch gate(word >> gateShift) {
	case gateClosed:
		return in()
	case gateRamp:
		if w.now < until+rampTime && !inRamp(w.now-until, mv.hash) {
			return got{}
		}
		return in()
	case gateRefused:
		if w.now < until {
			return got{}
		}
	case gateForced:
		if w.now < until {
			return in()
		}
	}
	return w.let(mv, w.step(event{kind: evAllow}))
}

// let gives the ticket of an admission that the machine decided.
func (w *world) let(mv move, v verdict) got {
	if v.yes {
		w.seat(mv.seat, v.gen&genMask, mv.sight, v.probe)
	}
	return got{yes: v.yes, gen: v.gen & genMask, probe: v.probe, v: v}
}

func (w *world) seat(i int, gen uint32, sight Sight, probe probeKind) {
	bits := uint64(gen&genMask)<<3 | uint64(sight&1)<<2 | uint64(probe)
	w.seats[i] = pass{ticket: Ticket{at: w.now, bits: bits}, live: true}
}

// step is Breaker.apply.
func (w *world) step(e event) verdict {
	if (e.result == Failure || e.kind == evSuspect) && w.m.nearRun() {
		e.pending = w.count(w.m.trip.early.first().at, flagToken|flagSuspect)
	}
	if (e.result == Failure || e.kind == evSuspect) && w.m.nearRate(w.now) {
		e.running = w.count(w.m.since, flagSuspect)
	}
	if w.rng != 0 {
		w.m.rng = w.rng
	}
	counts := e.kind == evDone && e.result == Failure && w.m.mode == Closed && w.m.owns(e.ticket)
	gen := w.m.gen
	if counts {
		w.note()
	}
	v := w.m.step(e, w.now)
	if w.m.gen != gen {
		w.nFailed = 0
	}
	return v
}

func (w *world) note() {
	if w.nFailed == len(w.failed) {
		copy(w.failed[:], w.failed[1:])
		w.nFailed--
	}
	w.failed[w.nFailed] = w.now
	w.nFailed++
}

// count is Breaker.count.
func (w *world) count(since time.Duration, without uint64) (n int) {
	for i := range w.seats {
		p := &w.seats[i]
		if p.live && p.flags()&without == 0 && p.ticket.at>>ageUnit >= since>>ageUnit {
			n++
		}
	}
	return n
}

// next is when something happens without anybody's doing, 0 = never.
func (w *world) next() time.Duration {
	best := time.Duration(0)
	at := func(t time.Duration) {
		if t > w.now && t < never && (best == 0 || t < best) {
			best = t
		}
	}
	t := &w.m.trial
	at(w.m.held)
	switch {
	case t.probe != probeNone:
		at(t.lease)
	case w.m.mode == Open:
		at(t.live)
		if !w.m.callersProbe() {
			at(t.due)
			at(t.started + w.m.scaled(waits[0]))
		}
	case w.m.mode == HalfOpen:
		at(t.slot)
	case t.ramp:
		at(w.m.since + rampTime)
	}
	if age := w.m.hang.age(); age > 0 {
		for i := range w.seats {
			if p := &w.seats[i]; p.live && !p.token && p.ticket.sight() == Watched {
				at(p.ticket.at + age)
			}
		}
	}
	return best
}

func (w *world) tick(kind tickKind) {
	switch kind {
	case tickBeat:
		w.now += w.m.cfg.Window / 40
	case tickShy:
		w.now = w.next() - 1
	case tickNext:
		w.now = w.next()
	case tickAged:
		w.now += w.m.cfg.Window + w.m.cfg.Window/30 + time.Second
	case tickYears:
		w.now += 11 * time.Minute
	}
}
