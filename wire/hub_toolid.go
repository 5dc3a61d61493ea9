package wire

import (
	"crypto/sha256"
	"encoding/hex"
)

// toolIDSize is the longest tool-call id that all dialects take.
const toolIDSize = 40

// ToolID maps the id of a tool call onto at most 40 characters of
// [A-Za-z0-9_-], which every dialect takes. The same id always gives the same
// result, so that calls and their results still match, in this request and in
// later ones; an id that already is of that form stays.
func ToolID(id string) string {
	if len(id) <= toolIDSize && plainID(id) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return ("call_" + hex.EncodeToString(sum[:]))[:toolIDSize]
}

// PlainName reports whether a tool's name has only characters that every
// dialect takes. Gemini has functions with dots and colons in their names,
// which the others refuse.
func PlainName(name string) bool { return plainID(name) }

func plainID(id string) bool {
	for i := 0; i < len(id); i++ {
		switch c := id[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-':
		default:
			return false
		}
	}
	return id != ""
}
