package gemini

import (
	"github.com/tidwall/gjson"

	"backstop/sse"
	"backstop/wire"
	"backstop/wire/internal/edit"
)

var (
	_ wire.PieceReader = (*reader)(nil)
	_ wire.ToolNamer   = (*reader)(nil)
	_ wire.Patcher     = (*writer)(nil)
)

// piece is a function call of the latest event.
type piece struct {
	choice, call int
	name, args   string
}

// call takes in a function call, which always comes as a whole.
func (d *reader) call(index int, v gjson.Result) {
	if d.called == nil {
		d.called = map[int]int{}
	}
	d.pieces = append(d.pieces, piece{index, d.called[index], v.Get("name").Str, v.Get("args").Raw})
	d.called[index]++
}

// Finish implements wire.PieceReader, in the words that all rooms share.
func (d *reader) Finish() string { return d.word }

// Arguments implements wire.PieceReader.
func (d *reader) Arguments(visit func(choice, call int, appendTo func([]byte) []byte)) {
	for i := range d.pieces {
		p := &d.pieces[i]
		visit(p.choice, p.call, func(all []byte) []byte { return append(all, p.args...) })
	}
}

// ToolNames implements wire.ToolNamer.
func (d *reader) ToolNames(visit func(choice, call int, tool string)) {
	for i := range d.pieces {
		visit(d.pieces[i].choice, d.pieces[i].call, d.pieces[i].name)
	}
}

// Patch implements wire.Patcher.
func (w *writer) Patch(ev *sse.Event, sig *wire.Signal, text []byte, word string) []byte {
	c, ok := parse(ev)
	if !ok || w.closed {
		return nil
	}
	e := edit.New(ev.Data)
	left := c.blocked()
	c.each(func(index int, v gjson.Result) {
		left = left || finish(v) != "" || carries(v, index > 0 || len(text) > 0)
		if index > 0 {
			return
		}
		exchange(e, v, string(text))
		if word != "" && finish(v) != "" {
			e.Replace(v.Get("finishReason"), edit.Quoted(ownReason(word)))
		}
	})
	if !left {
		return nil
	}
	return w.Event(&sse.Event{Data: e.Apply()}, sig)
}

// carries reports whether a candidate has anything in it, its text counted or
// not.
func carries(v gjson.Result, text bool) bool {
	found := false
	eachPart(v, func(_ gjson.Result, kind pieceKind, _ int) {
		found = found || kind != pieceNone && (text || kind != pieceText)
	})
	return found
}

// Argue implements wire.Patcher. A call that went out is whole.
func (w *writer) Argue(int, int, []byte) []byte { return nil }
