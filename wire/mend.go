package wire

import (
	"backstop"
	"backstop/sse"
)

// NoCall is the Piece.Call of a choice's text.
const NoCall = -1

// Piece is one part of a plain answer that stands for itself: the text of a
// choice, or the arguments of one of its tool calls.
type Piece struct {
	Choice int    // place among the choices, from 0
	Call   int    // place among the choice's tool calls, NoCall = the text
	Text   string // decoded
	Finish string // finish reason of the choice
	Tool   string // name of the tool that is called, "" = none, or not said
	// Cut marks, for Mender.Mend, a piece that does not say all that it was to
	// say: its choice ends with the word for that.
	Cut bool
}

// Mender is a Room whose plain answers can be mended piece by piece.
type Mender interface {
	// Pieces lists the pieces of a body. A choice that calls tools has no text:
	// what it says besides is talk.
	Pieces(body []byte) []Piece
	// Mend returns body with the texts of those pieces exchanged and nothing
	// else changed, except that the choice of a piece that is Cut no longer ends
	// as if it were whole.
	Mend(body []byte, pieces []Piece) []byte
}

// Asker is a Room that can put a further question behind a call.
type Asker interface {
	// Ask returns the request with text as one more message of the caller. The
	// outcome is nil or why this call cannot be added to.
	Ask(r *Request, text string) (*Request, *backstop.Outcome)
}

// PieceReader is a TextReader that also says when a choice ends, and what its
// tool calls are given.
type PieceReader interface {
	TextReader
	// Finish is the finish reason that the latest event brought for the first
	// choice, "" = none.
	Finish() string
	// Arguments shows each piece of a tool call's arguments in the latest event;
	// appendTo appends it, decoded, as AppendText does. A call that is not one
	// of a list is NoCall.
	Arguments(visit func(choice, call int, appendTo func([]byte) []byte))
}

// ToolNamer is a PieceReader that also says which tools are called.
type ToolNamer interface {
	// ToolNames shows each tool call that the latest event names the tool of,
	// numbered as Arguments numbers it.
	ToolNames(visit func(choice, call int, tool string))
}

// Refuser is a StreamReader that knows a refusal from an answer.
type Refuser interface {
	// Refusing reports whether what was said so far, reasoning aside, is a
	// refusal and nothing else.
	Refusing() bool
}

// Patcher is a StreamWriter that can pass on events with other words in them.
type Patcher interface {
	StreamWriter
	Grafter
	// Patch passes ev on with text in the place of the first choice's content
	// text, and with finish, unless it is "", in the place of its finish reason.
	// nil = then nothing is left in it.
	Patch(ev *sse.Event, sig *Signal, text []byte, finish string) []byte
	// Argue returns an event with a further piece of a tool call's arguments.
	Argue(choice, call int, text []byte) []byte
}
