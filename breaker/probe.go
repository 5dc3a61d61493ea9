package breaker

import (
	"math"
	"time"
)

const (
	never    = time.Duration(math.MaxInt64)
	rampTime = 20 * time.Second
	rampLow  = 0.1 // share at the start of a ramp

	steadySpan  = 30 * time.Second // closed that long with steadyWins successes: waits start small again
	steadyWins  = 20
	flapSpan    = time.Minute // a trip so soon after a close is a flap
	flapLimit   = 3
	calmSpan    = 10 * time.Minute // without a trip: flaps are forgotten
	neutralWait = 100 * time.Millisecond
	fullReset   = time.Minute // the waits are meant for this reset and shrink with a shorter one
)

// waits before the first, second and every later background probe of a row.
var waits = [...]time.Duration{5 * time.Second, 10 * time.Second, 15 * time.Second}

// trial is what an open breaker knows about its way back.
type trial struct {
	probe   probeKind     // running now
	lease   time.Duration // end of it
	due     time.Duration // open: next background probe
	live    time.Duration // open: a live call may probe
	slot    time.Duration // half-open: the live slot is free from then on
	started time.Duration // last probe, or the opening
	before  time.Duration // started, before the running background probe
	nth     uint8         // index into waits
	neutral uint8         // probes in a row that said nothing
	excused bool          // a live probe moved over since the trip

	wins      uint32 // successes since closed
	recovered bool   // closed by a probe
	flaps     uint8  // trips in a row soon after a close
	tripped   time.Duration
	heavy     bool // the trip was for overload under load
	ramp      bool // closed, with a growing share
}

func (m *machine) lease() time.Duration {
	if m.cfg.FirstToken == 0 {
		return m.cfg.Reset
	}
	return min(m.cfg.FirstToken+time.Second, m.cfg.Reset)
}

func (m *machine) callersProbe() bool { return m.cfg.Live || m.cfg.Literal }

// open trips a closed breaker.
func (m *machine) open(now time.Duration, cause string, v *verdict) {
	t := &m.trial
	if now-t.tripped >= calmSpan {
		t.flaps = 0
	}
	switch {
	case t.recovered && now-m.since <= flapSpan:
		t.flaps = min(t.flaps+1, flapLimit)
	case t.flaps < flapLimit:
		t.flaps = 0
	}
	heavy := m.heavy(now)
	m.drop()
	t.tripped, t.started, t.heavy, t.excused = now, now, heavy, false
	m.enter(Open, now, cause, v)
	m.schedule(now)
}

// reopen starts a new wait after a probe that failed.
func (m *machine) reopen(now time.Duration, cause string, v *verdict) {
	m.trial.probe, m.trial.neutral = probeNone, 0
	if m.mode == HalfOpen {
		m.enter(Open, now, cause, v)
	} else {
		m.gen++
	}
	m.schedule(now)
}

// schedule sets the times of the next probes.
func (m *machine) schedule(now time.Duration) {
	t, reset := &m.trial, m.cfg.Reset
	if m.cfg.Literal {
		t.live = now + reset
		return
	}
	if m.cfg.Live {
		t.live = now + m.random(reset, 0.9, 1)
		return
	}
	if t.flaps >= flapLimit && now-t.tripped < calmSpan {
		t.due = now + m.random(reset, 0.9, 1)
	} else {
		// A wait counts from the start of the probe before it: one that hung
		// for its whole limit has waited already.
		t.due = max(t.started+m.random(m.scaled(waits[t.nth]), 0.9, 1.1), now+m.scaled(time.Second))
	}
	t.nth = min(t.nth+1, uint8(len(waits)-1))
	t.live = m.fallback()
}

// fallback is when a live call may probe although none succeeded in the
// background: a reset after the last probe, but not while the prober still has
// its turn.
func (m *machine) fallback() time.Duration {
	return max(m.trial.started+m.cfg.Reset, m.trial.due+m.cfg.Reset/10)
}

func (m *machine) scaled(d time.Duration) time.Duration {
	return time.Duration(float64(d) * min(1, float64(m.cfg.Reset)/float64(fullReset)))
}

// allow is the way in when the word alone cannot tell.
func (m *machine) allow(claim bool, now time.Duration, v *verdict) {
	if !m.ready(now) && !(claim && m.claimable(now)) {
		return
	}
	switch m.mode {
	case Open:
		m.enter(HalfOpen, now, causeProbe, v)
		m.begin(probeLive, now)
		v.probe = probeLive
	case HalfOpen:
		m.gen++
		m.begin(probeLive, now)
		v.probe = probeLive
	}
	v.yes, v.gen = true, m.gen
}

