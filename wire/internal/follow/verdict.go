package follow

import (
	"backstop"
	"backstop/wire"
)

// Broken ends the stream with a verdict; the first counts.
func (s *Stream) Broken(o backstop.Outcome) wire.Signal {
	if s.Fault == nil {
		s.Fault = s.settle(o)
	}
	return wire.Signal{Kind: wire.Fault, Outcome: s.Fault}
}

// Verdict judges a stream that is over: whole says that all that began has
// ended, clean that the connection was closed in order or that the stream said
// goodbye. An unclean end of what is whole is fine; without any token it is a
// reset, after one a cut.
func (s *Stream) Verdict(whole, clean bool) backstop.Outcome {
	a := s.Reply
	a.Surface, a.Body = s.surface(), nil
	switch {
	case s.Fault != nil:
		return *s.settle(*s.Fault)
	case whole && s.blank() && s.Lost:
		return *s.settle(wire.JudgeForeign(&a))
	case whole && s.blank():
		return *s.settle(wire.JudgeBlank(&a))
	case whole:
		return *s.settle(wire.Good(&a, true))
	case s.Tokens > 0:
		return s.garbled(backstop.KindCut)
	case !clean:
		return *s.settle(backstop.Outcome{
			Class: backstop.Broken, Kind: backstop.KindReset, Counts: backstop.CountsModel, RetrySame: true, NextTier: true,
		})
	case s.Events > 0:
		return s.garbled(backstop.KindCut)
	case s.Odd > 0:
		return s.garbled(backstop.KindProtocol)
	}
	return s.garbled(backstop.KindEmpty)
}

// blank reports whether the answer may not stand as it is: nothing but a stop.
// Thinking alone is no answer either, but a stream caller already has it.
func (s *Stream) blank() bool {
	return !s.Lawful && !s.Said && (s.Unary || !s.Speaks)
}

func (s *Stream) garbled(kind backstop.Kind) backstop.Outcome {
	return *s.settle(backstop.Outcome{
		Class: backstop.Garbled, Kind: kind, Counts: backstop.CountsModel, RetrySame: true, NextTier: true,
	})
}

// settle adds what is known of the stream to a verdict: tokens, and that a
// started answer is not asked for again at the same place.
func (s *Stream) settle(o backstop.Outcome) *backstop.Outcome {
	o.InputTokens, o.OutputTokens = s.Input, s.Output
	if o.Status == 0 {
		o.Status = s.Reply.Status
	}
	if s.Tokens > 0 {
		o.RetrySame = false
		o.NextTier = o.NextTier && s.Unary
	}
	return &o
}
