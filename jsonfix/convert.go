package jsonfix

import (
	"bytes"
	"encoding/json"
	"strings"
)

// convert spells a value of a kind that the schema does not allow as one that
// it does, if exactly one way fits.
func (w *respeller) convert(n *node, schema any, parts []rule, k kinds, depth int) *node {
	if n.cut && n.kind != '{' && n.kind != '[' {
		return n // it may go on
	}
	c := &conversion{w: w, n: n, schema: schema, parts: parts, depth: depth}
	switch n.kind {
	case '"':
		c.fromString(k)
	case '0':
		if k&kindString != 0 {
			c.offer(n.spelled(append(append([]byte{'"'}, n.raw()...), '"')), Coerced)
		}
		c.wrap(k)
	case '[':
		c.fromArray(k)
	case 't':
		c.wrap(k)
	case '{':
		c.wrap(k)
		if k&kindArray != 0 && len(n.kids) == 1 && n.kids[0].kind == '[' {
			x := w.value(n.kids[0], schema, depth+1)
			if w.fits(x, schema) {
				c.offer(x, Unwrapped)
			}
		}
	}
	if c.best == nil || c.several {
		return n
	}
	w.note(c.code, n)
	w.notes = append(w.notes, c.notes...)
	return c.best.placed(n)
}

// conversion collects the ways that fit.
type conversion struct {
	w       *respeller
	n       *node
	schema  any
	parts   []rule
	depth   int
	best    *node
	code    Code
	notes   []RepairNote
	several bool
}

func (c *conversion) offer(x *node, code Code) {
	if c.best != nil && !sameValue(c.best.text(), x.text()) {
		c.several = true
		return
	}
	c.best, c.code = x, code
}

// inside re-spells a value below the one at hand, without its notes if that
// way is not taken.
func (c *conversion) inside(n *node, schema any) *node {
	kept := c.w.notes
	c.w.notes = nil
	x := c.w.value(n, schema, c.depth+1)
	c.notes = c.w.notes
	c.w.notes = kept
	return x
}

func (c *conversion) fromString(k kinds) {
	text := unquote(c.n.raw())
	bare := strings.TrimSpace(text)
	if k&(kindNumber|kindInteger) != 0 && isNumber(bare) && (k&kindNumber != 0 || integral([]byte(bare))) {
		c.offer(c.n.spelled([]byte(bare)), Coerced)
	}
	switch lower := strings.ToLower(bare); {
	case k&kindBoolean != 0 && (lower == "true" || lower == "false"), k&kindNull != 0 && lower == "null":
		c.offer(c.n.spelled([]byte(lower)), Coerced)
	}
	if k&(kindObject|kindArray) == 0 {
		return
	}
	if len(bare) > 0 && (bare[0] == '{' || bare[0] == '[') && Valid([]byte(bare)) {
		inner, _ := parseTree([]byte(bare))
		x := c.inside(inner, c.schema)
		if k&x.kinds() != 0 {
			moved := x.spelled(x.text())
			moved.start = c.n.start
			moved.kids = x.kids
			c.offer(moved, Decoded)
			return
		}
	}
	if !strings.ContainsAny(text, ",;|\n，、；") {
		c.wrap(k)
	}
}

func isNumber(s string) bool {
	return s != "" && (s[0] == '-' || isDigit(s[0])) && numberEnd([]byte(s), 0) == len(s)
}

// wrap puts the value into a list of one.
func (c *conversion) wrap(k kinds) {
	if k&kindArray == 0 {
		return
	}
	item := both(itemOf(c.parts, 0))
	x := c.inside(c.n, item)
	if !c.w.fits(x, item) {
		return
	}
	list := c.n.spelled(append(append([]byte{'['}, x.text()...), ']'))
	list.kids = []*node{x}
	if c.w.fits(list, c.schema) {
		c.offer(list, Wrapped)
	}
}

// fromArray takes the only item out, or puts the array where an object has
// its only list.
func (c *conversion) fromArray(k kinds) {
	n := c.n
	if len(n.kids) == 1 && !n.cut {
		x := c.inside(n.kids[0], c.schema)
		if c.w.fits(x, c.schema) {
			c.offer(x, Unwrapped)
		}
	}
	if k&kindObject == 0 {
		return
	}
	key, count := "", 0
	for _, r := range c.parts {
		props, _ := r["properties"].(map[string]any)
		for name, p := range props {
			if allowed(c.w.shape.parts(p)) == kindArray {
				key = name
				count++
			}
		}
	}
	if count != 1 {
		return
	}
	schemas, _, _ := property(c.parts, key)
	x := c.inside(n, both(schemas))
	object := n.spelled(bytes.Join([][]byte{{'{'}, quoted(key), {':'}, x.text(), {'}'}}, nil))
	member := *x
	member.keyLit = quoted(key)
	object.kids = []*node{&member}
	if c.w.fits(object, c.schema) {
		c.offer(object, Wrapped)
	}
}

// quoted spells a string as JSON, without escapes that are not needed.
func quoted(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s)
	return bytes.TrimSpace(b.Bytes())
}

// folded is a name without case and separators.
func folded(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToLower(strings.TrimSpace(s)))
}
