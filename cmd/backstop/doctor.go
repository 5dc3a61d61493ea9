package main

import (
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

	"backstop/internal/config"
	"backstop/internal/doctor"
)

type doctorCmd struct {
	Config string        `short:"c" placeholder:"FILE" help:"Configuration (default backstop.yaml; without one, the keys in the environment, as serve does)."`
	Limit  time.Duration `default:"15s" help:"Longest time for one upstream."`
	JSON   bool          `name:"json" help:"Print JSON."`
}

func (*doctorCmd) Help() string {
	return `Looks up the name of each upstream, connects, shakes hands and asks for the list of models with each key: no token is spent. Names proxies, fake-IP resolvers, a wrong clock, private addresses, wrong base URLs and refused keys, each with its cause and what to do.

  backstop doctor
  backstop doctor -c backstop.yaml --json

Exit code: 0 no problem, 1 a problem, 78 the configuration is at fault.`
}

func (c *doctorCmd) Run(s *streams) error {
	if c.Limit <= 0 {
		return failf(exitUsage, "--limit %s: give a time longer than 0, such as 15s", c.Limit)
	}
	ctx, stop := signal.NotifyContext(s.ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	cfg, err := c.load(s)
	if err != nil {
		return configError(err)
	}
	p := newProgress(s.err)
	r := doctor.Run(ctx, cfg.Plan, doctor.Options{Limit: c.Limit, Env: s.env, Each: func(done, all int) {
		p.say("checked %d of %d upstreams", done, all)
	}})
	p.clear()
	if c.JSON {
		err = printJSON(s.out, r)
	} else {
		err = r.WriteText(s.out)
	}
	if err == nil && !r.OK {
		err = &exit{code: exitFailed}
	}
	return err
}

// load reads what serve would run.
func (c *doctorCmd) load(s *streams) (*config.Config, error) {
	o := config.Options{Env: s.env, Schema: compileSchema()}
	file := c.Config
	if file == "" {
		if _, err := os.Stat(defaultFile); errors.Is(err, os.ErrNotExist) {
			cfg, _, err := config.FromEnv(o)
			return cfg, err
		}
		file = defaultFile
	}
	cfg, _, err := config.Load(file, o)
	return cfg, err
}
