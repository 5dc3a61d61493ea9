// Package docs_test keeps the pages true: every snippet in them is run, parsed
// or looked up, and every name that they print exists in the code.
package docs_test

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write what the pages say about runs (fault table, picture) instead of comparing")

// root is the module's folder, seen from the tests' own.
const root = ".."

// page is a Markdown file, its path below the root.
type page struct {
	path, text string
	blocks     []block
}

// block is a fenced piece of a page.
type block struct {
	page string
	line int // of its first line
	lang string
	text string
}

// pages reads the documentation: the top of the repository, docs/ and its
// Chinese pages.
func pages(t *testing.T) (list []page) {
	t.Helper()
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/adr/*.md", "docs/zh/*.md"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			rel, _ := filepath.Rel(root, f)
			list = append(list, read(t, filepath.ToSlash(rel)))
		}
	}
	if len(list) < 10 {
		t.Fatalf("only %d pages were found", len(list))
	}
	return list
}

func read(t *testing.T, path string) page {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	p := page{path: path, text: string(data)}
	var open *block
	n := 0
	for line := range strings.Lines(p.text) {
		n++
		word, fence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case fence && open == nil:
			open = &block{page: path, line: n + 1, lang: word}
		case fence:
			p.blocks = append(p.blocks, *open)
			open = nil
		case open != nil:
			open.text += line
		}
	}
	if open != nil {
		t.Errorf("%s:%d: the block is never closed", path, open.line)
	}
	return p
}

// each runs a check on every block of some languages.
func each(t *testing.T, langs string, check func(t *testing.T, b block)) {
	n := 0
	for _, p := range pages(t) {
		for _, b := range p.blocks {
			if strings.Contains(" "+langs+" ", " "+b.lang+" ") {
				n++
				check(t, b)
			}
		}
	}
	if n == 0 {
		t.Errorf("no block of %s was found", langs)
	}
}

func TestEveryBlockHasALanguageThatIsChecked(t *testing.T) {
	known := " yaml sh console go log text "
	for _, p := range pages(t) {
		for _, b := range p.blocks {
			drawing := b.lang == "" && filepath.Base(p.path) == "architecture.md"
			if !strings.Contains(known, " "+b.lang+" ") && !drawing {
				t.Errorf("%s:%d: nothing checks %q blocks; use one of%s", b.page, b.line, b.lang, known)
			}
		}
	}
}

// lines collects output that several goroutines write.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// command builds backstop, once for all tests.
func command(t *testing.T) string {
	t.Helper()
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "backstop-docs"); built.err != nil {
			return
		}
		built.file = filepath.Join(built.dir, "backstop")
		out, err := exec.Command("go", "build", "-o", built.file, "../cmd/backstop").CombinedOutput()
		if built.err = err; err != nil {
			t.Logf("%s", out)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.file
}

var built struct {
	once      sync.Once
	dir, file string
	err       error
}

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// same compares a file with what it must hold; -update writes it.
func same(t *testing.T, file, want string) {
	t.Helper()
	if *update {
		write(t, file, want)
		return
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not what was made from its source; run the test with -update (-want +got):\n%.4000s", file, cmp.Diff(want, string(got)))
	}
}
