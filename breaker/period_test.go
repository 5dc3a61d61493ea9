package breaker

import (
	"math/rand/v2"
	"os"
	"testing"
	"time"
)

// Exactly one probe a period, however many ask and whenever they do: a schedule
// is a tripped breaker with four waits, in each of which callers and probers
// ask at random instants, and whose probes fail, are lost, or are reported
// twice. BACKSTOP_PROOF=1 plays a million schedules.
func TestThereIsExactlyOneProbeAPeriod(t *testing.T) {
	schedules := uint64(5000)
	if os.Getenv("BACKSTOP_PROOF") != "" {
		schedules = 1_000_000
	}
	probes := 0
	for seed := range schedules {
		r := rand.New(rand.NewPCG(seed, 17))
		cfg := card
		cfg.Failures = 1
		if seed%3 == 0 {
			cfg.Reset = time.Duration(2+r.IntN(58)) * time.Second
		}
		p := period{t: t, r: r, b: New(cfg, time.Time{}, seed), now: time.Time{}.Add(time.Hour), cfg: cfg}
		tk, _ := p.b.Allow(p.now, Watched, 1)
		p.b.Done(p.now, tk, Failure, false)
		last := p.now
		for nth := range 4 {
			started := p.next()
			wait := started.Sub(last)
			scale := min(1, float64(cfg.Reset)/float64(time.Minute))
			least, most := time.Duration(scale*4.5e9)-time.Millisecond, time.Duration(scale*17.5e9)+cfg.FirstToken+2*time.Second
			if wait < least || wait > most {
				t.Fatalf("seed %d: probe %d comes %s after the one before it, want %s to %s", seed, nth+1, wait, least, most)
			}
			last = started
			probes++
		}
	}
	t.Logf("%d schedules, %d probes", schedules, probes)
}

type period struct {
	t   *testing.T
	r   *rand.Rand
	b   *Breaker
	cfg Config
	now time.Time
}

// next plays one wait and the probe at its end, and returns when that began.
func (p *period) next() time.Time {
	_, started, due := p.b.Due(p.now)
	if started || due.IsZero() {
		p.t.Fatalf("a probe at once after a failure, or none to come (%v)", due)
	}
	for range p.r.IntN(6) { // too early for anybody
		at := p.now.Add(time.Duration(p.r.Int64N(int64(due.Sub(p.now)))))
		if _, ok := p.b.Allow(at, Watched, p.r.Uint64()); ok {
			p.t.Fatal("a caller was let in before the probe")
		}
		if _, ok, _ := p.b.Due(at); ok {
			p.t.Fatal("a probe before its time")
		}
		p.now = at
		if !p.now.Before(due) {
			break
		}
	}
	p.now = due
	n, probe := 0, Ticket{}
	for range 2 + p.r.IntN(4) { // all at once, or in the same breath
		if tk, ok, _ := p.b.Due(p.now); ok {
			n++
			probe = tk
		}
		if _, ok := p.b.Allow(p.now, Watched, p.r.Uint64()); ok {
			p.t.Fatal("a caller was let in beside the probe")
		}
		p.now = p.now.Add(time.Duration(p.r.IntN(1000)))
	}
	if n != 1 {
		p.t.Fatalf("%d probes in a period", n)
	}
	switch lease := min(p.cfg.FirstToken+time.Second, p.cfg.Reset); p.r.IntN(3) {
	case 0: // lost: the lease ends it
		p.now = p.now.Add(lease)
	case 1:
		p.now = p.now.Add(time.Duration(p.r.Int64N(int64(lease - time.Millisecond))))
		p.b.Probed(p.now, probe, Failure)
	default:
		p.now = p.now.Add(time.Duration(p.r.Int64N(int64(lease - time.Millisecond))))
		p.b.Probed(p.now, probe, Failure)
		p.b.Probed(p.now, probe, Success) // told twice: the first word counts
	}
	return due
}
