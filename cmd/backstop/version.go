package main

import (
	"debug/buildinfo"
	"fmt"
	"runtime"
	"runtime/debug"

	"backstop/internal/sbom"
)

// version is set by the linker for releases: -X main.version=v1.2.3.
var version = ""

type versionCmd struct {
	SBOM bool   `name:"sbom" help:"Print the software bill of materials instead (CycloneDX JSON)."`
	Of   string `placeholder:"FILE" help:"… of another backstop binary."`
	As   string `placeholder:"VERSION" help:"… and the release that it is: a binary built with -trimpath does not show it."`
}

func (c *versionCmd) Run(s *streams) error {
	if c.SBOM {
		return c.bill(s)
	}
	if c.Of != "" || c.As != "" {
		return failf(exitUsage, "--of and --as belong to the bill of materials: add --sbom")
	}
	v, commit := buildVersion()
	line := programName + " " + v
	if commit != "" {
		line += " (" + commit + ")"
	}
	_, err := fmt.Fprintln(s.out, line, runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH)
	return err
}

// bill lists what a binary is made of, from the binary alone.
func (c *versionCmd) bill(s *streams) error {
	if c.Of == "" {
		info, ok := debug.ReadBuildInfo()
		if !ok {
			return failf(exitFailed, "this binary does not know its modules; build it with the go command")
		}
		v, _ := buildVersion()
		return sbom.Write(s.out, info, v)
	}
	info, err := buildinfo.ReadFile(c.Of)
	if err != nil {
		return failf(exitFailed, "--of %s: is no Go binary, or cannot be read", c.Of)
	}
	v := c.As
	if v == "" {
		v = orDevel(info.Main.Version)
	}
	return sbom.Write(s.out, info, v)
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
