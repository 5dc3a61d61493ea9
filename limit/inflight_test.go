package limit_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"backstop/limit"
)

func TestPlacesAreTakenUpToTheLimitAndComeBack(t *testing.T) {
	l := limit.NewInflight(2)
	for range 2 {
		if !l.Acquire() {
			t.Fatal("a free place was refused")
		}
	}
	if l.Acquire() {
		t.Fatal("a third place was given out of two")
	}
	if !l.Release() || !l.Acquire() {
		t.Fatal("a released place did not come back")
	}
	if l.Count() != 2 {
		t.Fatalf("Count = %d, want 2", l.Count())
	}
}

func TestAReleaseTooManyIsReportedAndGivesNoExtraPlace(t *testing.T) {
	l := limit.NewInflight(1)
	if l.Release() {
		t.Fatal("a release without a place was accepted")
	}
	if l.Count() != 0 || !l.Acquire() || l.Acquire() {
		t.Fatal("a release too many changed the limit")
	}
}

func TestZeroAndLessAreUnlimitedButCounted(t *testing.T) {
	for _, most := range []int{0, -1} {
		l := limit.NewInflight(most)
		for range 10000 {
			if !l.Acquire() {
				t.Fatalf("NewInflight(%d) refused a place", most)
			}
		}
		if l.Count() != 10000 {
			t.Fatalf("Count = %d", l.Count())
		}
	}
}

func TestConcurrentAttemptsNeverExceedTheLimit(t *testing.T) {
	const most = 3
	l := limit.NewInflight(most)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 2000 {
				if !l.Acquire() {
					continue
				}
				if n := l.Count(); n < 1 || n > most {
					t.Errorf("%d places taken, limit %d", n, most)
				}
				if !l.Release() {
					t.Error("a taken place could not be released")
				}
			}
		})
	}
	wg.Wait()
	if l.Count() != 0 {
		t.Fatalf("%d places taken at the end", l.Count())
	}
}

func ExampleInflight() {
	l := limit.NewInflight(1)
	fmt.Println(l.Acquire(), l.Acquire(), l.Count())
	fmt.Println(l.Release(), l.Release(), l.Count())
	// Output:
	// true false 1
	// true false 0
}

func TestOverloadShrinksTheBoundAndSuccessesGrowItBack(t *testing.T) {
	l, now := limit.NewInflight(100), time.Unix(1000, 0)
	for range 50 {
		l.Acquire()
	}
	l.Overload(now)
	l.Overload(now)
	if l.Bound() != 100 {
		t.Fatalf("two overload answers shrank the bound to %d", l.Bound())
	}
	l.Success()
	l.Overload(now)
	l.Overload(now)
	if l.Bound() != 100 {
		t.Fatal("a success did not end the run")
	}
	l.Overload(now)
	if l.Bound() != 35 || l.Acquire() {
		t.Fatalf("bound %d, want 35 of 50 in flight", l.Bound())
	}
	l.Overload(now.Add(100 * time.Millisecond))
	if l.Bound() != 35 {
		t.Fatal("two decreases within a second")
	}
	for range 10 {
		l.Success()
	}
	if l.Bound() != 45 {
		t.Fatalf("ten successes grew the bound to %d", l.Bound())
	}
	for i := range 20 {
		l.Overload(now.Add(time.Duration(i+2) * time.Second))
	}
	if l.Bound() != 16 {
		t.Fatalf("bound %d, want the least", l.Bound())
	}
	for range 49 {
		l.Release()
	}
	l.Success()
	if l.Bound() != 16 {
		t.Fatal("an idle limit grew")
	}
}

func TestAFewInFlightAreNotTheCauseOfAnOverload(t *testing.T) {
	l, now := limit.NewInflight(1000), time.Unix(1000, 0)
	l.Acquire()
	for i := range 5 {
		l.Overload(now.Add(time.Duration(i) * time.Second))
	}
	if l.Bound() != 1000 {
		t.Fatalf("bound %d after overload answers with one in flight", l.Bound())
	}
}
