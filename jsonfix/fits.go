package jsonfix

import (
	"encoding/json"
	"math/big"
	"unicode/utf8"
)

// fits reports whether a value follows a schema, as far as re-spelling asks:
// patterns and formats are left to the validator, which has the last word.
func (w *respeller) fits(n *node, schema any) bool {
	if w.steps--; w.steps < 0 {
		return false
	}
	if b, ok := schema.(bool); ok {
		return b
	}
	parts := w.shape.parts(schema)
	if k := allowed(parts); k != 0 && k&n.kinds() == 0 {
		return false
	}
	for _, r := range parts {
		if !w.meets(n, r) {
			return false
		}
	}
	switch n.kind {
	case '{':
		return w.objectFits(n, parts)
	case '[':
		for i, kid := range n.kids {
			if !w.fits(kid, both(itemOf(parts, i))) {
				return false
			}
		}
	}
	return true
}

func (w *respeller) objectFits(n *node, parts []rule) bool {
	for _, key := range required(parts) {
		if n.member(key) == nil {
			return false
		}
	}
	for _, kid := range n.kids {
		schemas, _, forbidden := property(parts, n.name(kid))
		if forbidden || !w.fits(kid, both(schemas)) {
			return false
		}
	}
	return true
}

// meets checks the keywords of one rule that need no members.
func (w *respeller) meets(n *node, r rule) bool {
	if list := r.members(); list != nil || r["enum"] != nil {
		if !oneOfThem(n, list) {
			return false
		}
	}
	for _, word := range []string{"anyOf", "oneOf"} {
		list, ok := r[word].([]any)
		if !ok {
			continue
		}
		count := 0
		for _, b := range list {
			if w.fits(n, b) {
				count++
			}
		}
		if count == 0 || word == "oneOf" && count > 1 {
			return false
		}
	}
	if not, ok := r["not"]; ok && w.fits(n, not) {
		return false
	}
	return within(n, r)
}

// within checks sizes.
func within(n *node, r rule) bool {
	switch n.kind {
	case '[':
		return !bounded(r, "minItems", "maxItems", len(n.kids))
	case '{':
		return !bounded(r, "minProperties", "maxProperties", len(n.kids))
	case '"':
		if r["minLength"] == nil && r["maxLength"] == nil {
			return true
		}
		return !bounded(r, "minLength", "maxLength", utf8.RuneCountInString(unquote(n.raw())))
	case '0':
		return numberWithin(n, r)
	}
	return true
}

// bounded reports that a size is out of its bounds.
func bounded(r rule, least, most string, size int) bool {
	if v, ok := r[least].(json.Number); ok {
		if k, err := v.Int64(); err == nil && int64(size) < k {
			return true
		}
	}
	if v, ok := r[most].(json.Number); ok {
		if k, err := v.Int64(); err == nil && int64(size) > k {
			return true
		}
	}
	return false
}

func numberWithin(n *node, r rule) bool {
	for _, b := range [...]struct {
		word string
		bad  func(c int) bool
	}{
		{"minimum", func(c int) bool { return c < 0 }},
		{"maximum", func(c int) bool { return c > 0 }},
		{"exclusiveMinimum", func(c int) bool { return c <= 0 }},
		{"exclusiveMaximum", func(c int) bool { return c >= 0 }},
	} {
		limit, ok := r[b.word].(json.Number)
		if !ok {
			continue
		}
		x, okX := rational(string(n.raw()))
		y, okY := rational(string(limit))
		if okX && okY && b.bad(x.Cmp(y)) {
			return false
		}
	}
	return true
}

// rational reads a number exactly, unless its exponent would make that costly.
func rational(s string) (*big.Rat, bool) {
	if len(s) > 400 {
		return nil, false
	}
	for i := range len(s) {
		if s[i]|0x20 == 'e' && len(s)-i > 5 {
			return nil, false
		}
	}
	return new(big.Rat).SetString(s)
}

// kinds of a value: an integral number is an integer too.
func (n *node) kinds() kinds {
	switch n.kind {
	case '{':
		return kindObject
	case '[':
		return kindArray
	case '"':
		return kindString
	case 't':
		return kindBoolean
	case 'n':
		return kindNull
	}
	if integral(n.raw()) {
		return kindInteger | kindNumber
	}
	return kindNumberOnly
}

// kindNumberOnly is a number with a fraction: it needs the bit that "integer"
// does not set.
const kindNumberOnly = kindNumber

// integral reports whether a JSON number is an integer, such as 4.0 or 1e2.
func integral(number []byte) bool {
	plain := true
	for _, c := range number {
		plain = plain && (isDigit(c) || c == '-')
	}
	if plain {
		return true
	}
	x, ok := rational(string(number))
	return ok && x.IsInt()
}

// oneOfThem reports whether a value is one of those of an enum.
func oneOfThem(n *node, list []any) bool {
	got, err := decode(n.text())
	if err != nil {
		return false
	}
	for _, v := range list {
		if equal(got, v) {
			return true
		}
	}
	return false
}

// equal compares decoded values, numbers by value.
func equal(a, b any) bool {
	switch x := a.(type) {
	case json.Number:
		y, ok := b.(json.Number)
		if !ok {
			return false
		}
		p, ok1 := rational(string(x))
		q, ok2 := rational(string(y))
		return x == y || ok1 && ok2 && p.Cmp(q) == 0
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !equal(x[i], y[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for k := range x {
			if v, ok := y[k]; !ok || !equal(x[k], v) {
				return false
			}
		}
		return true
	}
	return a == b
}

// member finds a member by its key; of several the last, as decoders do.
func (n *node) member(key string) *node {
	for i := len(n.kids) - 1; i >= 0; i-- {
		if n.name(n.kids[i]) == key {
			return n.kids[i]
		}
	}
	return nil
}
