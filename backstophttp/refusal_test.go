package backstophttp

import (
	"strings"
	"testing"

	"backstop"
)

func refusing(reason string) []string {
	return []string{voiceP.role(), voiceP.delta(`{"refusal":"I cannot "}`, "null"), voiceP.delta(`{"refusal":"help."}`, "null"), voiceP.end(reason), done}
}

func TestAStreamThatBeginsAsARefusalGoesOnWhereTheRouteSaysSo(t *testing.T) {
	filtered := []string{voiceP.role(), voiceP.end("content_filter"), done}
	mixed := []string{voiceP.role(), voiceP.delta(`{"refusal":"No, "}`, "null"), voiceP.say("but this"), voiceP.end("stop"), done}
	for name, c := range map[string]struct {
		primary, backup []string
		next            bool
		tier            string
		has             string
		outcome         backstop.Class
	}{
		"the next tier answers":                 {refusing("stop"), voicedB("yes"), true, "backup", "yes", backstop.OK},
		"a filter ended it before a word":       {filtered, voicedB("yes"), true, "backup", "yes", backstop.OK},
		"all refuse: the first refusal is told": {refusing("stop"), []string{role, "fin"}, true, "primary", "help.", backstop.Refused},
		"refusals are returned":                 {refusing("stop"), voicedB("yes"), false, "primary", "help.", backstop.OK},
		"an answer that begins with a refusal":  {mixed, voicedB("yes"), true, "primary", "but this", backstop.OK},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, setup{primary: answers(c.primary...), backup: answers(c.backup...),
				change: func(p *backstop.Plan) {
					p.Routes[0].RefusalNext = c.next
					p.Routes[0].Tiers = p.Routes[0].Tiers[:2]
				}}, func(h *house) {
				p, ev := h.call(stream)
				h.want(p, 200, c.tier)
				if ev.Outcome != c.outcome || !strings.Contains(p.String(), c.has) || strings.Count(p.String(), "[DONE]") != 1 {
					t.Errorf("outcome %v\n%s", ev.Outcome, p)
				}
				if c.tier == "backup" && (strings.Contains(p.String(), "refusal") || p.header.Get("X-Backstop-Reason") != "refused/filter") {
					t.Errorf("reason %q\n%s", p.header.Get("X-Backstop-Reason"), p)
				}
			})
		})
	}
}

func voicedB(text string) []string {
	return []string{voiceB.role(), voiceB.say(text), voiceB.end("stop"), done}
}
