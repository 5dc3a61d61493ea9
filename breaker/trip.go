package breaker

import (
	"math"
	"math/bits"
	"time"

	"backstop/window"
)

const (
	maxRun   = 64   // most failures in a row that the run rule asks for
	falsely  = 1e-7 // accepted chance that a run of that length is mere noise
	rateMin  = 20   // outcomes that the rate rule needs
	slowMin  = 10   // the same for Config.Slow
	minShare = 0.01 // bounds of the base error rate
	maxShare = 0.8
	partly   = 0.25 // share of errors that is no outage …
	rarely   = 2e-5 // … and the accepted chance that its onset looks like one
	rampRate = 10   // outcomes a second above which a trip for overload is followed by a ramp
)

// stamp is a failure: when it ended and when it had been admitted.
type stamp struct{ done, at time.Duration }

// streak is a run of failures, oldest first.
type streak struct {
	ring [maxRun]stamp
	head int
	n    int
}

func (s *streak) add(t stamp) {
	s.ring[(s.head+s.n)%maxRun] = t
	s.n++
}

func (s *streak) first() stamp { return s.ring[s.head] }

func (s *streak) dropFirst() { s.head, s.n = (s.head+1)%maxRun, s.n-1 }

// history is the last 128 outcomes that belong to no run, the newest in bit 0;
// a set bit is a failure.
type history struct {
	lo, hi uint64
	n      int
	long   float64 // error rate over about 1000 outcomes
	seen   float64 // outcomes in long
}

const longSpan = 1000

func (h *history) push(failed uint64) {
	h.hi = h.hi<<1 | h.lo>>63
	h.lo = h.lo<<1 | failed
	h.n = min(h.n+1, 128)
	h.seen = min(h.seen+1, longSpan)
	h.long += (float64(failed) - h.long) / (h.seen + 5)
}

// share is the base error rate: the larger one of the last 16 and the last 128
// outcomes, each with a weak prior of 1 %. The short scale follows an upstream
// that got worse, the longer one remembers one that is always so. Up to 10 %
// the rate over about 1000 outcomes counts as well, since 128 may hold one
// error of an upstream that makes six on average.
func (h *history) share() float64 {
	short := float64(bits.OnesCount64(h.lo & 0xffff))
	long := float64(bits.OnesCount64(h.lo) + bits.OnesCount64(h.hi))
	p := max((short+0.05)/float64(min(h.n, 16)+5), (long+0.05)/float64(h.n+5), min(h.long, 0.1))
	return min(max(p, minShare), maxShare)
}

// evidence is what a closed breaker knows from attempts that have ended.
//
// There are two runs. The early one holds failures without a token: any later
// attempt that got a token or answered well ends it, since long answers would
// otherwise prove themselves only when they are complete, after many quick
// failures. The late one holds failures after a token: tokens prove nothing
// against it, whole answers do.
type evidence struct {
	early, late streak
	past        history
	rate        window.Rate
}

func (v *evidence) failure(s stamp, seen, overload bool) {
	run := &v.early
	if seen {
		run = &v.late
	}
	if run.n == maxRun {
		run.dropFirst()
		v.past.push(1)
	}
	run.add(s)
	t := window.Tally{Bad: 1}
	if overload {
		t.Heavy = 1
	}
	v.rate.Add(s.done, t)
}

func (v *evidence) success(at, now time.Duration) {
	v.token(at)
	v.flush(&v.late)
	v.past.push(0)
	v.rate.Add(now, window.Tally{Good: 1})
}

// token ends the early run if the attempt was not admitted before the first
// failed one: older answers tell of the time before the trouble.
func (v *evidence) token(at time.Duration) {
	if v.early.n > 0 && at >= v.early.first().at {
		v.flush(&v.early)
	}
}

// forget takes what ended before t out of the runs.
func (v *evidence) forget(t time.Duration) {
	for _, run := range []*streak{&v.early, &v.late} {
		for run.n > 0 && run.first().done < t {
			run.dropFirst()
			v.past.push(1)
		}
	}
}

// flush moves a run that is over into the history.
func (v *evidence) flush(run *streak) {
	for ; run.n > 0; run.n-- {
		v.past.push(1)
	}
	run.head = 0
}

// end closes the books when a generation ends.
func (v *evidence) end() {
	v.flush(&v.early)
	v.flush(&v.late)
	v.rate.Reset()
}

