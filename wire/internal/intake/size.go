package intake

import (
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

const (
	// partSize is what an image or a document counts, since its tokens have
	// nothing to do with its bytes.
	partSize = 500
	// weighDepth bounds how deep messages are taken apart.
	weighDepth = 8
)

// Kind is what a member of a message is for its size.
type Kind uint8

// The kinds: what a model reads, an image, a sound or a document, and what is
// neither.
const (
	Text Kind = iota
	Part
	Aside
)

// Size estimates the input tokens of values and tools: a quarter of a token for
// an ASCII byte, one for a CJK character, half a one for any other character.
// Only what a model reads is counted, not base64 data; kind says what the
// members of objects are. It is a heuristic for the context rule, good to about
// a third either way.
func Size(kind func(name string) Kind, tools gjson.Result, values ...gjson.Result) int {
	w := weight{kind: kind}
	for _, v := range values {
		w.value(v, 0)
	}
	return (w.quarters+len(tools.Raw))/4 + w.parts*partSize
}

// weight adds up quarters of tokens.
type weight struct {
	kind            func(name string) Kind
	quarters, parts int
}

func (w *weight) value(v gjson.Result, depth int) {
	switch {
	case v.Type == gjson.String:
		w.text(v.Str)
	case v.Type != gjson.JSON:
	case depth > weighDepth:
		w.quarters += len(v.Raw)
	default:
		object := v.IsObject()
		v.ForEach(func(k, v gjson.Result) bool {
			kind := Text
			if object {
				kind = w.kind(k.Str)
			}
			switch kind {
			case Text:
				w.value(v, depth+1)
			case Part:
				w.parts++
			}
			return true
		})
	}
}

func (w *weight) text(s string) {
	for _, r := range s {
		w.quarters += Quarters(r)
	}
}

// Quarters is what a character weighs, in quarters of a token.
func Quarters(r rune) int {
	switch {
	case r < utf8.RuneSelf:
		return 1
	case r >= 0x2E80 && r < 0xD800, r >= 0xF900 && r < 0xFB00, r >= 0xFF00 && r < 0xFFF0, r >= 0x20000:
		return 4
	}
	return 2
}
