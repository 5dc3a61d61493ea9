package backoff_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"backstop/backoff"

	"pgregory.net/rapid"
)

const ms = time.Millisecond

// draws yields the given numbers in turn.
func draws(numbers ...uint64) func() uint64 {
	return func() uint64 {
		next := numbers[0]
		numbers = numbers[1:]
		return next
	}
}

func TestDelay(t *testing.T) {
	const lowest, highest, half = 0, math.MaxUint64, 1 << 63
	for _, tt := range []struct {
		name     string
		min, max time.Duration
		n        int
		rnd      func() uint64
		want     time.Duration
	}{
		{"the lowest draws give the lower end of the card", 200 * ms, 500 * ms, 0, draws(lowest, lowest), 200 * ms},
		{"the highest draws of a first retry give the upper end of the card", 200 * ms, 500 * ms, 0, draws(highest, highest), 500 * ms},
		{"the card is a floor under the random part", 200 * ms, 500 * ms, 0, draws(half, lowest), 350 * ms},
		{"the random part wins when it is larger", 200 * ms, 500 * ms, 2, draws(lowest, highest), 1000 * ms},
		{"without a card the first retry waits at most the base", 0, 0, 0, draws(highest, highest), 250 * ms},
		{"the random part may be nothing", 0, 0, 0, draws(highest, lowest), 0},
		{"the random part doubles", 0, 0, 1, draws(highest, highest), 500 * ms},
		{"the random part stops at two seconds", 0, 0, 3, draws(highest, highest), 2 * time.Second},
		{"a huge count does not overflow", 0, 0, math.MaxInt, draws(highest, highest), 2 * time.Second},
		{"a negative count is a first retry", 0, 0, -4, draws(highest, highest), 250 * ms},
		{"an operator's floor above two seconds is kept", 3 * time.Second, 3 * time.Second, 0, draws(lowest, highest), 3 * time.Second},
		{"an upper end below the lower one is the lower one", 400 * ms, 100 * ms, 0, draws(highest, lowest), 400 * ms},
		{"a negative card is none", -time.Second, -time.Second, 0, draws(highest, lowest), 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := backoff.Delay(tt.min, tt.max, tt.n, tt.rnd); got != tt.want {
				t.Fatalf("Delay = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestDelayStaysInItsBoundsForAnyInput(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := time.Duration(rapid.Int64Range(math.MinInt64/2, math.MaxInt64/2).Draw(t, "min"))
		to := time.Duration(rapid.Int64Range(math.MinInt64/2, math.MaxInt64/2).Draw(t, "max"))
		rnd := draws(rapid.Uint64().Draw(t, "first"), rapid.Uint64().Draw(t, "second"))
		got := backoff.Delay(from, to, rapid.Int().Draw(t, "n"), rnd)
		if low, high := max(from, 0), max(from, to, backoff.Most); got < low || got > high {
			t.Fatalf("Delay = %v, outside [%v, %v]", got, low, high)
		}
	})
}

func TestAStormOfFirstRetriesSpreadsEvenlyOverTheCard(t *testing.T) {
	source := rand.New(rand.NewPCG(1, 2))
	var bins [3]int
	const calls = 30000
	for range calls {
		d := backoff.Delay(200*ms, 500*ms, 0, source.Uint64)
		if d < 200*ms || d > 500*ms {
			t.Fatalf("a first retry waits %v", d)
		}
		bins[min(int((d-200*ms)/(100*ms)), 2)]++
	}
	for i, n := range bins {
		// A fifth of the 0..250 ms draws lie above 200 ms and lift the first
		// third a little; no third may hold much more than its share.
		if n < calls*30/100 || n > calls*37/100 {
			t.Errorf("third %d of the card holds %d of %d retries", i+1, n, calls)
		}
	}
}

func Example() {
	source := rand.New(rand.NewPCG(7, 7)) // seeded: the same waits in every run
	for n := range 3 {
		d := backoff.Delay(200*time.Millisecond, 500*time.Millisecond, n, source.Uint64)
		fmt.Println(d >= 200*time.Millisecond, d <= backoff.Most)
	}
	// Output:
	// true true
	// true true
	// true true
}
