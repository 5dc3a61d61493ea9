package mock

import (
	"encoding/json"
	"math"
	"strings"
)

// minimalJSON makes the smallest JSON that follows a schema: required
// properties only, the first of every choice. Without a schema it is a small
// object. It covers types, enum, const, lengths, bounds, items, local $ref
// and the first branch of anyOf, oneOf and allOf; patterns and formats it
// does not.
func minimalJSON(schema json.RawMessage, h uint64) string {
	m := minimal{h: h, budget: 2000}
	if schema == nil || json.Unmarshal(schema, &m.root) != nil {
		return `{"answer":"` + word(h) + `"}`
	}
	out, err := json.Marshal(m.value(m.root, 0))
	if err != nil {
		return `{}`
	}
	return string(out)
}

type minimal struct {
	root   any
	h      uint64
	budget int // values left: a hostile schema ends in nulls
}

const deepest = 24

func (m *minimal) value(node any, depth int) any {
	s, isObject := node.(map[string]any)
	if m.budget--; !isObject || m.budget < 0 || depth > deepest {
		return nil
	}
	if v, ok := s["const"]; ok {
		return v
	}
	if list, ok := s["enum"].([]any); ok && len(list) > 0 {
		return list[0]
	}
	if ref, ok := s["$ref"].(string); ok {
		return m.value(m.local(ref), depth+1)
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		if list, ok := s[key].([]any); ok && len(list) > 0 && s["properties"] == nil {
			return m.value(list[0], depth+1)
		}
	}
	switch kind(s) {
	case "object":
		return m.object(s, depth)
	case "array":
		return m.array(s, depth)
	case "string":
		return m.text(s)
	case "integer":
		return math.Ceil(floor(s))
	case "number":
		return floor(s)
	case "boolean":
		return true
	}
	return nil
}

func (m *minimal) object(s map[string]any, depth int) any {
	props, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	out := make(map[string]any, len(required))
	for _, r := range required {
		if name, ok := r.(string); ok {
			out[name] = m.value(props[name], depth+1)
		}
	}
	return out
}

func (m *minimal) array(s map[string]any, depth int) any {
	out := []any{}
	for n := number(s["minItems"], 0); float64(len(out)) < n && m.budget > 0; {
		out = append(out, m.value(s["items"], depth+1))
	}
	return out
}

func (m *minimal) text(s map[string]any) any {
	m.h++
	w := word(m.h)
	if least := int(min(number(s["minLength"], 0), 4096)); len(w) < least {
		w += strings.Repeat("-", least-len(w))
	}
	if most := int(min(number(s["maxLength"], 4096), 4096)); most >= 0 && len(w) > most {
		w = w[:most]
	}
	return w
}

// local follows "#/a/b" through the schema.
func (m *minimal) local(ref string) any {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	node := m.root
	for _, step := range strings.Split(strings.TrimPrefix(path, "/"), "/") {
		if step == "" {
			continue
		}
		s, ok := node.(map[string]any)
		if !ok {
			return nil
		}
		node = s[strings.NewReplacer("~1", "/", "~0", "~").Replace(step)]
	}
	return node
}

// kind is the type of a schema, guessed where it is not said.
func kind(s map[string]any) string {
	switch t := s["type"].(type) {
	case string:
		return strings.ToLower(t) // Gemini writes OBJECT
	case []any:
		if len(t) > 0 {
			first, _ := t[0].(string)
			return first
		}
	}
	switch {
	case s["properties"] != nil || s["required"] != nil:
		return "object"
	case s["items"] != nil:
		return "array"
	}
	return "string"
}

// floor is the least number that a schema allows, 1 if it says nothing.
func floor(s map[string]any) float64 {
	if low, ok := s["exclusiveMinimum"].(float64); ok {
		return low + 1
	}
	n := number(s["minimum"], 1)
	return min(n, number(s["maximum"], n))
}

func number(v any, otherwise float64) float64 {
	if f, ok := v.(float64); ok {
		return f
	}
	return otherwise
}
