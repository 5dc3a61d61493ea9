package backstophttp

import (
	"math/rand/v2"
	"testing"

	"backstop"
)

// FuzzOneAnswerOnly breaks streams at any place, tells two texts in any
// pieces, and checks what a caller may get: the whole text of one upstream, a
// text that is marked as continued, or a beginning with an error.
func FuzzOneAnswerOnly(f *testing.F) {
	for seed := range uint64(24) {
		f.Add(seed, "The quick brown fox 北京 🌍\n\ndata: [DONE]\n\n", uint8(seed*5), uint8(seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64, text string, cut, how uint8) {
		if len(text) > 300 {
			return
		}
		rng := rand.New(rand.NewPCG(seed, 1))
		mine := []rune(text)
		same := how&1 == 0
		other := append([]rune(nil), mine...)
		if !same && len(other) > 0 {
			other[int(seed)%len(other)]++
		}
		mode := []string{"splice", "continue", "off"}[int(how>>1)%3]
		end := breaks[int(how>>3)%len(breaks)]
		at := min(int(cut), len(mine))
		primary := voiceP.starts(anyPieces(rng, mine[:at]), end.then...)
		anew := voiceB.tells(anyPieces(rng, other)...)
		rest := voiceB.tells(anyPieces(rng, other[at:])...)
		in(t, setup{primary: answers(primary...), backup: continues(anew, rest), change: rescue(mode)}, func(h *house) {
			p, ev := h.call(stream)
			judge(t, h, &verdictOf{p.String(), ev, string(mine), string(mine[:at]), string(other), string(other[at:])})
		})
	})
}

type verdictOf struct {
	stream                        string
	event                         *backstop.Event
	mine, begun, other, otherRest string
}

func judge(t *testing.T, h *house, v *verdictOf) {
	g := understand(t, v.stream)
	clean := func(s string) string { return string([]rune(s)) } // as JSON writes it
	switch {
	case g.code != "":
		if g.text != clean(v.begun) {
			t.Errorf("an error behind %q instead of %q", g.text, v.begun)
		}
	case v.event.Rescued == "continued":
		if !g.note.Continued || len(g.text) < len(clean(v.begun)) || g.text[:len(clean(v.begun))] != clean(v.begun) {
			t.Errorf("continued: %q after %q, note %+v", g.text, v.begun, g.note)
		}
	case v.event.Upstream == "template":
		if g.text != "busy" {
			t.Errorf("the template said %q", g.text)
		}
	case g.text != clean(v.other):
		t.Errorf("%q is the text of nobody; the backup's is %q (rescued %q)", g.text, v.other, v.event.Rescued)
	case v.event.Rescued == "spliced" && (!g.note.Rescued || g.note.Continued || !g.constant()):
		t.Errorf("spliced: %+v", g)
	}
	if h.saw("primary")+h.saw("backup") != v.event.Calls() {
		t.Errorf("%d attempts, the upstreams saw %d and %d", v.event.Calls(), h.saw("primary"), h.saw("backup"))
	}
}

func anyPieces(rng *rand.Rand, text []rune) []string {
	var pieces []string
	for len(text) > 0 {
		n := 1 + rng.IntN(min(len(text), 9))
		pieces, text = append(pieces, string(text[:n])), text[n:]
	}
	return pieces
}
