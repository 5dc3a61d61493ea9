package anthropic

import (
	"strings"

	"github.com/tidwall/gjson"

	"backstop/wire"
	"backstop/wire/internal/edit"
)

// The instructions that stand for a promise of JSON where the API has no word
// for it, or not for this schema. What comes back is checked by us anyway.
const (
	askObject = "Answer with one JSON object and nothing else: no explanation, no code fence."
	askSchema = "Answer with one JSON document that follows this JSON Schema, and with nothing else: no explanation, no code fence.\n"
)

// unstructured are the prefixes of the vendor's models that know no output
// format and no strict tools: all before the 4.5 ones. As of 2026-11.
var unstructured = []string{
	"claude-2", "claude-3", "claude-instant", "claude-sonnet-4-0", "claude-sonnet-4-2", "claude-opus-4-0", "claude-opus-4-1", "claude-opus-4-2",
}

// structured reports whether a model is known to take an output format.
func structured(vendor, model string) bool {
	return vendor == "anthropic" && !hasPrefix(model, unstructured)
}

func hasPrefix(model string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(model, p) {
			return true
		}
	}
	return false
}

// nativeSchema reports whether the promise can be made with output_config.
func (w *hubWrite) nativeSchema() bool {
	p := &w.p.Promise
	return p.Kind == wire.PromiseSchema && structured(w.vendor, w.model) && w.takes("output_config") && plainSchema(p.Schema)
}

func (w *hubWrite) config(native bool) {
	var members []string
	if native {
		members = append(members, `"format":{"type":"json_schema","schema":`+oneLineText(string(w.p.ToldSchema()))+`}`)
	}
	if w.effort != "" {
		members = append(members, `"effort":`+edit.Quoted(w.effort))
	}
	if len(members) > 0 {
		w.raw("output_config", "{"+strings.Join(members, ",")+"}")
	}
}

// system writes the instructions, the promise of JSON as the last of them if
// it has no better place.
func (w *hubWrite) system(native bool) {
	list := w.p.System
	ask := ""
	switch {
	case w.p.Promise.Kind == wire.PromiseObject:
		ask = askObject
	case w.p.Promise.Kind == wire.PromiseSchema && !native:
		ask = askSchema + string(w.p.ToldSchema())
	}
	if ask != "" {
		list = append(list[:len(list):len(list)], ask)
	}
	var blocks []byte
	for _, text := range list {
		if text == "" {
			continue
		}
		blocks = append(append(blocks, "[,"[min(len(blocks), 1)]), `{"type":"text","text":`...)
		blocks = append(wire.AppendString(blocks, text), '}')
	}
	if blocks != nil {
		w.raw("system", string(append(blocks, ']')))
	}
}

// The bounds of what plainSchema looks at.
const (
	maxSchemaDepth = 32
	maxSchemaBytes = 256 << 10
)

// beyond are keywords that the API's own compiler refuses.
var beyond = map[string]bool{
	"minimum": true, "maximum": true, "exclusiveMinimum": true, "exclusiveMaximum": true, "multipleOf": true,
	"minLength": true, "maxLength": true, "maxItems": true, "uniqueItems": true, "minProperties": true, "maxProperties": true,
	"patternProperties": true, "propertyNames": true, "if": true, "then": true, "else": true, "not": true, "oneOf": true,
	"prefixItems": true, "contains": true, "dependentRequired": true, "dependentSchemas": true, "unevaluatedProperties": true,
}

// plainSchema reports whether a schema keeps to what the API compiles: every
// object closed, no bounds, no remote or recursive references.
func plainSchema(schema []byte) bool {
	if len(schema) > maxSchemaBytes || !wire.ValidJSON(schema) {
		return false
	}
	return plainNode(gjson.ParseBytes(schema), 0)
}

func plainNode(v gjson.Result, depth int) bool {
	if depth > maxSchemaDepth {
		return false
	}
	if !v.IsObject() {
		return v.IsBool()
	}
	if v.Get("type").Str == "object" && v.Get("additionalProperties").Type != gjson.False {
		return false
	}
	plain := true
	v.ForEach(func(k, v gjson.Result) bool {
		switch name := k.String(); {
		case beyond[name]:
			plain = false
		case name == "$ref":
			plain = strings.HasPrefix(v.Str, "#/$defs/") || strings.HasPrefix(v.Str, "#/definitions/")
		case name == "minItems":
			plain = v.Num <= 1
		case name == "properties", name == "$defs", name == "definitions":
			v.ForEach(func(_, v gjson.Result) bool {
				plain = plain && plainNode(v, depth+1)
				return plain
			})
		case name == "items":
			plain = plainNode(v, depth+1)
		case name == "anyOf", name == "allOf":
			v.ForEach(func(_, v gjson.Result) bool {
				plain = plain && plainNode(v, depth+1)
				return plain
			})
		}
		return plain
	})
	return plain
}

// typed is a schema of arguments with the type that the API demands.
func typed(schema []byte) string {
	if schema == nil {
		return anyObject
	}
	if !gjson.GetBytes(schema, "type").Exists() {
		return string(edit.OneLine(edit.SetMember(schema, "type", `"object"`)))
	}
	return string(edit.OneLine(schema))
}
