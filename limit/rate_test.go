package limit_test

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"backstop/limit"

	"pgregory.net/rapid"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func TestABurstPassesAtOnceAndTheNextAttemptWaits(t *testing.T) {
	r := limit.NewRate(100, 20, epoch)
	for i := range 20 {
		if !r.Allow(epoch) {
			t.Fatalf("attempt %d of the burst was refused", i+1)
		}
	}
	if r.Allow(epoch) {
		t.Fatal("attempt 21 passed a burst of 20")
	}
	if got := r.Wait(epoch); got != 10*time.Millisecond {
		t.Fatalf("Wait = %v, want 10ms", got)
	}
	if r.Allow(epoch.Add(10*time.Millisecond - 1)) {
		t.Fatal("admitted a nanosecond early")
	}
	if !r.Allow(epoch.Add(10 * time.Millisecond)) {
		t.Fatal("refused when the wait was over")
	}
}

func TestASteadyStreamAtTheRateIsNeverRefused(t *testing.T) {
	r := limit.NewRate(100, 1, epoch)
	for i := range 1000 {
		if !r.Allow(epoch.Add(time.Duration(i) * 10 * time.Millisecond)) {
			t.Fatalf("attempt %d was refused", i)
		}
	}
}

func TestIdleTimeIsSavedUpToTheBurstOnly(t *testing.T) {
	r := limit.NewRate(10, 3, epoch)
	now := epoch.Add(time.Hour)
	admitted := 0
	for r.Allow(now) {
		admitted++
	}
	if admitted != 3 {
		t.Fatalf("%d attempts after an idle hour, want 3", admitted)
	}
}

func TestOddRates(t *testing.T) {
	for _, tt := range []struct {
		name      string
		perSecond float64
		burst     int
		admitted  int // of 100 at one instant
	}{
		{"zero is no limit", 0, 1, 100},
		{"a negative rate is no limit", -5, 1, 100},
		{"NaN is no limit", math.NaN(), 1, 100},
		{"infinity is no limit", math.Inf(1), 1, 100},
		{"a burst of zero admits one", 10, 0, 1},
		{"a negative burst admits one", 10, -3, 1},
		{"one attempt in three hundred years admits one", 1e-10, 1, 1},
		{"the smallest rate does not overflow with the largest burst", math.SmallestNonzeroFloat64, math.MaxInt, 1},
		{"a huge rate does not divide to nothing", math.MaxFloat64, 5, 5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := limit.NewRate(tt.perSecond, tt.burst, epoch)
			admitted := 0
			for range 100 {
				if r.Allow(epoch) {
					admitted++
				}
			}
			if admitted != tt.admitted {
				t.Fatalf("%d admitted, want %d", admitted, tt.admitted)
			}
		})
	}
}

func TestARefundLetsExactlyOneMoreThrough(t *testing.T) {
	r := limit.NewRate(1, 3, epoch)
	for range 3 {
		r.Allow(epoch)
	}
	r.Refund()
	if !r.Allow(epoch) || r.Allow(epoch) {
		t.Error("a refund is not one attempt")
	}
	free := limit.NewRate(0, 1, epoch)
	free.Refund()
	if !free.Allow(epoch) {
		t.Error("a refund made a limit")
	}
}

func TestOddTimesNeitherOverflowNorUnlock(t *testing.T) {
	r := limit.NewRate(1, 2, epoch)
	for _, now := range []time.Time{{}, epoch.Add(-time.Hour), time.Unix(1<<60, 0), time.Unix(-1<<60, 0), epoch} {
		for range 2 {
			r.Allow(now)
		}
		if r.Allow(now) {
			t.Fatalf("a third attempt passed at %v", now)
		}
		if r.Wait(now) <= 0 {
			t.Fatalf("no wait at %v although the limit is used up", now)
		}
	}
}

func TestAdmissionsInAnyIntervalStayWithinRateTimesLengthPlusBurst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		perSecond := rapid.Float64Range(0.1, 1e6).Draw(t, "per second")
		burst := rapid.IntRange(1, 30).Draw(t, "burst")
		r := limit.NewRate(perSecond, burst, epoch)
		gap := float64(time.Second) / perSecond
		var admitted []time.Duration
		at := time.Duration(0)
		for range rapid.IntRange(1, 120).Draw(t, "attempts") {
			// Mostly forward by a fraction of the gap, sometimes a little back.
			at += time.Duration(gap * rapid.Float64Range(-0.5, 1.5).Draw(t, "step"))
			now := epoch.Add(at)
			wait := r.Wait(now)
			ok := r.Allow(now)
			if ok != (wait == 0) {
				t.Fatalf("Wait said %v and Allow said %v at the same instant", wait, ok)
			}
			if ok {
				admitted = append(admitted, at)
			}
		}
		for i := range admitted {
			low, high := admitted[i], admitted[i]
			for n, a := range admitted[i:] {
				low, high = min(low, a), max(high, a)
				if most := perSecond*(high-low).Seconds() + float64(burst); float64(n+1) > most+1e-6 {
					t.Fatalf("%d admitted within %v, most %v", n+1, high-low, most)
				}
			}
		}
	})
}

func TestConcurrentAttemptsShareOneBurst(t *testing.T) {
	r := limit.NewRate(1, 50, epoch)
	var admitted atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				if r.Allow(epoch) {
					admitted.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if admitted.Load() != 50 {
		t.Fatalf("%d admitted, want 50", admitted.Load())
	}
}

func ExampleRate() {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	r := limit.NewRate(100, 2, start) // 100/s, two at once

	fmt.Println(r.Allow(start), r.Allow(start), r.Allow(start))
	fmt.Println(r.Wait(start))
	fmt.Println(r.Allow(start.Add(10 * time.Millisecond)))
	// Output:
	// true true false
	// 10ms
	// true
}

func BenchmarkAllow(b *testing.B) {
	r := limit.NewRate(1e6, 20, epoch)
	now := epoch.Add(time.Second)
	b.ReportAllocs()
	for b.Loop() {
		r.Allow(now)
	}
}
