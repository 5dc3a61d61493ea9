// Package roomtest holds what the tests of the dialect rooms share: streams
// that are played through a room, and the recorded answers of upstreams. Only
// tests import it.
package roomtest

import (
	"strings"

	"backstop"
	"backstop/sse"
	"backstop/wire"
)

// Played is what a stream comes to.
type Played struct {
	Signals []wire.SignalKind
	Bytes   int
	Text    string // content text
	Outcome backstop.Outcome
	Caller  []byte // what the caller gets
	Body    []byte // the same answer as a plain body
}

// Play reads a stream to its end as a driver does, through the reader, the
// writer and the aggregator of a room.
func Play(room wire.Room, r *wire.Request, a *wire.Reply, stream string, clean bool) (p Played) {
	read, write, sum := room.Reader(r, a), room.Writer(r), room.Aggregator(r)
	texts, _ := read.(wire.TextReader)
	var text []byte
	each(stream, func(ev *sse.Event) bool {
		sig := read.Event(ev)
		p.Signals = append(p.Signals, sig.Kind)
		p.Bytes += sig.Bytes
		if texts != nil {
			text = texts.AppendText(text)
		}
		p.Caller = append(p.Caller, write.Event(ev, &sig)...)
		if sig.Kind != wire.Fault && sig.Kind != wire.Malformed {
			sum.Add(ev.Data)
		}
		return true
	})
	p.Outcome, p.Text = read.End(clean), string(text)
	p.Caller = append(p.Caller, write.Close(nil)...)
	p.Body = sum.Body()
	return p
}

// Verdict reads a stream up to its first fault, or to a clean end.
func Verdict(read wire.StreamReader, stream string) backstop.Outcome {
	each(stream, func(ev *sse.Event) bool { return read.Event(ev).Kind != wire.Fault })
	return read.End(true)
}

func each(stream string, visit func(ev *sse.Event) bool) {
	events := sse.NewReader(strings.NewReader(stream), 0)
	for {
		ev, err := events.Next()
		if ev != nil && !visit(ev) || err != nil {
			return
		}
	}
}
