package edit

import (
	"bytes"
	"encoding/json"

	"backstop/wire"
)

// Quoted is s as a JSON string on one line.
func Quoted(s string) string { return string(wire.AppendString(nil, s)) }

// OneLine takes the line breaks out of JSON, so that it is one data line of an
// event. What is no JSON, or has no breaks, stays as it is.
func OneLine(b []byte) []byte {
	if bytes.IndexByte(b, '\n') < 0 && bytes.IndexByte(b, '\r') < 0 {
		return b
	}
	var out bytes.Buffer
	if json.Compact(&out, b) != nil {
		return b
	}
	return out.Bytes()
}
