package gemini

import (
	"strings"

	"github.com/tidwall/gjson"
)

// The API takes each name in two spellings: lowerCamelCase, which the SDKs
// send, and snake_case.

// snake is the second spelling of a name.
func snake(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if c := name[i]; 'A' <= c && c <= 'Z' {
			b.WriteByte('_')
			b.WriteByte(c - 'A' + 'a')
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// camel is the first spelling of a name.
func camel(name string) string {
	if strings.IndexByte(name, '_') < 0 {
		return name
	}
	var b strings.Builder
	up := false
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c == '_':
			up = b.Len() > 0
		case up && 'a' <= c && c <= 'z':
			b.WriteByte(c - 'a' + 'A')
			up = false
		default:
			b.WriteByte(c)
			up = false
		}
	}
	return b.String()
}

// fold is what all spellings of a name have in common, right or wrong.
func fold(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// pick is the member of an object in either spelling.
func pick(v gjson.Result, name string) gjson.Result {
	if m := v.Get(name); m.Exists() {
		return m
	}
	if other := snake(name); other != name {
		return v.Get(other)
	}
	return gjson.Result{}
}

// each visits the elements of a list. As in the API, one element may stand
// there without its list.
func each(v gjson.Result, visit func(i int, e gjson.Result) bool) {
	switch {
	case v.IsObject():
		visit(0, v)
	case v.IsArray():
		i := 0
		v.ForEach(func(_, e gjson.Result) bool {
			i++
			return visit(i-1, e)
		})
	}
}

// filled reports whether a value is there and not null.
