package edit

import (
	"bytes"
	"strings"

	"github.com/tidwall/gjson"

	"backstop/wire"
)

// Member is one member of an object.
type Member struct {
	Val gjson.Result // as it is in the document, none if it was added

	name    string
	key     gjson.Result
	raw     string // new value, "" = as it is
	gone    bool
	renamed bool
}

// Object is an object of a document, to be changed by name. Settle hands the
// changes over to the document's edits.
type Object struct {
	*Edits
	members []Member
	added   []Member
	end     int // offset of the closing brace
	spell   func(string) string
}

// Open opens a document that is one object.
func Open(b []byte) *Object {
	root := gjson.ParseBytes(b)
	return open(New(b), root, bytes.LastIndexByte(b, '}'), func(name string) string { return name })
}

// Object opens an object that stands in the document. Names that spell makes
// the same are one name.
func (e *Edits) Object(v gjson.Result, spell func(name string) string) *Object {
	return open(e, v, v.Index+strings.LastIndexByte(v.Raw, '}'), spell)
}

func open(e *Edits, v gjson.Result, end int, spell func(string) string) *Object {
	o := &Object{Edits: e, end: end, spell: spell}
	v.ForEach(func(k, v gjson.Result) bool {
		o.members = append(o.members, Member{name: spell(k.String()), key: k, Val: v})
		return true
	})
	return o
}

// Find returns a member, nil if there is none.
func (o *Object) Find(name string) *Member {
	name = o.spell(name)
	for _, list := range [...][]Member{o.members, o.added} {
		for i := range list {
			if m := &list[i]; !m.gone && m.name == name {
				return m
			}
		}
	}
	return nil
}

// Set gives a member a new raw value, or adds it. Only the first of that name
// is changed.
func (o *Object) Set(name, raw string) {
	if m := o.Find(name); m != nil {
		if m.Val.Raw != raw {
			m.raw = raw
		}
		return
	}
	o.added = append(o.added, Member{name: o.spell(name), raw: raw})
}

// Drop takes out every member of that name and reports whether there was one.
func (o *Object) Drop(name string) (found bool) {
	for m := o.Find(name); m != nil; m = o.Find(name) {
		m.gone, found = true, true
	}
	return found
}

// Rename gives a member another name; if the new name is there, that one stays
// and the old one goes.
func (o *Object) Rename(from, to string) {
	m := o.Find(from)
	switch {
	case m == nil || o.spell(from) == o.spell(to):
	case o.Find(to) != nil:
		o.Drop(from)
	default:
		m.name, m.renamed = o.spell(to), true
	}
}

// Settle hands all changes over to the document, whose other bytes stay. It is
// called once.
func (o *Object) Settle() {
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
				o.Replace(m.key, Quoted(m.name))
			}
			if m.raw != "" {
				o.drawOver(m.Val.Index, m.Val.Index+len(m.Val.Raw))
				o.Replace(m.Val, m.raw)
			}
		}
	}
	o.add(last >= 0)
}

// Bytes settles the object and returns the edited document.
func (o *Object) Bytes() []byte {
	o.Settle()
	return o.Apply()
}

// cut takes out a member with one comma: the one behind it, or for those
// behind the last that stays the one before.
func (o *Object) cut(i, last int) {
	from, to := o.members[i].key.Index, o.members[i].Val.Index+len(o.members[i].Val.Raw)
	switch {
	case i < last:
		to = o.members[i+1].key.Index
	case i > 0:
		v := o.members[i-1].Val
		from = v.Index + len(v.Raw)
	}
	o.drawOver(from, to)
	o.Splice(from, to, "")
}

func (o *Object) add(comma bool) {
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
		o.Splice(o.end, o.end, string(more))
	}
}

// SetMember returns b, which holds one object, with a member set to a raw
// value; only the first of that name is changed.
func SetMember(b []byte, name, raw string) []byte {
	o := Open(b)
	o.Set(name, raw)
	return o.Bytes()
}
