package schema

import (
	"github.com/santhosh-tekuri/jsonschema/v6"

	"backstop/jsonfix"
)

// The schema objects that are applied to values in one call are bounded by
// the length of the document: nested unions multiply, so that a small schema
// could ask for years.
const (
	leastSteps   = 20_000
	stepsPerByte = 2
	// A long string costs a schema object a step for each bytesPerLook, a
	// pattern one for each bytesPerMatch, and an array or object one for each
	// membersPerLook: a rule may go through all of them.
	bytesPerLook, bytesPerMatch, membersPerLook = 64, 16, 8
)

// steps counts in one call. Its vocabulary has no keyword: it puts a counter
// into every schema object.
type steps struct {
	left int
	late bool // a pattern ran out of time
}

// take counts n steps.
func (s *steps) take(n int) {
	if s.left -= n; s.left < 0 {
		panic(exhausted{})
	}
}

// exhausted is the panic that ends a call that takes too many steps; check
// recovers it.
type exhausted struct{}

func (s *steps) vocabulary() *jsonschema.Vocabulary {
	return &jsonschema.Vocabulary{
		URL:     "backstop:///steps",
		Compile: func(*jsonschema.CompilerContext, map[string]any) (jsonschema.SchemaExt, error) { return s, nil },
	}
}

// Validate counts the look of one schema object at a value.
func (s *steps) Validate(_ *jsonschema.ValidatorContext, v any) {
	n := 1
	switch v := v.(type) {
	case string:
		n += len(v) / bytesPerLook
	case []any:
		n += len(v) / membersPerLook
	case map[string]any:
		n += len(v) / membersPerLook
	}
	s.take(n)
}

// check validates a decoded document of a length in bytes.
func (k *checker) check(doc any, length int) (wrong []jsonfix.Violation) {
	if k.scale.overflows(doc) {
		return nil
	}
	k.steps.left, k.steps.late = leastSteps+stepsPerByte*length, false
	defer func() {
		switch r := recover().(type) {
		case nil:
		case exhausted:
			wrong = nil
		default:
			panic(r)
		}
	}()
	err := k.schema.Validate(doc)
	if err == nil {
		return nil
	}
	return violations(err)
}
