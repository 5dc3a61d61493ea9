package sim

import (
	"errors"
	"os"
	"strconv"
	"testing"
	"time"

	"backstop"
	"backstop/secret"
)

// storm makes a scenario of about a thousand calls with faults, callers and
// settings drawn from a seed.
func storm(seed uint64) (*backstop.Plan, Scenario) {
	d := roll(seed, 77)
	pick := func(n int) int { return int(d.next() % uint64(n)) }
	chance := func(p float64) bool { return d.unit() < p }
	s := Scenario{Name: "storm " + strconv.FormatUint(seed, 10), Seed: seed, Replicas: 1 + pick(2)}
	rate := []float64{2, 10, 50, 200}[pick(4)]
	s.Duration = time.Duration(1000 / rate * float64(time.Second))
	faulty := s.Duration
	if seed%8 == 0 { // long enough after the faults to see everything close again
		rate, s.Duration, faulty = 5, 10*time.Minute, 4*time.Minute
	}
	s.Arrivals = Arrivals{Rate: rate, Stream: d.unit(), JSON: d.unit() * 0.5, Callers: 1 + pick(30)}
	if chance(0.1) {
		s.Arrivals.Embed = d.unit()
	}
	if chance(0.7) {
		s.Arrivals.Timeout = time.Duration(1+pick(20)) * time.Second
	}
	if chance(0.3) {
		s.Arrivals.Retries = pick(4)
	}
	if chance(0.3) {
		s.Arrivals.Same = d.unit()
	}
	if chance(0.3) {
		s.Arrivals.Models = []ModelShare{{"small", 1 + d.unit()}, {"large", 1}}
	}
	plan := stormPlan(&d, pick, chance)
	for _, u := range plan.Upstreams {
		m := Usual(u.Name)
		m.FirstToken.P50 *= 0.2 + 2*d.unit()
		m.FirstToken.P95 = m.FirstToken.P50 * (1 + 3*d.unit())
		if chance(0.2) {
			m.Capacity = 1 + pick(40)
			m.Over = []string{"503", "429", "queue", "429:retry-after=3"}[pick(4)]
		}
		s.Upstreams = append(s.Upstreams, m)
		for range pick(4) {
			s.Faults = append(s.Faults, stormFault(&d, u.Name, faulty))
		}
	}
	return plan, s
}

func stormPlan(d *dice, pick func(int) int, chance func(float64) bool) *backstop.Plan {
	plan := Pair()
	r := &plan.Routes[0]
	for i := range plan.Upstreams {
		u := &plan.Upstreams[i]
		u.Limits.Inflight = []int{1000, 50, 5}[pick(3)]
		u.Breaker.Reset = []time.Duration{60, 60, 10, 2}[pick(4)] * time.Second
		u.Breaker.Failures = []int{5, 5, 1, 3}[pick(4)]
		u.Breaker.Hang = !chance(0.2)
		if chance(0.15) {
			u.Breaker.Probe = backstop.ProbeLive
		}
		if chance(0.15) {
			u.Unary = backstop.UnaryPlain
		}
		if chance(0.1) {
			backstop.ArticleCard(u)
		}
		if chance(0.2) {
			u.Limits.Rate = 5 + 50*d.unit()
		}
		if chance(0.2) {
			u.Retry.Wait = time.Second
		}
		if chance(0.2) {
			u.Timeouts.Drip = 3
		}
		for k := range pick(4) {
			u.Keys = append(u.Keys, secret.New("storm-key-0123456789-"+strconv.Itoa(k)))
		}
	}
	if chance(0.2) {
		r.RefusalNext = true
	}
	if chance(0.3) {
		r.Hedge.After, r.Hedge.Auto = time.Duration(1+pick(3000))*time.Millisecond, chance(0.5)
	}
	if chance(0.2) {
		r.JSON.Truncated = "mark"
	}
	if chance(0.2) {
		r.Stream.Rescue = []string{"continue", "off"}[pick(2)]
	}
	if chance(0.2) {
		r.Tiers = r.Tiers[:len(r.Tiers)-1] // nobody catches what falls
	}
	if chance(0.1) {
		r.Deadline = 3 * time.Second
	}
	return plan
}

func stormFault(d *dice, name string, span time.Duration) Fault {
	table := Words()
	f := Fault{Upstream: name, Word: table[d.next()%uint64(len(table))].Example}
	switch d.next() % 4 {
	case 0:
		f.Word = "p:0." + strconv.Itoa(1+int(d.next()%9)) + ":" + f.Word
	case 1:
		f.Word = []string{"hang", "503", "429:retry-after=2", "429:quota", "401", "500"}[d.next()%6]
	}
	if CheckWord(f.Word) != nil {
		f.Word = "hang" // capacity cannot be nested
	}
	f.From = time.Duration(d.unit() * float64(span))
	f.To = f.From + time.Duration(d.unit()*float64(span)/2) + 1
	return f
}

// The number of storms can be raised with BACKSTOP_STORMS, their first seed
// with BACKSTOP_SEED.
func TestNoStormBreaksAnInvariant(t *testing.T) {
	n, first := wish(t, "BACKSTOP_STORMS", 40), wish(t, "BACKSTOP_SEED", 1)
	calls := 0
	for seed := first; seed < first+n; seed++ {
		plan, s := storm(uint64(seed))
		r, err := Verify(plan, s)
		var b *Breach
		switch {
		case errors.As(err, &b):
			t.Errorf("seed %d: %s", seed, err)
		case err != nil:
			t.Fatalf("seed %d: the storm cannot be played: %s", seed, err)
		}
		if r != nil {
			calls += r.Calls
		}
		if t.Failed() && seed > first+200 {
			break
		}
	}
	t.Logf("%d storms, %d calls", n, calls)
}

func wish(t *testing.T, name string, otherwise int) int {
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s=%q is no number", name, text)
	}
	return n
}
