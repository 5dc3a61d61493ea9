package sse_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"backstop/sse"
)

// again gives the same bytes over and over, as many as are asked for.
type again struct {
	text []byte
	at   int
}

func (a *again) Read(p []byte) (int, error) {
	n := copy(p, a.text[a.at:])
	a.at = (a.at + n) % len(a.text)
	return n, nil
}

func BenchmarkReader240ByteEvent(b *testing.B) {
	event := []byte("data: " + strings.Repeat("x", 232) + "\n\n")
	r := sse.NewReader(&again{text: bytes.Repeat(event, 64)}, 0)
	b.SetBytes(int64(len(event)))
	b.ReportAllocs()
	for b.Loop() {
		if ev, err := r.Next(); err != nil || len(ev.Raw) != len(event) {
			b.Fatal(len(ev.Raw), err)
		}
	}
}

func BenchmarkReader16MiBEventsInSmallPortions(b *testing.B) {
	event := []byte("data: " + strings.Repeat("x", 16<<20-8) + "\n\n")
	b.SetBytes(int64(len(event)))
	for b.Loop() {
		r := sse.NewReader(&pieces{rest: event, cuts: []byte{255}}, 0)
		if _, err := r.Next(); err != nil {
			b.Fatal(err)
		}
		if _, err := r.Next(); err != io.EOF {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	data := []byte(strings.Repeat("x", 232))
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		dst = sse.Append(dst[:0], "", data)
	}
}
