package breaker

import (
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// model checks the invariants from outside while rapid drives a breaker with
// arbitrary callers: late, silent, double and contradicting ones.
type model struct {
	b      *Breaker
	cfg    Config
	epoch  time.Time
	now    time.Time
	tokens []Ticket
	old    []Ticket // ended
	probes map[uint32]int
	moves  []Transition
	proof  []time.Time // failures and suspects: units of evidence
	waits  int
}

func (m *model) ticket(t *rapid.T) (int, Ticket) {
	if len(m.tokens) == 0 {
		t.Skip("nothing runs")
	}
	i := rapid.IntRange(0, len(m.tokens)-1).Draw(t, "ticket")
	return i, m.tokens[i]
}

// core is everything that neutral ends must leave alone.
func (m *model) core() any {
	m.b.mu.Lock()
	defer m.b.mu.Unlock()
	return [...]any{m.b.m.mode, m.b.m.gen, m.b.m.since, m.b.m.trip, m.b.m.trial, m.b.m.rng}
}

func (m *model) pass(t *rapid.T) {
	ms := rapid.SampledFrom([]int{1, 20, 500, 1000, 5000, 20000, 70000}).Draw(t, "ms")
	m.now = m.now.Add(time.Duration(ms) * time.Millisecond)
}

func (m *model) allow(t *rapid.T) {
	before, ready := m.b.Info(m.now), m.b.Ready(m.now)
	hash := rapid.Uint64().Draw(t, "hash")
	tk, ok := m.b.Allow(m.now, Sight(rapid.IntRange(0, 1).Draw(t, "sight")), hash)
	if ok && !ready {
		t.Fatal("admitted although not ready")
	}
	if !ok {
		if ready && before.State != Closed {
			t.Fatal("refused although ready")
		}
		return
	}
	if before.State != Closed && before.State != ForcedClosed && !tk.Probe() {
		t.Fatalf("I4: a call that is no probe was admitted while %s", before.State)
	}
	m.take(t, tk, before.Probing)
}

// take notes a ticket and checks that a probe is alone.
func (m *model) take(t *rapid.T, tk Ticket, probing bool) {
	m.tokens = append(m.tokens, tk)
	if !tk.Probe() {
		return
	}
	m.probes[tk.gen()]++
	if probing || m.probes[tk.gen()] > 1 {
		t.Fatal("I1: two probes at a time")
	}
}

func (m *model) due(t *rapid.T) {
	before := m.b.Info(m.now)
	tk, due, next := m.b.Due(m.now)
	if due {
		if before.State != Open || m.cfg.Live || m.cfg.Literal {
			t.Fatalf("a background probe while %s", before.State)
		}
		m.take(t, tk, before.Probing)
	}
	if !next.IsZero() && !next.After(m.now) {
		t.Fatalf("asked to come back at %v, now is %v", next, m.now)
	}
}

func (m *model) done(t *rapid.T) {
	i, tk := m.ticket(t)
	r := Result(rapid.IntRange(0, 4).Draw(t, "result"))
	m.b.Info(m.now) // lets leases run out first
	before, stale := m.core(), tk.gen() != m.b.gen()
	if r == Failure {
		m.proof = append(m.proof, m.now)
	}
	m.b.Done(m.now, tk, r, rapid.Bool().Draw(t, "overload"))
	if stale && !reflect.DeepEqual(before, m.core()) {
		t.Fatal("I2: a ticket of another generation changed something")
	}
	if r >= Neutral && !tk.Probe() && !reflect.DeepEqual(before, m.core()) {
		t.Fatal("I7: a neutral outcome changed something")
	}
	m.tokens = append(m.tokens[:i], m.tokens[i+1:]...)
	m.old = append(m.old, tk)
}

func (m *model) again(t *rapid.T) {
	if len(m.old) == 0 {
		t.Skip("nothing has ended")
	}
	tk := rapid.SampledFrom(m.old).Draw(t, "ended")
	m.b.Info(m.now)
	before := m.core()
	m.b.Done(m.now, tk, Failure, true)
	m.b.Progress(m.now, tk)
	m.b.Suspect(m.now, tk)
	if !reflect.DeepEqual(before, m.core()) {
		t.Fatal("a ticket that had ended changed something")
	}
}

func (m *model) progress(t *rapid.T) {
	_, tk := m.ticket(t)
	m.b.Progress(m.now, tk)
}

func (m *model) suspect(t *rapid.T) {
	_, tk := m.ticket(t)
	m.proof = append(m.proof, m.now)
	if m.b.Suspect(m.now, tk) && tk.sight() == Blind {
		t.Fatal("a blind call was moved")
	}
}

func (m *model) force(t *rapid.T) {
	s := rapid.SampledFrom([]State{Closed, ForcedOpen, ForcedClosed}).Draw(t, "state")
	m.b.Force(m.now, s, time.Duration(rapid.IntRange(0, 2).Draw(t, "d"))*time.Minute)
}

// check runs after every step.
func (m *model) check(t *rapid.T) {
	for ; m.waits < len(m.moves); m.waits++ {
		tr := m.moves[m.waits]
		if m.waits > 0 && (tr.Gen <= m.moves[m.waits-1].Gen || tr.From != m.moves[m.waits-1].To) {
			t.Fatalf("I8: %v does not follow %v", tr, m.moves[m.waits-1])
		}
		switch tr.Cause {
		case causeRun, causeRate, causeHang:
			n := 0
			for _, at := range m.proof {
				if tr.Time.Sub(at) <= 31*m.cfg.Window/30 || tr.Cause == causeHang {
					n++
				}
			}
			if n < m.cfg.Failures {
				t.Fatalf("I5: opened for %s on %d units of evidence", tr.Cause, n)
			}
		}
	}
	m.b.mu.Lock()
	defer m.b.mu.Unlock()
	if d := &m.b.m; d.mode == Open && d.trial.probe == probeNone && !d.callersProbe() && d.trial.neutral == 0 {
		wait := d.trial.due - m.now.Sub(m.epoch)
		if wait > max(d.cfg.Reset, d.scaled(waits[2]))*11/10 {
			t.Fatalf("I9: the next probe is %v away", wait)
		}
	}
}

func TestInvariantsHoldWhateverCallersDo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &model{epoch: time.Unix(1e9, 0), probes: map[uint32]int{}}
		m.now = m.epoch
		m.cfg = Config{
			Failures: rapid.IntRange(1, 6).Draw(t, "failures"), Window: 30 * time.Second,
			Reset: time.Duration(rapid.SampledFrom([]int{2, 60}).Draw(t, "reset")) * time.Second,
			Hang:  rapid.Bool().Draw(t, "hang"), FirstToken: 4500 * time.Millisecond,
			Live: rapid.Bool().Draw(t, "live"), Literal: rapid.Bool().Draw(t, "literal"), Slow: rapid.Bool().Draw(t, "slow"),
		}
		m.cfg.Notify = func(tr Transition) { m.moves = append(m.moves, tr) }
		m.b = New(m.cfg, m.epoch, rapid.Uint64().Draw(t, "seed"))
		t.Repeat(map[string]func(*rapid.T){
			"pass": m.pass, "allow": m.allow, "allow too": m.allow, "allow as well": m.allow, "due": m.due,
			"done": m.done, "done too": m.done, "again": m.again, "progress": m.progress, "suspect": m.suspect,
			"force": m.force, "pause": func(*rapid.T) { m.b.Pause(m.now) }, "": m.check,
		})
		m.recovers(t)
	})
}

