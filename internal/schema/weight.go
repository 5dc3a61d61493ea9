package schema

import "errors"

const (
	// mostRules is how many schema objects, true and false a schema may have:
	// the compiler looks at all of them for each of them, and keeps a kilobyte
	// and a half of each.
	mostRules = 8192
	// mostPlaces bounds the length of their JSON Pointers together, which it
	// keeps and compares: a long name is a part of each pointer below it.
	mostPlaces = 1 << 20
	// deepest is how far they may be nested.
	deepest = 1000
)

// ErrTooMany is the reason why a schema beyond the bounds is not compiled.
var ErrTooMany = errors.New("the schema has more than 8192 parts, or its parts lie too deep; split it")

// scale counts what a schema costs to compile and to keep.
type scale struct{ rules, places int }

// weigh counts the rules of a decoded schema.
func weigh(doc any) (int, error) {
	var s scale
	if !s.add(doc, 0, 0) {
		return 0, ErrTooMany
	}
	return s.rules, nil
}

// add counts a value at a depth whose pointer has a length. It is false once a
// bound is passed.
func (s *scale) add(v any, depth, place int) bool {
	switch v := v.(type) {
	case bool:
		return s.rule(depth, place)
	case map[string]any:
		if !s.rule(depth, place) {
			return false
		}
		for name, in := range v {
			if !s.add(in, depth+1, place+1+len(name)) {
				return false
			}
		}
	case []any:
		for _, in := range v {
			if !s.add(in, depth+1, place+4) {
				return false
			}
		}
	}
	return true
}

func (s *scale) rule(depth, place int) bool {
	s.rules++
	s.places += place
	return s.rules <= mostRules && s.places <= mostPlaces && depth <= deepest
}
