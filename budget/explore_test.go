package budget

import "testing"

// The tokens are the whole state of a bucket, so every state that can be
// reached is reached here, and every move is tried from each. By induction
// over the edges the bound of the package holds for any history:
//
//	withdrawn = Cap + ratio x successes - what did not fit - tokens <= Cap + ratio x successes
func TestEveryReachableBucketKeepsItsBound(t *testing.T) {
	states, edges := 0, 0
	for _, ratio := range []float64{0, 0.001, 0.01, 0.1, 0.15, 0.25, 0.3, 0.5, 0.7, 1, 3, Cap, 2 * Cap} {
		first := New(ratio)
		seen := map[int64]bool{first.tokens.Load(): true}
		queue := []int64{first.tokens.Load()}
		try := func(have int64, move func(*Bucket)) int64 {
			b := &Bucket{deposit: first.deposit}
			b.tokens.Store(have)
			move(b)
			next := b.tokens.Load()
			if edges++; next < 0 || next > Cap*unit {
				t.Fatalf("ratio %v: %d units after %d", ratio, next, have)
			}
			if !seen[next] {
				seen[next] = true
				queue = append(queue, next)
			}
			return next
		}
		for ; len(queue) > 0; queue = queue[1:] {
			have := queue[0]
			if next := try(have, (*Bucket).Deposit); next != min(have+first.deposit, Cap*unit) {
				t.Fatalf("ratio %v: a success made %d units of %d", ratio, next, have)
			}
			for cost := -1; cost <= Cap+1; cost++ {
				var paid bool
				next := try(have, func(b *Bucket) { paid = b.Withdraw(cost) })
				price := int64(max(cost, 0)) * unit
				if want := price <= have; paid != want || paid && next != have-price || !paid && next != have {
					t.Fatalf("ratio %v: a withdrawal of %d from %d units: %v, %d left", ratio, cost, have, paid, next)
				}
			}
			if len(seen) > 2_000_000 {
				t.Fatalf("ratio %v: no end of states", ratio)
			}
		}
		states += len(seen)
	}
	t.Logf("%d states, %d edges, all that there are", states, edges)
}
