package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"text/tabwriter"

	"backstop"
	"backstop/internal/scenario"
	"backstop/sim"
)

// replayReport is what sim --from-log --json prints.
type replayReport struct {
	Recorded scenario.Recorded `json:"recorded"`
	Replayed *sim.Report       `json:"replayed"`
}

// replay plays a recorded log against another configuration.
func (c *simCmd) replay(s *streams) error {
	in, err := os.Open(c.FromLog)
	if err != nil {
		return failf(exitConfig, "--from-log %s: cannot be read; name the JSON log of serve", c.FromLog)
	}
	defer func() { _ = in.Close() }()
	rp, err := scenario.ReadLog(c.FromLog, in)
	if err != nil {
		return failf(exitConfig, "%s", err)
	}
	plan := sim.Pair()
	if c.Config != "" {
		if plan, err = c.plan(s); err != nil {
			return err
		}
	}
	if err := c.reseed(&rp.Scenario); err != nil {
		return err
	}
	r, err := c.play(s, plan, rp.Scenario)
	if err != nil {
		return err
	}
	if c.JSON {
		if err := c.picture(r); err != nil {
			return err
		}
		return printJSON(s.out, replayReport{rp.Recorded, r})
	}
	return c.print(s, r, func(out io.Writer) error { return compare(out, plan, rp, r) })
}

// compare writes what was and what would have been.
func compare(out io.Writer, plan *backstop.Plan, rp *scenario.Replay, r *sim.Report) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	was := &rp.Recorded
	row := func(what string, a, b any) { fmt.Fprintf(t, "%s\t%v\t%v\t\n", what, a, b) }
	row("", "recorded", "replayed")
	row("calls", was.Calls, r.Calls)
	row("answered", was.Answered, r.Answered)
	row("by the primary", was.Tiers["primary"], r.Tiers.Primary)
	row("by a backup", was.Tiers["backup"], r.Tiers.Backup)
	row("by a local tier", was.Tiers["local"], r.Tiers.Local)
	row("first token p50, ms", was.P50, r.Latency.All.P50)
	row("first token p99, ms", was.P99, r.Latency.All.P99)
	row("waited 4 s or more", was.Over4s, r.LongWaits)
	for i := range plan.Upstreams {
		name := plan.Upstreams[i].Name
		row("attempts at "+name, was.Attempts[name], r.Attempts[name])
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, x := range r.Transitions[:min(len(r.Transitions), 40)] {
		fmt.Fprintf(out, "%10ss  %s %s: %s -> %s (%s)\n", x.T, x.Upstream, x.Scope, x.From, x.To, x.Cause)
	}
	return caveats(out, plan, rp)
}

// caveats say how far the replay can be trusted.
func caveats(out io.Writer, plan *backstop.Plan, rp *scenario.Replay) error {
	if n := rp.Recorded.TurnedAway; n > 0 {
		fmt.Fprintf(out, "note: %d more calls came to no route (over their caller's limit, or at fault): they are left out\n", n)
	}
	if rp.Coarse > 0 {
		fmt.Fprintf(out, "note: %d of %d calls were logged without their tries: only who answered them is known\n", rp.Coarse, rp.Recorded.Calls)
	}
	var unknown []string
	for i := range plan.Upstreams {
		if name := plan.Upstreams[i].Name; rp.Recorded.Attempts[name] == 0 {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	for _, name := range unknown {
		fmt.Fprintf(out, "note: the log has no attempt at %s: it is taken for healthy\n", name)
	}
	return nil
}
