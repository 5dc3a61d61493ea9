package breaker_test

import (
	"fmt"
	"time"

	"backstop/breaker"
)

// A dead upstream: five failures open the breaker, a background probe and one
// live call close it.
func Example() {
	epoch := time.Now()
	now := epoch
	b := breaker.New(breaker.Config{
		Failures: 5, Window: 30 * time.Second, Reset: time.Minute,
		Hang: true, FirstToken: 4500 * time.Millisecond,
		Notify: func(t breaker.Transition) { fmt.Println(t.From, "->", t.To, t.Cause) },
	}, epoch, 1)

	for id := range uint64(6) {
		ticket, ok := b.Allow(now, breaker.Watched, id)
		if !ok {
			fmt.Println("call", id, "is refused")
		}
		b.Done(now, ticket, breaker.Failure, false)
	}

	_, _, next := b.Due(now) // about 5 s later
	now = next
	probe, due, _ := b.Due(now)
	if due { // ask the upstream something tiny
		b.Probed(now, probe, breaker.Success)
	}
	live, _ := b.Allow(now, breaker.Watched, 7)
	b.Progress(now, live) // its first token
	b.Done(now, live, breaker.Success, false)

	// Output:
	// closed -> open run
	// call 5 is refused
	// open -> half-open probe
	// half-open -> closed probe
}
