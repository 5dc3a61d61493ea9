package backstophttp

import (
	"strings"
	"testing"

	"backstop"
	"backstop/wire"
)

// A character that its upstream cut into two events is whole for a caller of
// another dialect, also where one upstream goes on for another.
func TestACharacterCutBetweenEventsIsWholeForOtherCallers(t *testing.T) {
	half := func(v voice, h string) string { return v.delta(`{"content":"`+h+`"}`, "null") }
	script := []string{voiceB.role(), half(voiceB, `a\ud83c`), half(voiceB, `\udf0d`), voiceB.say("z"), voiceB.end("stop"), done}
	for caller, body := range map[backstop.Dialect]string{
		backstop.Anthropic: `{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"hi"}]}`,
		backstop.Responses: `{"model":"m","stream":true,"store":false,"input":"hi"}`,
	} {
		for name, primary := range map[string][]string{
			"no seam":                  script,
			"a seam before it":         {voiceP.role(), voiceP.say("a"), "fin"},
			"a seam behind it":         {voiceP.role(), voiceP.say("a🌍"), "fin"},
			"a seam behind its halves": {voiceP.role(), half(voiceP, `a\ud83c`), half(voiceP, `\udf0d`), "fin"},
		} {
			in(t, setup{primary: answers(primary...), backup: answers(script...)}, func(h *house) {
				op := wire.Chat
				if caller == backstop.Responses {
					op = wire.Responses
				}
				p, ev := h.take(caller, op, body)
				text := ""
				for _, line := range strings.Split(p.String(), "\n") {
					if !strings.Contains(line, `_text.delta"`) && !strings.Contains(line, `"text_delta"`) {
						continue
					}
					for _, field := range []string{`"text":"`, `"delta":"`} {
						if _, rest, ok := strings.Cut(line, field); ok {
							piece, _, _ := strings.Cut(rest, `"`)
							text += piece
						}
					}
				}
				if text != "a🌍z" || ev.Outcome != backstop.OK || (ev.Rescued == "") != (name == "no seam") {
					t.Errorf("%s, %s: %q, %s %s\n%s", caller, name, text, ev.Outcome, ev.Rescued, p)
				}
			})
		}
	}
}