// claimable reports whether a call that nothing else can answer may be the
// probe although its time has not come: no probe is running, and the first
// wait has passed since the last one.
func (m *machine) claimable(now time.Duration) bool {
	return m.mode == Open && m.trial.probe == probeNone && now >= m.trial.started+m.scaled(waits[0])
}

// ready reports whether allow would admit.
func (m *machine) ready(now time.Duration) bool {
	if m.held > 0 && now >= m.held {
		return true
	}
	switch m.mode {
	case Open:
		return m.trial.probe == probeNone && now >= m.trial.live
	case HalfOpen:
		return m.trial.probe == probeNone && now >= m.trial.slot
	}
	return m.mode != ForcedOpen
}

func (m *machine) begin(kind probeKind, now time.Duration) {
	t := &m.trial
	t.probe, t.lease = kind, now+m.lease()
	t.before, t.started = t.started, now
}

// due starts a background probe, or says when to ask again.
func (m *machine) due(now time.Duration, v *verdict) {
	t := &m.trial
	switch {
	case m.held > 0:
		v.next = m.held
	case t.probe != probeNone:
		v.next = t.lease
	case m.mode == Open && !m.callersProbe():
		if now < t.due {
			v.next = t.due
			return
		}
		m.gen++
		m.begin(probeBackground, now)
		v.yes, v.gen, v.next = true, m.gen, t.lease
	}
}

// probeDone decides by the end of the running probe.
func (m *machine) probeDone(e event, now time.Duration, v *verdict) {
	t := &m.trial
	switch {
	case e.result == Moved && t.probe == probeLive && !t.excused && !m.callersProbe():
		// The background probe before it was answered, and one first token in
		// fifty is late on a good day: the waits begin anew, once.
		t.excused, t.nth = true, 0
		m.reopen(now, causeProbe, v)
	case e.result == Failure || e.result == Moved:
		m.reopen(now, causeProbe, v)
	case e.result == Success && t.probe == probeLive:
		m.close(now, v)
	case e.result == Success:
		t.probe, t.neutral, t.slot = probeNone, 0, now
		m.enter(HalfOpen, now, causeProbe, v)
	default:
		m.giveBack(e.result == Void, now)
	}
}

// giveBack frees the slot of a probe that said nothing.
func (m *machine) giveBack(void bool, now time.Duration) {
	t := &m.trial
	m.gen++
	background := t.probe == probeBackground
	wait := min(neutralWait<<t.neutral, m.scaled(waits[0]))
	if !background {
		// The first caller whose probe said nothing costs the next one no
		// wait; a row of them must not spin.
		wait = 0
		if t.neutral > 0 {
			wait = min(neutralWait<<(t.neutral-1), m.scaled(waits[0]))
		}
	}
	t.probe = probeNone
	switch {
	case void && background:
		t.started = t.before
		t.due = now + m.random(m.scaled(waits[0]), 0.9, 1.1)
	case void:
		t.slot = now
	case background:
		t.due = now + wait
	default:
		t.slot = now + wait
	}
	if !void {
		t.neutral = min(t.neutral+1, 10)
	}
}

// close ends the trial well.
func (m *machine) close(now time.Duration, v *verdict) {
	t := &m.trial
	m.drop()
	m.enter(Closed, now, causeProbe, v)
	t.recovered, t.wins = true, 0
	t.ramp = t.heavy && !m.cfg.Literal
}

// success counts one after the breaker has been closed for d.
func (t *trial) success(d time.Duration) {
	t.wins = min(t.wins+1, steadyWins)
	if t.wins == steadyWins && d >= steadySpan {
		t.nth = 0
	}
}

// opening is when Allow has to ask the machine again.
func (m *machine) opening() time.Duration {
	switch t := &m.trial; {
	case t.probe != probeNone:
		return t.lease
	case m.mode == HalfOpen:
		return t.slot
	default:
		return t.live
	}
}

// until is the best guess of when a refused call may be admitted.
func (m *machine) until(now time.Duration) time.Duration {
	switch t := &m.trial; {
	case m.held > 0:
		return m.held
	case m.mode == ForcedOpen:
		return now + m.cfg.Reset
	case m.mode == Open && t.probe == probeNone && !m.callersProbe():
		return min(t.due, t.live)
	}
	return m.opening()
}

// inRamp reports whether hash is in the share 0.1 + 0.9 t/20 s.
func inRamp(t time.Duration, hash uint64) bool {
	share := rampLow + (1-rampLow)*float64(t)/float64(rampTime)
	return float64(hash>>11)/(1<<53) < share
}

// random is d x U(low, high).
func (m *machine) random(d time.Duration, low, high float64) time.Duration {
	m.rng += golden
	z := m.rng
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	u := float64((z^z>>31)>>11) / (1 << 53)
	spread := float64((high - low) * u) // rounded on its own: a fused multiply-add would differ between machines
	return time.Duration(float64(float64(d) * (low + spread)))
}
