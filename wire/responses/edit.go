package responses

import (
	"bytes"
	"slices"

	"github.com/tidwall/gjson"

	"backstop/wire"
)

// edits is a list of changes to a document that are made in one copy. Places
// must not overlap; equal ones keep the order of the calls.
type edits struct {
	b    []byte
	list []edit
}

type edit struct {
	from, to int
	text     string
}

func (e *edits) replace(v gjson.Result, raw string) {
	e.list = append(e.list, edit{v.Index, v.Index + len(v.Raw), raw})
}

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
			continue // inside an edit that was made before
		}
		out = append(append(out, e.b[at:c.from]...), c.text...)
		at = c.to
	}
	return append(out, e.b[at:]...)
}

// member is one parameter of a request as it will be.
type member struct {
	name     string
	key, val gjson.Result
	raw      string // new value, "" = as it is
	gone     bool
	renamed  bool
}

// object is the top level of a request, to be changed by name.
type object struct {
	edits
	members []member
	added   []member
	end     int // offset of the closing brace
}

func openObject(b []byte) *object {
	o := &object{edits: edits{b: b}, end: bytes.LastIndexByte(b, '}')}
	gjson.ParseBytes(b).ForEach(func(k, v gjson.Result) bool {
		o.members = append(o.members, member{name: k.String(), key: k, val: v})
		return true
	})
	return o
}

// find returns a member, nil if there is none.
func (o *object) find(name string) *member {
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
	o.added = append(o.added, member{name: name, raw: raw})
}

func (o *object) drop(name string) {
	for m := o.find(name); m != nil; m = o.find(name) {
		m.gone = true
	}
}

// rename gives a member another name; if the new name is there, that one
// stays and the old one goes.
func (o *object) rename(from, to string) {
	m := o.find(from)
	switch {
	case m == nil || from == to:
	case o.find(to) != nil:
		o.drop(from)
	default:
		m.name, m.renamed = to, true
	}
}

// bytes makes all changes, the others' bytes as they were.
func (o *object) bytes() []byte {
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
				o.replace(m.key, quoted(m.name))
			}
			if m.raw != "" {
				o.drawOver(m.val)
				o.replace(m.val, m.raw)
			}
		}
	}
	o.add(last >= 0)
	return o.apply()
}

// cut takes out a member with one comma: the one behind it, or for those
// behind the last that stays the one before.
func (o *object) cut(i, last int) {
	m := &o.members[i]
	c := edit{from: m.key.Index, to: m.val.Index + len(m.val.Raw)}
	switch {
	case i < last:
		c.to = o.members[i+1].key.Index
	case i > 0:
		v := o.members[i-1].val
		c.from = v.Index + len(v.Raw)
	}
	o.drawOver(gjson.Result{Index: c.from, Raw: string(o.b[c.from:c.to])})
	o.list = append(o.list, c)
}

// drawOver takes back the edits that were made inside a place.
func (o *object) drawOver(v gjson.Result) {
	to := v.Index + len(v.Raw)
	o.list = slices.DeleteFunc(o.list, func(e edit) bool { return e.from >= v.Index && e.to <= to })
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
		o.list = append(o.list, edit{o.end, o.end, string(more)})
	}
}

func quoted(s string) string { return string(wire.AppendString(nil, s)) }

// setMember returns b, which holds one object, with a member set to a raw
// value; only the first of that name is changed.
func setMember(b []byte, name, raw string) []byte {
	o := openObject(b)
	o.set(name, raw)
	return o.bytes()
}

// cutElements takes elements out of an array, each with one comma.
func (e *edits) cutElements(list []gjson.Result, gone []bool) {
	kept := -1
	for i := range list {
		if !gone[i] {
			kept = i
		}
	}
	for i, v := range list {
		if !gone[i] {
			continue
		}
		c := edit{from: v.Index, to: v.Index + len(v.Raw)}
		switch {
		case i < kept:
			c.to = list[i+1].Index
		case i > 0:
			c.from = list[i-1].Index + len(list[i-1].Raw)
		}
		e.list = append(e.list, c)
	}
}
