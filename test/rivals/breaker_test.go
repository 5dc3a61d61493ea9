package rivals

import (
	"errors"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"backstop/breaker"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/sony/gobreaker/v2"
)

const (
	failures = 5
	window   = 30 * time.Second
	reset    = time.Minute
)

var errDown = errors.New("down")

func ours(literal bool) *breaker.Breaker {
	return breaker.New(breaker.Config{
		Failures: failures, Window: window, Reset: reset, Hang: true, FirstToken: 4500 * time.Millisecond, Literal: literal,
	}, time.Now(), 1)
}

func sonySettings() gobreaker.Settings {
	return gobreaker.Settings{
		Interval: window, BucketPeriod: time.Second, Timeout: reset,
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= failures },
	}
}

func failsafeBreaker() circuitbreaker.CircuitBreaker[any] {
	return circuitbreaker.NewBuilder[any]().WithFailureThresholdPeriod(failures, window).WithDelay(reset).Build()
}

// Each admits and records one success. The rivals read the clock themselves,
// so ours pays for its two readings here as well.
func BenchmarkClosedAdmitAndRecord(b *testing.B) {
	b.Run("backstop", func(b *testing.B) {
		br := ours(false)
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for hash := rand.Uint64(); pb.Next(); hash++ {
				t, _ := br.Allow(time.Now(), breaker.Watched, hash)
				br.Done(time.Now(), t, breaker.Success, false)
			}
		})
	})
	b.Run("backstop, clock not counted", func(b *testing.B) {
		br := ours(false)
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			now := time.Now()
			for hash := rand.Uint64(); pb.Next(); hash++ {
				t, _ := br.Allow(now, breaker.Watched, hash)
				br.Done(now, t, breaker.Success, false)
			}
		})
	})
	b.Run("gobreaker two-step", func(b *testing.B) {
		br := gobreaker.NewTwoStepCircuitBreaker[any](sonySettings())
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if done, err := br.Allow(); err == nil {
					done(nil)
				}
			}
		})
	})
	b.Run("gobreaker execute", func(b *testing.B) {
		br := gobreaker.NewCircuitBreaker[any](sonySettings())
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				_, _ = br.Execute(func() (any, error) { return nil, nil })
			}
		})
	})
	b.Run("failsafe permit and record", func(b *testing.B) {
		br := failsafeBreaker()
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if br.TryAcquirePermit() {
					br.RecordSuccess()
				}
			}
		})
	})
	b.Run("failsafe executor", func(b *testing.B) {
		ex := failsafe.With[any](failsafeBreaker())
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				_ = ex.Run(func() error { return nil })
			}
		})
	})
}

func BenchmarkOpenRefuse(b *testing.B) {
	b.Run("backstop", func(b *testing.B) {
		br := ours(false)
		br.Force(time.Now(), breaker.ForcedOpen, 0)
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				br.Allow(time.Now(), breaker.Watched, 1)
			}
		})
	})
	b.Run("gobreaker two-step", func(b *testing.B) {
		br := gobreaker.NewTwoStepCircuitBreaker[any](sonySettings())
		for range failures {
			done, _ := br.Allow()
			done(errDown)
		}
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				_, _ = br.Allow()
			}
		})
	})
	b.Run("failsafe", func(b *testing.B) {
		br := failsafeBreaker()
		br.Open()
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				br.TryAcquirePermit()
			}
		})
	})
}

// The literal card and gobreaker set to it must agree on when to open.
func TestTheLiteralCardOpensWhereGobreakerDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		for range 200 {
			mine := ours(true)
			theirs := gobreaker.NewTwoStepCircuitBreaker[any](sonySettings())
			for i := range 100 {
				tk, ok := mine.Allow(time.Now(), breaker.Watched, r.Uint64())
				done, err := theirs.Allow()
				if ok != (err == nil) {
					t.Fatalf("call %d: admitted %v, gobreaker says %v", i, ok, err)
				}
				if !ok {
					break
				}
				if r.IntN(3) > 0 {
					mine.Done(time.Now(), tk, breaker.Failure, false)
					done(errDown)
				} else {
					mine.Done(time.Now(), tk, breaker.Success, false)
					done(nil)
				}
				time.Sleep(10 * time.Millisecond)
			}
		}
	})
}

// Probes that never return: the rivals run out of permits and refuse from then
// on, whatever the upstream does. Ours expire.
func TestOnlyOursSurvivesAHungProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mine := ours(true)
		theirs := gobreaker.NewTwoStepCircuitBreaker[any](sonySettings())
		other := failsafeBreaker()
		for range failures {
			tk, _ := mine.Allow(time.Now(), breaker.Watched, 1)
			mine.Done(time.Now(), tk, breaker.Failure, false)
			done, _ := theirs.Allow()
			done(errDown)
			other.RecordFailure()
		}
		time.Sleep(2 * reset)
		_, a := mine.Allow(time.Now(), breaker.Watched, 1)
		_, b := theirs.Allow()
		if c := other.TryAcquirePermit(); !a || b != nil || !c {
			t.Fatalf("probes: ours %v, gobreaker %v, failsafe %v", a, b, c)
		}
		mines, others := 0, 0
		for range 24 * 60 {
			time.Sleep(time.Minute)
			if _, ok := mine.Allow(time.Now(), breaker.Watched, 1); ok {
				mines++
			}
			if _, err := theirs.Allow(); err == nil {
				others++
			}
			if other.TryAcquirePermit() {
				others++
			}
		}
		t.Logf("further probes in 24 h: ours %d, both rivals %d", mines, others)
		if mines < 100 || others > 10 {
			t.Fatal("one of these is not as described")
		}
	})
}
