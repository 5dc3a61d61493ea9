package sim_test

import (
	"fmt"
	"time"

	"backstop/sim"
)

// The primary hangs for five minutes: who answered, and how soon was it seen?
func ExampleRun() {
	r, err := sim.Run(sim.Pair(), sim.Scenario{
		Name: "primary hangs", Seed: 1, Duration: 10 * time.Minute,
		Arrivals: sim.Arrivals{Rate: 50, Process: sim.Constant, Stream: 1},
		Faults:   []sim.Fault{{Upstream: "primary", From: time.Minute, To: 6 * time.Minute, Word: "hang"}},
		Expect:   []sim.Expectation{{What: "answered", Want: "100%"}, {What: "detect", Want: "<= 2.6s"}, {What: "recover", Want: "<= 20s"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, v := range r.Expect {
		fmt.Println(v.What, v.Want, v.OK)
	}
	// Output:
	// answered 100% true
	// detect <= 2.6s true
	// recover <= 20s true
}
