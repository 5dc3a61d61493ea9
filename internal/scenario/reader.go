package scenario

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"backstop/internal/config/tree"
	"backstop/internal/config/value"
	"backstop/sim"
)

// reader walks the tree of a scenario and collects what is wrong.
type reader struct {
	src      *tree.Source
	read     func(string) ([]byte, error)
	dir      string
	problems tree.Problems
}

const maxProblems = 50

func (r *reader) problem(n *tree.Node, message, hint string) {
	if len(r.problems) < maxProblems {
		r.problems = append(r.problems, r.src.On(n, message, hint))
	}
}

// key is one key that a mapping may have.
type key struct {
	name string
	take func(*tree.Node)
}

// mapping reads the keys of a node.
func (r *reader) mapping(n *tree.Node, what string, keys []key) {
	if n.Kind == tree.Null {
		return
	}
	if n.Kind != tree.Mapping {
		r.problem(n, fmt.Sprintf("%s takes a mapping, not %s", what, n.Kind), "")
		return
	}
	seen := map[string]bool{}
	for _, p := range n.Pairs {
		if seen[p.Key.Text] && !p.Merged {
			r.problem(p.Key, fmt.Sprintf("key %q for the second time", short(p.Key.Text)), "remove one of them")
			continue
		}
		if seen[p.Key.Text] {
			continue
		}
		seen[p.Key.Text] = true
		if !take(keys, p) {
			var names []string
			for _, k := range keys {
				names = append(names, k.name)
			}
			r.problem(p.Key, fmt.Sprintf("unknown key %q in %s", short(p.Key.Text), what), "known here: "+strings.Join(names, ", "))
		}
	}
}

func take(keys []key, p tree.Pair) bool {
	for _, k := range keys {
		if k.name == p.Key.Text {
			k.take(p.Value)
			return true
		}
	}
	return false
}

// named visits the entries of a mapping whose keys are names.
func (r *reader) named(n *tree.Node, what string, visit func(name, value *tree.Node)) {
	if n.Kind == tree.Null {
		return
	}
	if n.Kind != tree.Mapping {
		r.problem(n, fmt.Sprintf("%s takes a mapping, not %s", what, n.Kind), "")
		return
	}
	seen := map[string]bool{}
	for _, p := range n.Pairs {
		if seen[p.Key.Text] {
			r.problem(p.Key, fmt.Sprintf("%q for the second time", short(p.Key.Text)), "remove one of them")
			continue
		}
		seen[p.Key.Text] = true
		visit(p.Key, p.Value)
	}
}

// scalar gives the text of a single value.
func (r *reader) scalar(n *tree.Node) (string, bool) {
	if n.Kind != tree.Scalar {
		r.problem(n, "takes a single value, not "+n.Kind.String(), "")
		return "", false
	}
	return n.Text, true
}

// put reads a scalar with a notation into its place.
func put[T any](r *reader, to *T, parse func(string) (T, error)) func(*tree.Node) {
	return func(n *tree.Node) {
		text, ok := r.scalar(n)
		if !ok {
			return
		}
		v, err := parse(text)
		if err == nil {
			*to = v
			return
		}
		var f *value.Fault
		if errors.As(err, &f) {
			r.problem(n, fmt.Sprintf("%q %s", short(text), f.Message), f.Hint)
			return
		}
		r.problem(n, err.Error(), "")
	}
}

func asText(text string) (string, error) { return text, nil }

func asSeed(text string) (uint64, error) {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, &value.Fault{Message: "is not a whole number"}
	}
	return n, nil
}

func asNumber(text string) (float64, error) {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || x != x || x < 0 || x > 1e9 {
		return 0, &value.Fault{Message: "is not a number from 0 to 1e9"}
	}
	return x, nil
}

func asSeconds(text string) (float64, error) {
	d, err := value.Duration(text)
	return float64(d) / float64(time.Second), err
}

func asFault(text string) (string, error) { return text, sim.CheckWord(text) }

// trace reads the times of a trace: seconds since the start, one a line.
func (r *reader) trace(n *tree.Node, file string) []sim.Arrival {
	if !filepath.IsAbs(file) {
		file = filepath.Join(r.dir, file)
	}
	data, err := r.read(file)
	if err != nil {
		r.problem(n, "the trace cannot be read", "paths are relative to the scenario")
		return nil
	}
	var out []sim.Arrival
	last := time.Duration(0)
	line := 0
	for text := range strings.Lines(string(data)) {
		line++
		text = strings.TrimSpace(text)
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		s, err := asNumber(text)
		at := time.Duration(s * 1e9)
		if err != nil || at < last {
			r.problem(n, fmt.Sprintf("line %d of the trace is no time after the one before", line), "write seconds since the start, one a line")
			return nil
		}
		out, last = append(out, sim.Arrival{At: at}), at
	}
	return out
}

func short(text string) string {
	const longest = 60
	if r := []rune(text); len(r) > longest {
		return string(r[:longest]) + "…"
	}
	return text
}
