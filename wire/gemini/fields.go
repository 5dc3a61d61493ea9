package gemini

import (
	"strings"

	"github.com/tidwall/gjson"

	"backstop/wire"
)

// fields is an object that grows: names in the order of their first
// appearance, and of each the last value that was not null.
type fields struct {
	list []grown
}

type grown struct{ name, raw string }

func (f *fields) put(name, raw string) {
	for i := range f.list {
		if f.list[i].name == name {
			if raw != "null" {
				f.list[i].raw = raw
			}
			return
		}
	}
	if len(f.list) < maxMembers {
		f.list = append(f.list, grown{name, raw})
	}
}

func (f *fields) merge(v gjson.Result) {
	v.ForEach(func(k, v gjson.Result) bool {
		f.put(k.String(), v.Raw)
		return true
	})
}

func (f *fields) appendTo(out []byte) []byte {
	out = append(out, '{')
	for i, g := range f.list {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(wire.AppendString(out, g.name), ':'), g.raw...)
	}
	return append(out, '}')
}

// lists is an object whose arrays grow from event to event.
type lists struct {
	fields
	grown map[string]*strings.Builder
}

func (l *lists) add(v gjson.Result) {
	v.ForEach(func(k, v gjson.Result) bool {
		name := k.String()
		if !v.IsArray() {
			l.put(name, v.Raw)
			return true
		}
		l.put(name, "[]")
		if l.grown == nil {
			l.grown = map[string]*strings.Builder{}
		}
		b := l.grown[name]
		if b == nil {
			if len(l.grown) == maxMembers {
				return true
			}
			b = &strings.Builder{}
			l.grown[name] = b
		}
		v.ForEach(func(_, e gjson.Result) bool {
			if b.Len() > 0 {
				b.WriteByte(',')
			}
			b.WriteString(e.Raw)
			return true
		})
		return true
	})
}

// appendTo writes the object, or raw if something else stood in its place.
func (l *lists) appendTo(out []byte, raw string) []byte {
	if raw != "{}" {
		return append(out, raw...)
	}
	out = append(out, '{')
	for i, g := range l.list {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(wire.AppendString(out, g.name), ':')
		if b := l.grown[g.name]; b != nil {
			out = append(append(append(out, '['), b.String()...), ']')
		} else {
			out = append(out, g.raw...)
		}
	}
	return append(out, '}')
}
