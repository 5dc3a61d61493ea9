package wire_test

import (
	"fmt"
	"strings"
	"testing"

	"backstop"
	"backstop/sse"
	"backstop/wire"
)

// sayings are events of each dialect that bring a text, with the finish reason
// that it is given.
var sayings = map[string]func(choice int, text, reason string) string{
	"openai": func(choice int, text, reason string) string {
		if reason = `"` + reason + `"`; reason == `""` {
			reason = "null"
		}
		return fmt.Sprintf(`data: {"id":"c","model":"m","choices":[{"index":%d,"delta":{"content":%q},"finish_reason":%s}]}`+"\n\n", choice, text, reason)
	},
	"gemini": func(choice int, text, reason string) string {
		if reason != "" {
			reason = `"finishReason":"` + strings.ToUpper(reason) + `",`
		}
		return fmt.Sprintf(`data: {"candidates":[{"content":{"parts":[{"text":%q}],"role":"model"},%s"index":%d}],"responseId":"c"}`+"\n\n", text, reason, choice)
	},
	"anthropic": func(_ int, text, reason string) string {
		said := fmt.Sprintf("event: content_block_delta\ndata: "+`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":%q}}`+"\n\n", text)
		if reason != "" {
			said += `data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}` + "\n\n"
		}
		return said
	},
}

// endsOf reads a stream, and judges it after an end that is clean or not.
func endsOf(t *testing.T, dialect string, choices int, stream string) (clean, cut backstop.Class) {
	t.Helper()
	if dialect == "anthropic" {
		stream = `data: {"type":"message_start","message":{"id":"c","model":"m"}}` + "\n\n" + stream
	}
	read := rooms[dialect].Reader(&wire.Request{Op: wire.Chat, Stream: true, Choices: choices}, &wire.Reply{Status: 200, Surface: wire.SurfaceFirst})
	for events := sse.NewReader(strings.NewReader(stream), 0); ; {
		ev, err := events.Next()
		if err != nil {
			return read.End(true).Class, read.End(false).Class
		}
		if sig := read.Event(ev); sig.Kind == wire.Malformed || sig.Kind == wire.Fault {
			t.Fatalf("%s: %+v at %s", dialect, sig, ev.Raw)
		}
	}
}

func TestAFinishReasonProvesAnEndAsLongAsNothingComesBehindIt(t *testing.T) {
	for dialect, say := range sayings {
		for _, c := range []struct {
			name       string
			choices    int
			stream     string
			clean, cut backstop.Class
		}{
			{"one at the end", 1, say(0, "a", "") + say(0, "b", "stop"), backstop.OK, backstop.OK},
			{"nothing but another one behind it", 1, say(0, "a", "stop") + say(0, "", "stop"), backstop.OK, backstop.OK},
			{"one with every event", 1, say(0, "a", "stop") + say(0, "b", "stop"), backstop.OK, backstop.Garbled},
			{"a text behind it", 1, say(0, "a", "stop") + say(0, "b", ""), backstop.Garbled, backstop.Garbled},
			{"one answer of two", 2, say(0, "a", "stop"), backstop.OK, backstop.Garbled},
			{"both answers, one after the other", 2, say(0, "a", "stop") + say(1, "b", "stop"), backstop.OK, backstop.OK},
			{"both, and the second goes on", 2, say(0, "a", "stop") + say(1, "b", ""), backstop.Garbled, backstop.Garbled},
		} {
			if dialect == "anthropic" && c.choices > 1 {
				continue // there is one
			}
			t.Run(dialect+": "+c.name, func(t *testing.T) {
				if clean, cut := endsOf(t, dialect, c.choices, c.stream); clean != c.clean || cut != c.cut {
					t.Errorf("clean %s, want %s; cut %s, want %s", clean, c.clean, cut, c.cut)
				}
			})
		}
	}
}

// Writers keep the event of a finish reason back, so nobody can say what a
// caller has who was given one in the middle.
func TestATextThatGoesOnBehindAFinishReasonIsNotTakenOver(t *testing.T) {
	for dialect, say := range sayings {
		read := rooms[dialect].Reader(&wire.Request{Op: wire.Chat, Stream: true, Choices: 1}, &wire.Reply{Status: 200, Surface: wire.SurfaceFirst})
		only := []bool(nil)
		stream := say(0, "a", "stop") + say(0, "b", "")
		if dialect == "anthropic" {
			stream = `data: {"type":"message_start","message":{"id":"c","model":"m"}}` + "\n\n" + stream
		}
		for events := sse.NewReader(strings.NewReader(stream), 0); ; {
			ev, err := events.Next()
			if err != nil {
				break
			}
			read.Event(ev)
			only = append(only, read.(wire.TextReader).TextOnly())
		}
		if n := len(only); !only[n-2] || only[n-1] {
			t.Errorf("%s: %v", dialect, only)
		}
	}
}
