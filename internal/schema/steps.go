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
)

// steps counts in one call. Its vocabulary has no keyword: it puts a counter
// into every schema object.
type steps struct{ left int }

// exhausted is the panic that ends a call that takes too many steps; check
// recovers it.
type exhausted struct{}

func (s *steps) vocabulary() *jsonschema.Vocabulary {
	return &jsonschema.Vocabulary{
		URL:     "backstop:///steps",
		Compile: func(*jsonschema.CompilerContext, map[string]any) (jsonschema.SchemaExt, error) { return s, nil },
	}
}

// Validate counts one step.
func (s *steps) Validate(*jsonschema.ValidatorContext, any) {
	if s.left--; s.left < 0 {
		panic(exhausted{})
	}
}

// check validates a decoded document of a length in bytes.
func (k *checker) check(doc any, length int) (wrong []jsonfix.Violation) {
	k.steps.left = leastSteps + stepsPerByte*length
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
