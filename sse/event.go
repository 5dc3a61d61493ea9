package sse

// Event is one event of a stream: everything up to and including the blank
// line that ends it. Its slices are valid until the next read.
//
// The Raw bytes of all events of a stream, put together, are the stream.
type Event struct {
	Raw     []byte // the bytes as received, blank line included
	Name    string // value of the last event: field
	Data    []byte // data: lines joined by LF
	Comment bool   // only comments or unknown fields: no data line
}
