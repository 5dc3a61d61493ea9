package app

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxSchemas bounds the compiled schemas that are kept: callers send their own.
const maxSchemas = 512

// schemas are compiled JSON Schemas by the hash of their bytes. A schema that
// does not compile is kept as nil: it means "not validated", never an error.
type schemas struct {
	mu   sync.Mutex
	seen map[[32]byte]*jsonschema.Schema
}

// validate reports whether a document follows a schema. It never loads
// anything a $ref points at outside the schema itself.
func (s *schemas) validate(schema, document []byte) error {
	c := s.compile(schema)
	if c == nil {
		return nil
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return fmt.Errorf("not JSON")
	}
	return c.Validate(doc)
}

func (s *schemas) compile(schema []byte) *jsonschema.Schema {
	key := sha256.Sum256(schema)
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.seen[key]; ok {
		return c
	}
	if s.seen == nil || len(s.seen) >= maxSchemas {
		s.seen = map[[32]byte]*jsonschema.Schema{}
	}
	c := compileSchema(schema)
	s.seen[key] = c
	return c
}

func compileSchema(schema []byte) *jsonschema.Schema {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	c.UseRegexpEngine(ecmaRegexp)
	const name = "backstop:///schema.json"
	if err := c.AddResource(name, doc); err != nil {
		return nil
	}
	compiled, err := c.Compile(name)
	if err != nil {
		return nil
	}
	return compiled
}

type noLoader struct{}

func (noLoader) Load(string) (any, error) { return nil, fmt.Errorf("remote schemas are not loaded") }
