package sim

import (
	"strconv"
	"strings"
	"time"

	"backstop"
)

// Report is what came of a run. Its JSON form is part of the contract.
type Report struct {
	Name          string           `json:"name"`
	Seed          uint64           `json:"seed"`
	Calls         int              `json:"calls"`    // of callers; their retries are part of them
	Answered      int              `json:"answered"` // by any tier, before the caller left
	Degraded      int              `json:"degraded"` // of them, by a local tier
	Tiers         Tiers            `json:"tiers"`
	Latency       Latencies        `json:"latency_ms"`    // to the first token, over all tries of a caller
	Waited4s      int              `json:"waited_4s"`     // calls that an outage left without a token for 4 s
	Attempts      map[string]int   `json:"attempts"`      // upstream requests, background probes apart
	Amplification Decimal          `json:"amplification"` // the largest of the upstreams
	Detect        *Decimal         `json:"detect_s"`      // start of an outage to the first refusal; the longest one, nil = never
	Recover       *Decimal         `json:"recover_s"`     // its end to 38 of 40 calls in a row at the first tier; the longest, nil = not every time
	Probes        int              `json:"probes"`        // background probes and live ones
	Flips         int              `json:"flips"`         // closed to open, and to closed
	FalseOpens    int              `json:"false_opens"`   // closed to open without a fault that spoils half of the attempts
	Transitions   []TransitionLine `json:"transitions"`
	Expect        []Verdict        `json:"expect"`

	LongWaits int `json:"-"` // calls that waited 4 s or more at any time, outage or not

	life     timeline
	duration time.Duration
	spans    []span
	opens    []span
	rows     []string // upstreams, in the order of the plan
}

// span is a stretch of the timeline.
type span struct {
	from, to int64
	upstream string
	what     string
}

// Tiers counts the answers of each rung; backup is every upstream below the
// first.
type Tiers struct {
	Primary int `json:"primary"`
	Backup  int `json:"backup"`
	Local   int `json:"local"`
}

// Latencies are the waits by phase: before an outage, from its start to the
// first refusal, until the traffic is back, and after that.
type Latencies struct {
	All       Latency `json:"all"`
	Before    Latency `json:"before"`
	Detecting Latency `json:"detecting"`
	Open      Latency `json:"open"`
	Recovered Latency `json:"recovered"`
}

// Latency is in milliseconds; 0 if there were no calls.
type Latency struct {
	P50  Decimal `json:"p50"`
	P99  Decimal `json:"p99"`
	P999 Decimal `json:"p999"`
	Max  Decimal `json:"max"`
}

// TransitionLine is one change of a breaker.
type TransitionLine struct {
	T        Decimal `json:"t_s"`
	Upstream string  `json:"upstream"`
	Scope    string  `json:"scope"`
	From     string  `json:"from"`
	To       string  `json:"to"`
	Cause    string  `json:"cause"`
}

// Verdict is one line of `expect`.
type Verdict struct {
	What string `json:"what"`
	Want string `json:"want"`
	Got  string `json:"got"`
	OK   bool   `json:"ok"`
}

// Decimal is a number with six decimal places, kept as a whole number of
// millionths so that it prints alike everywhere.
type Decimal int64

const decimal = 1_000_000

// String is the shortest decimal form.
func (d Decimal) String() string {
	sign, u := "", uint64(d)
	if d < 0 {
		sign, u = "-", uint64(-d)
	}
	s := strconv.FormatUint(u/decimal, 10)
	if frac := u % decimal; frac > 0 {
		f := strconv.FormatUint(frac+decimal, 10)[1:]
		s += "." + strings.TrimRight(f, "0")
	}
	return sign + s
}

// MarshalJSON writes a plain number.
func (d Decimal) MarshalJSON() ([]byte, error) { return []byte(d.String()), nil }

// seconds rounds to the millisecond, millis to a tenth of one.
func seconds(d time.Duration) Decimal { return Decimal(d.Round(time.Millisecond) / 1000) }

