package main

import (
	"fmt"
	"io"
	"os"

	"backstop/internal/config"
	"backstop/internal/schema"
	"backstop/jsonfix"
)

// defaultFile is what serve and check read when no file is named.
const defaultFile = "backstop.yaml"

type checkCmd struct {
	Config  string `short:"c" placeholder:"FILE" help:"File to check (default backstop.yaml)."`
	Diff    string `placeholder:"OLD" help:"Print what changes in effect against an older file."`
	Lenient bool   `help:"Unknown keys are warnings."`
}

func (c *checkCmd) Run(s *streams) error {
	file := c.Config
	if file == "" {
		file = defaultFile
	}
	o := config.Options{Env: s.env, Lenient: c.Lenient, Terminal: isTerminal(s.out), Schema: compileSchema()}
	cfg, warnings, err := config.Load(file, o)
	if err != nil {
		return configError(err)
	}
	warn(s.err, file, warnings)
	if c.Diff != "" {
		old, err := c.older(o)
		if err != nil {
			return err
		}
		lines := config.Diff(old, cfg)
		if len(lines) == 0 {
			lines = []string{"no change in effect"}
		}
		for _, l := range lines {
			fmt.Fprintln(s.out, l)
		}
		return nil
	}
	fmt.Fprintf(s.out, "%s: ok, %s, %s, %s\n", file, counted(len(cfg.Plan.Upstreams), "upstream"), counted(len(cfg.Plan.Routes), "route"), counted(len(warnings), "warning"))
	return nil
}

// older reads the file to compare with. It was in force once: keys that are
// unknown today, and variables that are no longer set, say nothing about the
// new one.
func (c *checkCmd) older(o config.Options) (*config.Config, error) {
	o.Lenient, o.Env = true, simulatedEnv(o.Env)
	if _, err := os.Stat(c.Diff); err != nil {
		return nil, failf(exitConfig, "--diff %s: cannot be read; name the older file", c.Diff)
	}
	cfg, _, err := config.Load(c.Diff, o)
	if err != nil {
		return nil, failf(exitConfig, "--diff: the older file could not be served, so there is nothing to compare with:\n%s", err)
	}
	return cfg, nil
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// compileSchema compiles the JSON Schemas of a configuration.
func compileSchema() func([]byte) (jsonfix.Schema, error) {
	cache := schema.NewCache(0)
	return func(source []byte) (jsonfix.Schema, error) {
		c, err := cache.Compile(source)
		if err != nil {
			return nil, err
		}
		return c, nil
	}
}

// configError keeps the layout of a problem: place, source line and caret.
func configError(err error) error { return &exit{exitConfig, err.Error()} }

func warn(w io.Writer, file string, list []config.Warning) {
	for _, x := range list {
		if x.Line > 0 {
			fmt.Fprintf(w, "%s:%d: warning: %s\n", file, x.Line, x.Message)
		} else {
			fmt.Fprintf(w, "%s: warning: %s\n", file, x.Message)
		}
	}
}

// isTerminal reports whether a stream is a character device.
func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
