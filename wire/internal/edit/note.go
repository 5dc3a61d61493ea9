package edit

import (
	"encoding/json"

	"backstop/wire"
)

// Note is a note as JSON. It cannot fail: a note holds strings, numbers and
// booleans.
func Note(n *wire.Note) []byte {
	b, err := json.Marshal(n)
	if err != nil {
		return []byte("{}")
	}
	return b
}
