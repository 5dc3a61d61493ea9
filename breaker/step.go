package breaker

import (
	"time"

	"backstop/window"
)

// machine is the whole state of a breaker as plain data: assigning it copies
// it. Times are durations since the epoch. It is changed by step alone.
type machine struct {
	cfg   Config // Notify is nil here
	rng   uint64
	mode  State
	gen   uint32
	since time.Duration // of the present mode
	cause string        // of the present mode

	trip  evidence
	hang  suspicion
	trial trial

	held time.Duration // end of a forced mode, 0 = none
}

type eventKind uint8

const (
	evAllow eventKind = iota
	evProgress
	evSuspect
	evDone
	evDue
	evForce
	evPause
	evRestore
	evLook // nothing but the passing of time
)

// event is something that happened. Fields that a kind does not need are zero.
type event struct {
	kind     eventKind
	first    bool // Progress, Suspect: of this ticket
	overload bool
	claim    bool // Allow: nothing else can answer
	result   Result
	state    State // Force, Restore
	flags    uint64
	ticket   Ticket
	span     time.Duration // Force: how long; Restore: until the next probe
	nth      uint8         // Restore
	pending  int           // Done, Suspect: attempts that are younger than the run and may still turn out well
	running  int           // Done, Suspect: attempts that may, with a token or without
}

// verdict is what follows from an event.
type verdict struct {
	yes     bool      // Allow: admitted; Suspect: move on; Due: start a probe
	probe   probeKind // Allow, Due
	gen     uint32    // Allow, Due: generation of the ticket
	next    time.Duration
	n       int // changes in use
	changes [3]change
}

type change struct {
	from, to State
	cause    string
	gen      uint32
}

// build makes the zero machine a closed one. It is filled where it lies: a
// copy of 9 KiB on the way would blow up the stack of the call that is the
// first of its model.
func (m *machine) build(cfg Config, seed uint64) {
	cfg.Notify = nil
	cfg.Failures = min(max(cfg.Failures, 1), maxRun)
	cfg.Window = max(cfg.Window, time.Millisecond)
	cfg.Reset = max(cfg.Reset, time.Millisecond)
	cfg.FirstToken = max(cfg.FirstToken, 0)
	m.cfg, m.rng = cfg, seed
	m.trip.rate = window.NewRate(cfg.Window)
	m.hang.build(cfg)
}

// step is the pure core: the same machine, event and time give the same
// machine and verdict.
func step(m machine, e event, now time.Duration) (machine, verdict) {
	v := m.step(e, now)
	return m, v
}

// step in place. Whatever has run out by now happens first.
func (m *machine) step(e event, now time.Duration) (v verdict) {
	m.expire(now, &v)
	switch e.kind {
	case evAllow:
		m.allow(e.claim, now, &v)
	case evProgress:
		m.progress(e, now, &v)
	case evSuspect:
		m.suspect(e, now, &v)
	case evDone:
		m.done(e, now, &v)
	case evDue:
		m.due(now, &v)
	case evForce:
		m.force(e, now, &v)
	case evPause:
		m.pause(now)
	case evRestore:
		m.restore(e, now, &v)
	}
	return v
}

// expire ends what has an end of its own: forced states, leases, ramps and the
// memory of late tokens.
func (m *machine) expire(now time.Duration, v *verdict) {
	if m.held > 0 && now >= m.held {
		m.settle(now, causeForced, v)
	}
	if m.trial.probe != probeNone && now >= m.trial.lease {
		m.reopen(now, causeLease, v)
	}
	if m.trial.ramp && now >= m.since+rampTime {
		m.trial.ramp = false
	}
	m.hang.refresh(now)
}

// enter changes the mode and the generation, and says so.
func (m *machine) enter(s State, now time.Duration, cause string, v *verdict) {
	m.gen++
	v.changes[v.n] = change{from: m.mode, to: s, cause: cause, gen: m.gen}
	v.n++
	m.mode, m.since, m.cause = s, now, cause
	m.hang.freeze(s == Open || s == HalfOpen, now)
}

