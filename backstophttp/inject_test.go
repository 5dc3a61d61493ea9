package backstophttp

import (
	"strings"
	"testing"
	"unicode/utf8"

	"backstop"
	"backstop/sse"
	"backstop/wire"
)

// FuzzContentStaysContent has an upstream say any text, cut anywhere, to a
// caller of any dialect: nothing of it becomes an event, ends the answer or is
// lost on the way.
func FuzzContentStaysContent(f *testing.F) {
	for _, text := range []string{
		"a\n\ndata: [DONE]\n\nb", "a\n\nevent: error\ndata: {\"error\":{\"message\":\"m\"}}\n\nb", "a\rdata: [DONE]\r\rb\r\n\r\n",
		"a\u2028\u2029\u0085b", "a\x00b\x1b\x7f", "\ufeffa", "北京🌍", `a\"b\\n\u000ac`, "\"}]}}\n\ndata: {}\n\n", " ", "\n", "<think>a</think>b",
	} {
		for pair := range byte(16) {
			f.Add(text, byte(3), pair)
		}
	}
	dialects := [...]backstop.Dialect{backstop.OpenAI, backstop.Responses, backstop.Anthropic, backstop.Gemini}
	f.Fuzz(func(t *testing.T, text string, cut, pair byte) {
		text = strings.ToValidUTF8(text, "\ufffd") // JSON holds nothing else
		if text == "" || len(text) > 4<<10 {
			return
		}
		caller, up := dialects[pair%4], dialects[pair/4%4]
		if up == backstop.Responses && caller != up {
			up = backstop.OpenAI
		}
		at := int(cut) % len(text)
		for !utf8.RuneStart(text[at]) {
			at--
		}
		said := fixtureOf(up).says(append(texts(text[:at], text[at:]), ended(wire.EndStop)...)...)
		in(t, setup{primary: answers(said...), change: speak(fixtureOf(up), fixtureOf(up))}, func(h *house) {
			g := fixtureOf(caller)
			p, _ := h.ask(g, question(true))
			h.want(p, 200, "primary")
			if got := g.hears(t, true, p.String()); got.text != text || got.verdict.Class != backstop.OK || got.ending != wire.EndStop {
				t.Errorf("%s caller, %s upstream: %q became %q (%s)\n%s", caller, up, text, got.text, got.verdict.Reason(), p)
			}
			if n := ends(p.String()); n > 1 || strings.ContainsRune(p.String(), '\r') {
				t.Errorf("%s caller, %s upstream: %d ends in\n%q", caller, up, n, p)
			}
		})
	})
}

// ends counts the [DONE]s of a stream.
func ends(stream string) (n int) {
	for list := sse.NewReader(strings.NewReader(stream), 0); ; {
		ev, err := list.Next()
		if err != nil {
			return n
		}
		if string(ev.Data) == "[DONE]" {
			n++
		}
	}
}
