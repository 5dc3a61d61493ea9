package breaker

import "time"

// Progress reports a meaningful token of attempt t at now. The first one is a
// first-token sample, ends the attempt's suspicion, and closes the breaker if t
// is the live probe and [Watched]; a blind or background probe only renews its
// lease and is decided by its end. Further calls renew the lease of a probe and
// cost a few nanoseconds otherwise.
func (b *Breaker) Progress(now time.Time, t Ticket) {
	first, running := t.mark(flagToken)
	if !running {
		return
	}
	if !first && (t.probe() == probeNone || t.gen() != b.gen()) {
		return
	}
	b.apply(now, event{kind: evProgress, ticket: t, flags: t.flags(), first: first})
}

// Suspect reports that attempt t has waited for its first token up to now,
// longer than [Breaker.Suspicion]; it may be repeated. The breaker opens if
//
//	waiting > 0 and waiting + run >= needed
//
// where waiting are the attempts older than the suspicion age S that were
// admitted after the youngest attempt that has been answered, run the failures
// in a row without a token, and needed the number that Info reports. True means
// that the call should move on: the breaker is not closed any more for it, or
// it is the probe.
func (b *Breaker) Suspect(now time.Time, t Ticket) bool {
	if t.sight() == Blind || b.age.Load() == 0 {
		return false
	}
	first, running := t.mark(flagSuspect)
	if !running || t.flags()&flagToken != 0 {
		return false
	}
	return b.apply(now, event{kind: evSuspect, ticket: t, first: first}).yes
}

// Done reports the end of attempt t at now. It counts once, further calls do
// nothing. With overload a failure was an answer that says so (429 of the
// service, 503, 529): if the breaker opens on such failures under load, calls
// come back in a growing share after it has closed.
func (b *Breaker) Done(now time.Time, t Ticket, r Result, overload bool) {
	flags := t.settle()
	if flags == 0 {
		return
	}
	b.apply(now, event{kind: evDone, ticket: t, flags: flags, result: r, overload: overload})
}

// Due starts a background probe if one is due at now: the ticket is its lease,
// to be ended by [Breaker.Probed] or [Breaker.Unprobed]. It also ends leases
// that ran out and forced states whose time is over. next is when to ask again,
// zero if nothing is pending; after a change of state ask at once.
func (b *Breaker) Due(now time.Time) (t Ticket, due bool, next time.Time) {
	if g := gate(b.word.Load() >> gateShift); g == gateClosed || g == gateRamp {
		return Ticket{}, false, time.Time{}
	}
	v := b.apply(now, event{kind: evDue})
	if v.next > 0 {
		next = b.epoch.Add(v.next)
	}
	if !v.yes {
		return Ticket{}, false, next
	}
	at := now.Sub(b.epoch)
	t = b.issue(at, v.gen&genMask, Watched, uint64(at))
	t.bits |= uint64(probeBackground)
	return t, true, next
}

// Probed reports the end of a background probe. Success makes the breaker
// half-open with one slot for a live call; Failure and Moved start the next,
// longer wait; Neutral gives the slot back with a short, growing delay; Void is
// [Breaker.Unprobed].
func (b *Breaker) Probed(now time.Time, t Ticket, r Result) { b.Done(now, t, r, false) }

// Unprobed reports that no background probe could be made, for example because
// all keys are parked. It is tried again; if none can be made for a whole Reset
// a live call may probe.
func (b *Breaker) Unprobed(now time.Time, t Ticket) { b.Done(now, t, Void, false) }

// Force holds the breaker in ForcedOpen or ForcedClosed for d, or until it is
// changed if d is 0; after d, and with [Closed], it is closed and decides by
// itself again. Closed does nothing if no state is forced, and other states are
// ignored.
func (b *Breaker) Force(now time.Time, s State, d time.Duration) {
	b.apply(now, event{kind: evForce, state: s, span: d})
}

// Pause reports that the process stood still up to now. What waits now has
// waited for us, not for the upstream: it is no hang evidence any more and no
// first-token sample, and a running probe gets a new lease.
func (b *Breaker) Pause(now time.Time) { b.apply(now, event{kind: evPause}) }

// Suspicion is the age S from which an attempt without a token is suspect:
// 1.5 x the p95 of first-token times over 5 min, at least 1 s (or
// FirstToken/4.5 if that is less), and FirstToken/2 with fewer than 20 samples.
// From a trip to the next close the quantile stays as it was, so that the calls
// that move over do not raise the age for those behind them. A token of a probe,
// or of an attempt that outlived a trip, that took x > S keeps S >= 1.5 x for
// 5 min. S is 0 while there is no hang evidence: Hang is off, or S would be
// FirstToken or more, where the attempt's own limit comes first.
func (b *Breaker) Suspicion() time.Duration { return time.Duration(b.age.Load()) }

// FirstToken95 is the p95 of first-token times over 5 min, rounded up by at
// most 1/16, and the number of samples; 0, 0 without any.
func (b *Breaker) FirstToken95() (time.Duration, int) {
	w := b.tokens.Load()
	return time.Duration(w>>24) * time.Microsecond, int(w & (1<<24 - 1))
}

func (b *Breaker) gen() uint32 { return uint32(b.word.Load()>>genShift) & genMask }
