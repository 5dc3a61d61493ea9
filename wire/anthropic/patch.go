package anthropic

import (
	"strconv"

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

// Finish implements wire.PieceReader, in the words that all rooms share.
func (d *reader) Finish() string { return d.finish }

// Arguments implements wire.PieceReader. A call is numbered by its block.
func (d *reader) Arguments(visit func(choice, call int, appendTo func([]byte) []byte)) {
	if d.piece != "" {
		visit(0, d.block, func(all []byte) []byte { return append(all, d.piece...) })
	}
}

// ToolNames implements wire.ToolNamer.
func (d *reader) ToolNames(visit func(choice, call int, tool string)) {
	if d.tooled != "" {
		visit(0, d.block, d.tooled)
	}
}

// Patch implements wire.Patcher.
func (w *writer) Patch(ev *sse.Event, sig *wire.Signal, text []byte, finish string) []byte {
	e, ok := parse(ev)
	if !ok || w.closed || w.over {
		return nil
	}
	x := edit.New(ev.Data)
	at := e.root.Get("delta.text")
	switch {
	case e.kind == messageDelta:
		if reason := e.root.Get("delta.stop_reason"); finish != "" && reason.Type == gjson.String {
			x.Replace(reason, edit.Quoted(ownReason(finish)))
		}
	case e.kind == blockStart:
		at = e.root.Get("content_block.text")
	case e.kind != blockDelta || e.root.Get("delta.type").Str != "text_delta":
		at = gjson.Result{}
	}
	if e.kind == blockDelta && at.Exists() && len(text) == 0 {
		return nil
	}
	if e.kind != messageDelta && at.Type == gjson.String {
		x.Replace(at, edit.Quoted(string(text)))
	}
	if x.Empty() {
		return w.Event(ev, sig)
	}
	return w.Event(&sse.Event{Name: e.kind, Data: x.Apply()}, sig)
}

// Argue implements wire.Patcher. It is in time as long as the block is open
// or its end waits.
func (w *writer) Argue(_, call int, text []byte) []byte {
	if w.closed || len(text) == 0 || w.open != "tool_use" || call != w.from {
		return nil
	}
	w.out = w.out[:0]
	w.add(blockDelta, `{"type":"content_block_delta","index":`+strconv.Itoa(w.at)+`,"delta":{"type":"input_json_delta","partial_json":`+edit.Quoted(string(text))+`}}`)
	return w.out
}
