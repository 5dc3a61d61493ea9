package archtest

import (
	"go/ast"
	"slices"
	"strconv"
	"strings"
)

// Floors: imports within the module go down only.
func Floors(f *File) (problems []Problem) {
	if f.Apart {
		return nil
	}
	from, ok := RoomOf(f.Dir())
	if !ok {
		return []Problem{f.Problem(f.Syntax.Package, "folder %s is no room of the house; enter it in internal/archtest/rooms.go or move the file", f.Dir())}
	}
	for _, spec := range f.Syntax.Imports {
		dir, own := inModule(f, spec)
		if !own {
			continue
		}
		to, ok := RoomOf(dir)
		if !ok {
			problems = append(problems, f.Problem(spec.Pos(), "import of %s, which is no room of the house", dir))
			continue
		}
		if why := refuse(from, to, f.Test()); why != "" {
			problems = append(problems, f.Problem(spec.Pos(), "%s imports %s: %s", from.Dir, dir, why))
		}
	}
	return problems
}

// inModule gives the folder of an import of the repository itself.
func inModule(f *File, spec *ast.ImportSpec) (dir string, own bool) {
	p, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return "", false
	}
	if p == f.Module {
		return ".", true
	}
	return strings.CutPrefix(p, f.Module+"/")
}

// refuse says why one room may not import another, "" if it may.
func refuse(from, to Room, test bool) string {
	if from.Dir == to.Dir {
		return ""
	}
	if test || from.Tests {
		if from.Floor == Side || to.Floor == Side || to.Floor <= from.Floor {
			return ""
		}
		return "a test uses its own floor, lower ones and the side rooms; this one belongs further up"
	}
	switch {
	case to.Tests:
		return "it is for tests only"
	case from.Floor == Side:
		if to.Floor > 3 {
			return "a side room stands on the drivers at most"
		}
		return ""
	case to.Floor == Side:
		if from.Floor < 5 {
			return "only floors 5 and 6 use side rooms"
		}
		return ""
	case to.Floor < from.Floor:
		return ""
	case to.Floor > from.Floor:
		return "imports go down only; let the lower room declare an interface for what it needs"
	}
	for _, p := range passages {
		if p.from == from.Dir && p.to == to.Dir {
			return ""
		}
	}
	return "both are on one floor; meet one floor up, or declare an interface for what is needed"
}

// libraries are the modules of others that are used, and the rooms that may.
var libraries = []struct {
	module string
	rooms  []string
}{
	{"github.com/tidwall/gjson", []string{"wire", "wire/openai", "wire/anthropic", "wire/responses", "wire/gemini", "wire/internal/edit", "wire/internal/intake", "internal/server", "mock", "internal/load"}},
	{"github.com/tidwall/sjson", []string{"wire", "wire/openai", "wire/anthropic", "wire/gemini", "internal/server", "mock"}},
	{"github.com/goccy/go-yaml", []string{"internal/config", "internal/config/tree"}},
	{"github.com/santhosh-tekuri/jsonschema/v6", []string{"internal/schema", "internal/config"}},
	{"github.com/dlclark/regexp2", []string{"internal/schema"}},
	{"github.com/maypok86/otter/v2", []string{"internal/cache"}},
	{"github.com/fsnotify/fsnotify", []string{"internal/app"}},
	{"github.com/prometheus/client_golang", []string{"internal/observe", "internal/admin"}},
	{"github.com/prometheus/client_model", []string{"internal/observe"}},
	{"go.opentelemetry.io/otel", []string{"internal/observe"}},
	{"go.opentelemetry.io/proto/otlp", []string{"internal/observe"}}, // of its tests: what a collector reads
	{"google.golang.org/protobuf", []string{"internal/observe"}},
	{"github.com/alecthomas/kong", []string{"cmd/backstop"}},
	{"golang.org/x/sync", []string{"internal/app", "internal/server", "internal/load", "cmd/backstop"}},
	{"go.uber.org/goleak", []string{"internal/testkit"}},
	{"github.com/google/go-cmp", []string{"internal/testkit"}},
}

// testLibraries are the modules that any test may use on top of those.
var testLibraries = []string{
	"pgregory.net/rapid", "go.uber.org/goleak", "github.com/google/go-cmp", "github.com/rogpeppe/go-internal",
	"github.com/prometheus/client_golang", "github.com/prometheus/client_model", "github.com/prometheus/common",
	"github.com/tidwall/gjson", "github.com/tidwall/sjson", "github.com/goccy/go-yaml",
}

// Libraries: code of others comes in only where the house says so.
func Libraries(f *File) (problems []Problem) {
	room, ok := RoomOf(f.Dir())
	if f.Apart || !ok {
		return nil
	}
	for _, spec := range f.Syntax.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		first, _, _ := strings.Cut(p, "/")
		if _, own := inModule(f, spec); err != nil || own || !strings.Contains(first, ".") {
			continue
		}
		if f.Test() && slices.ContainsFunc(testLibraries, func(m string) bool { return below(p, m) }) {
			continue
		}
		allowed := false
		for _, lib := range libraries {
			allowed = allowed || below(p, lib.module) && slices.Contains(lib.rooms, room.Dir)
		}
		if !allowed {
			problems = append(problems, f.Problem(spec.Pos(), "%s imports %s; use the standard library, a small interface from a higher floor, or enter it in internal/archtest/floors.go with a reason in the commit", room.Dir, p))
		}
	}
	return problems
}

// below reports whether an import path is a module or a package in it.
func below(importPath, module string) bool {
	return importPath == module || strings.HasPrefix(importPath, module+"/")
}
