package gemini

import (
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

// promise writes the promise of JSON, as far as the upstream keeps it, and
// returns the instruction for the rest. Early models take no promise beside
// tools; a schema beyond what is compiled goes into words, beside JSON mode.
func (w *hubWrite) promise() (ask string) {
	p := &w.p.Promise
	if p.Kind == wire.PromiseNone {
		return ""
	}
	name := bare(w.model)
	ask = askObject
	if p.Kind == wire.PromiseSchema {
		ask = askSchema + string(w.p.ToldSchema())
	}
	if !w.takes("responseMimeType") || !w.takes("generationConfig") || len(w.p.Tools) > 0 && hasPrefix(name, early) {
		return ask
	}
	w.set("responseMimeType", edit.Quoted(jsonMedia))
	if p.Kind != wire.PromiseSchema || hasPrefix(name, schemaless) || !w.takes("responseJsonSchema") || !compiled(p.Schema) {
		return ask
	}
	w.set("responseJsonSchema", string(w.p.ToldSchema()))
	return ""
}

// system writes the instructions, the promise of JSON as the last of them.
func (w *hubWrite) system(ask string) {
	var parts []byte
	add := func(text string) {
		if text != "" {
			parts = wire.AppendString(append(append(parts, "[,"[min(len(parts), 1)]), `{"text":`...), text)
			parts = append(parts, '}')
		}
	}
	for _, text := range w.p.System {
		add(text)
	}
	add(ask)
	if parts != nil {
		w.raw("systemInstruction", `{"parts":`+string(parts)+"]}")
	}
}

// within are the keywords that the API compiles, or that say nothing about what
// is allowed. All others it leaves out. As of 2026-11.
var within = map[string]bool{
	"$schema": true, "$id": true, "$defs": true, "$ref": true, "$anchor": true, "$comment": true, "definitions": true,
	"type": true, "format": true, "title": true, "description": true, "enum": true, "default": true, "examples": true, "example": true,
	"items": true, "prefixItems": true, "minItems": true, "maxItems": true, "minimum": true, "maximum": true, "anyOf": true, "oneOf": true,
	"properties": true, "additionalProperties": true, "required": true, "propertyOrdering": true, "nullable": true, "deprecated": true,
}

// compiled reports whether the API takes a schema for all that it says: an
// object at its root, no keyword that is left out, not too deep or too large.
func compiled(schema []byte) bool {
	if len(schema) > maxSchemaBytes || !wire.ValidJSON(schema) {
		return false
	}
	root := gjson.ParseBytes(schema)
	return root.IsObject() && root.Get("@keys.0").Exists() && compiledNode(root, 0)
}

// maxCompiledDepth is how deep a schema may be nested.
const maxCompiledDepth = 32

func compiledNode(v gjson.Result, depth int) bool {
	if depth > maxCompiledDepth {
		return false
	}
	if !v.IsObject() {
		return v.IsBool()
	}
	good := true
	v.ForEach(func(k, v gjson.Result) bool {
		switch name := k.String(); name {
		case "properties", "$defs", "definitions", "anyOf", "oneOf", "prefixItems":
			v.ForEach(func(_, v gjson.Result) bool {
				good = good && compiledNode(v, depth+1)
				return good
			})
		case "items", "additionalProperties":
			good = compiledNode(v, depth+1)
		default:
			good = within[name]
		}
		return good
	})
	return good
}
