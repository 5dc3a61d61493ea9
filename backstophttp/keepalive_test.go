package backstophttp

import (
	"strings"
	"testing"
	"time"

	"backstop"
)

// The Go SDK of Gemini takes a comment for a broken event; all others that were
// tried read over comments.
func TestAStreamIsKeptAliveAsItsDialectsSDKsTakeIt(t *testing.T) {
	for d := range Rooms() {
		t.Run(string(d), func(t *testing.T) {
			g := fixtureOf(d)
			slow := func(script ...string) setup {
				return setup{primary: answers(script...), change: speak(g, g, func(p *backstop.Plan) {
					p.Upstreams[0].Timeouts.FirstToken, p.Upstreams[0].Timeouts.Idle = time.Minute, time.Minute
					p.Routes[0].Stream.Keepalive = 5 * time.Second
					p.Routes[0].Tiers = p.Routes[0].Tiers[:1]
				})}
			}
			comments := 0
			if d != backstop.Gemini {
				comments = 6
			}
			pause := len(g.begins([]string{"one "})) // the last of it is held back until it is known what follows
			script := g.tells("one ", "two ", "three")
			script = append([]string{"wait:16s"}, append(script[:pause:pause], append([]string{"wait:16s"}, script[pause:]...)...)...)
			in(t, slow(script...), func(h *house) {
				p, ev := h.ask(g, question(true))
				if got := g.hears(t, true, p.String()); got.text != "one two three" || got.verdict.Class != backstop.OK {
					t.Errorf("%+v\n%s", got, p)
				}
				if n := strings.Count(p.String(), ": keep-alive\n\n"); n != comments || p.first != 5*time.Second || ev.FirstToken != 16*time.Second {
					t.Errorf("%d comments, first at %s, event %+v\n%q", n, p.first, ev, p)
				}
				if n := len(p.at); n < 7 {
					t.Errorf("%d writes", n)
				}
			})
			in(t, slow("wait:16s", "fin"), func(h *house) {
				p, ev := h.ask(g, question(true))
				if got := g.judges(p.String()); p.status != 200 || got.Class == backstop.OK || ev.Failure == nil || !strings.Contains(p.String(), `"error"`) {
					t.Errorf("%d %+v\n%s", p.status, got, p)
				}
			})
		})
	}
}
