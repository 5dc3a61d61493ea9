package wire

import (
	"slices"
	"strconv"

	"backstop/sse"
)

// Bridge turns the events of an upstream's stream into events of the caller's
// dialect. What follows on the driver's side (writing, putting together,
// taking over) then only sees the caller's dialect. Not safe for concurrent
// use.
type Bridge struct {
	from Decoder
	to   Encoder

	ends []Delta // the finish reason of each choice, see wait
	done bool
	lost Lost
	halves
}

// NewBridge makes a bridge from one dialect to another for one answer.
func NewBridge(upstream, caller HubRoom, h Head) *Bridge {
	return &Bridge{from: upstream.Decoder(), to: caller.Encoder(h)}
}

// Event passes on an event that the upstream's reader called sig. Malformed
// events and faults give nothing. The result is valid until the next call.
func (b *Bridge) Event(ev *sse.Event, sig *Signal) []Framed {
	if b.done || ev.Comment || sig != nil && (sig.Kind == Malformed || sig.Kind == Fault) {
		return nil
	}
	list := b.from.Event(ev)
	if list = b.wait(list); len(list) == 0 {
		return nil
	}
	return b.to.Encode(list)
}

// wait takes finish reasons out of what an event says, and puts the last one of
// each choice before the end of the stream. Some upstreams write one with every
// event, and callers leave at the first.
func (b *Bridge) wait(list []Delta) []Delta {
	rest := list[:0]
	for i := range list {
		empty := list[i].Text == ""
		b.join(&list[i])
		switch d := list[i]; d.Kind {
		case DeltaFinish:
			b.ended(d)
		case DeltaLost:
			b.lost.Note(d.Name)
		case DeltaDone:
			b.done = true
			return append(append(append([]Delta(nil), rest...), b.ends...), d)
		default:
			if empty || d.Text != "" {
				rest = append(rest, d)
			}
		}
	}
	return rest
}

func (b *Bridge) ended(d Delta) {
	for i := range b.ends {
		if b.ends[i].Choice == d.Choice {
			b.ends[i] = d
			return
		}
	}
	b.ends = append(b.ends, d)
}

// End returns what is still owed when the upstream has ended without its
// terminal event: nothing, unless there was a finish reason.
func (b *Bridge) End() []Framed {
	if b.done || len(b.ends) == 0 {
		return nil
	}
	b.done = true
	return b.to.Encode(append(b.ends, Delta{Kind: DeltaDone}))
}

// Writer joins a bridge and a writer of the caller's dialect to one writer
// that takes the upstream's events.
//
// The caller's writer may be joined to one bridge after another, when another
// upstream takes the stream over; if it is a Grafter so is the result.
func (b *Bridge) Writer(w StreamWriter) StreamWriter {
	joined := &bridged{StreamWriter: w, bridge: b}
	if g, ok := w.(Grafter); ok {
		return &grafted{bridged: joined, to: g}
	}
	return joined
}

// grafted is a bridged writer that can go on with another upstream's events.
type grafted struct {
	*bridged
	to Grafter
}

func (w *grafted) Text(text []byte) []byte { return w.to.Text(text) }
func (w *grafted) Hold()                   { w.to.Hold() }

func (w *grafted) Graft(ev *sse.Event, sig *Signal, text bool) []byte {
	w.out = w.out[:0]
	w.graft(w.bridge.Event(ev, sig), text)
	return w.out
}

// Lost implements Loser.
func (w *bridged) Lost() Lost { return slices.Clip(w.bridge.lost) }

func (w *grafted) graft(list []Framed, text bool) {
	for i := range list {
		f := &list[i]
		w.out = append(w.out, w.to.Graft(&sse.Event{Name: f.Name, Data: f.Data}, &Signal{Kind: f.Kind}, text)...)
	}
	w.rescued = true
}

type bridged struct {
	StreamWriter
	bridge  *Bridge
	out     []byte
	rescued bool // events come in as grafts
}

func (w *bridged) Event(ev *sse.Event, sig *Signal) []byte {
	w.out = w.out[:0]
	w.add(w.bridge.Event(ev, sig))
	return w.out
}

func (w *bridged) add(list []Framed) {
	for i := range list {
		f := &list[i]
		w.out = append(w.out, w.StreamWriter.Event(&sse.Event{Name: f.Name, Data: f.Data}, &Signal{Kind: f.Kind})...)
	}
}

// Close of a writer that took a stream over: what the bridge still owes is a
// graft as well, without text.
func (w *grafted) Close(note *Note) []byte {
	w.out = w.out[:0]
	if rest := w.bridge.End(); w.rescued {
		w.graft(rest, false)
	} else {
		w.add(rest)
	}
	w.out = append(w.out, w.StreamWriter.Close(note)...)
	return w.out
}

func (w *bridged) Close(note *Note) []byte {
	w.out = w.out[:0]
	w.add(w.bridge.End())
	w.out = append(w.out, w.StreamWriter.Close(note)...)
	return w.out
}

// Translate turns a plain body of an upstream into one of the caller's
// dialect, and says what of it was lost. It is false where that is not possible.
func Translate(upstream, caller HubRoom, body []byte, h Head) ([]byte, Lost, bool) {
	m, ok := upstream.DecodeBody(body)
	if !ok {
		return nil, nil, false
	}
	if m.ID == "" {
		m.ID = h.ID
	}
	if m.Created == 0 {
		m.Created = h.Created
	}
	if m.Model == "" {
		m.Model = h.Model
	}
	m.Asked = h.Asked
	m.nameCalls()
	m.strung()
	out, ok := caller.EncodeBody(m)
	return out, m.Lost, ok
}

// nameCalls gives tool calls an id where their upstream forgot it.
func (m *Message) nameCalls() {
	n := 0
	for i := range m.Choices {
		for j := range m.Choices[i].Parts {
			part := &m.Choices[i].Parts[j]
			if part.Kind != PartToolCall {
				continue
			}
			if part.ID == "" {
				part.ID = ToolID(m.ID + "." + strconv.Itoa(n))
			}
			n++
		}
	}
}
