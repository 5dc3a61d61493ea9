package follow

import (
	"testing"

	"backstop"
	"backstop/wire"
)

func TestTheEndOfAStreamIsWorthWhatCameBefore(t *testing.T) {
	for _, c := range []struct {
		name         string
		s            Stream
		whole, clean bool
		class        backstop.Class
		kind         backstop.Kind
	}{
		{"nothing came", Stream{}, false, true, backstop.Garbled, backstop.KindEmpty},
		{"only what is no event came", Stream{Odd: 1}, false, true, backstop.Garbled, backstop.KindProtocol},
		{"events without a token", Stream{Events: 1}, false, true, backstop.Garbled, backstop.KindCut},
		{"the connection broke before a token", Stream{Events: 1}, false, false, backstop.Broken, backstop.KindReset},
		{"the connection broke after one", Stream{Events: 1, Tokens: 1}, false, false, backstop.Garbled, backstop.KindCut},
		{"whole, and said something", Stream{Speaks: true, Said: true, Tokens: 1}, true, false, backstop.OK, ""},
		{"whole, and said nothing", Stream{Events: 2}, true, true, backstop.Garbled, backstop.KindBlank},
		{"whole, and lawfully nothing", Stream{Events: 2, Lawful: true}, true, true, backstop.OK, ""},
		{"whole, and only thought: a stream caller has it", Stream{Speaks: true, Tokens: 1}, true, true, backstop.OK, ""},
		{"whole, and only thought: a unary caller has nothing", Stream{Speaks: true, Tokens: 1, Unary: true}, true, true, backstop.Garbled, backstop.KindBlank},
	} {
		t.Run(c.name, func(t *testing.T) {
			if o := c.s.Verdict(c.whole, c.clean); o.Class != c.class || o.Kind != c.kind {
				t.Errorf("%s/%s, want %s/%s", o.Class, o.Kind, c.class, c.kind)
			}
		})
	}
}

func TestAStartedAnswerIsNotAskedForAgain(t *testing.T) {
	s := Begin(&wire.Request{Stream: true}, &wire.Reply{Status: 200}, backstop.Anthropic)
	if s.Reply.Dialect != backstop.Anthropic || s.Input != -1 || s.Output != -1 || s.Unary {
		t.Errorf("%+v", s)
	}
	s.Count(7, 1)
	s.Count(-1, 3)
	s.Tokens = 1
	if o := s.Verdict(false, false); o.RetrySame || o.NextTier || o.InputTokens != 7 || o.OutputTokens != 3 || o.Status != 200 {
		t.Errorf("%+v", o)
	}
	s.Unary = true
	if o := s.Verdict(false, false); o.RetrySame || !o.NextTier {
		t.Errorf("unary: %+v", o)
	}
}

func TestTheFirstFaultCounts(t *testing.T) {
	var s Stream
	s.Broken(backstop.Outcome{Class: backstop.Broken, Kind: backstop.KindReset})
	sig := s.Broken(backstop.Outcome{Class: backstop.Garbled})
	if sig.Kind != wire.Fault || sig.Outcome.Class != backstop.Broken || s.Verdict(true, true).Class != backstop.Broken {
		t.Errorf("%+v", sig)
	}
}

func TestAnEventIsClosedByABlankLine(t *testing.T) {
	for raw, want := range map[string]bool{"\ndata: 1\n\n": false, "\ufeffdata: 1\n\n": false, "": false, "data: 1\n": false, "data: 1\n\n": true, "data: 1\r\n\r\n": true, "data: 1\r\r": false, "event: a\rdata: 1\n\n": false, "event: a\r\ndata: 1\r\n\r\n": true, "event: a\r\ndata: 1\r\n\r": false} {
		if Closed([]byte(raw)) != want {
			t.Errorf("%q", raw)
		}
	}
}
