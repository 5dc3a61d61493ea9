package config

import (
	"bytes"
	"encoding/json"
)

// shape is a part of the JSON Schema of the file.
type shape map[string]any

// Patterns of the notations, for editors; package value is what decides.
const (
	reference       = `.*\$\{.+\}.*`
	durationPattern = `^(0|off|([0-9.]+(ns|us|µs|ms|s|m|h))+|` + reference + `)$`
	rangePattern    = `^(0|[0-9.]+(ms|s|m)( *- *[0-9.]+(ms|s|m))?|` + reference + `)$`
	sizePattern     = `^([0-9.]+ *([kKmMgG]i?)?[bB]?|` + reference + `)$`
	ratePattern     = `^(off|[0-9.]+( */ *(s|sec|second|m|min|minute|h|hour|d|day))?|` + reference + `)$`
	sharePattern    = `^(off|[0-9.]+ *%?|` + reference + `)$`
)

var (
	anyScalar   = shape{"type": []string{"string", "number", "boolean"}}
	switchShape = shape{"anyOf": []shape{{"type": "boolean"}, {"type": "string", "pattern": `^([oO]n|[oO]ff|true|false|yes|no|` + reference + `)$`}}}
)

// pattern is a notation that may also be a bare number, or false for off.
func pattern(p string) shape {
	return shape{"anyOf": []shape{{"type": "number", "minimum": 0}, {"const": false}, {"type": "string", "pattern": p}}}
}

func numberShape(kind string) shape {
	return shape{"anyOf": []shape{{"type": kind, "minimum": 0}, {"type": "string", "pattern": "^([0-9_]+|" + reference + ")$"}}}
}

func (t scalar[T]) shape() shape { return t.as }

func (credential) shape() shape { return shape{"type": []string{"string", "number"}} }

func (t word) shape() shape {
	options := []shape{{"enum": t.words}, {"type": "string", "pattern": "^" + reference + "$"}}
	for _, w := range t.words {
		if w == "on" || w == "off" {
			options = append(options, shape{"const": w == "on"})
		}
	}
	return shape{"anyOf": options}
}

func (t list) shape() shape {
	s := shape{"type": "array", "items": t.item.shape(), "maxItems": t.most}
	if t.one {
		return shape{"anyOf": []shape{t.item.shape(), s}}
	}
	return s
}

func (t named) shape() shape {
	return shape{"type": "object", "additionalProperties": orNull(t.item.shape()), "maxProperties": t.most}
}

func (m mapping) shape() shape {
	properties := shape{}
	for _, k := range m {
		s := orNull(k.value.shape())
		s["description"] = k.about
		properties[k.name] = s
	}
	return shape{"type": "object", "properties": properties, "additionalProperties": false}
}

// orNull lets a key stand without a value, which means its default.
func orNull(s shape) shape { return shape{"anyOf": []shape{{"type": "null"}, s}} }

// shared is a part of the JSON Schema that stands in several places.
type shared struct {
	name string
	mapping
}

func (t shared) shape() shape { return shape{"$ref": "#/$defs/" + t.name} }

// Schema returns the JSON Schema of the configuration file. What it accepts
// may still be refused by [Parse], which also knows what belongs together.
func Schema() []byte {
	s := new(fileSpec).keys().shape()
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = "Backstop configuration"
	s["$defs"] = shape{"upstream": new(upstreamSpec).keys().shape()}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(s); err != nil {
		return nil
	}
	return b.Bytes()
}
