// Package sbom writes the software bill of materials of a Go binary, from what
// the Go tool put into it: no network, no module cache, no time stamp, so the
// same binary gives the same bytes.
//
// Stability: internal.
package sbom

import (
	"encoding/json"
	"io"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
)

// document is CycloneDX 1.6, the part of it that a binary can tell.
type document struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
}

type metadata struct {
	Component  component  `json:"component"`
	Properties []property `json:"properties,omitempty"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version,omitempty"`
	PURL       string     `json:"purl,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Write writes the bill of a binary that calls itself version. Modules are
// sorted; a replaced module is listed as what took its place.
func Write(w io.Writer, info *debug.BuildInfo, version string) error {
	d := document{
		Format: "CycloneDX", Spec: "1.6", Version: 1,
		Metadata:   metadata{Component: module("application", info.Main.Path, version, "")},
		Components: []component{module("library", "std", strings.TrimPrefix(info.GoVersion, "go"), "")},
	}
	for _, s := range info.Settings {
		if slices.Contains([]string{"GOOS", "GOARCH", "CGO_ENABLED", "-trimpath", "vcs.revision"}, s.Key) {
			d.Metadata.Properties = append(d.Metadata.Properties, property{"go:" + s.Key, s.Value})
		}
	}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		d.Components = append(d.Components, module("library", m.Path, m.Version, m.Sum))
	}
	slices.SortFunc(d.Components, func(a, b component) int { return strings.Compare(a.Ref, b.Ref) })
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(d)
}

// module describes one Go module. Its sum is that of go.sum, which is a hash
// over a list of file hashes and so no hash that CycloneDX has a name for.
func module(kind, path, version, sum string) component {
	c := component{Type: kind, Name: path, Version: version}
	c.PURL = "pkg:golang/" + strings.ToLower(path)
	if version != "" {
		c.PURL += "@" + url.PathEscape(version)
	}
	c.Ref = c.PURL
	if sum != "" {
		c.Properties = []property{{"go:sum", sum}}
	}
	return c
}
