package wire_test

import (
	"strings"
	"testing"

	"backstop"
)

// Callers leave at a finish reason, so the one of a translated stream stands
// behind all that its upstream said, and is the last that it gave.
func TestATranslatedStreamHasOneFinishReasonBehindAllElse(t *testing.T) {
	for from, say := range sayings {
		stream := say(0, "one", "stop") + say(0, "two", "stop") + say(0, "three", "stop")
		switch from {
		case "openai":
			stream += "data: [DONE]\n\n"
		case "anthropic":
			stream = `data: {"type":"message_start","message":{"id":"c","model":"m"}}` + "\n\n" + stream + `data: {"type":"message_stop"}` + "\n\n"
		}
		for to := range rooms {
			if to == from {
				continue
			}
			t.Run(from+" to "+to, func(t *testing.T) {
				out, o := streamed(t, from, to, stream)
				word := map[string]string{
					"openai": `"finish_reason":"`, "anthropic": `"stop_reason":"`, "gemini": `"finishReason":"`, "responses": `"type":"response.completed"`,
				}[to]
				at := strings.Index(out, word)
				if o.Class != backstop.OK || strings.Count(out, word) != 1 || at < strings.Index(out, "three") {
					t.Errorf("%s: %s", o.Reason(), out)
				}
			})
		}
	}
}
