package follow

import (
	"backstop"
	"backstop/wire"
)

// Stream is what a reader knows of its stream so far.
type Stream struct {
	Reply wire.Reply // Surface, Event and Body are set per event
	Unary bool       // the caller waits for one body: nothing has been sent yet

	Events int  // of the dialect
	Odd    int  // malformed
	Tokens int  // Token signals
	Speaks bool // there was content or thinking
	Said   bool // there was content
	Lawful bool // an end that may stand without content
	Lost   bool // there was something that the caller's dialect has no form for
	Tool   bool // a tool call began
	Other  bool // something that is neither text nor thinking began
	Fault  *backstop.Outcome
	Ends   Ends

	Input, Output int // reported tokens, -1 = none
}

// Begin is a stream before its first event. Both arguments may be nil; a reply
// without a dialect is of the given one.
func Begin(r *wire.Request, a *wire.Reply, dialect backstop.Dialect) Stream {
	s := Stream{Input: -1, Output: -1, Unary: r != nil && !r.Stream}
	if r != nil {
		s.Ends.asked = r.Choices
	}
	if a != nil {
		s.Reply = *a
	}
	if s.Reply.Dialect == "" {
		s.Reply.Dialect = dialect
	}
	return s
}

// Seen is an event as the Judge wants it.
func (s *Stream) Seen(event string, data []byte) *wire.Reply {
	a := s.Reply
	a.Event, a.Body, a.Surface = event, data, s.surface()
	return &a
}

// surface: as long as the caller of a unary call has nothing, the call may
// still go elsewhere.
func (s *Stream) surface() wire.Surface {
	if s.Tokens > 0 && !s.Unary {
		return wire.SurfaceMid
	}
	return wire.SurfaceFirst
}

// Count takes in reported tokens; the highest count.
func (s *Stream) Count(input, output int) {
	s.Input, s.Output = max(s.Input, input), max(s.Output, output)
}

// Told reports whether the answer is whole and its caller knows so: what is said
// of errors behind it is not for it.
func (s *Stream) Told() bool { return s.Speaks && s.Ends.Whole(false) }

// Usage implements wire.StreamReader.
func (s *Stream) Usage() (input, output int) { return s.Input, s.Output }

// ToolBegun implements wire.StreamReader.
func (s *Stream) ToolBegun() bool { return s.Tool }

// TextOnly implements wire.TextReader. A text that goes on behind a finish
// reason, which its caller has, is not to be compared with another.
func (s *Stream) TextOnly() bool { return !s.Tool && !s.Other && !s.Ends.goesOn }
