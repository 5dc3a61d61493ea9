// Package archtest holds the rules of the house as code: who may import whom,
// which words name what, what the pure floors may not touch, how long a file
// may be. Its test applies them to the whole repository.
//
// A rule looks at syntax only: it needs neither the go command nor a build, so
// it also sees files of other platforms. Each rule is one file here.
package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// File is one parsed Go file.
type File struct {
	Path   string // slash-separated, below the module's root
	Module string // module path of the repository
	Source string
	Syntax *ast.File
	// Apart: the file belongs to a module of its own below the root, such as
	// the rivals that benchmarks compare with; only shape and text rules hold.
	Apart bool

	lines *token.FileSet
}

// Problem is one breach of a rule. What says what is wrong and what to do.
type Problem struct {
	Path string
	Line int
	What string
}

func (p Problem) String() string { return fmt.Sprintf("%s:%d: %s", p.Path, p.Line, p.What) }

// Parse reads one Go file from its source.
func Parse(module, name, source string) (*File, error) {
	lines := token.NewFileSet()
	syntax, err := parser.ParseFile(lines, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	return &File{Path: name, Module: module, Source: source, Syntax: syntax, lines: lines}, nil
}

// Dir is the folder of the file, "." for the root.
func (f *File) Dir() string { return path.Dir(f.Path) }

// Test reports whether only tests see the file.
func (f *File) Test() bool { return strings.HasSuffix(f.Path, "_test.go") }

// Problem is a breach at a place in the file.
func (f *File) Problem(at token.Pos, format string, args ...any) Problem {
	return Problem{f.Path, f.lines.Position(at).Line, fmt.Sprintf(format, args...)}
}

// Imports maps the name by which the file knows each import to its path.
func (f *File) Imports() map[string]string {
	names := map[string]string{}
	for _, spec := range f.Syntax.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		name := path.Base(p)
		if major(name) {
			name = path.Base(path.Dir(p))
		}
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = p
	}
	return names
}

// major reports whether the last element of an import path is only a version.
func major(name string) bool {
	n, err := strconv.Atoi(strings.TrimPrefix(name, "v"))
	return strings.HasPrefix(name, "v") && err == nil && n > 1
}

// Uses calls visit for every mention of a name of an imported package.
func (f *File) Uses(visit func(at token.Pos, importPath, name string)) {
	names := f.Imports()
	ast.Inspect(f.Syntax, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok && names[x.Name] != "" {
				visit(sel.Pos(), names[x.Name], sel.Sel.Name)
			}
		}
		return true
	})
}

// skipped are folders that are not part of the repository.
var skipped = []string{".git", "node_modules", "bin", "dist", "artefacts"}

// Tree is the repository: its Go files, parsed, and the text of all its files.
type Tree struct {
	Go   []*File
	Text []Text
}

// Text is a file of any kind.
type Text struct{ Path, Body string }

const largestText = 2 << 20

// Load reads the repository that has root's go.mod.
func Load(root string) (*Tree, error) {
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return nil, err
	}
	module := modulePath(string(mod))
	tree := &Tree{}
	var apart []string
	err = filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if entry.Name() == ".git" && !entry.IsDir() { // of a second work tree: it names a path
			return nil
		}
		if entry.IsDir() {
			if rel != "." && slices.Contains(skipped, entry.Name()) {
				return fs.SkipDir
			}
			if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil && rel != "." {
				apart = append(apart, rel+"/")
			}
			return nil
		}
		if info, err := entry.Info(); err != nil || !info.Mode().IsRegular() || info.Size() > largestText {
			return err
		}
		body, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		tree.Text = append(tree.Text, Text{rel, string(body)})
		if path.Ext(rel) != ".go" || slices.Contains(strings.Split(rel, "/"), "testdata") {
			return nil
		}
		file, err := Parse(module, rel, string(body))
		if err != nil {
			return err
		}
		file.Apart = slices.ContainsFunc(apart, func(dir string) bool { return strings.HasPrefix(rel, dir) })
		tree.Go = append(tree.Go, file)
		return nil
	})
	return tree, err
}

func modulePath(mod string) string {
	for line := range strings.Lines(mod) {
		if name, ok := strings.CutPrefix(line, "module "); ok {
			return strings.Trim(strings.TrimSpace(name), `"`)
		}
	}
	return ""
}
