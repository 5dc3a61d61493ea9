// Package breaker decides whether an upstream may be asked, from what became
// of the attempts before.
//
// A [Breaker] differs from the usual ones in five points:
//
//   - It counts failures in a row, and how many are needed grows with the
//     upstream's own error rate and with the attempts that are still undecided,
//     so ordinary noise never opens it, nor do errors that come quicker than
//     answers.
//   - It sees a hang before any limit runs out: attempts that wait for a first
//     token longer than the suspicion age, while nothing younger has been
//     answered, are evidence (see [Breaker.Suspect]).
//   - A probe has a lease. One that never comes back is a failure, and the next
//     one follows; the breaker cannot get stuck half-open.
//   - Every admission belongs to a generation. What ends after a change of
//     state changes nothing.
//   - While it is open, background probes ask the upstream at no caller's
//     cost; only after one has succeeded a single live call goes through, and
//     its first token closes the breaker.
//
// The rules are a pure step function over plain data; around it stands one
// atomic word for [Breaker.Allow] and a mutex for everything that ends. The
// package starts no goroutine and never asks for the time: all times come in
// as arguments and are measured from the epoch given to [New], on the
// monotonic clock if they carry it.
//
// Stability: experimental until v1; the names are the ones meant to stay.
package breaker

import (
	"sync"
	"sync/atomic"
	"time"
)

// Config is the setting of one breaker.
type Config struct {
	// Failures in a row that open the breaker, 1 to 64 (others are clamped);
	// more are needed where the base error rate is high, at most 64.
	Failures int
	// Window is how old evidence may be, at least 1 ms.
	Window time.Duration
	// Reset is the longest time before a live call may probe, at least 1 ms.
	Reset time.Duration
	// Hang lets waiting attempts count (see [Breaker.Suspect]).
	Hang bool
	// FirstToken is the limit of an attempt up to its first token. It bounds
	// the suspicion age and the lease of a probe, which is
	// min(FirstToken + 1 s, Reset). Zero: no hang evidence, lease = Reset.
	FirstToken time.Duration
	// Live makes callers' calls the only probes.
	Live bool
	// Literal is the article's card word for word: Failures in a row within
	// Window whatever the base rate, a Reset that is exact and flat, live
	// probes; no rate rule, hang evidence, flap guard or ramp.
	Literal bool
	// Slow opens on a share of 50 % of at least 10 outcomes alone. It suits
	// faults that come singly, such as answers of poor quality.
	Slow bool
	// Notify is told of every change of state, after all locks are released,
	// by the goroutine that caused it. Two changes may arrive out of order;
	// Transition.Gen orders them. It may be nil.
	Notify func(Transition)
}

// Breaker guards one scope, for example one model of one upstream. All methods
// may be called by any number of goroutines at once. Make it with [New].
type Breaker struct {
	word  atomic.Uint64 // what Allow needs to know, see below
	epoch time.Time
	slots atomic.Pointer[[]slot]
	_     [24]byte // the fields above are read by every call, those below written by every end

	spot   atomic.Uint64 // where search looks next
	age    atomic.Int64  // published suspicion age
	tokens atomic.Uint64 // published p95 first token in us << 24 | number of samples
	mu     sync.Mutex
	m      machine
	notify func(Transition)
}

// The word packs a gate (3 bits), a generation (21 bits) and a time in whole
// milliseconds since the epoch (40 bits, 34 years). A generation can only be
// mistaken for another one after two million changes within one attempt.
const (
	gateShift = 61
	genShift  = 40
	genMask   = 1<<21 - 1
	msMask    = 1<<40 - 1
)

type gate uint8

const (
	gateClosed  gate = iota // admit
	gateRamp                // admit the share of a ramp that began at the time
	gateRefused             // refuse until the time, then ask the machine
	gateForced              // admit until the time, then ask the machine
)

func word(g gate, gen uint32, until time.Duration) uint64 {
	ms := min(uint64(max(until, 0)/time.Millisecond), msMask)
	return uint64(g)<<gateShift | uint64(gen&genMask)<<genShift | ms
}

// New makes a closed breaker. Times given to its methods must not lie before
// epoch. The seed drives the jitter of the waits: give each breaker its own.
func New(cfg Config, epoch time.Time, seed uint64) *Breaker {
	b := &Breaker{epoch: epoch, notify: cfg.Notify}
	b.m.build(cfg, seed)
	table := make([]slot, firstSlots)
	b.slots.Store(&table)
	b.publish()
	return b
}