func millis(d time.Duration) Decimal {
	return Decimal(d.Round(100*time.Microsecond)) / Decimal(time.Millisecond/decimal)
}

func ratio(a, b int) Decimal {
	if b == 0 {
		return 0
	}
	return Decimal((int64(a)*10000+int64(b)/2)/int64(b)) * (decimal / 10000)
}

func latency(h *histogram) Latency {
	return Latency{millis(h.quantile(500)), millis(h.quantile(990)), millis(h.quantile(999)), millis(time.Duration(h.most))}
}

// report closes the books.
func (t *tally) report(w *world) (*Report, error) {
	if t.calls == 0 {
		return nil, errEmpty
	}
	t.close()
	r := &Report{Name: w.s.Name, Seed: w.s.Seed, Calls: t.calls, Answered: t.answered, Degraded: t.degraded,
		Tiers: Tiers{t.tiers[0], t.tiers[1], t.tiers[2]}, Waited4s: t.waited, LongWaits: t.long, Attempts: map[string]int{},
		Flips: t.flips, FalseOpens: t.false, life: t.life, duration: w.s.Duration,
		Transitions: []TransitionLine{}, Expect: []Verdict{}}
	var all histogram
	for i := range t.spread {
		all.merge(&t.spread[i])
	}
	r.Latency = Latencies{latency(&all), latency(&t.spread[before]), latency(&t.spread[detecting]), latency(&t.spread[open]), latency(&t.spread[recovered])}
	for _, s := range w.ordered {
		r.Attempts[s.up.Name] = s.attempts
		r.Probes += s.probes
		r.rows = append(r.rows, s.up.Name)
		if s.wanted > 0 {
			r.Amplification = max(r.Amplification, ratio(s.stressed, s.wanted))
		}
	}
	r.Detect, r.Recover = t.times()
	for _, m := range t.moves {
		r.Transitions = append(r.Transitions, TransitionLine{seconds(m.Time.Sub(w.epoch)), m.Upstream, m.Scope, m.From, m.To, m.Cause})
	}
	for _, f := range w.s.Faults {
		r.spans = append(r.spans, span{int64(f.From), int64(f.To), f.Upstream, f.Word})
	}
	r.opens = openSpans(t.moves, w.epoch, w.end)
	for _, e := range w.s.Expect {
		v, err := e.judge(r)
		if err != nil {
			return nil, err
		}
		r.Expect = append(r.Expect, v)
	}
	return r, nil
}

// times are the longest detection and the longest recovery.
func (t *tally) times() (detect, back *Decimal) {
	all := len(t.episodes) > 0
	for i := range t.episodes {
		e := &t.episodes[i]
		if e.detect > 0 {
			d := seconds(time.Duration(e.detect - e.start))
			if detect == nil || d > *detect {
				detect = &d
			}
		}
		if e.backAt == 0 {
			all = false
			continue
		}
		d := seconds(time.Duration(e.backAt - e.end))
		if back == nil || d > *back {
			back = &d
		}
	}
	if !all {
		back = nil
	}
	return detect, back
}

// openSpans are the times in which a scope refused calls.
func openSpans(moves []backstop.Transition, epoch time.Time, end int64) (out []span) {
	type scope struct{ upstream, model, scope string }
	at := map[scope]int{}
	for _, m := range moves {
		k := scope{m.Upstream, m.Model, m.Scope}
		i, running := at[k]
		switch {
		case m.To == "open" && !running:
			at[k] = len(out)
			out = append(out, span{int64(m.Time.Sub(epoch)), end, m.Upstream, m.Scope})
		case m.To == "closed" && running:
			out[i].to = int64(m.Time.Sub(epoch))
			delete(at, k)
		}
	}
	return out
}

// Passed reports whether every expectation was met.
func (r *Report) Passed() bool {
	for _, v := range r.Expect {
		if !v.OK {
			return false
		}
	}
	return true
}
