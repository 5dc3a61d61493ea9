package backstophttp

import (
	"strings"
	"testing"

	"backstop"
)

// Once an answer is whole, nothing that its upstream does behind it makes
// another one of it.
func TestWhatGoesWrongBehindAWholeAnswerIsNoMatter(t *testing.T) {
	for _, d := range []backstop.Dialect{backstop.OpenAI, backstop.Anthropic, backstop.Gemini} {
		up := fixtureOf(d)
		whole := up.tells("Hello", " world")
		if d != backstop.Gemini {
			whole = whole[:len(whole)-1] // the event that says so
		}
		for name, then := range map[string][]string{
			"an error event":                    {up.fault("down"), "hang"},
			"a rate limit":                      {up.fault("limited")},
			"malformed events over the bound":   {strings.Repeat("data: {\"oops\n\n", maxMalformed+1), "hang"},
			"an event that is larger than any":  {"data: " + strings.Repeat("x", 17<<20) + "\n\n", "hang"},
			"the end of its connection":         {"fin"},
			"an error event, and the end of it": {up.fault("failed"), "fin"},
		} {
			for _, from := range []backstop.Dialect{backstop.OpenAI, backstop.Anthropic, backstop.Gemini, backstop.Responses} {
				caller := fixtureOf(from)
				t.Run(string(d)+" to "+string(from)+": "+name, func(t *testing.T) {
					in(t, setup{primary: answers(append(whole[:len(whole):len(whole)], then...)...), backup: answers(up.tells("Hello world and more")...), change: speak(up, up, withoutTemplate)}, func(h *house) {
						p, ev := h.ask(caller, question(true))
						if got := caller.hears(t, true, p.String()); got.text != "Hello world" || ev.Outcome != backstop.OK || ev.Rescued != "" || h.saw("backup") != 0 {
							t.Errorf("%q, %s %s\n%s", got.text, ev.Outcome, ev.Rescued, p)
						}
					})
				})
			}
		}
	}
}
