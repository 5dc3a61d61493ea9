package budget_test

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"

	"backstop/budget"

	"pgregory.net/rapid"
)

func TestAFullBucketPaysForTenRetriesAndNotEleven(t *testing.T) {
	b := budget.New(0.1)
	for i := range budget.Cap {
		if !b.Withdraw(budget.Cost) {
			t.Fatalf("retry %d was refused", i+1)
		}
	}
	if b.Withdraw(budget.Cost) {
		t.Fatal("retry 11 was paid from an empty bucket")
	}
}

func TestARetryAfterATimeoutCostsTwo(t *testing.T) {
	b := budget.New(0.1)
	for range 5 {
		if !b.Withdraw(budget.CostAfterTimeout) {
			t.Fatal("refused with tokens left")
		}
	}
	if got := b.Remaining(); got != 0 {
		t.Fatalf("%v tokens left, want 0", got)
	}
}

func TestARefusedWithdrawalTakesNothing(t *testing.T) {
	b := budget.New(0.5)
	for range 9 {
		b.Withdraw(1)
	}
	if b.Withdraw(2) {
		t.Fatal("two tokens were paid out of one")
	}
	if !b.Withdraw(1) {
		t.Fatal("the last token was lost by a refused withdrawal")
	}
}

func TestTenSuccessesBuyExactlyOneRetry(t *testing.T) {
	b := budget.New(0.1)
	b.Withdraw(10)
	for i := range 10 {
		if b.Withdraw(1) {
			t.Fatalf("a retry was paid after %d successes", i)
		}
		b.Deposit()
	}
	if !b.Withdraw(1) || b.Withdraw(1) {
		t.Fatal("ten successes must buy one retry and no second one")
	}
}

func TestABucketNeverHoldsMoreThanItsCap(t *testing.T) {
	b := budget.New(0.3)
	for range 1000 {
		b.Deposit()
	}
	if got := b.Remaining(); got != budget.Cap {
		t.Fatalf("%v tokens, want %d", got, budget.Cap)
	}
}

func TestOddRatios(t *testing.T) {
	for _, tt := range []struct {
		name  string
		ratio float64
		first bool    // the first withdrawal
		refed float64 // tokens after emptying and one success
	}{
		{"zero turns retries off", 0, false, 0},
		{"a negative ratio turns retries off", -1, false, 0},
		{"NaN turns retries off", math.NaN(), false, 0},
		{"a third is kept to a millionth", 1.0 / 3, true, 0.333333},
		{"infinity refills at once", math.Inf(1), true, budget.Cap},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := budget.New(tt.ratio)
			if got := b.Withdraw(1); got != tt.first {
				t.Fatalf("Withdraw = %v, want %v", got, tt.first)
			}
			b.Withdraw(9)
			b.Deposit()
			if got := b.Remaining(); got != tt.refed {
				t.Fatalf("%v tokens after one success, want %v", got, tt.refed)
			}
		})
	}
}

func TestOddCosts(t *testing.T) {
	b := budget.New(0.1)
	if !b.Withdraw(0) || !b.Withdraw(-3) || b.Remaining() != budget.Cap {
		t.Fatal("a cost below 1 must be free and change nothing")
	}
	if b.Withdraw(budget.Cap+1) || b.Withdraw(math.MaxInt) || b.Remaining() != budget.Cap {
		t.Fatal("a cost above the cap must be refused and change nothing")
	}
}

func TestPaidRetriesNeverExceedCapPlusRatioTimesSuccesses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ratio := float64(rapid.IntRange(1, 1000).Draw(t, "permille")) / 1000
		b := budget.New(ratio)
		paid, successes := 0, 0
		for range rapid.IntRange(0, 200).Draw(t, "steps") {
			cost := rapid.IntRange(-1, 12).Draw(t, "cost")
			if cost <= 0 {
				b.Deposit()
				successes++
			} else if b.Withdraw(cost) {
				paid += cost
			}
			if most := budget.Cap + ratio*float64(successes); float64(paid) > most+1e-9 {
				t.Fatalf("%d tokens paid after %d successes, most %v", paid, successes, most)
			}
			if left := b.Remaining(); left < 0 || left > budget.Cap {
				t.Fatalf("%v tokens in the bucket", left)
			}
		}
	})
}

func TestConcurrentWithdrawalsPayEachTokenOnce(t *testing.T) {
	b := budget.New(0.1)
	var paid atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 1000 {
				if b.Withdraw(1) {
					paid.Add(1)
				}
				b.Deposit()
			}
		})
	}
	wg.Wait()
	if got, most := float64(paid.Load())+b.Remaining(), budget.Cap+0.1*8000.0; got > most+1e-6 {
		t.Fatalf("paid and remaining are %v, most %v", got, most)
	}
}

func Example() {
	b := budget.New(0.1)

	// A storm of failures: ten retries, then none until something succeeds.
	retries := 0
	for range 1000 {
		if b.Withdraw(budget.Cost) {
			retries++
		}
	}
	fmt.Println(retries, b.Remaining())

	for range 25 {
		b.Deposit()
	}
	fmt.Println(b.Withdraw(budget.CostAfterTimeout), b.Remaining())
	// Output:
	// 10 0
	// true 0.5
}

func BenchmarkDepositAndWithdraw(b *testing.B) {
	bucket := budget.New(0.1)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			bucket.Deposit()
			bucket.Withdraw(1)
		}
	})
}
