package local

import (
	"encoding/json"
	"strings"
)

// Values are what the placeholders of a template stand for.
type Values struct {
	RequestID string // {{request_id}}
	Route     string // {{route}}
	Model     string // {{model}}
	Reason    string // {{reason}}
}

// Render fills in a text. Only the four placeholders are replaced, each once:
// what a value brings along is never looked into. Anything else in braces
// stays as it is.
func Render(text string, v Values) string {
	if !strings.Contains(text, "{{") {
		return text
	}
	return replacer(v, func(s string) string { return s }).Replace(text)
}

// RenderJSON fills in the string values of a JSON document, escaped, so that
// a valid document stays valid and keeps its shape; keys are left alone. The
// result may share memory with doc if there was nothing to fill in.
func RenderJSON(doc []byte, v Values) []byte {
	if !strings.Contains(string(doc), "{{") {
		return doc
	}
	fill := replacer(v, escaped)
	out := make([]byte, 0, len(doc)+64)
	for i := 0; i < len(doc); {
		if doc[i] != '"' {
			out = append(out, doc[i])
			i++
			continue
		}
		end := stringEnd(doc, i)
		if isKey(doc, end) {
			out = append(out, doc[i:end]...)
		} else {
			out = append(out, fill.Replace(string(doc[i:end]))...)
		}
		i = end
	}
	return out
}

func replacer(v Values, form func(string) string) *strings.Replacer {
	return strings.NewReplacer(
		"{{request_id}}", form(v.RequestID), "{{route}}", form(v.Route),
		"{{model}}", form(v.Model), "{{reason}}", form(v.Reason),
	)
}

// escaped is s as the inside of a JSON string; broken UTF-8 becomes U+FFFD.
func escaped(s string) string {
	quoted, err := json.Marshal(s)
	if err != nil {
		return ""
	}
	return string(quoted[1 : len(quoted)-1])
}

// stringEnd is the index behind the string whose quote is at b[i].
func stringEnd(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// isKey reports whether the string that ended before b[i] names a member.
func isKey(b []byte, i int) bool {
	i = space(b, i)
	return i < len(b) && b[i] == ':'
}

func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}
