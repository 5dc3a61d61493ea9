package jsonfix

import (
	"errors"
	"strings"
)

// Shape is what a JSON Schema says about the types and members of a document:
// enough to see which spelling would follow it. It is read-only and may be
// used concurrently.
type Shape struct{ root any }

// rule is one schema object: all of a list of them must hold.
type rule map[string]any

// mostParts bounds the references and allOf lists that are followed.
const mostParts = 64

// NewShape reads a JSON Schema. It checks the syntax only.
func NewShape(schema []byte) (*Shape, error) {
	if !Valid(schema) {
		return nil, errors.New("the schema is not JSON; give a JSON Schema object")
	}
	root, err := decode(schema)
	if err != nil {
		return nil, errors.New("the schema cannot be read; give a JSON Schema object")
	}
	switch root.(type) {
	case map[string]any, bool:
		return &Shape{root}, nil
	}
	return nil, errors.New("the schema is neither an object nor true or false; give a JSON Schema object")
}

// parts lists the rules that a value must meet together: the schema itself,
// what it refers to, and its allOf.
func (s *Shape) parts(schema any) (list []rule) {
	todo := []any{schema}
	for len(todo) > 0 && len(list) < mostParts {
		r, ok := todo[0].(map[string]any)
		todo = todo[1:]
		if !ok {
			continue
		}
		list = append(list, rule(r))
		if ref, ok := r["$ref"].(string); ok {
			todo = append(todo, s.refer(ref))
		}
		if all, ok := r["allOf"].([]any); ok {
			todo = append(todo, all...)
		}
	}
	return list
}

// refer follows a reference inside the schema; nil if it leads elsewhere.
func (s *Shape) refer(ref string) any {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	at := s.root
	if path == "" {
		return at
	}
	for step := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		m, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = m[step]
	}
	return at
}

// kinds are the JSON types that a rule allows, as a set of bits; zero means
// that it does not say.
type kinds uint8

const (
	kindString kinds = 1 << iota
	kindNumber
	kindInteger
	kindBoolean
	kindNull
	kindObject
	kindArray
)

func kindNamed(name string) kinds {
	switch name {
	case "string":
		return kindString
	case "number":
		return kindNumber | kindInteger
	case "integer":
		return kindInteger
	case "boolean":
		return kindBoolean
	case "null":
		return kindNull
	case "object":
		return kindObject
	case "array":
		return kindArray
	}
	return 0
}

// kinds of one rule: from its type, else from the values it names.
func (r rule) kinds() (k kinds) {
	switch t := r["type"].(type) {
	case string:
		return kindNamed(t)
	case []any:
		for _, x := range t {
			if s, ok := x.(string); ok {
				k |= kindNamed(s)
			}
		}
		return k
	}
	for _, v := range r.members() {
		k |= kindOf(v)
	}
	if k == 0 && r["properties"] != nil && r["required"] != nil {
		k = kindObject
	}
	return k
}

// members are the values of enum or const.
func (r rule) members() []any {
	if list, ok := r["enum"].([]any); ok {
		return list
	}
	if v, ok := r["const"]; ok {
		return []any{v}
	}
	return nil
}

func kindOf(v any) kinds {
	switch x := v.(type) {
	case nil:
		return kindNull
	case bool:
		return kindBoolean
	case string:
		return kindString
	case []any:
		return kindArray
	case map[string]any:
		return kindObject
	default:
		_ = x
		return kindNumber | kindInteger
	}
}

// allowed are the kinds that all rules together allow.
func allowed(parts []rule) (k kinds) {
	for _, r := range parts {
		if own := r.kinds(); own != 0 {
			if k == 0 {
				k = own
			} else {
				k &= own
			}
		}
	}
	return k
}

// unions are the lists of which one or any must hold.
func unions(parts []rule) (lists [][]any) {
	for _, r := range parts {
		for _, word := range []string{"anyOf", "oneOf"} {
			if list, ok := r[word].([]any); ok {
				lists = append(lists, list)
			}
		}
	}
	return lists
}

// required are the keys that must be there.
func required(parts []rule) (keys []string) {
	for _, r := range parts {
		list, _ := r["required"].([]any)
		for _, k := range list {
			if s, ok := k.(string); ok {
				keys = append(keys, s)
			}
		}
	}
	return keys
}

// property gives the schemas of a member, whether one names it, and whether
// one forbids it.
func property(parts []rule, key string) (schemas []any, named, forbidden bool) {
	for _, r := range parts {
		props, _ := r["properties"].(map[string]any)
		if p, ok := props[key]; ok {
			schemas = append(schemas, p)
			named = true
			continue
		}
		if patterns, ok := r["patternProperties"].(map[string]any); ok && len(patterns) > 0 {
			continue // only the validator knows which keys match
		}
		switch extra := r["additionalProperties"].(type) {
		case bool:
			forbidden = forbidden || !extra
		case map[string]any:
			schemas = append(schemas, extra)
		}
	}
	return schemas, named, forbidden
}

// itemOf gives the schemas of the i-th item.
func itemOf(parts []rule, i int) (schemas []any) {
	for _, r := range parts {
		list, ok := r["prefixItems"].([]any)
		if !ok {
			list, _ = r["items"].([]any)
		}
		switch rest, isMap := r["items"].(map[string]any); {
		case i < len(list):
			schemas = append(schemas, list[i])
		case isMap:
			schemas = append(schemas, rest)
		}
	}
	return schemas
}

// both joins schemas that must all hold.
func both(schemas []any) any {
	switch len(schemas) {
	case 0:
		return true
	case 1:
		return schemas[0]
	}
	return map[string]any{"allOf": schemas}
}
