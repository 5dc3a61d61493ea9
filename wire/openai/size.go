package openai

import (
	"encoding/binary"
	"unicode/utf8"

	"backstop/wire/internal/intake"
)

// partSize is what an image, a sound or a file counts, since its tokens have
// nothing to do with its bytes.
const partSize = 500

// weighDepth bounds how deep messages are taken apart; each level costs one
// more pass over what is below it.
const weighDepth = 8

// inputSize estimates the input tokens of a body: a quarter of a token for an
// ASCII byte, one for a CJK character, half a one for any other character.
// Only what a model reads is counted: text, tool arguments and tool
// descriptions, not base64 data. It is a heuristic for the context rule, good
// to about a third either way.
func inputSize(b []byte, h head) int {
	var w weight
	for _, f := range [...]field{fMessages, fPrompt, fInput} {
		if h[f].there() {
			w.value(b, h[f], 0)
		}
	}
	quarters := w.quarters
	for _, f := range [...]field{fTools, fFunctions} {
		quarters += h[f].to - h[f].from
	}
	if h[fPrompt].there() || h[fInput].there() {
		quarters += 4 * w.numbers
	}
	return quarters/4 + w.parts*partSize
}

// weight adds up quarters of tokens.
type weight struct {
	quarters int
	numbers  int // token ids of prompt or input
	parts    int
}

func (w *weight) value(b []byte, s span, depth int) {
	if depth > weighDepth {
		w.quarters += s.to - s.from
		return
	}
	switch b[s.from] {
	case '"':
		w.quarters += quarters(s.inner(b))
	case '[':
		for e := inArray(b, s); e.next(); {
			w.value(b, e.val, depth+1)
		}
	case '{':
		w.object(b, s, depth)
	case 't', 'f', 'n':
	default:
		w.numbers++
	}
}

func (w *weight) object(b []byte, s span, depth int) {
	for m := inObject(b, s); m.next(); {
		switch string(m.name()) {
		case "image_url", "input_audio", "file", "video_url":
			w.parts++
		case "role", "type", "id", "tool_call_id":
		default:
			w.value(b, m.val, depth+1)
		}
	}
}

// quarters weighs the body of a JSON string without decoding it.
func quarters(s []byte) int {
	n := 0
	for i := 0; i < len(s); {
		if i+8 <= len(s) && letters(binary.LittleEndian.Uint64(s[i:])) {
			n += 8
			i += 8
			continue
		}
		switch c := s[i]; {
		case c == '\\' && i+6 <= len(s) && s[i+1] == 'u':
			n += intake.Quarters(hex4(s[i+2 : i+6]))
			i += 6
		case c == '\\':
			n++
			i += 2
		case c < utf8.RuneSelf:
			n++
			i++
		default:
			r, size := utf8.DecodeRune(s[i:])
			n += intake.Quarters(r)
			i += size
		}
	}
	return n
}

// letters reports whether eight bytes are ASCII without a backslash.
func letters(x uint64) bool {
	slash := x ^ (lowBits * '\\')
	return ((slash-lowBits)&^slash|x)&highBits == 0
}
