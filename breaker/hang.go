package breaker

import (
	"time"

	"backstop/window"
)

const (
	sampleSpan = 5 * time.Minute
	fewSamples = 20
	// usual is the card's first-token limit. Where a limit is shorter, the 1 s
	// floor of the suspicion age shrinks in proportion, so that scaled-down
	// settings behave like the real ones.
	usual = 4500 * time.Millisecond
)

// suspicion is the hang evidence: how long first tokens take, and who waits
// for one longer than that.
type suspicion struct {
	on       bool
	limit    time.Duration // Config.FirstToken
	samples  window.Quantile
	s        time.Duration // suspicion age; limit or more = no evidence
	base     time.Duration // s as the quantile has it
	frozen   bool          // base stays
	held     time.Duration // lower bound of s from a late token, 0 = none
	heldEnd  time.Duration
	unsure   bool          // held only until the quantile is known
	youngest time.Duration // admission of the youngest attempt that was answered
	voided   time.Duration // what was admitted up to then is no evidence
	fresh    bool          // published figures are out of date

	moved struct { // ages of attempts left since the trip, until it is known what they were
		n    int
		age  [maxRun]time.Duration
		slow bool // a telling token came later than the age: they were slow, not hung
	}
	waiting struct { // suspects, unordered; more than maxRun are never needed
		n  int
		at [maxRun]time.Duration
	}
}

func (h *suspicion) build(cfg Config) {
	h.on = cfg.Hang && !cfg.Literal && !cfg.Slow && cfg.FirstToken > 0
	h.limit = cfg.FirstToken
	h.samples = window.NewQuantile(sampleSpan, 0.95)
	h.youngest, h.voided = -1, -1
	h.compute()
}

// compute is the formula of Breaker.Suspicion.
func (h *suspicion) compute() {
	h.fresh = true
	p95, n := h.samples.Value()
	if n >= fewSamples && h.unsure {
		h.held, h.unsure = 0, false
	}
	if !h.frozen {
		h.base = h.limit / 2
		if n >= fewSamples {
			floor := min(time.Second, time.Duration(float64(h.limit)/usual.Seconds()))
			h.base = min(max(p95+p95/2, floor), h.limit)
		}
	}
	h.s = max(h.base, h.held)
}

// usually is the time in which a first token comes: the p95, or half of the
// limit while it is unknown.
func (h *suspicion) usually() time.Duration {
	if p95, n := h.samples.Value(); n >= fewSamples {
		return p95
	}
	return h.limit / 2
}

// freeze keeps the quantile out of the age, for the time between a trip and
// the next close: the calls that move over then are samples too, and each would
// push the age away from those still waiting.
func (h *suspicion) freeze(on bool, now time.Duration) {
	if h.frozen == on {
		return
	}
	h.frozen = on
	if !on {
		h.weigh(now)
	}
	h.compute()
}

// weigh decides at the close what the attempts that were left since the trip
// were. If the tokens that ended the outage came in good time, they hung, and
// hangs say nothing about how long first tokens take: else each outage would
// push the age up until the evidence was off for good. If such a token was
// late, they were slow, and samples of at least their age.
func (h *suspicion) weigh(now time.Duration) {
	if h.moved.slow {
		for _, age := range h.moved.age[:h.moved.n] {
			h.samples.Add(now, age)
		}
	}
	h.moved.n, h.moved.slow = 0, false
}

// age is s, 0 if there is no evidence to be had.
func (h *suspicion) age() time.Duration {
	if !h.on || h.s >= h.limit {
		return 0
	}
	return h.s
}

// refresh lets the window turn and a held age run out.
func (h *suspicion) refresh(now time.Duration) {
	turned := h.samples.Turn(now)
	if h.held > 0 && now >= h.heldEnd {
		h.held, h.unsure, turned = 0, false, true
	}
	if turned {
		h.compute()
	}
}

// token takes the first token of t. A telling one, of a probe or of an attempt
// that outlived a trip, that came after the age proves that such a wait is no
// hang, and holds the age above it. Any other one does so only until the
// quantile is known: from then on the tail of a healthy distribution is the
// quantile's business, and holding the age for it would switch the evidence
// off for good at high rates.
func (h *suspicion) token(t Ticket, now time.Duration, telling bool) {
	if t.at <= h.voided {
		return
	}
	x := now - t.at
	h.moved.slow = h.moved.slow || h.frozen && telling && x > h.s
	_, n := h.samples.Value()
	if x > h.s && (telling || n < fewSamples) {
		h.unsure = !telling && (h.unsure || h.held == 0)
		h.held, h.heldEnd = x+x/2, now+sampleSpan
	}
	h.samples.Add(now, x)
	h.compute()
}

// sample takes an attempt that was left without a token: it would have taken
// at least that long, unless the close shows that it hung.
func (h *suspicion) sample(t Ticket, now time.Duration) {
	if t.at <= h.voided {
		return
	}
	if h.frozen {
		if h.moved.n < maxRun {
			h.moved.age[h.moved.n] = now - t.at
			h.moved.n++
		}
		return
	}
	h.samples.Add(now, now-t.at)
	h.compute()
}

// answered clears everybody who was not admitted after t.
func (h *suspicion) answered(at time.Duration) {
	if at <= h.youngest {
		return
	}
	h.youngest = at
	w := &h.waiting
	for i := w.n - 1; i >= 0; i-- {
		if w.at[i] <= at {
			w.n--
			w.at[i] = w.at[w.n]
		}
	}
}

func (h *suspicion) wait(at time.Duration) {
	w := &h.waiting
	if at > h.youngest && at > h.voided && w.n < maxRun {
		w.at[w.n] = at
		w.n++
	}
}

func (h *suspicion) leave(at time.Duration) {
	w := &h.waiting
	for i := range w.n {
		if w.at[i] == at {
			w.n--
			w.at[i] = w.at[w.n]
			return
		}
	}
}

// old counts the attempts that wait longer than the age. Nothing admitted
// after any of them has been answered, by the construction of waiting; one old
// straggler therefore neither makes a hang nor hides one.
func (h *suspicion) old(now time.Duration) int {
	s, n := h.age(), 0
	if s == 0 {
		return 0
	}
	for _, at := range h.waiting.at[:h.waiting.n] {
		if now-at >= s {
			n++
		}
	}
	return n
}

func (h *suspicion) void(now time.Duration) {
	h.voided = now
	h.waiting.n = 0
}
