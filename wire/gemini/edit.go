package gemini

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"backstop/wire"
)

// edits is a list of changes to a document that are made in one copy. A place
// inside one that was changed before is left out; equal ones keep the order of
// the calls.
type edits struct {
	b    []byte
	list []edit
}

type edit struct {
	from, to int
	text     string
}

func (e *edits) splice(from, to int, text string) { e.list = append(e.list, edit{from, to, text}) }

func (e *edits) replace(v gjson.Result, raw string) { e.splice(v.Index, v.Index+len(v.Raw), raw) }

// apply returns the edited document; with no edits it is the same slice.
func (e *edits) apply() []byte {
	if len(e.list) == 0 {
		return e.b
	}
	slices.SortStableFunc(e.list, func(x, y edit) int { return x.from - y.from })
	size := len(e.b)
	for _, c := range e.list {
		size += len(c.text)
	}
	out, at := make([]byte, 0, size), 0
	for _, c := range e.list {
		if c.from < at {
			continue
		}
		out = append(append(out, e.b[at:c.from]...), c.text...)
		at = c.to
	}
	return append(out, e.b[at:]...)
}

// member is one member of an object as it will be.
type member struct {
	name     string // first spelling
	key, val gjson.Result
	raw      string // new value, "" = as it is
	gone     bool
	renamed  bool
}

// object is an object of a document, to be changed by name in any spelling.
type object struct {
	e       *edits
	members []member
	added   []member
	end     int // offset of the closing brace
}

// openObject opens an object that stands in the document of e.
func openObject(e *edits, v gjson.Result) *object {
	o := &object{e: e, end: v.Index + strings.LastIndexByte(v.Raw, '}')}
	v.ForEach(func(k, v gjson.Result) bool {
		o.members = append(o.members, member{name: camel(k.String()), key: k, val: v})
		return true
	})
	return o
}

// find returns a member, nil if there is none.
func (o *object) find(name string) *member {
	name = camel(name)
	for _, list := range [...][]member{o.members, o.added} {
		for i := range list {
			if m := &list[i]; !m.gone && m.name == name {
				return m
			}
		}
	}
	return nil
}

func (o *object) set(name, raw string) {
	if m := o.find(name); m != nil {
		if m.val.Raw != raw {
			m.raw = raw
		}
		return
	}
	o.added = append(o.added, member{name: camel(name), raw: raw})
}

// drop reports whether there was such a member.
func (o *object) drop(name string) (found bool) {
	for m := o.find(name); m != nil; m = o.find(name) {
		m.gone, found = true, true
	}
	return found
}

// rename gives a member another name; if the new name is there, that one
// stays and the old one goes.
func (o *object) rename(from, to string) {
	m := o.find(from)
	switch {
	case m == nil || camel(from) == camel(to):
	case o.find(to) != nil:
		o.drop(from)
	default:
		m.name, m.renamed = camel(to), true
	}
}

// settle hands all changes over to the document, whose other bytes stay.
func (o *object) settle() {
	last := -1
	for i := range o.members {
		if !o.members[i].gone {
			last = i
		}
	}
	for i := range o.members {
		m := &o.members[i]
		switch {
		case m.gone:
			o.cut(i, last)
		default:
			if m.renamed {
				o.e.replace(m.key, quoted(m.name))
			}
			if m.raw != "" {
				o.e.replace(m.val, m.raw)
			}
		}
	}
	o.add(last >= 0)
}

// cut takes out a member with one comma: the one behind it, or for those
// behind the last that stays the one before.
func (o *object) cut(i, last int) {
	from, to := o.members[i].key.Index, o.members[i].val.Index+len(o.members[i].val.Raw)
	switch {
	case i < last:
		to = o.members[i+1].key.Index
	case i > 0:
		v := o.members[i-1].val
		from = v.Index + len(v.Raw)
	}
	o.e.list = slices.DeleteFunc(o.e.list, func(e edit) bool { return e.from >= from && e.to <= to })
	o.e.splice(from, to, "")
}

func (o *object) add(comma bool) {
	var more []byte
	for _, m := range o.added {
		if m.gone {
			continue
		}
		if comma {
			more = append(more, ',')
		}
		more = append(append(wire.AppendString(more, m.name), ':'), m.raw...)
		comma = true
	}
	if len(more) > 0 {
		o.e.splice(o.end, o.end, string(more))
	}
}

func quoted(s string) string { return string(wire.AppendString(nil, s)) }

// setMember returns b, which holds one object, with a member set to a raw
// value; only the first of that name is changed.
func setMember(b []byte, name, raw string) []byte {
	e := &edits{b: b}
	root := gjson.ParseBytes(b)
	if v := root.Get(name); v.Exists() {
		e.replace(v, raw)
		return e.apply()
	}
	o := openObject(e, root)
	o.added = append(o.added, member{name: name, raw: raw})
	o.settle()
	return e.apply()
}

// oneLine takes the line breaks out of JSON, so that it is one data line.
func oneLine(b []byte) []byte {
	if bytes.IndexByte(b, '\n') < 0 && bytes.IndexByte(b, '\r') < 0 {
		return b
	}
	var out bytes.Buffer
	if json.Compact(&out, b) != nil {
		return b
	}
	return out.Bytes()
}
