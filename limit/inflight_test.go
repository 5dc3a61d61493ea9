package limit_test

import (
	"fmt"
	"sync"
	"testing"

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
