package gemini

import (
	"strings"

	"github.com/tidwall/gjson"

	"backstop/wire/internal/edit"
)

// lists is an object whose arrays grow from event to event.
type lists struct {
	edit.Fields
	grown map[string]*strings.Builder
}

func (l *lists) add(v gjson.Result) {
	v.ForEach(func(k, v gjson.Result) bool {
		name := k.String()
		if !v.IsArray() {
			l.Put(name, v.Raw)
			return true
		}
		l.Put(name, "[]")
		if l.grown == nil {
			l.grown = map[string]*strings.Builder{}
		}
		b := l.grown[name]
		if b == nil {
			if len(l.grown) == edit.MaxFields {
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
	return l.AppendWith(out, func(out []byte, f edit.Field) []byte {
		if b := l.grown[f.Name]; b != nil {
			return append(append(append(out, '['), b.String()...), ']')
		}
		return append(out, f.Raw...)
	})
}