func (m *machine) progress(e event, now time.Duration, v *verdict) {
	t := e.ticket
	if e.first && t.sight() == Watched {
		m.hang.token(t, now, t.probe() != probeNone || !m.owns(t))
	}
	if e.first {
		m.hang.answered(t.at)
	}
	if !m.owns(t) {
		return
	}
	switch {
	case t.probe() == probeLive && t.sight() == Watched:
		m.close(now, v)
	case t.probe() != probeNone:
		m.trial.lease = now + m.lease()
	case e.first && !m.cfg.Literal:
		m.trip.token(t.at)
	}
}

func (m *machine) suspect(e event, now time.Duration, v *verdict) {
	t, age := e.ticket, m.hang.age()
	if age == 0 {
		return
	}
	if e.first && m.mode == Closed && m.owns(t) && t.probe() == probeNone {
		m.hang.wait(t.at)
		m.judge(now, e, v)
	}
	v.yes = now-t.at >= age && m.mode != ForcedClosed &&
		(t.probe() != probeNone || m.mode != Closed || !m.owns(t))
}

func (m *machine) done(e event, now time.Duration, v *verdict) {
	t := e.ticket
	seen := e.flags&flagToken != 0
	if e.flags&flagSuspect != 0 {
		m.hang.leave(t.at)
	}
	if t.sight() == Watched && !seen {
		switch {
		case e.result == Moved:
			m.hang.sample(t, now)
		case e.result == Success && t.probe() == probeBackground:
			m.hang.token(t, now, true)
		}
	}
	if !m.owns(t) {
		return
	}
	if t.probe() != probeNone {
		m.probeDone(e, now, v)
		return
	}
	if m.mode != Closed {
		return // forced: calls go through, but nothing is counted
	}
	switch e.result {
	case Success:
		m.hang.answered(t.at)
		m.trip.success(t.at, now)
		m.trial.success(now - m.since)
	case Failure:
		m.trip.failure(stamp{done: now, at: t.at}, seen && !m.cfg.Literal, e.overload)
		m.judge(now, e, v)
	}
}

// owns reports whether the ticket is of the present generation.
func (m *machine) owns(t Ticket) bool { return t.gen() == m.gen&genMask }

func (m *machine) pause(now time.Duration) {
	m.hang.void(now)
	if m.trial.probe != probeNone {
		m.trial.lease = now + m.lease()
	}
}

// force holds a mode, or lets go of it.
func (m *machine) force(e event, now time.Duration, v *verdict) {
	switch e.state {
	case Closed:
		if m.mode == ForcedOpen || m.mode == ForcedClosed {
			m.settle(now, causeForced, v)
		}
	case ForcedOpen, ForcedClosed:
		m.drop()
		if m.mode != e.state {
			m.enter(e.state, now, causeForced, v)
		}
		m.held = 0
		if e.span > 0 {
			m.held = now + e.span
		}
	}
}

// settle is a fresh closed state.
func (m *machine) settle(now time.Duration, cause string, v *verdict) {
	m.drop()
	m.held = 0
	m.enter(Closed, now, cause, v)
}

// drop forgets evidence and probes that belong to the generation that ends.
func (m *machine) drop() {
	m.trip.end()
	m.hang.waiting.n = 0
	m.trial.probe, m.trial.neutral, m.trial.ramp, m.trial.recovered = probeNone, 0, false, false
}

// word is the machine as Allow needs to see it.
func (m *machine) word() uint64 {
	switch m.mode {
	case Closed:
		if m.trial.ramp {
			return word(gateRamp, m.gen, m.since)
		}
		return word(gateClosed, m.gen, 0)
	case ForcedClosed:
		return word(gateForced, m.gen, m.forcedEnd())
	case ForcedOpen:
		return word(gateRefused, m.gen, m.forcedEnd())
	}
	return word(gateRefused, m.gen, m.opening())
}

func (m *machine) forcedEnd() time.Duration {
	if m.held == 0 {
		return never
	}
	return m.held
}
