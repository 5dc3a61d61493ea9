package backstophttp

import (
	"bytes"

	"backstop/sse"
	"backstop/wire"
)

// rewording is the view of a caller's stream whose upstream speaks another
// dialect, for promised JSON that is mended as it comes: words are exchanged in
// the upstream's own events, and what comes out of that is translated.
type rewording struct {
	wire.StreamWriter              // takes the upstream's events
	to                wire.Grafter // the same
	own               wire.Patcher // writes the upstream's dialect; nothing of it goes out as it is
	out               []byte
}

// reworded returns such a view, nil if the upstream's dialect cannot do it.
func (r *run) reworded(a *attempt) wire.Patcher {
	own, ok := a.room.Writer(a.cross.seen).(wire.Patcher)
	to, grafts := a.writer.(wire.Grafter)
	if !ok || !grafts {
		return nil
	}
	return &rewording{StreamWriter: a.writer, to: to, own: own}
}

// Event implements wire.StreamWriter. The own writer may keep an event back.
func (w *rewording) Event(ev *sse.Event, sig *wire.Signal) []byte {
	own := w.own.Event(ev, sig)
	if len(own) > 0 && len(own) == len(ev.Raw) && &own[0] == &ev.Raw[0] {
		return w.StreamWriter.Event(ev, sig) // as it is: no need to read it again
	}
	return w.pass(own)
}

// Patch implements wire.Patcher.
func (w *rewording) Patch(ev *sse.Event, sig *wire.Signal, text []byte, finish string) []byte {
	return w.pass(w.own.Patch(ev, sig, text, finish))
}

// Argue implements wire.Patcher.
func (w *rewording) Argue(choice, call int, text []byte) []byte {
	return w.pass(w.own.Argue(choice, call, text))
}

// Text implements wire.Grafter.
func (w *rewording) Text(text []byte) []byte { return w.pass(w.own.Text(text)) }

// Graft implements wire.Grafter.
func (w *rewording) Graft(ev *sse.Event, sig *wire.Signal, text bool) []byte {
	return w.to.Graft(ev, sig, text)
}

// Hold implements wire.Grafter: it is the caller's last event that waits.
func (w *rewording) Hold() { w.to.Hold() }

// Lost implements wire.Loser.
func (w *rewording) Lost() wire.Lost {
	if l, ok := w.StreamWriter.(wire.Loser); ok {
		return l.Lost()
	}
	return nil
}

// rest is what the own writer kept back to its end, once. It may tell of losses,
// so it is asked for before the note is made that goes to Close.
func (w *rewording) rest() []byte { return bytes.Clone(w.pass(w.own.Close(nil))) }

// Close implements wire.StreamWriter.
func (w *rewording) Close(note *wire.Note) []byte {
	return append(w.rest(), w.StreamWriter.Close(note)...)
}

// pass translates events that are framed already.
func (w *rewording) pass(events []byte) []byte {
	w.out = w.out[:0]
	for list := sse.NewReader(bytes.NewReader(events), 0); len(events) > 0; {
		ev, err := list.Next()
		if err != nil {
			break
		}
		w.out = append(w.out, w.StreamWriter.Event(ev, nil)...)
	}
	return w.out
}
