package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is set by the linker for releases: -X main.version=v1.2.3.
var version = ""

type versionCmd struct{}

func (versionCmd) Run(s *streams) error {
	v, commit := buildVersion()
	line := programName + " " + v
	if commit != "" {
		line += " (" + commit + ")"
	}
	_, err := fmt.Fprintln(s.out, line, runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH)
	return err
}

// buildVersion is the release, or what the Go tool wrote into the binary.
func buildVersion() (v, commit string) {
	v = version
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return orDevel(v), ""
	}
	if v == "" {
		v = info.Main.Version
	}
	for _, kv := range info.Settings {
		if kv.Key == "vcs.revision" && len(kv.Value) >= 12 {
			commit = kv.Value[:12]
		}
	}
	return orDevel(v), commit
}

func orDevel(v string) string {
	if v == "" || v == "(devel)" {
		return "devel"
	}
	return v
}

type helpCmd struct {
	Command []string `arg:"" optional:"" help:"Command to explain."`
}

func (h helpCmd) Run(s *streams) error { return s.help(h.Command...) }
