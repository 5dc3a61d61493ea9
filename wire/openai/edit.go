package openai

import (
	"slices"
	"sort"
)

// edits is a list of changes to a document that are made in one copy. Spans
// must not overlap; equal places keep the order of the calls.
type edits struct {
	b    []byte
	list []change
}

type change struct {
	span
	text []byte
}

func (e *edits) replace(s span, text string) {
	e.list = append(e.list, change{s, []byte(text)})
}

// insert puts text before offset i.
func (e *edits) insert(i int, text string) { e.replace(span{i, i}, text) }

// apply returns the edited document; with no edits it is the same slice.
func (e *edits) apply() []byte {
	if len(e.list) == 0 {
		return e.b
	}
	slices.SortStableFunc(e.list, func(x, y change) int { return x.from - y.from })
	size := len(e.b)
	for _, c := range e.list {
		size += len(c.text)
	}
	out, at := make([]byte, 0, size), 0
	for _, c := range e.list {
		out = append(append(out, e.b[at:c.from]...), c.text...)
		at = c.to
	}
	return append(out, e.b[at:]...)
}

// object is the members of one object, to be changed by name.
type object struct {
	edits
	fields []fieldAt
	added  []addition
	end    int // offset of the closing brace
}

type fieldAt struct {
	name     string // as it will be
	key, val span
	gone     bool
}

type addition struct{ name, raw string }

// openObject lists the members of the object at s, which has been scanned. It
// is for a request's top level, which has at most maxMembers; in anything
// longer use setMember and cutMember.
func openObject(b []byte, s span) *object {
	o := &object{edits: edits{b: b}, end: s.to - 1}
	for m := inObject(b, s); m.next(); {
		o.fields = append(o.fields, fieldAt{name: string(m.name()), key: m.key, val: m.val})
	}
	return o
}

// find returns the index of a member of the document, -1 if there is none.
func (o *object) find(name string) int {
	for i := len(o.fields) - 1; i >= 0; i-- {
		if f := &o.fields[i]; !f.gone && f.name == name {
			return i
		}
	}
	return -1
}

// Set gives a member a new raw value, or adds it.
func (o *object) Set(name, raw string) {
	if i := o.find(name); i >= 0 {
		if val := o.fields[i].val; string(val.of(o.b)) != raw {
			o.over(val, raw)
		}
		return
	}
	o.added = append(o.added, addition{name, raw})
}

// Drop removes every member of that name and reports whether there was one.
func (o *object) Drop(name string) (found bool) {
	for i := range o.fields {
		if o.fields[i].name == name {
			o.fields[i].gone, found = true, true
		}
	}
	n := len(o.added)
	o.added = slices.DeleteFunc(o.added, func(a addition) bool { return a.name == name })
	return found || len(o.added) < n
}

// Rename gives a member another name; if the new name is there, that one
// stays and the old one goes.
func (o *object) Rename(from, to string) {
	i := o.find(from)
	if i < 0 || from == to {
		return
	}
	if o.find(to) >= 0 {
		o.Drop(from)
		return
	}
	o.fields[i].name = to
	o.replace(o.fields[i].key, string(appendString(nil, to)))
}

// bytes makes all changes.
func (o *object) bytes() []byte {
	cuts, last := o.cuts()
	if len(cuts) > 0 {
		o.list = slices.DeleteFunc(o.list, func(e change) bool {
			i := sort.Search(len(cuts), func(i int) bool { return cuts[i].to > e.from })
			return i < len(cuts) && e.from >= cuts[i].from && e.to <= cuts[i].to
		})
		for _, c := range cuts {
			o.replace(c, "")
		}
	}
	var add []byte
	for i, a := range o.added {
		if i > 0 || last >= 0 {
			add = append(add, ',')
		}
		add = append(append(appendString(add, a.name), ':'), a.raw...)
	}
	if len(add) > 0 {
		o.insert(o.end, string(add))
	}
	return o.apply()
}

// cuts lists what to take out for the members that are gone, each with one
// comma, and says which member is the last that stays, -1 = none.
func (o *object) cuts() (cuts []span, last int) {
	last = -1
	for i := range o.fields {
		if !o.fields[i].gone {
			last = i
		}
	}
	for i := 0; i < last; i++ {
		if o.fields[i].gone {
			cuts = append(cuts, span{o.fields[i].key.from, o.fields[i+1].key.from})
		}
	}
	if n := len(o.fields); last < n-1 {
		from := o.fields[0].key.from
		if last >= 0 {
			from = o.fields[last].val.to
		}
		cuts = append(cuts, span{from, o.fields[n-1].val.to})
	}
	return cuts, last
}

// over replaces a range and takes back the edits that were made inside it.
func (o *object) over(s span, text string) {
	o.list = slices.DeleteFunc(o.list, func(e change) bool { return e.from >= s.from && e.to <= s.to })
	o.replace(s, text)
}

// setMember returns b with a member of the object at s set to a raw value.
func setMember(b []byte, s span, name, raw string) []byte {
	e := edits{b: b}
	if old := member(b, s, name); old.there() {
		e.replace(old, raw)
		return e.apply()
	}
	add := append(append(appendString(nil, name), ':'), raw...)
	if m := inObject(b, s); m.next() {
		add = append([]byte{','}, add...)
	}
	e.insert(s.to-1, string(add))
	return e.apply()
}

// cutMember is what to take out of b so that the object at s loses a member:
// the member and one comma. The zero span means that it has none.
func cutMember(b []byte, s span, name string) span {
	before := 0 // end of the member before
	for m := inObject(b, s); m.next(); before = m.val.to {
		if string(m.name()) != name {
			continue
		}
		cut := span{m.key.from, m.val.to}
		if before > 0 {
			cut.from = before
		} else if m.next() {
			cut.to = m.key.from
		}
		return cut
	}
	return span{}
}
