package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"backstop"
	"backstop/internal/config"
	"backstop/internal/config/tree"
	"backstop/internal/scenario"
	"backstop/sim"
)

type simCmd struct {
	Scenario string `short:"f" placeholder:"FILE" help:"Scenario to play."`
	Config   string `short:"c" placeholder:"FILE" help:"Configuration whose upstreams and routes are played (default: a pair named primary and backup with the default settings)."`
	Seed     string `placeholder:"N" help:"Another seed than the scenario's."`
	JSON     bool   `name:"json" help:"Print the report as JSON."`
	FromLog  string `placeholder:"FILE" help:"Replay the calls of a gateway's JSON log against the configuration instead of a scenario, and say what would have changed."`
	SVG      string `name:"svg" placeholder:"FILE" help:"Draw the timeline."`
	Verify   bool   `help:"Check every step of the engine against its invariants."`
}

func (c *simCmd) Run(s *streams) error {
	switch {
	case c.FromLog != "" && c.Scenario != "":
		return failf(exitUsage, "-f and --from-log cannot be used together: a log is its own scenario")
	case c.FromLog != "":
		return c.replay(s)
	case c.Scenario == "":
		return failf(exitUsage, "name the scenario with -f FILE, or a log with --from-log FILE")
	}
	f, err := scenario.Load(c.Scenario, scenario.Options{})
	if err != nil {
		return simError(err)
	}
	plan := f.Pair()
	if c.Config != "" {
		if plan, err = c.plan(s); err != nil {
			return err
		}
	}
	if err := f.Fits(plan); err != nil {
		return simError(err)
	}
	if err := c.reseed(&f.Scenario); err != nil {
		return err
	}
	r, err := c.play(s, plan, f.Scenario)
	if err != nil {
		return err
	}
	if err := c.print(s, r, r.WriteText); err != nil {
		return err
	}
	if !r.Passed() {
		return &exit{code: exitFailed}
	}
	return nil
}

func (c *simCmd) plan(s *streams) (*backstop.Plan, error) {
	cfg, _, err := config.Load(c.Config, config.Options{Env: simulatedEnv(s.env)})
	if err != nil {
		return nil, configError(err)
	}
	return cfg.Plan, nil
}

// simulatedEnv lets a configuration be played on a machine that has none of
// its keys: no call leaves it.
func simulatedEnv(env func(string) (string, bool)) func(string) (string, bool) {
	return func(name string) (string, bool) {
		if v, ok := env(name); ok && v != "" {
			return v, true
		}
		return "simulated-value-of-" + strings.ToLower(name), true
	}
}

func (c *simCmd) reseed(s *sim.Scenario) error {
	if c.Seed == "" {
		return nil
	}
	if _, err := fmt.Sscan(c.Seed, &s.Seed); err != nil {
		return failf(exitUsage, "--seed %q: write a whole number", c.Seed)
	}
	return nil
}

func (c *simCmd) play(out *streams, plan *backstop.Plan, s sim.Scenario) (*sim.Report, error) {
	defer newProgress(out.err).during("playing " + s.Name)()
	// A run makes little that lives long and much that does not: rarer
	// collections save a quarter of its time.
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	run := sim.Run
	if c.Verify {
		run = sim.Verify
	}
	r, err := run(plan, s)
	var breach *sim.Breach
	switch {
	case errors.As(err, &breach):
		return nil, failf(exitFailed, "%s: %s (seed %d); this is a defect of the engine, please report it", s.Name, err, s.Seed)
	case err != nil:
		return nil, failf(exitConfig, "%s: %s", c.Scenario+c.FromLog, err)
	}
	return r, nil
}

// print writes a report and the picture.
func (c *simCmd) print(s *streams, r *sim.Report, text func(io.Writer) error) error {
	if err := c.picture(r); err != nil {
		return err
	}
	if !c.JSON {
		return text(s.out)
	}
	return printJSON(s.out, r)
}

// picture draws the timeline if it was asked for.
func (c *simCmd) picture(r *sim.Report) error {
	if c.SVG == "" {
		return nil
	}
	f, err := os.Create(c.SVG)
	if err != nil {
		return failf(exitFailed, "--svg %s: cannot be written; name a file in a folder that exists", c.SVG)
	}
	return errors.Join(r.WriteSVG(f), f.Close())
}

func printJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// simError gives the problems of a scenario their exit code.
func simError(err error) error {
	var ps tree.Problems
	if errors.As(err, &ps) {
		return configError(ps)
	}
	return failf(exitConfig, "%s", err)
}
