package archtest

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// globals are the package-level variables that are allowed although their
// declaration does not show that they are only read, each with its reason.
var globals = []struct{ dir, name, why string }{
	{"internal/testkit", "update", "the flag package registers at start"},
	{"cmd/backstop", "version", "the linker writes it"},
	{"cmd/backstop", "commit", "the linker writes it"},
	{"internal/config", "card", "a copy of the root's defaults to quote from"},
	{"internal/config", "routeCard", "a copy of the root's defaults to quote from"},
}

// makers are functions of other modules whose results never change.
var makers = map[string][]string{
	"errors":    {"New"},
	"fmt":       {"Errorf"},
	"regexp":    {"MustCompile"},
	"strings":   {"NewReplacer"},
	"net/netip": {"MustParsePrefix", "MustParseAddr"},

	"github.com/prometheus/client_golang/prometheus": {"NewDesc"},
}

// fixed are types whose values never change, so any function may make them.
var fixed = []string{"error", "*prometheus.Desc", "*regexp.Regexp"}

// stateful are packages whose types exist to be changed.
var stateful = []string{"sync", "sync/atomic", "net/http", "bytes", "strings", "context", "time"}

// Globals: a package-level variable is an error, a table, an embedded file or
// the proof that a type has an interface. Anything else is state that tests
// and instances would share. A table is a literal that is not empty, or a map,
// slice or array that a function of the package computes.
func Globals(files []*File) (problems []Problem) {
	scopes := map[string]*scope{}
	for _, f := range files {
		if scopes[f.Dir()] == nil {
			scopes[f.Dir()] = &scope{map[string]ast.Expr{}, map[string]ast.Expr{}}
		}
		scopes[f.Dir()].add(f)
	}
	for _, f := range files {
		if f.Apart || f.Test() {
			continue
		}
		for _, decl := range f.Syntax.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok || gen.Tok != token.VAR {
				continue
			}
			for _, spec := range gen.Specs {
				v := spec.(*ast.ValueSpec)
				for i, name := range v.Names {
					if !constant(f, gen, v, i, scopes[f.Dir()]) {
						problems = append(problems, f.Problem(name.Pos(), "package variable %s is neither an error nor a table: make it a constant, a function or a field", name.Name))
					}
				}
			}
		}
	}
	return problems
}

// scope is what a package declares: the results of its functions with one
// result, and its types.
type scope struct{ results, types map[string]ast.Expr }

func (s *scope) add(f *File) {
	for _, decl := range f.Syntax.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Type.Results.NumFields() == 1 {
				s.results[d.Name.Name] = d.Type.Results.List[0].Type
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if t, ok := spec.(*ast.TypeSpec); ok {
					s.types[t.Name.Name] = t.Type
				}
			}
		}
	}
}

// tabular reports whether a type is a map, slice or array.
func (s *scope) tabular(t ast.Expr) bool {
	switch x := t.(type) {
	case *ast.ArrayType, *ast.MapType:
		return true
	case *ast.Ident:
		named := s.types[x.Name]
		return named != nil && named != t && s.tabular(named)
	}
	return false
}

// constant reports whether the i-th variable of a spec is one that is only read.
func constant(f *File, gen *ast.GenDecl, v *ast.ValueSpec, i int, s *scope) bool {
	name := v.Names[i].Name
	for _, g := range globals {
		if g.dir == f.Dir() && g.name == name {
			return true
		}
	}
	switch {
	case name == "_":
		return true
	case i < len(v.Values):
		return readOnly(f, v.Values[i], s)
	case len(v.Values) > 0:
		return false
	}
	return embedded(gen.Doc) || embedded(v.Doc)
}

func embedded(doc *ast.CommentGroup) bool {
	return doc != nil && slices.ContainsFunc(doc.List, func(c *ast.Comment) bool {
		return strings.HasPrefix(c.Text, "//go:embed ")
	})
}

func readOnly(f *File, value ast.Expr, s *scope) bool {
	switch x := value.(type) {
	case *ast.CompositeLit:
		return len(x.Elts) > 0 && !changes(f, x.Type)
	case *ast.SliceExpr: // part of another table
		return true
	case *ast.CallExpr:
		switch fun := x.Fun.(type) {
		case *ast.ArrayType: // []byte("…")
			return true
		case *ast.FuncLit:
			return fun.Type.Results.NumFields() == 1 && s.tabular(fun.Type.Results.List[0].Type)
		case *ast.Ident:
			made := s.results[fun.Name]
			return made != nil && (s.tabular(made) || slices.Contains(fixed, types.ExprString(made)))
		case *ast.SelectorExpr:
			pkg, ok := fun.X.(*ast.Ident)
			return ok && slices.Contains(makers[f.Imports()[pkg.Name]], fun.Sel.Name)
		}
	}
	return false
}

// changes reports whether a type is from a package of things that change.
func changes(f *File, t ast.Expr) bool {
	sel, ok := t.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	pkg, ok := sel.X.(*ast.Ident)
	return ok && slices.Contains(stateful, f.Imports()[pkg.Name])
}
