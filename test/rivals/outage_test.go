package rivals

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"sort"
	"testing"
	"testing/synctest"
	"time"

	"backstop/sim"

	"github.com/sony/gobreaker/v2"
)

// The outages of docs/proof.md, played by the rivals in virtual time and by
// this project's simulator: 50 calls a second, first tokens of 0.6 s (p95
// 1.5 s) at the primary and 0.3 s (0.6 s) at the backup, 4.5 s limit.
const (
	rate      = 50.0
	limit     = 4500 * time.Millisecond
	faultFrom = time.Minute
)

// trouble is one scenario: word is the fault in the words of sim.
type trouble struct {
	name     string
	word     string
	p        float64 // share of the calls
	hangs    bool
	span     time.Duration // of the fault
	patience time.Duration // 0 = endless
}

var troubles = []trouble{
	{"S1 hang, 5 min", "hang", 1, true, 5 * time.Minute, 0},
	{"S2 instant 500, 5 min", "500", 1, false, 5 * time.Minute, 0},
	{"S3 25 % errors, 10 min", "p:0.25:500", 0.25, false, 10 * time.Minute, 0},
	{"S4 hang, callers leave at 3 s", "hang", 1, true, 5 * time.Minute, 3 * time.Second},
	{"S5 1 % errors, 15 min", "p:0.01:500", 0.01, false, 15 * time.Minute, 0},
}

// score is one line of the table.
type score struct {
	detect, recover, kept, answered float64
	waited, flips                   int
}

// gate is a breaker as a caller uses it.
type gate interface {
	try(attempt func() error) (refused bool, err error)
	flips() int
}

type sony struct {
	b *gobreaker.CircuitBreaker[any]
	n *int
}

func newSony() gate {
	n := 0
	s := sonySettings()
	s.OnStateChange = func(_ string, from, to gobreaker.State) {
		if from == gobreaker.StateClosed || to == gobreaker.StateClosed {
			n++
		}
	}
	return sony{gobreaker.NewCircuitBreaker[any](s), &n}
}

func (s sony) flips() int { return *s.n }

func (s sony) try(attempt func() error) (bool, error) {
	_, err := s.b.Execute(func() (any, error) { return nil, attempt() })
	refused := errors.Is(err, gobreaker.ErrOpenState) || errors.Is(err, gobreaker.ErrTooManyRequests)
	return refused, err
}

type failsafeGate struct {
	b interface {
		TryAcquirePermit() bool
		RecordSuccess()
		RecordFailure()
		IsClosed() bool
	}
	last *bool
	n    *int
}

func newFailsafe() gate {
	closed, n := true, 0
	return failsafeGate{failsafeBreaker(), &closed, &n}
}

func (f failsafeGate) flips() int { return *f.n }

func (f failsafeGate) try(attempt func() error) (bool, error) {
	if !f.b.TryAcquirePermit() {
		return true, errDown
	}
	err := attempt()
	if err != nil {
		f.b.RecordFailure()
	} else {
		f.b.RecordSuccess()
	}
	if c := f.b.IsClosed(); c != *f.last {
		*f.last = c
		*f.n++
	}
	return false, err
}

func lognormal(r *rand.Rand, p50, p95 float64) time.Duration {
	return time.Duration(p50 * math.Exp(r.NormFloat64()*math.Log(p95/p50)/1.645) * 1e9)
}

// rival plays a trouble against a breaker in a synctest bubble: one goroutine a
// call. All of them take turns, so nothing here needs a lock.
func rival(tr trouble, fresh func() gate, seed uint64) (s score) {
	r := rand.New(rand.NewPCG(seed, 1))
	began := time.Now()
	g := fresh()
	end := faultFrom + tr.span + 2*time.Minute
	var back []bool
	var backAt []time.Duration
	s.detect, s.recover = math.NaN(), math.NaN()
	calls, home, during, answered := 0, 0, 0, 0
	for at := time.Duration(0); at < end; at += time.Duration(-math.Log(r.Float64()) / rate * 1e9) {
		time.Sleep(at - time.Since(began))
		first, second, hit := lognormal(r, 0.6, 1.5), lognormal(r, 0.3, 0.6), r.Float64() < tr.p
		calls++
		slot := len(back)
		if at >= faultFrom+tr.span {
			back, backAt = append(back, false), append(backAt, at)
		} else {
			slot = -1
		}
		inFault := at >= faultFrom && at < faultFrom+tr.span
		if inFault {
			during++
		}
		go func() {
			wait := time.Duration(0)
			refused, err := g.try(func() error {
				d, fails := first, first > limit
				from := max(faultFrom, at)
				if hit && from < faultFrom+tr.span && from < at+first {
					fails = true
					if d = limit; !tr.hangs {
						d = from - at + 40*time.Millisecond
					}
				}
				d = min(d, limit)
				if tr.patience > 0 && d > tr.patience {
					time.Sleep(tr.patience)
					wait = tr.patience
					return errDown
				}
				time.Sleep(d)
				wait = d
				if fails {
					return errDown
				}
				return nil
			})
			if refused && inFault && math.IsNaN(s.detect) {
				s.detect = (time.Since(began) - faultFrom).Seconds()
			}
			lost := tr.patience > 0 && wait >= tr.patience
			if !lost {
				answered++
			}
			if err == nil {
				if inFault {
					home++
				}
				if slot >= 0 {
					back[slot] = true
				}
			} else if !lost {
				wait += second
			}
			if inFault && (wait >= 4*time.Second || lost) {
				s.waited++
			}
		}()
	}
	synctest.Wait()
	time.Sleep(30 * time.Second)
	for i := 0; i+40 <= len(back); i++ {
		n := 0
		for _, ok := range back[i : i+40] {
			if ok {
				n++
			}
		}
		if n >= 38 {
			s.recover = (backAt[i] - faultFrom - tr.span).Seconds()
			break
		}
	}
	s.kept, s.answered, s.flips = float64(home)/float64(during), float64(answered)/float64(calls), g.flips()
	return s
}

