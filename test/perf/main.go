//go:build linux

// Perf measures the gateway beside a stock httputil.ReverseProxy in the same
// run and prints the ratios.
//
//	go run . [-quick] [-json] [-check]
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"backstop/test/perf/generate"
	"backstop/test/perf/llm"
	"backstop/test/perf/measure"
	"backstop/test/perf/process"
	"backstop/test/perf/report"
	"backstop/test/perf/rival"
)

func main() {
	run := bench
	if len(os.Args) > 2 && os.Args[1] == "as" {
		run = func() error { return as(os.Args[2], os.Args[3:]) }
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// as makes this program one part of a measurement: all parts are one binary.
func as(part string, args []string) error {
	switch {
	case part == "model" && len(args) == 2:
		at, err := netip.ParseAddrPort(args[0])
		if err != nil {
			return err
		}
		length, err := strconv.Atoi(args[1])
		if err != nil {
			return err
		}
		return llm.Run(at, length)
	case part == "rival" && len(args) == 2:
		return rival.Run(args[0], args[1])
	case part == "load" && len(args) == 1:
		var o generate.Options
		if err := json.Unmarshal([]byte(args[0]), &o); err != nil {
			return err
		}
		r, err := generate.Run(o)
		if err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(r)
	}
	return errors.New("there is no such part")
}

type options struct {
	quick, json, check, debug, alone bool
	only, root, other                string
}

func bench() error {
	var o options
	flag.BoolVar(&o.quick, "quick", false, "a minute instead of four: finds gross changes only")
	flag.BoolVar(&o.json, "json", false, "print figures and samples as JSON")
	flag.BoolVar(&o.check, "check", false, fmt.Sprintf("exit 1 when a figure is above %d times its bound", report.Loose))
	flag.BoolVar(&o.debug, "debug", false, "run the gateway with --debug and say where its profiles are")
	flag.BoolVar(&o.alone, "alone", false, "let other programs wait under heavy load too: for a busy machine, which is sluggish meanwhile")
	flag.StringVar(&o.only, "only", "", "only scenes whose name contains this: saturation, 200 rps, 32 streams, idle streams")
	flag.StringVar(&o.other, "other", "", "a gateway binary of another build, measured in the same run")
	flag.StringVar(&o.root, "root", filepath.Join("..", ".."), "the repository")
	flag.Parse()
	if flag.NArg() > 0 {
		return fmt.Errorf("unknown argument %q", flag.Arg(0))
	}
	if err := measure.CheckFiles(); err != nil {
		return err
	}
	b := &measure.Bench{Ranked: process.CanRank(), Alone: o.alone, Debug: o.debug, Other: o.other, Say: func(line string, args ...any) { fmt.Fprintf(os.Stderr, line+"\n", args...) }}
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-interrupted
		_ = b.Close()
		os.Exit(130)
	}()
	samples, err := measured(b, o)
	if err := errors.Join(err, b.Close()); err != nil {
		return err
	}
	return show(b, o, samples)
}

func measured(b *measure.Bench, o options) (samples []measure.Sample, err error) {
	if err := b.Open(o.root); err != nil {
		return nil, err
	}
	for _, scene := range measure.Scenes(o.quick) {
		if !strings.Contains(scene.Name, o.only) {
			continue
		}
		s, err := b.Run(scene)
		if err != nil {
			return samples, err
		}
		samples = append(samples, s...)
	}
	return samples, nil
}

func show(b *measure.Bench, o options, samples []measure.Sample) error {
	figures := report.Figures(samples, measure.Rival)
	if o.json {
		out := json.NewEncoder(os.Stdout)
		out.SetIndent("", " ")
		err := out.Encode(map[string]any{"go": runtime.Version(), "cores": runtime.NumCPU(), "quick": o.quick, "ranked": b.Ranked, "figures": figures, "samples": samples})
		if err != nil {
			return err
		}
	} else if err := report.Table(os.Stdout, measure.Rival, figures); err != nil {
		return err
	}
	if o.other != "" && !o.json {
		fmt.Println()
		if err := report.Table(os.Stdout, measure.Other, report.Figures(samples, measure.Other)); err != nil {
			return err
		}
	}
	var broken []error
	for _, f := range figures {
		if o.check && f.Broken() {
			broken = append(broken, fmt.Errorf("%s is more than %d times its bound", f.What, report.Loose))
		}
	}
	return errors.Join(broken...)
}
