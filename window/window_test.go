package window

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

func ExampleRate() {
	r := NewRate(30 * time.Second)
	r.Add(0, Tally{Bad: 1})
	r.Add(29*time.Second, Tally{Good: 3})
	fmt.Println(r.Sum(30*time.Second), r.Sum(40*time.Second))
	// Output: {3 1 0} {3 0 0}
}

func ExampleQuantile() {
	q := NewQuantile(5*time.Minute, 0.95)
	for i := range 100 {
		q.Add(time.Duration(i)*time.Second, 250*time.Millisecond)
	}
	d, n := q.Value()
	fmt.Println(d, n)
	// Output: 256ms 100
}

func TestRateCoversTheWholeWindowAndForgetsSoonAfter(t *testing.T) {
	for at := time.Duration(0); at < 2*time.Second; at += 37 * time.Millisecond {
		r := NewRate(30 * time.Second)
		r.Add(at, Tally{Bad: 1, Heavy: 1})
		if got := r.Sum(at + 30*time.Second); got.Bad != 1 || got.Heavy != 1 {
			t.Fatalf("at %v: %+v after 30 s, want it kept", at, got)
		}
		if got := r.Sum(at + 31*time.Second); got != (Tally{}) {
			t.Fatalf("at %v: %+v after 31 s, want it gone", at, got)
		}
	}
}

func TestRateTakesATimeThatGoesBackAsTheNewest(t *testing.T) {
	r := NewRate(30 * time.Second)
	r.Add(100*time.Second, Tally{Good: 1})
	r.Add(10*time.Second, Tally{Good: 1})
	if got := r.Sum(101 * time.Second).All(); got != 2 {
		t.Fatalf("%d outcomes, want 2", got)
	}
	if got := r.Sum(10000 * time.Second).All(); got != 0 {
		t.Fatalf("%d outcomes after a long silence, want 0", got)
	}
}

func TestRateResets(t *testing.T) {
	r := NewRate(time.Second)
	r.Add(time.Hour, Tally{Good: 7})
	r.Reset()
	if got := r.Sum(time.Hour).All(); got != 0 {
		t.Fatalf("%d outcomes after a reset", got)
	}
}

func TestBinsAreInOrderAndTight(t *testing.T) {
	for _, d := range []time.Duration{0, 1, unit - 1, unit, time.Millisecond, 2 * time.Millisecond, 999 * time.Millisecond,
		1500 * time.Millisecond, 4200 * time.Millisecond, time.Minute, 17 * time.Minute} {
		i := bin(d)
		if up := edge(i); up <= d || (d > time.Millisecond && up > d+d/perOct+unit) {
			t.Errorf("%v lies in bin %d with the upper edge %v", d, i, up)
		}
	}
	for i := 1; i < bins; i++ {
		if edge(i) <= edge(i-1) || bin(edge(i)-1) != i {
			t.Fatalf("bin %d ends at %v, the one before at %v", i, edge(i), edge(i-1))
		}
	}
	if bin(100*time.Hour) != bins-1 || bin(-5) != 0 {
		t.Error("out of range durations must fall into the outer bins")
	}
}

// The incremental mark must agree with sorting the same samples, whatever the
// order of small and large ones and through every turn of the window.
func TestQuantileAgreesWithSorting(t *testing.T) {
	type sample struct{ at, d time.Duration }
	var kept []sample
	q := NewQuantile(5*time.Minute, 0.95)
	x := uint64(7)
	now := time.Duration(0)
	for step := range 5000 {
		x = x*6364136223846793005 + 1442695040888963407
		now += time.Duration(x>>52) * time.Millisecond / 8
		d := time.Duration(x>>33%3000) * time.Millisecond
		q.Add(now, d)
		kept = append(kept, sample{now, d})
		first := now.Truncate(30*time.Second) - 300*time.Second
		var ds []time.Duration
		for _, s := range kept {
			if s.at >= first {
				ds = append(ds, s.d)
			}
		}
		slices.Sort(ds)
		got, n := q.Value()
		want := edge(bin(ds[len(ds)-1-len(ds)/20]))
		if step%7 == 0 && (n != len(ds) || got != want) {
			t.Fatalf("step %d: %v of %d samples, want %v of %d", step, got, n, want, len(ds))
		}
	}
	q.Turn(now + 10*time.Minute)
	if d, n := q.Value(); d != 0 || n != 0 {
		t.Fatalf("%v of %d after a long silence", d, n)
	}
}

func BenchmarkQuantileAdd(b *testing.B) {
	q := NewQuantile(5*time.Minute, 0.95)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		q.Add(time.Duration(i)*time.Millisecond, time.Duration(i%2000)*time.Millisecond)
	}
}
