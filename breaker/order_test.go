package breaker

import (
	"math/rand/v2"
	"testing"
	"time"
)

// I6: of what ends at one instant something has to be told first, and an answer
// ends the run of the failures that were told before it. That is all the order
// means: with the next answer the state is the same whichever it was.
func TestTheOrderOfEndsAtOneInstantIsForgottenWithTheNextAnswer(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 6))
		ends := make([]Result, 2+r.IntN(5))
		tokens := make([]bool, len(ends))
		for i := range ends {
			ends[i] = []Result{Success, Failure, Failure, Neutral, Moved}[r.IntN(5)]
			tokens[i] = ends[i] == Failure && r.IntN(4) == 0
		}
		order := make([]int, len(ends))
		for i := range order {
			order[i] = i
		}
		var first [3]int
		for try := range 6 {
			b := New(Config{Failures: 64, Window: 30 * time.Second, Reset: time.Minute, FirstToken: 4500 * time.Millisecond}, time.Time{}, 1)
			start := time.Time{}.Add(time.Second)
			early, _ := b.Allow(start, Watched, 1)
			b.Done(start.Add(time.Millisecond), early, Failure, false) // a run has begun
			tickets := make([]Ticket, len(ends))
			for i := range tickets {
				tickets[i], _ = b.Allow(start, Watched, uint64(i+2))
			}
			for i, tk := range tickets {
				if tokens[i] {
					b.Progress(start.Add(2*time.Millisecond), tk)
				}
			}
			now := start.Add(10 * time.Millisecond)
			for _, i := range order {
				b.Done(now, tickets[i], ends[i], false)
			}
			next, _ := b.Allow(now.Add(time.Millisecond), Watched, 99)
			b.Done(now.Add(2*time.Millisecond), next, Success, false)
			info := b.Info(now.Add(2 * time.Millisecond))
			got := [3]int{int(info.State), info.Run, info.Needed}
			if try == 0 {
				first = got
			} else if got != first {
				t.Fatalf("seed %d: ends %v in the order %v give %+v, in another %+v", seed, ends, order, got, first)
			}
			r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		}
	}
}
