package docs_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"backstop"
)

// sources are the Go files of the product: production code, or tests.
func sources(t *testing.T, tests bool) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		if d.IsDir() && (rel == ".git" || d.Name() == "node_modules" || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, ".go") && strings.HasSuffix(path, "_test.go") == tests && (tests || !strings.HasPrefix(rel, "test")) {
			data, err := os.ReadFile(path)
			out[filepath.ToSlash(rel)] = string(data)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var codeSpan = regexp.MustCompile("`([^`\n]+)`")

// spans are the pieces of code in a page's text.
func spans(p page) (out []string) {
	for _, m := range codeSpan.FindAllStringSubmatch(p.text, -1) {
		out = append(out, m[1])
	}
	return out
}

var (
	headerWord    = regexp.MustCompile(`(?i)\bx-(?:backstop|stainless|should|request)-[a-z-]*[a-z]`)
	headerLiteral = regexp.MustCompile(`"(X-Backstop-[A-Za-z-]+)"`)
)

func TestHeadersAreThoseOfTheCode(t *testing.T) {
	var code strings.Builder
	served := map[string]bool{}
	for path, text := range sources(t, false) {
		code.WriteString(strings.ToLower(text))
		if strings.HasPrefix(path, "backstophttp/") || strings.HasPrefix(path, "internal/server/") {
			for _, m := range headerLiteral.FindAllStringSubmatch(text, -1) {
				served[strings.ToLower(m[1])] = true
			}
		}
	}
	all := code.String()
	for _, p := range pages(t) {
		for _, span := range append(spans(p), blockTexts(p)...) {
			for _, name := range headerWord.FindAllString(span, -1) {
				if !strings.Contains(all, `"`+strings.ToLower(name)+`"`) {
					t.Errorf("%s: no code knows the header %s", p.path, name)
				}
			}
		}
	}
	delete(served, "x-backstop-framing") // a mark inside the server, never on a wire
	api := read(t, "docs/api.md").text
	for name := range served {
		if !strings.Contains(api, "`"+name+"`") && !strings.Contains(api, "`"+name+": ") {
			t.Errorf("docs/api.md does not explain %s", name)
		}
	}
}

func blockTexts(p page) (out []string) {
	for _, b := range p.blocks {
		out = append(out, b.text)
	}
	return out
}

var codeRow = regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| ([0-9]+) \\| ")

func TestErrorCodesAreThoseOfTheCode(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, "error.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	codes := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && len(v.Values) == 1 && fmt.Sprint(v.Type) == "Code" {
			word, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			codes[word] = true
		}
		return true
	})
	_, table, _ := strings.Cut(read(t, "docs/api.md").text, "<!-- codes:begin -->")
	table, _, _ = strings.Cut(table, "<!-- codes:end -->")
	for _, m := range codeRow.FindAllStringSubmatch(table, -1) {
		if !codes[m[1]] || strconv.Itoa(backstop.Code(m[1]).Status()) != m[2] {
			t.Errorf("docs/api.md: %s is %d in the code", m[1], backstop.Code(m[1]).Status())
		}
		delete(codes, m[1])
	}
	for word := range codes {
		t.Errorf("docs/api.md does not have the code %s", word)
	}
}

var (
	keyRow    = regexp.MustCompile("(?m)^\\| `([^`]+)` \\|")
	dottedKey = regexp.MustCompile(`^[a-z_]+(\.[a-z_]+)+$`)
	fileEnd   = regexp.MustCompile(`\.(go|md|json|yaml|svg)$`)
)

// Keys of the configuration are named with a dot in the text; each must end a
// path of the reference.
func TestConfigurationKeysExist(t *testing.T) {
	var paths []string
	for _, m := range keyRow.FindAllStringSubmatch(read(t, "docs/config.md").text, -1) {
		paths = append(paths, m[1])
	}
	n := 0
	for _, p := range pages(t) {
		if isReference(p) || strings.HasSuffix(p.path, "/upstreams.md") || strings.HasSuffix(p.path, "/sdks.md") { // codes, hosts and parameters of vendors
			continue
		}
		for _, span := range spans(p) {
			key, _, _ := strings.Cut(span, ": ")
			if !dottedKey.MatchString(key) || fileEnd.MatchString(key) || strings.HasPrefix(key, "api.") || strings.HasPrefix(key, "response.") { // hosts, events
				continue
			}
			n++
			found := false
			for _, path := range paths {
				found = found || path == key || strings.HasSuffix(path, "."+key)
			}
			if !found {
				t.Errorf("%s: the configuration has no %s", p.path, key)
			}
		}
	}
	if n < 10 {
		t.Errorf("only %d keys were found", n)
	}
}

var (
	testName = regexp.MustCompile("`((?:Test|Fuzz|Example)[A-Z]\\w*)`")
	promise  = regexp.MustCompile("((?:`(?:Test|Fuzz)\\w+` ?)+)in `([a-z/]+)`")
)

func TestNamedTestsExist(t *testing.T) {
	code := sources(t, true)
	has := func(dir, name string) bool {
		for path, text := range code {
			if (dir == "" || filepath.ToSlash(filepath.Dir(path)) == dir) && strings.Contains(text, "func "+name+"(") {
				return true
			}
		}
		return false
	}
	for _, p := range pages(t) {
		for _, m := range testName.FindAllStringSubmatch(p.text, -1) {
			if !has("", m[1]) {
				t.Errorf("%s: there is no %s", p.path, m[1])
			}
		}
	}
	security := read(t, "SECURITY.md")
	_, table, _ := strings.Cut(security.text, "| promise | shown by |")
	table, _, _ = strings.Cut(table, "\n\n")
	n := 0
	for line := range strings.Lines(table) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| ---") {
			continue
		}
		n++
		shown := promise.FindAllStringSubmatch(line, -1)
		if len(shown) == 0 {
			t.Errorf("SECURITY.md: no test is named for: %s", line)
		}
		for _, m := range shown {
			for _, name := range codeSpan.FindAllStringSubmatch(m[1], -1) {
				if !has(m[2], name[1]) {
					t.Errorf("SECURITY.md: there is no %s in %s", name[1], m[2])
				}
			}
		}
	}
	if n < 15 {
		t.Errorf("SECURITY.md has %d promises", n)
	}
}

var fileSpan = regexp.MustCompile(`^[\w./-]+\.(go|md|json|yaml|svg)$|^(?:internal|wire|cmd|test)/[\w/]+$`)

// Files and folders that the text names are there.
func TestNamedFilesExist(t *testing.T) {
	ours := map[string]bool{"backstop.yaml": true} // the reader's own
	for _, p := range pages(t) {
		for _, span := range spans(p) {
			if !fileSpan.MatchString(span) || ours[span] || isReference(p) && strings.Contains(p.text, "| `"+span+"` |") {
				continue
			}
			found := false
			for _, at := range []string{".", filepath.Dir(p.path)} {
				if _, err := os.Stat(filepath.Join(root, at, span)); err == nil {
					found = true
				}
			}
			if !found {
				t.Errorf("%s: there is no %s", p.path, span)
			}
		}
	}
}
