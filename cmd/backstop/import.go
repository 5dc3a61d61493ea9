package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"backstop/internal/config"
	"backstop/internal/config/tree"
	"backstop/internal/importer"
)

type importCmd struct {
	From string `arg:"" enum:"litellm,portkey" help:"Whose configuration it is: litellm or portkey."`
	File string `arg:"" help:"Its file; - is standard input."`
}

func (*importCmd) Help() string {
	return `Our YAML goes to standard output, an account of what changed and what was not carried over to standard error. Keys that stand in the file are replaced by references to variables and never printed.

  backstop import litellm config.yaml >backstop.yaml
  backstop check -c backstop.yaml`
}

func (c *importCmd) Run(s *streams) error {
	data, err := c.read(s)
	if err != nil {
		return failf(exitConfig, "%s: cannot be read; name the configuration of %s, or - for standard input", c.File, c.From)
	}
	translate := importer.LiteLLM
	if c.From == "portkey" {
		translate = importer.Portkey
	}
	r, err := translate(c.File, data)
	if err != nil {
		return failf(exitConfig, "%s", err)
	}
	if _, err := s.out.Write(r.YAML); err != nil {
		return err
	}
	if err := r.WriteReport(s.err); err != nil {
		return err
	}
	return c.check(s, r)
}

// check looks at what was written as check would, with every variable set.
func (c *importCmd) check(s *streams, r *importer.Result) error {
	_, warnings, err := config.Parse("imported", r.YAML, config.Options{Env: r.Env(simulatedEnv(s.env)), Schema: compileSchema()})
	for _, w := range warnings {
		fmt.Fprintf(s.err, "check: %s\n", w.Message)
	}
	var ps config.Problems
	if errors.As(err, &ps) {
		return failf(exitFailed, "what was written does not pass check and needs your hand:\n%s", err)
	}
	return err
}

func (c *importCmd) read(s *streams) ([]byte, error) {
	in := s.in
	if c.File != "-" {
		f, err := os.Open(c.File)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	return io.ReadAll(io.LimitReader(in, tree.MaxSize+1))
}
