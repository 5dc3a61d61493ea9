// Package schema compiles the JSON Schemas that callers promise their answers
// by, and gives them to jsonfix. Schemas are hostile input: nothing a $ref
// points at is loaded, sizes and steps are bounded, and patterns with
// look-ahead have a time limit. What cannot be compiled or checked within
// these bounds is not validated; that is reported and never an error of the
// call.
package schema

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"backstop/jsonfix"
)

const (
	// mostSchemas bounds the compiled schemas that are kept by default.
	mostSchemas = 512
	// largest is the longest schema that is compiled.
	largest = 1 << 20
	// mostWeight bounds what is kept of all of them, in rules and half KiBs of
	// text: about 64 MiB.
	mostWeight = 32 << 10
	// mostIdle is how many compiled copies of one schema are kept for calls
	// at the same time, if it is no larger than small.
	mostIdle = 4
	small    = 512
)

// ErrTooLarge is the reason why a schema beyond the bounds is not compiled.
var ErrTooLarge = errors.New("the schema is longer than 1 MiB; leave out descriptions or split it")

// Cache compiles schemas and keeps them by the hash of their bytes. It is
// safe for concurrent use. The zero value is ready.
type Cache struct {
	mu   sync.Mutex
	most int
	seen map[[sha256.Size]byte]*entry
	line [][sha256.Size]byte // in the order of their coming

	weight int // of all that are kept
}

type entry struct {
	compiled *Compiled
	err      error
}

// weight is what an entry costs.
func (e *entry) weight() int {
	if e.compiled == nil {
		return 1
	}
	return 1 + e.compiled.rules + len(e.compiled.source)>>9
}

// NewCache keeps at most n schemas; 0 means 512.
func NewCache(n int) *Cache { return &Cache{most: n} }

// Compile gives the compiled schema. An error says why it cannot be used; it
// is kept like a result.
func (c *Cache) Compile(source []byte) (*Compiled, error) {
	if len(source) > largest {
		return nil, ErrTooLarge
	}
	key := sha256.Sum256(source)
	c.mu.Lock()
	e := c.seen[key]
	c.mu.Unlock()
	if e == nil {
		e = &entry{}
		e.compiled, e.err = compile(bytes.Clone(source))
		c.keep(key, e)
	}
	return e.compiled, e.err
}

// keep stores an entry and forgets the oldest ones in its place.
func (c *Cache) keep(key [sha256.Size]byte, e *entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen == nil {
		c.seen = map[[sha256.Size]byte]*entry{}
	}
	if c.most <= 0 {
		c.most = mostSchemas
	}
	if c.seen[key] != nil {
		return
	}
	c.seen[key], c.line = e, append(c.line, key)
	c.weight += e.weight()
	for len(c.line) > c.most || c.weight > mostWeight && len(c.line) > 1 {
		c.weight -= c.seen[c.line[0]].weight()
		delete(c.seen, c.line[0])
		c.line = c.line[1:]
	}
}

// Compiled is one schema. It is a jsonfix.Schema, safe for concurrent use.
type Compiled struct {
	source []byte
	rules  int
	shape  *jsonfix.Shape
	mu     sync.Mutex
	idle   []*checker
}

var _ jsonfix.Schema = (*Compiled)(nil)

// checker is a compiled copy that one call at a time uses, because it counts
// the steps of that call.
type checker struct {
	schema *jsonschema.Schema
	scale  scale
	steps  *steps
}

func compile(source []byte) (*Compiled, error) {
	shape, err := jsonfix.NewShape(source)
	if err != nil {
		return nil, misspelled(source, err)
	}
	first, err := newChecker(source)
	if err != nil {
		return nil, err
	}
	return &Compiled{source: source, rules: first.scale.rules, shape: shape, idle: []*checker{first}}, nil
}

func newChecker(source []byte) (*checker, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(source))
	if err != nil {
		return nil, errors.New("the schema is not JSON; give a JSON Schema object")
	}
	k := &checker{steps: &steps{left: math.MaxInt}}
	if k.scale, err = weigh(doc); err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(nothing{})
	c.UseRegexpEngine(k.steps.compilePattern)
	c.RegisterVocabulary(k.steps.vocabulary())
	c.AssertVocabs()
	const name = "backstop:///schema.json"
	if err := c.AddResource(name, doc); err != nil {
		return nil, fmt.Errorf("the schema does not compile: %w", placed(err))
	}
	if k.schema, err = c.Compile(name); err != nil {
		return nil, fmt.Errorf("the schema does not compile: %w", placed(err))
	}
	return k, nil
}

// nothing loads no schema from anywhere.
type nothing struct{}

func (nothing) Load(string) (any, error) {
	return nil, errors.New("schemas elsewhere are not loaded; put what $ref points at into the schema itself")
}

// Shape is what the schema says about types.
func (s *Compiled) Shape() *jsonfix.Shape { return s.shape }

// Validate lists how a document breaks the schema. What cannot be checked
// within the step limit counts as following it.
func (s *Compiled) Validate(document []byte) []jsonfix.Violation {
	k := s.take()
	if k == nil {
		return nil
	}
	defer s.give(k)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return []jsonfix.Violation{{Path: "", Reason: string(jsonfix.NotJSON)}}
	}
	return k.check(doc, len(document))
}

func (s *Compiled) take() *checker {
	s.mu.Lock()
	if n := len(s.idle); n > 0 {
		k := s.idle[n-1]
		s.idle = s.idle[:n-1]
		s.mu.Unlock()
		return k
	}
	s.mu.Unlock()
	k, err := newChecker(s.source)
	if err != nil {
		return nil
	}
	return k
}

func (s *Compiled) give(k *checker) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.idle) == 0 || len(s.idle) < mostIdle && s.rules <= small {
		s.idle = append(s.idle, k)
	}
}
