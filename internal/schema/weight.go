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
	// mostFrames bounds how deep a validation recurses: it goes through all
	// rules that lead to others, for each level of a document, and takes 3 KiB
	// of stack for each. A stack that overflows ends the process.
	mostFrames = 32 << 10
)

// ErrTooMany is the reason why a schema beyond the bounds is not compiled.
var ErrTooMany = errors.New("the schema has more than 8192 parts, or its parts lie too deep; split it")

// leading are the keywords by which a rule applies others to the same value.
var leading = [...]string{"$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"}

// scale counts what a schema costs to compile, to keep and to check.
type scale struct {
	rules, places int
	leads         int // rules that lead to others
}

// weigh counts the rules of a decoded schema.
func weigh(doc any) (scale, error) {
	var s scale
	if !s.add(doc, 0, 0) {
		return s, ErrTooMany
	}
	return s, nil
}

// overflows reports whether a document is too deep to be checked.
func (s *scale) overflows(doc any) bool {
	return !within(doc, mostFrames/(s.leads+1)-2) // a name is one level more
}

// within reports whether a value nests no deeper than that.
func within(v any, depth int) bool {
	if depth < 0 {
		return false
	}
	switch v := v.(type) {
	case map[string]any:
		for _, in := range v {
			if !within(in, depth-1) {
				return false
			}
		}
	case []any:
		for _, in := range v {
			if !within(in, depth-1) {
				return false
			}
		}
	}
	return true
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
		for _, word := range leading {
			if _, ok := v[word]; ok {
				s.leads++
				break
			}
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