// recovers is I3: whatever happened, an upstream that answers is used again.
func (m *model) recovers(t *rapid.T) {
	m.b.Force(m.now, Closed, 0)
	for range 300 {
		if tk, due, _ := m.b.Due(m.now); due {
			m.b.Probed(m.now, tk, Success)
		}
		if tk, ok := m.b.Allow(m.now, Watched, 0); ok {
			m.b.Progress(m.now, tk)
			m.b.Done(m.now, tk, Success, false)
		}
		m.now = m.now.Add(time.Second)
	}
	if i := m.b.Info(m.now); i.State != Closed {
		t.Fatalf("I3: still %s after five good minutes", i.State)
	}
}

// newMachine is a machine to be copied.
func newMachine(cfg Config, seed uint64) (m machine) {
	m.build(cfg, seed)
	return m
}

// The in-place step and the pure one are the same.
func TestTheStepIsAFunctionOfItsArguments(t *testing.T) {
	m := newMachine(card, 7)
	for i := range 600 {
		now := time.Duration(i) * 300 * time.Millisecond
		e := event{kind: eventKind(i % 7), result: Result(i / 3 % 2), first: i%2 == 0,
			flags: uint64(i%5) << 16, ticket: Ticket{at: now - time.Duration(i%11)*time.Second, bits: uint64(m.gen&genMask) << 3}}
		if e.kind == evForce {
			e.state = State(i / 7 % 40)
		}
		kept := m
		a, va := step(m, e, now)
		b, vb := step(m, e, now)
		if !reflect.DeepEqual(m, kept) {
			t.Fatal("a step changed its argument")
		}
		if !reflect.DeepEqual(a, b) || va != vb {
			t.Fatal("two steps from the same state differ")
		}
		m = a
	}
}

func TestConcurrentCallersNeverHaveTwoProbes(t *testing.T) {
	cfg := card
	cfg.Reset, cfg.Live = time.Millisecond, true
	cfg.Failures = 2
	epoch := time.Unix(1e9, 0)
	var clock atomic.Int64
	clock.Store(1)
	var mu sync.Mutex
	var probes []uint32 // generations of the probes, as they were admitted
	var last atomic.Uint32
	gens := map[uint32]bool{}
	cfg.Notify = func(tr Transition) {
		mu.Lock()
		defer mu.Unlock()
		if gens[tr.Gen] {
			t.Errorf("two changes of generation %d", tr.Gen)
		}
		gens[tr.Gen] = true
		last.Store(max(last.Load(), tr.Gen))
	}
	b := New(cfg, epoch, 1)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			x := uint64(g + 1)
			for range 4000 {
				x = x*6364136223846793005 + 1442695040888963407
				now := epoch.Add(time.Duration(clock.Add(int64(x>>60))) * 20 * time.Microsecond)
				tk, ok := b.Allow(now, Sight(x>>40&1), x)
				if !ok {
					continue
				}
				if x>>50&7 == 0 {
					b.Progress(now, tk)
				}
				b.Suspect(now, tk)
				b.Done(now, tk, Result(x>>45&3), x>>44&1 == 1)
				b.Done(now, tk, Failure, true)
				if tk.Probe() {
					mu.Lock()
					probes = append(probes, tk.gen())
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	seen := map[uint32]bool{}
	for _, gen := range probes {
		if seen[gen] {
			t.Fatalf("two probes of generation %d", gen)
		}
		seen[gen] = true
	}
	if len(probes) < 20 || last.Load() == 0 {
		t.Fatalf("%d probes, last generation %d: the storm was too calm", len(probes), last.Load())
	}
}
