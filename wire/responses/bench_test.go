package responses

import (
	"strings"
	"testing"

	"backstop/sse"
	"backstop/wire"
)

// BenchmarkEvent is what a piece of text costs on its way from an upstream to
// a caller of the same dialect.
func BenchmarkEvent(b *testing.B) {
	ev := &sse.Event{Name: textDelta, Data: []byte(hello), Raw: []byte(framed(hello))}
	read, w := Room{}.Reader(&wire.Request{Stream: true}, nil), Room{}.Writer(nil)
	for _, data := range []string{begun, msgOn, textOn} {
		w.Event(&sse.Event{Data: []byte(data)}, nil)
	}
	b.ReportAllocs()
	for b.Loop() {
		sig := read.Event(ev)
		w.Event(ev, &sig)
	}
}

// BenchmarkEncoder is what a piece of text of another dialect costs.
func BenchmarkEncoder(b *testing.B) {
	e := Room{}.Encoder(wire.Head{ID: "r"})
	list := []wire.Delta{{Kind: wire.DeltaText, Text: "Hello"}}
	b.ReportAllocs()
	for b.Loop() {
		e.Encode(list)
	}
}

// BenchmarkEncodeBody is what a plain answer of 1 KiB costs.
func BenchmarkEncodeBody(b *testing.B) {
	m := &wire.Message{ID: "m", Usage: wire.NoUsage(), Choices: []wire.Choice{{Ending: wire.EndStop, Parts: []wire.Part{{Kind: wire.PartText, Text: strings.Repeat("word ", 200)}}}}}
	b.ReportAllocs()
	for b.Loop() {
		Room{}.EncodeBody(m)
	}
}
