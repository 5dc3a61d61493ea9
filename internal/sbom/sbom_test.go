package sbom

import (
	"bytes"
	"encoding/json"
	"runtime/debug"
	"strings"
	"testing"
)

func TestTheBillListsEveryModuleOnceAndSorted(t *testing.T) {
	info := &debug.BuildInfo{
		GoVersion: "go1.26.8", Main: debug.Module{Path: "backstop"},
		Deps: []*debug.Module{
			{Path: "github.com/Z/z", Version: "v1.0.0+incompatible", Sum: "h1:z="},
			{Path: "github.com/a/a", Version: "v0.1.0", Replace: &debug.Module{Path: "example.com/b", Version: "v0.2.0", Sum: "h1:b="}},
		},
		Settings: []debug.BuildSetting{{Key: "GOOS", Value: "linux"}, {Key: "-ldflags", Value: "-X main.secret=1"}},
	}
	var first, second bytes.Buffer
	if err := Write(&first, info, "v1.2.3"); err != nil {
		t.Fatal(err)
	}
	_ = Write(&second, info, "v1.2.3")
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("two bills of one binary differ")
	}
	var d document
	dec := json.NewDecoder(&first)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&d); err != nil {
		t.Fatal(err)
	}
	var refs []string
	for _, c := range d.Components {
		refs = append(refs, c.PURL)
	}
	want := "pkg:golang/example.com/b@v0.2.0 pkg:golang/github.com/z/z@v1.0.0+incompatible pkg:golang/std@1.26.8"
	if got := strings.Join(refs, " "); got != want {
		t.Errorf("components %s, want %s", got, want)
	}
	if d.Metadata.Component.PURL != "pkg:golang/backstop@v1.2.3" || len(d.Metadata.Properties) != 1 {
		t.Errorf("metadata %+v", d.Metadata)
	}
}
