package jsonfix

import "strings"

// respeller changes the spelling of values so that they follow a schema. Each
// change is lossless, and made only if one way fits.
type respeller struct {
	shape   *Shape
	steps   int // nodes that may still be looked at
	notes   []RepairNote
	emptied string // keys to a required list that the cut left empty, with NUL between
}

// leastSteps and the length of the document bound the work; what is beyond
// stays as it is.
const leastSteps = 20_000

// value re-spells one value as its schema has it, if that is possible.
func (w *respeller) value(n *node, schema any, depth int) *node {
	if w.steps--; w.steps < 0 || depth > MaxDepth {
		return n
	}
	if _, ok := schema.(map[string]any); !ok || !n.cut && w.fits(n, schema) {
		return n
	}
	parts := w.shape.parts(schema)
	k := allowed(parts)
	if k != 0 && k&n.kinds() == 0 {
		return w.branch(w.convert(n, schema, parts, k, depth), parts, depth)
	}
	switch n.kind {
	case '"':
		n = w.spellMember(n, parts)
	case '[':
		n = w.items(n, parts, depth)
	case '{':
		n = w.unwrapped(n, w.members(n, parts, depth), schema, depth)
	}
	return w.branch(n, parts, depth)
}

// branch tries the branches of anyOf and oneOf on a value that follows none.
func (w *respeller) branch(n *node, parts []rule, depth int) *node {
	for _, list := range unions(parts) {
		if w.fits(n, map[string]any{"anyOf": list}) {
			continue
		}
		var best *node
		var notes []RepairNote
		several := false
		kept := w.notes
		for _, b := range list {
			w.notes = nil
			x := w.value(n, b, depth+1)
			if !w.fits(x, b) {
				continue
			}
			if best != nil && !sameValue(best.text(), x.text()) {
				several = true
			}
			best, notes = x, w.notes
		}
		w.notes = kept
		if best != nil && !several {
			n = best
			w.notes = append(w.notes, notes...)
		}
	}
	return n
}

// emptiedAt is the JSON Pointer of the list that the cut left empty.
func (w *respeller) emptiedAt() string {
	if w.emptied == "" {
		return ""
	}
	at := ""
	for key := range strings.SplitSeq(w.emptied, "\x00") {
		at += "/" + escapePointer(key)
	}
	return at
}

func (w *respeller) note(code Code, n *node) {
	w.notes = append(w.notes, RepairNote{code, n.start})
}

// spellMember gives a string the spelling of the one enum member that differs
// in case, outer blanks and separators only.
func (w *respeller) spellMember(n *node, parts []rule) *node {
	if n.cut {
		return n
	}
	for _, r := range parts {
		list := r.members()
		if list == nil || oneOfThem(n, list) {
			continue
		}
		match, count := "", 0
		for _, v := range list {
			if s, ok := v.(string); ok && folded(s) == folded(unquote(n.raw())) {
				match = s
				count++
			}
		}
		if count == 1 {
			w.note(EnumSpelled, n)
			n = n.spelled(quoted(match))
		}
	}
	return n
}

// items re-spells the items of an array, and drops the one on the way to the
// cut if it does not follow its schema.
func (w *respeller) items(n *node, parts []rule, depth int) *node {
	kids := make([]*node, 0, len(n.kids))
	changed := false
	for i, kid := range n.kids {
		schema := both(itemOf(parts, i))
		x := w.value(kid, schema, depth+1)
		if kid.cut && i == len(n.kids)-1 && !w.fits(x, schema) {
			w.note(CutItem, kid)
			w.emptied = "" // it went with the item
			changed = true
			continue
		}
		changed = changed || x != kid
		kids = append(kids, x)
	}
	if !changed {
		return n
	}
	return n.with(kids)
}

// members re-spells the members of an object.
func (w *respeller) members(n *node, parts []rule, depth int) *node {
	n = w.renamed(n, parts)
	keys := required(parts)
	missing := false
	for _, key := range keys {
		missing = missing || n.member(key) == nil
	}
	kids := make([]*node, 0, len(n.kids))
	changed := false
	for _, kid := range n.kids {
		key := n.name(kid)
		schemas, named, forbidden := property(parts, key)
		schema := both(schemas)
		optional := !contains(keys, key)
		switch {
		case forbidden && !missing,
			kid.kind == 'n' && named && optional && !w.fits(kid, schema):
			w.note(Dropped, kid)
			changed = true
			continue
		}
		x := w.value(kid, schema, depth+1)
		if kid.cut {
			drop := optional && !w.fits(x, schema)
			if x.kind == '[' && len(x.kids) == 0 {
				if optional {
					drop = true
				} else if w.emptied == "" {
					w.emptied = key
				}
			} else if w.emptied != "" && !drop && x.kind == '{' {
				w.emptied = key + "\x00" + w.emptied
			}
			if drop {
				w.note(CutItem, kid)
				w.emptied = ""
				changed = true
				continue
			}
		}
		changed = changed || x != kid
		kids = append(kids, x)
	}
	if !changed {
		return n
	}
	return n.with(kids)
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// renamed spells a key as a missing required one, if they differ in case and
// separators only and no other key could be meant.
func (w *respeller) renamed(n *node, parts []rule) *node {
	for _, key := range required(parts) {
		if n.member(key) != nil {
			continue
		}
		at, count := -1, 0
		for i, kid := range n.kids {
			name := n.name(kid)
			if _, named, _ := property(parts, name); !named && folded(name) == folded(key) {
				at = i
				count++
			}
		}
		if count != 1 {
			continue
		}
		kids := append([]*node(nil), n.kids...)
		kid := *kids[at]
		kid.keyLit = quoted(key)
		kids[at] = &kid
		w.note(KeySpelled, &kid)
		n = n.with(kids)
	}
	return n
}

// unwrapped takes a value out of an object with one foreign key around it,
// if only the value inside follows the schema.
func (w *respeller) unwrapped(before, n *node, schema any, depth int) *node {
	if len(before.kids) != 1 || before.cut || w.fits(n, schema) {
		return n
	}
	kid := before.kids[0]
	if _, named, _ := property(w.shape.parts(schema), before.name(kid)); named || kid.kind != '{' && kid.kind != '[' {
		return n
	}
	kept := w.notes
	x := w.value(kid, schema, depth+1)
	if !w.fits(x, schema) {
		w.notes = kept
		return n
	}
	w.note(Unwrapped, before)
	return x.placed(before)
}
