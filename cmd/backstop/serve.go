package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"backstop/internal/app"
	"backstop/internal/config"
)

type serveCmd struct {
	Config string `short:"c" placeholder:"FILE" help:"Configuration file (default backstop.yaml in the working directory)."`
	Listen string `placeholder:"ADDR" help:"Address of the gateway, in place of the file's."`
	Admin  string `placeholder:"ADDR" help:"Address of the admin plane, in place of the file's."`
	Debug  bool   `help:"Serve /debug/pprof on the admin plane and log at debug."`

	Primary       string `placeholder:"URL" help:"Base URL of the primary (OpenAI dialect); runs without a file."`
	Backup        string `placeholder:"URL" help:"Base URL of the backup."`
	PrimaryKeyEnv string `placeholder:"NAME" help:"Environment variable with the primary's key."`
	PrimaryModel  string `placeholder:"M" help:"Model name to send to the primary (default: as asked)."`
	BackupKeyEnv  string `placeholder:"NAME" help:"Environment variable with the backup's key."`
	BackupModel   string `placeholder:"M" help:"Model name to send to the backup (default: as asked)."`
}

func (c *serveCmd) Run(s *streams) error {
	load, watch, err := c.source(s)
	if err != nil {
		return err
	}
	v, _ := buildVersion()
	a, err := app.New(app.Options{Load: load, Watch: watch, Env: s.env, Out: s.out, Terminal: isTerminal(s.out), Debug: c.Debug, Version: v})
	if err != nil {
		return startError(err)
	}
	if watch == "" {
		fmt.Fprint(s.err, a.Config().Describe())
	}
	// Before anybody can know that we run: a SIGHUP would end us otherwise.
	sig := make(chan os.Signal, 4)
	signal.Notify(sig, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(sig)
	if err := a.Start(); err != nil {
		return startError(err)
	}
	return serveUntilSignal(s, a, sig)
}

// source finds where the configuration comes from: flags, a file, or the
// environment. watch is the file that a change of reloads, "" = none.
func (c *serveCmd) source(s *streams) (load app.Loader, watch string, err error) {
	o := config.Options{Env: s.env, Terminal: isTerminal(s.out), Listen: c.Listen, Admin: c.Admin, Schema: compileSchema()}
	switch {
	case c.Primary != "" && c.Config != "":
		return nil, "", failf(exitUsage, "-c and --primary cannot be used together: write the pair into the file, or leave out -c")
	case c.Primary == "" && (c.Backup != "" || c.PrimaryKeyEnv != "" || c.PrimaryModel != "" || c.BackupKeyEnv != "" || c.BackupModel != ""):
		return nil, "", failf(exitUsage, "--backup and the key and model flags need --primary URL")
	case c.Primary != "":
		p := config.PairOptions{Primary: c.Primary, Backup: c.Backup, PrimaryKeyEnv: c.PrimaryKeyEnv, PrimaryModel: c.PrimaryModel,
			BackupKeyEnv: c.BackupKeyEnv, BackupModel: c.BackupModel}
		return func() (*config.Config, []config.Warning, error) { return config.Pair(p, o) }, "", nil
	}
	file := c.Config
	if file == "" {
		if _, err := os.Stat(defaultFile); errors.Is(err, os.ErrNotExist) {
			return func() (*config.Config, []config.Warning, error) { return config.FromEnv(o) }, "", nil
		}
		file = defaultFile
	}
	return func() (*config.Config, []config.Warning, error) { return config.Load(file, o) }, file, nil
}

// startError gives a configuration's problems their exit code and layout.
func startError(err error) error {
	var p config.Problems
	if errors.As(err, &p) {
		return configError(p)
	}
	var b *app.BusyError
	if errors.As(err, &b) {
		return busy(b.What, b.Addr, b.Flag, b.Err)
	}
	return failf(exitFailed, "%s", strings.TrimSpace(err.Error()))
}

// serveUntilSignal runs until SIGTERM (with the drain delay), SIGINT (without
// it) or a failure; a second signal ends the process at once. SIGHUP reloads.
func serveUntilSignal(s *streams, a *app.App, sig <-chan os.Signal) error {
	reload := reloads(a)
	defer close(reload)
	for {
		select {
		case <-s.ctx.Done():
			return stopNow(a, sig, false)
		case err := <-a.Failed():
			_ = stopNow(a, sig, false)
			return failf(exitFailed, "%s", err)
		case <-a.DrainAsked():
			return stopNow(a, sig, true)
		case got := <-sig:
			if got == syscall.SIGHUP {
				select {
				case reload <- struct{}{}:
				default: // one is to come anyway
				}
				continue
			}
			return stopNow(a, sig, got == syscall.SIGTERM)
		}
	}
}

// reloads reloads at each element of the channel. A file that does not let
// itself be read must not keep the process from hearing the next signal.
func reloads(a *app.App) chan<- struct{} {
	asked := make(chan struct{}, 1)
	go func() {
		for range asked {
			_ = a.Reload() // a bad file changes nothing; the log says what is wrong
		}
	}()
	return asked
}

// stopNow drains; a second signal cuts it short.
func stopNow(a *app.App, sig <-chan os.Signal, delay bool) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	over := make(chan error, 1)
	go func() { over <- a.Drain(ctx, delay) }()
	for {
		select {
		case err := <-over:
			return err
		case got := <-sig:
			if got != syscall.SIGHUP {
				cancel()
				return <-over
			}
		}
	}
}
