package backstophttp

import (
	"testing"

	"backstop"
	"backstop/wire"
)

// What a rescuer calls a tool with goes out as it comes, so a call that nobody
// can make must not end as a finished one.
func TestARescuersBrokenCallIsNoFinishedOne(t *testing.T) {
	for name, c := range map[string]struct {
		pieces []string
		end    wire.Ending
		ends   bool
	}{
		"whole":                              {[]string{`{"at":`, `"home"}`}, wire.EndTools, true},
		"a tool without any":                 {nil, wire.EndTools, true},
		"cut, and its ending says so":        {[]string{`{"at":`, `"ho`}, wire.EndLength, true},
		"cut, and its ending hides it":       {[]string{`{"at":`, `"ho`}, wire.EndTools, false},
		"cut, and its ending is that of all": {[]string{`{"at":"home"`}, wire.EndStop, false},
		"no JSON":                            {[]string{`at home`}, wire.EndTools, false},
	} {
		t.Run(name, func(t *testing.T) {
			everyPair(t, func(t *testing.T, caller, up fixture) {
				if up.room.Dialect() == backstop.Gemini {
					return // its calls are whole
				}
				begin := []wire.Delta{{Kind: wire.DeltaStart, ID: "a1", Model: "mu"}, {Kind: wire.DeltaText, Text: "I look"}}
				call := append(begin[:2:2], wire.Delta{Kind: wire.DeltaText, Text: " it up."}, wire.Delta{Kind: wire.DeltaCall, Part: 1, ID: "call_1", Name: "look"})
				for _, text := range c.pieces {
					call = append(call, wire.Delta{Kind: wire.DeltaArguments, Part: 1, Text: text})
				}
				call = append(call, ended(c.end)...)
				cut := append(up.says(begin...), "fin")
				in(t, setup{primary: answers(cut...), backup: answers(up.says(call...)...), change: speak(up, up, withoutTemplate)}, func(h *house) {
					p, ev := h.ask(caller, withTool(question(true)))
					if (ev.Failure == nil) != c.ends || (ev.Rescued == "spliced") != c.ends || h.saw("backup") != 1 {
						t.Errorf("%s, %+v\n%s", ev.Rescued, ev.Failure, p)
					}
					if cut := c.end == wire.EndLength; ev.Truncated != cut || shows([]byte(p.String()), `"truncated":true`) != cut {
						t.Errorf("truncated %v\n%s", ev.Truncated, p)
					}
				})
			})
		})
	}
}
