package backstophttp

import (
	"strings"
	"testing"
	"time"

	"backstop"
)

// A hedge that wins and then fails leaves the call no worse than it was: the
// upstream that it won against was slow, and that is all that is known of it.
func TestWhatLostToAHedgeIsAskedAgainWhenNothingElseIsLeft(t *testing.T) {
	const document = `{"a":[1,2]}`
	slow := answers(role, "wait:2s", token(document), finish("stop"), done)
	for name, backup := range map[string][]string{
		"a cut":           {role, "wait:300ms", token(`{"a":[1`), "fin"},
		"an error event":  {role, "wait:300ms", token(`{"a":[1`), `data: {"error":{"message":"m","code":500}}` + "\n\n"},
		"a stall":         {role, "wait:300ms", token(`{"a":[1`), "hang"},
		"other than JSON": {role, "wait:300ms", token("I can"), token("not"), finish("stop"), done},
	} {
		for form, request := range map[string]string{"unary": unary, "stream": stream, "JSON": asJSON, "streamed JSON": streamJSON} {
			promised := strings.Contains(form, "JSON")
			switch {
			case name == "other than JSON" && !promised, name != "other than JSON" && form == "streamed JSON":
				continue // a good answer, and one that nobody may go on with
			}
			t.Run(name+", "+form, func(t *testing.T) {
				in(t, setup{primary: slow, backup: answers(backup...), change: hedged(nil)}, func(h *house) {
					p, ev := h.call(request)
					got := p.String()
					if p.header.Get("Content-Type") == "text/event-stream" {
						got = understand(t, got).text
					}
					if !strings.Contains(strings.ReplaceAll(got, `\"`, `"`), document) || ev.Upstream != "primary" || ev.Outcome != backstop.OK || h.saw("primary") != 2 {
						t.Errorf("%v\n%s", outcomes(ev), p)
					}
					if form == "stream" && ev.Rescued != "spliced" {
						t.Errorf("rescued %q", ev.Rescued)
					}
				})
			})
		}
	}
}

func TestWhatLostToAHedgeIsAskedAgainOnceAndOnlyBehindAllOthers(t *testing.T) {
	lame := answers(role, "wait:300ms", token("B"), "fin")
	third := func(p *backstop.Plan) {
		p.Upstreams[0].Breaker.Failures = 64
		tiers := p.Routes[0].Tiers
		p.Upstreams = append(p.Upstreams, p.Upstreams[1])
		p.Upstreams[2].Name = "last"
		p.Routes[0].Tiers = append(append(tiers[:2:2], backstop.Tier{Upstream: "last", Model: "mz"}), tiers[2:]...)
	}
	in(t, setup{primary: turns(answers("hang"), answers(role, "wait:2s", "fin")), backup: lame, change: hedged(third)}, func(h *house) {
		began := time.Now()
		p, ev := h.call(unary)
		h.want(p, 200, "local")
		var asked []string
		for _, a := range ev.Attempts {
			asked = append(asked, a.Upstream)
		}
		if strings.Join(asked, " ") != "primary backup last primary" || ev.Calls() != 4 || time.Since(began) > 5*time.Second {
			t.Errorf("%v %v after %s", asked, outcomes(ev), time.Since(began))
		}
	})
}
