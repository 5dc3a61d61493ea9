package gemini

import (
	"strings"

	"github.com/tidwall/gjson"

	"backstop/wire"
	"backstop/wire/internal/edit"
)

// anyJSON is the schema that every JSON follows.
const anyJSON = `{}`

// The bounds of a schema that is taken apart.
const (
	maxSchemaDepth = 64
	maxSchemaBytes = 256 << 10
)

// standardSchema turns a schema of the API's own kind (that of OpenAPI 3.0:
// types in capitals, nullable, counts as strings) into a JSON Schema that says
// the same. It is false for one that is too deep or too large.
func standardSchema(v gjson.Result) (schema []byte, ok bool) {
	if len(v.Raw) > maxSchemaBytes {
		return nil, false
	}
	s := schemaWriter{}
	s.node(v, 0)
	return s.b, !s.deep
}

type schemaWriter struct {
	b    []byte
	deep bool
}

func (s *schemaWriter) node(v gjson.Result, depth int) {
	if s.deep = s.deep || depth > maxSchemaDepth; s.deep || !v.IsObject() {
		s.b = append(s.b, anyJSON...)
		return
	}
	nullable := pick(v, "nullable").Type == gjson.True
	s.b = append(s.b, '{')
	n := 0
	v.ForEach(func(k, v gjson.Result) bool {
		name := camel(k.String())
		switch name {
		case "nullable", "propertyOrdering", "example":
			return true // says nothing about what is allowed
		case "format":
			if v.Str == "enum" {
				return true
			}
		}
		if n > 0 {
			s.b = append(s.b, ',')
		}
		n++
		s.b = append(wire.AppendString(s.b, name), ':')
		s.member(name, v, nullable, depth)
		return true
	})
	s.b = append(s.b, '}')
}

func (s *schemaWriter) member(name string, v gjson.Result, nullable bool, depth int) {
	switch {
	case name == "type" && v.Type == gjson.String:
		word := edit.Quoted(strings.ToLower(v.Str))
		if nullable {
			word = "[" + word + `,"null"]`
		}
		s.b = append(s.b, word...)
	case name == "enum" && nullable && v.IsArray():
		s.b = append(s.b, '[')
		v.ForEach(func(_, v gjson.Result) bool {
			s.b = append(append(s.b, v.Raw...), ',')
			return true
		})
		s.b = append(s.b, "null]"...)
	case name == "properties" && v.IsObject():
		s.b = append(s.b, '{')
		n := 0
		v.ForEach(func(k, v gjson.Result) bool {
			if n > 0 {
				s.b = append(s.b, ',')
			}
			n++
			s.b = append(wire.AppendString(s.b, k.String()), ':')
			s.node(v, depth+1)
			return true
		})
		s.b = append(s.b, '}')
	case name == "items" && v.IsObject():
		s.node(v, depth+1)
	case name == "anyOf" && v.IsArray():
		s.alternatives(v, nullable, depth)
	case isCount(name) && v.Type == gjson.String && wire.ValidJSON([]byte(v.Str)):
		s.b = append(s.b, v.Str...)
	default:
		s.b = append(s.b, v.Raw...)
	}
}

func (s *schemaWriter) alternatives(v gjson.Result, nullable bool, depth int) {
	s.b = append(s.b, '[')
	n := 0
	v.ForEach(func(_, v gjson.Result) bool {
		if n > 0 {
			s.b = append(s.b, ',')
		}
		n++
		s.node(v, depth+1)
		return true
	})
	if nullable {
		if n > 0 {
			s.b = append(s.b, ',')
		}
		s.b = append(s.b, `{"type":"null"}`...)
	}
	s.b = append(s.b, ']')
}

// isCount reports whether a keyword holds a whole number, which the API writes
// as a string.
func isCount(name string) bool {
	switch name {
	case "minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties":
		return true
	}
	return false
}
