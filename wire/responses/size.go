package responses

import (
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

const (
	// partSize is what an image or a document counts, since its tokens have
	// nothing to do with its bytes.
	partSize = 500
	// weighDepth bounds how deep items are taken apart.
	weighDepth = 8
)

// inputSize estimates the input tokens of a body: a quarter of a token for an
// ASCII byte, one for a CJK character, half a one for any other character.
// Only what a model reads is counted, not base64 data. It is a heuristic for
// the context rule, good to about a third either way.
func inputSize(h head) int {
	var w weight
	w.value(h["instructions"], 0)
	w.value(h["input"], 0)
	return (w.quarters+len(h["tools"].Raw))/4 + w.parts*partSize
}

// weight adds up quarters of tokens.
type weight struct{ quarters, parts int }

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
			if !object {
				w.value(v, depth+1)
				return true
			}
			switch k.Str {
			case "image_url", "file_data", "file_url", "file_id", "input_audio":
				w.parts++
			case "role", "type", "id", "call_id", "status", "encrypted_content", "detail", "filename":
			default:
				w.value(v, depth+1)
			}
			return true
		})
	}
}

func (w *weight) text(s string) {
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			w.quarters++
		case r >= 0x2E80 && r < 0xD800, r >= 0xF900 && r < 0xFB00, r >= 0xFF00 && r < 0xFFF0, r >= 0x20000:
			w.quarters += 4
		default:
			w.quarters += 2
		}
	}
}
