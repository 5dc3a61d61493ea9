package sim

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"
)

func outage(word string) Scenario {
	return Scenario{
		Name: word, Seed: 1, Duration: 10 * time.Minute,
		Arrivals: Arrivals{Rate: 50, Timeout: 30 * time.Second, Stream: 1},
		Upstreams: []Model{
			{Name: "primary", FirstToken: Spread{0.6, 1.5}, Tokens: Spread{200, 800}, Gap: 15 * time.Millisecond},
			{Name: "backup", FirstToken: Spread{0.3, 0.6}, Tokens: Spread{200, 800}, Gap: 15 * time.Millisecond},
		},
		Faults: []Fault{{Upstream: "primary", From: time.Minute, To: 6 * time.Minute, Word: word}},
	}
}

func verified(t *testing.T, s Scenario) *Report {
	t.Helper()
	r, err := Verify(Pair(), s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestTheSameSeedGivesTheSameBytes(t *testing.T) {
	s := outage("p:0.5:hang")
	s.Replicas, s.Arrivals.Retries, s.Arrivals.JSON = 3, 2, 0.3
	var first []byte
	for range 3 {
		r := verified(t, s)
		var b bytes.Buffer
		if err := json.NewEncoder(&b).Encode(r); err != nil {
			t.Fatal(err)
		}
		if err := r.WriteSVG(&b); err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = b.Bytes()
		} else if !bytes.Equal(first, b.Bytes()) {
			t.Fatal("two runs of one seed differ")
		}
	}
	s.Seed = 2
	r := verified(t, s)
	if b, _ := json.Marshal(r); bytes.HasPrefix(first, b) {
		t.Fatal("another seed gives the same report")
	}
}

func TestATotalOutageIsSeenAndNobodyIsLost(t *testing.T) {
	for word, within := range map[string]Decimal{"hang": 2.3 * decimal, "500": 0.25 * decimal, "refuse": 0.25 * decimal} {
		r := verified(t, outage(word))
		if r.Answered != r.Calls || r.Waited4s > 0 || r.FalseOpens > 0 {
			t.Errorf("%s: %d of %d answered, %d waited, %d false opens", word, r.Answered, r.Calls, r.Waited4s, r.FalseOpens)
		}
		if r.Detect == nil || *r.Detect > within || r.Recover == nil || *r.Recover > 20*decimal {
			t.Errorf("%s: detected after %v, recovered after %v", word, r.Detect, r.Recover)
		}
		if r.Amplification > 1.01*decimal {
			t.Errorf("%s: amplification %s", word, r.Amplification)
		}
	}
}

func TestOrdinaryNoiseOpensNothing(t *testing.T) {
	s := outage("p:0.05:500")
	if r := verified(t, s); r.Flips > 0 || r.Answered != r.Calls {
		t.Errorf("%d flips, %d of %d answered", r.Flips, r.Answered, r.Calls)
	}
}

func TestEveryFaultCanBePlayed(t *testing.T) {
	for _, w := range Words() {
		s := outage(w.Example)
		s.Duration, s.Arrivals.JSON, s.Arrivals.Stream = 2*time.Minute, 0.5, 0.5
		s.Arrivals.Rate = 10
		r := verified(t, s)
		if r.Calls < 1000 {
			t.Errorf("%s: %d calls", w.Example, r.Calls)
		}
	}
}

func TestAFaultThatCannotBePlayedIsRefusedWithAnExample(t *testing.T) {
	for word, want := range map[string]string{
		"hagn": "unknown fault", "p:2:hang": "probability", "slow:x": "for example", "status:99": "status", "hang@3": "does not count",
		"p:0.5:p:0.5:p:0.5:p:0.5:p:0.5:p:0.5:hang": "nested", "status:503:retry=2": "unknown option", "capacity:x": "number of calls",
	} {
		if err := CheckWord(word); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", word, err, want)
		}
	}
}

func TestAnExpectationIsJudgedByItsComparison(t *testing.T) {
	r := verified(t, outage("hang"))
	for _, e := range []struct {
		what, want string
		ok         bool
	}{
		{"answered", "100%", true}, {"answered", "1", true}, {"detect", "<= 2300ms", true}, {"detect", "< 1s", false},
		{"false_opens", "0", true}, {"primary", ">= 99%", false}, {"flips", "= 2", true}, {"amplification", "<= 1.01", true},
	} {
		v, err := Expectation{e.what, e.want}.judge(r)
		if err != nil || v.OK != e.ok {
			t.Errorf("%s %s: %+v, %v", e.what, e.want, v, err)
		}
	}
	for _, e := range []Expectation{{"speed", "1"}, {"detect", "<= 2"}, {"flips", "few"}, {"flips", ""}} {
		if e.Check() == nil {
			t.Errorf("%+v was accepted", e)
		}
	}
}

func TestOwnLogarithmAndExponentialAreExactEnough(t *testing.T) {
	for x := 1e-12; x < 1e12; x *= 1.37 {
		if d := math.Abs(ln(x) - math.Log(x)); d > 1e-13*max(1, math.Abs(math.Log(x))) {
			t.Errorf("ln %g is off by %g", x, d)
		}
	}
	for x := -50.0; x < 50; x += 0.37 {
		if d := math.Abs(exp(x)/math.Exp(x) - 1); d > 1e-13 {
			t.Errorf("exp %g is off by %g", x, d)
		}
	}
}

func TestDrawsHaveTheQuantilesThatWereAsked(t *testing.T) {
	c := Spread{0.6, 1.5}.curve()
	d := roll(1, 2)
	below, above := 0, 0
	const n = 200_000
	for range n {
		x := c.draw(&d)
		if x < 0.6 {
			below++
		}
		if x > 1.5 {
			above++
		}
	}
	if math.Abs(float64(below)/n-0.5) > 0.005 || math.Abs(float64(above)/n-0.05) > 0.003 {
		t.Errorf("%d below the median, %d above the p95", below, above)
	}
}

func TestTheCheckerSeesWhatItShould(t *testing.T) {
	w, err := newWorld(Pair(), outage("hang"))
	if err != nil {
		t.Fatal(err)
	}
	w.checker = newChecker()
	// As if a transition had been lost: everything that follows is a breach.
	w.checker.scope(scopeKey{0, "primary", "model", "gpt-4o"}).state = "open"
	if _, err := w.play(); err != nil {
		t.Fatal(err)
	}
	if b := w.checker.first; b == nil || b.Rule != "I4" {
		t.Fatalf("the breach is %v, want I4", b)
	}
}

func TestHistogramsAreWithinOnePercent(t *testing.T) {
	var h histogram
	for i := int64(1); i <= 100_000; i++ {
		h.add(i * int64(time.Millisecond) / 10)
	}
	for permille, want := range map[uint64]float64{500: 5000, 990: 9900, 999: 9990} {
		if got := float64(h.quantile(permille)) / 1e6; math.Abs(got/want-1) > 0.01 {
			t.Errorf("%d permille is %g ms, want %g", permille, got, want)
		}
	}
}
