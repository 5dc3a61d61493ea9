package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"backstop/internal/config/tree"
	"backstop/internal/config/value"
	"backstop/secret"
)

// field is a value of the file with the place where it was written; at is nil
// when the file does not say it.
type field[T any] struct {
	v  T
	at *tree.Node
}

func (f *field[T]) set() bool { return f.at != nil }

// or returns the value of the file, or the card's.
func (f *field[T]) or(card T) T {
	if f.at != nil {
		return f.v
	}
	return card
}

// given is a field that was not read from a file.
func given[T any](v T) field[T] { return field[T]{v: v, at: &tree.Node{}} }

// taker reads one value of the file.
type taker interface {
	take(r *reader, n *tree.Node)
	shape() shape
}

// key is one word of the file: the one table behind reading, the JSON Schema
// and the reference page.
type key struct {
	name  string
	value taker
	card  string // default as the reference shows it
	about string
}

// mapping reads a mapping with known keys.
type mapping []key

func (m mapping) take(r *reader, n *tree.Node) {
	if n.Kind != tree.Mapping {
		if n.Kind != tree.Null {
			r.src.HideAll(n)
			r.problem(n, fmt.Sprintf("%s takes a mapping, not %s", r.key(), n.Kind), "its keys are "+strings.Join(m.names(), ", "))
		}
		return
	}
	seen := map[string]*tree.Node{}
	for _, p := range n.Pairs {
		p = r.current(p)
		if m.double(r, seen, p) {
			continue
		}
		i := slices.IndexFunc(m, func(k key) bool { return k.name == p.Key.Text })
		if i < 0 {
			r.unknown(p, m)
			continue
		}
		r.within(p.Key.Text, func() {
			if p.Value.Kind != tree.Null {
				m[i].value.take(r, p.Value)
			}
		})
	}
}

// double reports a key that was there before; a merged one just loses.
func (m mapping) double(r *reader, seen map[string]*tree.Node, p tree.Pair) bool {
	if first, ok := seen[p.Key.Text]; ok {
		return r.double(first, p)
	}
	seen[p.Key.Text] = p.Key
	return false
}

func (r *reader) double(first *tree.Node, p tree.Pair) bool {
	if !p.Merged {
		r.src.HideAll(p.Value)
		r.problem(p.Key, fmt.Sprintf("key %s appears twice, first on line %d", raw(p.Key), first.Line), "keep one of them")
	}
	return true
}

func (m mapping) names() []string {
	names := make([]string, len(m))
	for i := range m {
		names[i] = m[i].name
	}
	return names
}

// named reads a mapping whose keys are names of the operator's choice.
type named struct {
	what string
	most int
	add  func(r *reader, name, n *tree.Node)
	item taker // for shape and reference
}

func (t named) take(r *reader, n *tree.Node) {
	if n.Kind != tree.Mapping {
		r.src.HideAll(n)
		r.problem(n, fmt.Sprintf("%s takes a mapping of %s, not %s", r.key(), t.what, n.Kind), "")
		return
	}
	if len(n.Pairs) > t.most {
		r.problem(n, fmt.Sprintf("%s has %d %s: at most %d", r.key(), len(n.Pairs), t.what, t.most), "")
		return
	}
	seen := map[string]*tree.Node{}
	for _, p := range n.Pairs {
		if first, ok := seen[p.Key.Text]; ok {
			r.double(first, p)
			continue
		}
		seen[p.Key.Text] = p.Key
		r.within("*", func() { t.add(r, p.Key, p.Value) })
	}
}

// list reads a sequence; a single value stands for a list of one if one is set.
type list struct {
	what string
	most int
	one  bool
	add  func(r *reader, n *tree.Node)
	item taker
	then func(n *tree.Node) // after the last item
}

func (t list) take(r *reader, n *tree.Node) {
	items := n.Items
	if n.Kind != tree.Sequence {
		if !t.one || n.Kind != tree.Scalar {
			r.src.HideAll(n)
			r.problem(n, fmt.Sprintf("%s takes a list of %s, not %s", r.key(), t.what, n.Kind), "")
			return
		}
		items = []*tree.Node{n}
	}
	if len(items) > t.most {
		r.problem(n, fmt.Sprintf("%s has %d %s: at most %d", r.key(), len(items), t.what, t.most), "")
		return
	}
	for _, item := range items {
		r.within("*", func() { t.add(r, item) })
	}
	if t.then != nil {
		t.then(n)
	}
}

// scalar reads one value with a function of package value.
type scalar[T any] struct {
	into *field[T]
	what string
	read func(string) (T, error)
	as   shape
}

func (t scalar[T]) take(r *reader, n *tree.Node) {
	text, ok := r.text(n, t.what)
	if !ok {
		return
	}
	v, err := t.read(text)
	var f *value.Fault
	if errors.As(err, &f) {
		r.problem(n, fmt.Sprintf("%s: %s %s", r.key(), raw(n), f.Message), f.Hint)
		return
	}
	*t.into = field[T]{v, n}
}

func duration(into *field[time.Duration]) taker {
	return scalar[time.Duration]{into, "a duration", value.Duration, pattern(durationPattern)}
}

func text(into *field[string]) taker {
	return scalar[string]{into, "a text", func(s string) (string, error) { return s, nil }, anyScalar}
}

func whole(into *field[int]) taker {
	return scalar[int]{into, "a whole number", value.Whole, numberShape("integer")}
}

func toggle(into *field[bool]) taker {
	return scalar[bool]{into, "true or false", value.Switch, switchShape}
}

func rate(into *field[float64]) taker {
	return scalar[float64]{into, "a rate", value.Rate, pattern(ratePattern)}
}

func share(into *field[float64]) taker {
	return scalar[float64]{into, "a percentage", value.Share, pattern(sharePattern)}
}

func size(into *field[int64]) taker {
	return scalar[int64]{into, "a size", value.Size, pattern(sizePattern)}
}

// word reads one of a few words. Off and on may be written as booleans.
type word struct {
	into  *field[string]
	words []string
}

func oneOf(into *field[string], words ...string) taker { return word{into, words} }

func (t word) take(r *reader, n *tree.Node) {
	text, ok := r.text(n, "a word")
	if !ok {
		return
	}
	got := strings.ToLower(text)
	if !slices.Contains(t.words, got) {
		if on, err := value.Switch(got); err == nil {
			got = map[bool]string{true: "on", false: "off"}[on]
		}
	}
	if !slices.Contains(t.words, got) {
		hint := "one of " + strings.Join(t.words, ", ")
		if near := nearest(got, t.words); near != "" {
			hint = "did you mean " + near + "? (" + hint + ")"
		}
		r.problem(n, fmt.Sprintf("%s: %s is not known", r.key(), raw(n)), hint)
		return
	}
	*t.into = field[string]{got, n}
}

// credential reads a value that no message shows.
type credential struct{ into *field[secret.Value] }

func (t credential) take(r *reader, n *tree.Node) {
	hideCredential(r, n)
	if text, ok := r.text(n, "a single value"); ok {
		*t.into = field[secret.Value]{secret.New(text), n}
	}
}

// hideCredential masks what is written out; a plain reference may be seen.
func hideCredential(r *reader, n *tree.Node) {
	bare := strings.HasPrefix(n.Text, "${") && strings.Index(n.Text, "}") == len(n.Text)-1
	if n.Kind != tree.Scalar || !bare || strings.Contains(n.Text, ":-") {
		r.src.HideAll(n)
	}
}
