// Package sse reads and writes Server-Sent Events without losing a byte.
//
// Stability: stable.
package sse

// Event is one event of a stream. Its slices are valid until the next read.
type Event struct {
	Raw     []byte // the bytes as received, blank line included
	Name    string // value of the last event: field
	Data    []byte // data: lines joined by LF
	Comment bool   // only comments or unknown fields: no data line
}
