package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"backstop/internal/config/tree"
	"backstop/internal/config/value"
)

// reader walks the tree of a file once, fills the spec that its keys point
// into, and collects everything that is wrong on the way.
type reader struct {
	src      *tree.Source
	opt      Options
	dir      string // paths in the file are relative to it
	problems tree.Problems
	warnings []Warning
	path     []string // of the key at hand, "*" for names and items
	quiet    bool     // a part that was read before: say nothing twice
}

const (
	maxProblems = 100
	maxWarnings = 200
)

func (r *reader) problem(n *tree.Node, message, hint string) {
	r.report(r.src.On(n, message, hint))
}

func (r *reader) report(p Problem) {
	if r.quiet || len(r.problems) >= maxProblems {
		return
	}
	said := func(q Problem) bool { return q.Line == p.Line && q.Column == p.Column && q.Message == p.Message }
	if !slices.ContainsFunc(r.problems, said) {
		r.problems = append(r.problems, p)
	}
}

func (r *reader) warn(n *tree.Node, format string, args ...any) {
	if r.quiet || len(r.warnings) >= maxWarnings {
		return
	}
	w := Warning{Message: fmt.Sprintf(format, args...)}
	if n != nil {
		w.Line = n.Line
	}
	r.warnings = append(r.warnings, w)
}

// finish puts problems and warnings into the order of the file.
func (r *reader) finish() ([]Warning, error) {
	slices.SortStableFunc(r.warnings, func(a, b Warning) int { return cmp.Compare(a.Line, b.Line) })
	if len(r.problems) == 0 {
		return r.warnings, nil
	}
	slices.SortStableFunc(r.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return r.warnings, r.src.Finish(r.problems)
}

// key names the key at hand for messages: the last word of its path.
func (r *reader) key() string {
	if n := len(r.path); n > 1 && r.path[n-1] == "*" {
		return "an entry of " + r.path[n-2]
	}
	for i := len(r.path) - 1; i >= 0; i-- {
		if r.path[i] != "*" {
			return r.path[i]
		}
	}
	return "the file"
}

func (r *reader) within(name string, read func()) {
	r.path = append(r.path, name)
	read()
	r.path = r.path[:len(r.path)-1]
}

// text returns the text of a scalar with its references expanded.
func (r *reader) text(n *tree.Node, what string) (string, bool) {
	if n.Kind != tree.Scalar {
		r.problem(n, fmt.Sprintf("%s takes %s, not %s", r.key(), what, n.Kind), "")
		return "", false
	}
	text, ref, err := value.Expand(n.Text, r.lookup)
	if err == nil {
		return text, true
	}
	var f *value.Fault
	if !errors.As(err, &f) {
		f = &value.Fault{Message: "cannot be expanded"}
	}
	r.report(r.src.At(max(n.Line, 1), r.src.Column(n, ref.Text), shorten(ref.Text)+" "+f.Message, f.Hint))
	return "", false
}

// lookup is what ${…} means: see [value.Lookup].
func (r *reader) lookup(name string, file bool) (string, error) {
	if !file {
		if got, ok := r.opt.Env(name); ok {
			return got, nil
		}
		return "", &value.Fault{Message: "is not set", Hint: "export " + name + ", or write ${" + name + ":-default}"}
	}
	data, why := r.file(name)
	if why != "" {
		return "", &value.Fault{Message: why, Hint: "paths are relative to the configuration file"}
	}
	text := strings.TrimRight(string(data), "\r\n")
	if text == "" {
		return "", &value.Fault{Message: "is empty", Hint: "put the value into the file"}
	}
	return text, nil
}

// file reads a file that the configuration names, or says why not.
func (r *reader) file(path string) (data []byte, why string) {
	if path == "" {
		return nil, "names no file"
	}
	data, err := r.opt.ReadFile(r.resolve(path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, "names a file that does not exist"
	case errors.Is(err, fs.ErrPermission):
		return nil, "names a file that must not be read"
	case err != nil:
		return nil, "names a file that cannot be read"
	case len(data) > tree.MaxSize:
		return nil, "names a file that is too large"
	}
	return data, ""
}

func (r *reader) resolve(path string) string {
	if filepath.IsAbs(path) || r.dir == "" {
		return path
	}
	return filepath.Join(r.dir, path)
}

// raw quotes the text as it stands in the file: an expanded value may be a
// credential that was put in the wrong place. What stands in no file has the
// name of its variable or flag for a text, which begins the message.
func raw(n *tree.Node) string {
	if n.Line == 0 {
		return "its value"
	}
	return fmt.Sprintf("%q", shorten(n.Text))
}

func shorten(text string) string {
	const longest = 60
	if utf8.RuneCountInString(text) <= longest {
		return text
	}
	return string([]rune(text)[:longest]) + "…"
}
