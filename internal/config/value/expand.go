package value

import (
	"strings"
)

// Lookup finds the text behind a reference: of an environment variable, or of
// a file when file is true. It returns a [Fault] when there is none.
type Lookup func(name string, file bool) (string, error)

// longestExpansion bounds what references may add up to.
const longestExpansion = 1 << 20

// Reference is where a reference stands in a text, for messages.
type Reference struct {
	Offset int // bytes
	Text   string
}

// Expand replaces ${NAME}, ${NAME:-default} and ${file:PATH}; $${ stands for
// ${ itself. What comes in is never looked at again. The Reference says which
// one failed.
func Expand(text string, look Lookup) (string, Reference, error) {
	if !strings.Contains(text, "${") {
		return text, Reference{}, nil
	}
	var b strings.Builder
	for at := 0; at < len(text); {
		i := strings.Index(text[at:], "${")
		if i < 0 {
			b.WriteString(text[at:])
			break
		}
		start := at + i
		if start > at && text[start-1] == '$' {
			b.WriteString(text[at:start-1] + "${")
			at = start + 2
			continue
		}
		b.WriteString(text[at:start])
		end := strings.IndexByte(text[start:], '}')
		if end < 0 {
			return "", Reference{start, text[start:]}, &Fault{"has a ${ without }", "write ${NAME}, or $${ for the characters themselves"}
		}
		ref := Reference{start, text[start : start+end+1]}
		got, err := reference(text[start+2:start+end], look)
		if err != nil {
			return "", ref, err
		}
		if b.WriteString(got); b.Len() > longestExpansion {
			return "", ref, &Fault{"is too long once expanded", ""}
		}
		at = start + end + 1
	}
	return b.String(), Reference{}, nil
}

// reference resolves what stands between ${ and }.
func reference(inner string, look Lookup) (string, error) {
	if path, ok := strings.CutPrefix(inner, "file:"); ok {
		return look(strings.TrimSpace(path), true)
	}
	name, fallback, hasDefault := strings.Cut(inner, ":-")
	if !variable(name) {
		return "", &Fault{"is not a variable name", "write ${NAME}, ${NAME:-default}, ${file:PATH}, or $${ for the characters themselves"}
	}
	if strings.Contains(fallback, "${") {
		return "", &Fault{"has another reference as its default", "write a plain default, or set " + name}
	}
	got, err := look(name, false)
	if hasDefault && (err != nil || got == "") {
		return fallback, nil
	}
	if err == nil && got == "" {
		err = &Fault{"is empty", "set it, or write ${" + name + ":-default}"}
	}
	return got, err
}

func variable(name string) bool {
	for i := 0; i < len(name); i++ {
		c := name[i]
		letter := c == '_' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}