// Allow asks for an attempt at now. If it answers true, the ticket must be
// given to [Breaker.Done] once the attempt has ended. The hash decides who is
// in the share that a ramp lets through; any well-mixed bits will do, such as
// a hash of the call's id.
//
// Costs: one atomic load to refuse, one atomic swap more to admit; no lock and
// no allocation, except at the moment a probe may be due.
func (b *Breaker) Allow(now time.Time, sight Sight, hash uint64) (Ticket, bool) {
	at := now.Sub(b.epoch)
	w := b.word.Load()
	if w>>gateShift == uint64(gateClosed) {
		return b.issue(at, uint32(w>>genShift)&genMask, sight, hash), true
	}
	return b.allowSlowly(now, w, sight, hash)
}

func (b *Breaker) allowSlowly(now time.Time, w uint64, sight Sight, hash uint64) (Ticket, bool) {
	at := now.Sub(b.epoch)
	until := time.Duration(w&msMask) * time.Millisecond
	switch gate(w >> gateShift) {
	case gateRefused:
		if at < until {
			return Ticket{}, false
		}
	case gateRamp:
		if at < until+rampTime && !inRamp(at-until, hash) {
			return Ticket{}, false
		}
		return b.issue(at, uint32(w>>genShift)&genMask, sight, hash), true
	case gateForced:
		if at < until {
			return b.issue(at, uint32(w>>genShift)&genMask, sight, hash), true
		}
	}
	v := b.apply(now, event{kind: evAllow})
	if !v.yes {
		return Ticket{}, false
	}
	t := b.issue(at, v.gen&genMask, sight, hash)
	t.bits |= uint64(v.probe)
	return t, true
}

// Claim is [Breaker.Allow] for a call that nothing else can answer: of an open
// breaker it may be the probe before its time, one call at a time and only
// after the first wait (5 s of a reset of 60 s) since the last probe. A breaker
// that is forced open refuses it as well.
func (b *Breaker) Claim(now time.Time, sight Sight, hash uint64) (Ticket, bool) {
	if t, ok := b.Allow(now, sight, hash); ok {
		return t, true
	}
	v := b.apply(now, event{kind: evAllow, claim: true})
	if !v.yes {
		return Ticket{}, false
	}
	t := b.issue(now.Sub(b.epoch), v.gen&genMask, sight, hash)
	t.bits |= uint64(v.probe)
	return t, true
}

// Ready reports whether [Breaker.Allow] would admit a call at now. It changes
// nothing. During a ramp it says yes although some calls are still refused.
func (b *Breaker) Ready(now time.Time) bool {
	w := b.word.Load()
	switch gate(w >> gateShift) {
	case gateClosed, gateRamp:
		return true
	case gateForced:
		if now.Sub(b.epoch) < time.Duration(w&msMask)*time.Millisecond {
			return true
		}
	case gateRefused:
		if now.Sub(b.epoch) < time.Duration(w&msMask)*time.Millisecond {
			return false
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.m.ready(now.Sub(b.epoch))
}

// Until is the earliest time at which a refused call may be admitted, as far
// as is known; zero if calls are admitted now. A probe in between may bring it
// forward or push it back.
func (b *Breaker) Until(now time.Time) time.Time {
	if g := gate(b.word.Load() >> gateShift); g == gateClosed || g == gateRamp {
		return time.Time{}
	}
	at := now.Sub(b.epoch)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.m.ready(at) {
		return time.Time{}
	}
	return b.epoch.Add(max(b.m.until(at), at))
}

// apply runs one event through the machine and tells of the changes.
func (b *Breaker) apply(now time.Time, e event) verdict {
	at := now.Sub(b.epoch)
	b.mu.Lock()
	if (e.result == Failure || e.kind == evSuspect) && b.m.nearRun() {
		e.pending = b.count(b.m.trip.early.first().at, flagToken|flagSuspect)
	}
	if (e.result == Failure || e.kind == evSuspect) && b.m.nearRate(at) {
		e.running = b.count(b.m.since, flagSuspect)
	}
	v := b.m.step(e, at)
	b.publish()
	b.mu.Unlock()
	if v.n > 0 && b.notify != nil {
		for _, c := range v.changes[:v.n] {
			b.notify(Transition{Time: now, From: c.from, To: c.to, Cause: c.cause, Gen: c.gen})
		}
	}
	return v
}

// publish stores what is read without the lock. Stores are skipped when
// nothing changed, so that readers keep the line in their caches.
func (b *Breaker) publish() {
	if w := b.m.word(); w != b.word.Load() {
		b.word.Store(w)
	}
	if !b.m.hang.fresh {
		return
	}
	b.m.hang.fresh = false
	b.age.Store(int64(b.m.hang.age()))
	p95, n := b.m.hang.samples.Value()
	b.tokens.Store(uint64(p95/time.Microsecond)<<24 | uint64(min(n, 1<<24-1)))
}