// needed is N(p) of the run rule, the least run that noise of rate p makes with
// a chance below 1e-7: ceil(ln 1e-7 / ln p), at least Failures, at most 64. An
// upstream without a record of errors opens at exactly Failures, be it 1.
func (m *machine) needed() int {
	p := m.trip.past.share()
	if p <= minShare || m.cfg.Literal || m.trial.ramp {
		return m.cfg.Failures
	}
	n := int(math.Ceil(math.Log(falsely) / math.Log(p)))
	return min(max(n, m.cfg.Failures), maxRun)
}

// nearRun reports whether one failure more could open it by the run rule, so
// that the attempts under way must be counted.
func (m *machine) nearRun() bool {
	n := m.trip.early.n
	return m.mode == Closed && !m.cfg.Literal && !m.cfg.Slow && n > 0 && n+1 >= m.needed()
}

// nearRate reports whether one failure more could open it by the rate rule, so
// that the attempts under way must be counted.
func (m *machine) nearRate(now time.Duration) bool {
	if m.mode != Closed || m.cfg.Literal || m.cfg.Slow {
		return false
	}
	window := m.trip.rate // a copy: looking must not turn it
	t := window.Sum(now)
	return t.All()+1 >= rateMin && 2*(t.Bad+1) >= t.All()+1
}

// unlikely corrects the run rule for attempts that are as young as the run and
// not decided yet. Errors come at once and answers take a second, so the first
// ends after any moment are mostly failures, whatever their share is. The run
// counts if that many failures among all the young attempts, ended or not, are
// as unlikely as a run must be:
//
//	C(run + pending, run) p^run <= 1e-7
//
// And while the run is younger than the time in which first tokens come, it
// must tell an outage from the onset of errors in a part of the calls, of which
// nothing but the errors can be seen yet:
//
//	C(run + pending, run) 0.25^run <= 2e-5
//
// unless a single attempt is undecided: five failures of six are what the card
// means, and an onset begins like that in 6 of 1000 cases.
func (m *machine) unlikely(now time.Duration, pending, need int) bool {
	limit := math.Log(falsely)
	if pending == 0 || float64(need)*math.Log(minShare) > limit {
		return true // or Failures is too low to be safe from noise at all: the operator's word
	}
	run := m.trip.early.n
	p := max(m.trip.past.share(), m.trip.past.long)
	if chance(run, pending, p) > limit {
		return false
	}
	return pending == 1 || now-m.trip.early.first().at >= m.hang.usually() || chance(run, pending, partly) <= math.Log(rarely)
}

// chance is the logarithm of C(run + pending, run) p^run.
func chance(run, pending int, p float64) float64 {
	all, _ := math.Lgamma(float64(run + pending + 1))
	bad, _ := math.Lgamma(float64(run + 1))
	open, _ := math.Lgamma(float64(pending + 1))
	return all - bad - open + float64(run)*math.Log(p)
}

// judge opens a closed breaker if one of the rules says so.
func (m *machine) judge(now time.Duration, e event, v *verdict) {
	if m.mode != Closed {
		return
	}
	m.trip.forget(now - m.cfg.Window)
	if cause := m.rule(now, e); cause != "" {
		m.open(now, cause, v)
	}
}

// rule names the rule that is met, "" for none.
func (m *machine) rule(now time.Duration, e event) string {
	if m.cfg.Slow {
		if m.mostly(now, slowMin, 0) {
			return causeRate
		}
		return ""
	}
	need, early := m.needed(), m.trip.early.n
	if early >= need && (m.cfg.Literal || m.unlikely(now, e.pending, need)) || m.trip.late.n >= need {
		return causeRun
	}
	if m.cfg.Literal {
		return ""
	}
	if m.mostly(now, rateMin, e.running) {
		return causeRate
	}
	if old := m.hang.old(now); old > 0 && old+early >= need {
		return causeHang
	}
	return ""
}

// mostly is the rate rule: half of at least least outcomes failed, and at least
// Failures of them. Attempts that are running are taken for good ones: an
// answer takes seconds to be complete, an error does not.
func (m *machine) mostly(now time.Duration, least uint32, running int) bool {
	t := m.trip.rate.Sum(now)
	return t.All() >= least && 2*int(t.Bad) >= int(t.All())+running && int(t.Bad) >= m.cfg.Failures
}

// heavy reports whether the failures were mostly overload answers under load.
func (m *machine) heavy(now time.Duration) bool {
	t := m.trip.rate.Sum(now)
	span := max(min(now-m.since, m.cfg.Window), time.Second)
	return t.Bad > 0 && 2*t.Heavy >= t.Bad && float64(t.All()) > rampRate*span.Seconds()
}