// backstopScore plays the same trouble with the engine. Kept is over the whole
// run for outages, so it is taken from the attempts of the fault alone.
func backstopScore(t *testing.T, tr trouble, seed uint64) score {
	s := sim.Scenario{Seed: seed, Duration: faultFrom + tr.span + 2*time.Minute,
		Arrivals: sim.Arrivals{Rate: rate, Stream: 1, Timeout: tr.patience},
		Upstreams: []sim.Model{
			{Name: "primary", FirstToken: sim.Spread{P50: 0.6, P95: 1.5}, Tokens: sim.Spread{P50: 1, P95: 1}},
			{Name: "backup", FirstToken: sim.Spread{P50: 0.3, P95: 0.6}, Tokens: sim.Spread{P50: 1, P95: 1}},
		},
		Faults: []sim.Fault{{Upstream: "primary", From: faultFrom, To: faultFrom + tr.span, Word: tr.word}}}
	r, err := sim.Run(sim.Pair(), s)
	if err != nil {
		t.Fatal(err)
	}
	out := score{detect: math.NaN(), recover: math.NaN(), flips: r.Flips, waited: r.Waited4s + r.Calls - r.Answered,
		answered: float64(r.Answered) / float64(r.Calls)}
	if r.Detect != nil {
		out.detect = float64(*r.Detect) / 1e6
	}
	if r.Recover != nil {
		out.recover = float64(*r.Recover) / 1e6
	}
	healthy := rate * (faultFrom + 2*time.Minute).Seconds()
	out.kept = max(0, (float64(r.Tiers.Primary)-healthy)/(float64(r.Calls)-healthy))
	return out
}

func middle(list []score, get func(score) float64) float64 {
	var x []float64
	for _, s := range list {
		x = append(x, get(s))
	}
	sort.Slice(x, func(i, j int) bool { return x[i] < x[j] || math.IsNaN(x[j]) && !math.IsNaN(x[i]) })
	return x[len(x)/2]
}

func TestOutagesAgainstRivals(t *testing.T) {
	if os.Getenv("BACKSTOP_FIGURES") == "" {
		t.Skip("set BACKSTOP_FIGURES=1 to print the table")
	}
	const seeds = 7
	fmt.Println("| scenario | breaker | detect s | recover s | waited 4 s or lost | answered | kept on primary during the fault | flips |\n|---|---|---|---|---|---|---|---|")
	for _, tr := range troubles {
		for _, c := range []struct {
			name  string
			fresh func() gate
		}{{"Backstop", nil}, {"gobreaker v2.4.0, the card", newSony}, {"failsafe-go v0.9.8, the card", newFailsafe}} {
			var list []score
			for seed := range uint64(seeds) {
				if c.fresh == nil {
					list = append(list, backstopScore(t, tr, seed+1))
					continue
				}
				synctest.Test(t, func(*testing.T) { list = append(list, rival(tr, c.fresh, seed+1)) })
			}
			fmt.Printf("| %s | %s | %.2f | %.1f | %.0f | %.1f %% | %.0f %% | %.0f |\n", tr.name, c.name,
				middle(list, func(s score) float64 { return s.detect }), middle(list, func(s score) float64 { return s.recover }),
				middle(list, func(s score) float64 { return float64(s.waited) }), 100*middle(list, func(s score) float64 { return s.answered }),
				100*middle(list, func(s score) float64 { return s.kept }), middle(list, func(s score) float64 { return float64(s.flips) }))
		}
	}
}
