package backstop_test

import (
	"fmt"
	"time"

	"backstop"
)

// The engine decides and the driver does. Here the driver is ten lines: the
// primary stays silent, the backup answers.
func Example() {
	primary, backup := backstop.DefaultUpstream(), backstop.DefaultUpstream()
	primary.Name, backup.Name = "primary", "backup"
	route := backstop.DefaultRoute()
	route.Model = "*"
	route.Tiers = []backstop.Tier{{Upstream: "primary"}, {Upstream: "backup"}}
	plan := &backstop.Plan{Upstreams: []backstop.Upstream{primary, backup}, Routes: []backstop.Route{route}}
	plan.Routes[0].Deadline = backstop.AutoDeadline(plan, &plan.Routes[0])

	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	start := now
	engine := backstop.NewEngine(plan, backstop.EngineOptions{Now: now})
	call := engine.Begin(now, backstop.Request{Model: "gpt-4o", Streamable: true})
	for {
		step := call.Next(now)
		switch step.Kind {
		case backstop.Try:
			fmt.Println(now.Sub(start), "try", step.Upstream.Name)
			call.Observe(now, step.Attempt, backstop.Mark{Kind: backstop.Dialed})
			if step.Upstream.Name == "backup" {
				call.Observe(now, step.Attempt, backstop.Mark{Kind: backstop.Ended, Outcome: backstop.Outcome{Class: backstop.OK, Status: 200}})
			}
		case backstop.Drop:
			fmt.Println(now.Sub(start), "drop:", step.Outcome.Reason())
		case backstop.Wait:
			now = step.Until
		case backstop.Done:
			fmt.Println(now.Sub(start), "answered by tier", step.Tier, "because of:", call.Report().Reason)
			return
		}
	}
	// Output:
	// 0s try primary
	// 4.5s drop: hang/first_token
	// 4.5s try backup
	// 4.5s answered by tier 1 because of: hang
}
