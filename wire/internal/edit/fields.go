package edit

import (
	"github.com/tidwall/gjson"

	"backstop/wire"
)

// MaxFields bounds the members of an object that grows; further ones are left
// out.
const MaxFields = 1000

// Fields is an object that grows: names in the order of their first
// appearance, and of each the last value that was not null.
type Fields struct {
	List []Field
}

// Field is a member and its value as JSON.
type Field struct{ Name, Raw string }

// Put takes in a member.
func (f *Fields) Put(name, raw string) {
	for i := range f.List {
		if f.List[i].Name == name {
			if raw != "null" {
				f.List[i].Raw = raw
			}
			return
		}
	}
	if len(f.List) < MaxFields {
		f.List = append(f.List, Field{name, raw})
	}
}

// Merge takes in the members of an object.
func (f *Fields) Merge(v gjson.Result) {
	v.ForEach(func(k, v gjson.Result) bool {
		f.Put(k.String(), v.Raw)
		return true
	})
}

// AppendTo writes the object.
func (f *Fields) AppendTo(out []byte) []byte {
	return f.AppendWith(out, func(out []byte, one Field) []byte { return append(out, one.Raw...) })
}

// AppendWith writes the object, its values by means of a function.
func (f *Fields) AppendWith(out []byte, value func(out []byte, one Field) []byte) []byte {
	out = append(out, '{')
	for i, one := range f.List {
		if i > 0 {
			out = append(out, ',')
		}
		out = value(append(wire.AppendString(out, one.Name), ':'), one)
	}
	return append(out, '}')
}
