package wire_test

import (
	"strings"
	"testing"

	"backstop/wire"
)

// A text that its upstream says in pieces is one text for the caller, in a body
// as in a stream: many read the first one only.
func TestATextInPiecesIsOneText(t *testing.T) {
	for name, c := range map[string]struct{ from, body string }{
		"gemini":    {"gemini", `{"candidates":[{"content":{"role":"model","parts":[{"text":"a","thought":true},{"text":"b","thought":true},{"text":"Hel","thoughtSignature":"c2ln"},{"text":"lo "},{"inlineData":{"mimeType":"image/png","data":"aGk="}},{"text":"you"}]},"finishReason":"STOP"}],"responseId":"r"}`},
		"anthropic": {"anthropic", `{"id":"1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"Hel"},{"type":"text","text":"lo ","citations":[{"type":"char_location"}]},{"type":"text","text":"you"}],"stop_reason":"end_turn"}`},
		"openai":    {"openai", `{"id":"1","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":[{"type":"text","text":"Hel"},{"type":"text","text":"lo you"}]},"finish_reason":"stop"}]}`},
	} {
		for to := range rooms {
			if to == c.from {
				continue
			}
			body, _, ok := wire.Translate(rooms[c.from], rooms[to], []byte(c.body), head)
			if !ok || !strings.Contains(string(body), `"Hello you"`) || name == "gemini" && !strings.Contains(string(body), `"ab"`) {
				t.Errorf("%s to %s: %s", name, to, body)
			}
		}
	}
}
