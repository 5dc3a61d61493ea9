package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"slices"
	"sort"
	"strings"
)

// The lengths of a file in lines: what one should have, what none may have.
const (
	softLines = 300
	hardLines = 500
	testLines = 800
	mostArgs  = 5
	oneScreen = 70
)

// vague names say nothing about what is inside.
var vague = []string{"util", "utils", "helper", "helpers", "manager", "common", "base", "misc"}

// Shape: short files with telling names, functions that can be called.
func Shape(f *File) (problems []Problem) {
	most := hardLines
	if f.Test() {
		most = testLines
	}
	if n := strings.Count(f.Source, "\n"); n > most && !generated(f) {
		problems = append(problems, Problem{f.Path, n, fmt.Sprintf("%d lines, most %d: one idea a file, split it", n, most)})
	}
	name := strings.TrimSuffix(strings.TrimSuffix(path.Base(f.Path), ".go"), "_test")
	for _, word := range append(strings.Split(f.Dir(), "/"), strings.Split(name, "_")...) {
		if slices.Contains(vague, word) {
			problems = append(problems, f.Problem(f.Syntax.Package, "%q names nothing: name the idea", word))
		}
	}
	if f.Test() {
		return problems
	}
	for _, decl := range f.Syntax.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok && fn.Type.Params.NumFields() > mostArgs {
			problems = append(problems, f.Problem(fn.Pos(), "%s takes %d parameters, most %d: give it a struct", fn.Name.Name, fn.Type.Params.NumFields(), mostArgs))
		}
	}
	return problems
}

func generated(f *File) bool { return ast.IsGenerated(f.Syntax) }

// Long lists what is allowed and yet longer than it should be.
func Long(f *File) (notes []Problem) {
	if n := strings.Count(f.Source, "\n"); n > softLines && !f.Test() {
		notes = append(notes, Problem{f.Path, n, fmt.Sprintf("%d lines, should be %d", n, softLines)})
	}
	for _, decl := range f.Syntax.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok && !f.Test() {
			if n := f.lines.Position(fn.End()).Line - f.lines.Position(fn.Pos()).Line; n > oneScreen {
				notes = append(notes, f.Problem(fn.Pos(), "%s has %d lines, should fit one screen", fn.Name.Name, n))
			}
		}
	}
	return notes
}

// Documented: every package says what it is, a public one how stable it is
// and what its exported names mean, and shows itself in an Example.
func Documented(files []*File) (problems []Problem) {
	docs, first, examples := map[string]string{}, map[string]*File{}, map[string]bool{}
	for _, f := range files {
		if f.Apart {
			continue
		}
		if f.Test() {
			examples[f.Dir()] = examples[f.Dir()] || hasExample(f)
			continue
		}
		if first[f.Dir()] == nil {
			first[f.Dir()] = f
		}
		docs[f.Dir()] += f.Syntax.Doc.Text()
		if room, ok := RoomOf(f.Dir()); ok && room.Public() {
			problems = append(problems, undocumented(f)...)
		}
	}
	for dir, f := range first {
		room, _ := RoomOf(dir)
		switch {
		case docs[dir] == "":
			problems = append(problems, f.Problem(f.Syntax.Package, "package %s has no comment: say what it is in one sentence", dir))
		case room.Public() && !strings.Contains(docs[dir], "Stability"):
			problems = append(problems, f.Problem(f.Syntax.Package, "package %s does not say how stable it is: add a sentence that begins with Stability", dir))
		}
		if room.Example && room.Dir == dir && !examples[dir] {
			problems = append(problems, f.Problem(f.Syntax.Package, "package %s has no Example", dir))
		}
	}
	sort.Slice(problems, func(i, j int) bool { return problems[i].String() < problems[j].String() })
	return problems
}

func hasExample(f *File) bool {
	return slices.ContainsFunc(f.Syntax.Decls, func(d ast.Decl) bool {
		fn, ok := d.(*ast.FuncDecl)
		return ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Example")
	})
}

// undocumented finds exported declarations without a comment. Methods are
// left to their readers: many of them only fulfil an interface.
func undocumented(f *File) (problems []Problem) {
	missing := func(id *ast.Ident, docs ...*ast.CommentGroup) {
		for _, d := range docs {
			if d.Text() != "" {
				return
			}
		}
		if id.IsExported() {
			problems = append(problems, f.Problem(id.Pos(), "exported %s has no comment", id.Name))
		}
	}
	for _, decl := range f.Syntax.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				missing(d.Name, d.Doc)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					missing(s.Name, d.Doc, s.Doc, s.Comment)
				case *ast.ValueSpec:
					if d.Tok == token.CONST || d.Tok == token.VAR {
						missing(s.Names[0], d.Doc, s.Doc, s.Comment)
					}
				}
			}
		}
	}
	return problems
}
