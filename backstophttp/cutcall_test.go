package backstophttp

import (
	"strings"
	"testing"

	"backstop"
	"backstop/wire"
)

// breaksOff is an answer that ends inside of what a tool is called with, or
// just behind it.
func (g fixture) breaksOff(e wire.Ending, arguments ...string) []string {
	list := []wire.Delta{{Kind: wire.DeltaStart, ID: "a1", Model: "mu"}, {Kind: wire.DeltaCall, ID: "call_1", Name: "look"}}
	for _, text := range arguments {
		list = append(list, wire.Delta{Kind: wire.DeltaArguments, Text: text})
	}
	return g.says(append(list, ended(e)...)...)
}

func TestACallThatWasCutIsNoneForAGeminiCaller(t *testing.T) {
	// There every function call is a finished one, and SDKs make it at once.
	caller := fixtureOf(backstop.Gemini)
	for name, c := range map[string]struct {
		pieces []string
		end    wire.Ending
		want   string // "" = no call
		ending wire.Ending
	}{
		"nothing of them came":               {nil, wire.EndLength, "", wire.EndLength},
		"an object that is empty so far":     {[]string{"{}"}, wire.EndLength, "", wire.EndLength},
		"inside a name":                      {[]string{`{"a`}, wire.EndLength, "", wire.EndLength},
		"inside a value":                     {[]string{`{"at":`, `"ho`}, wire.EndLength, "", wire.EndLength},
		"before the last brace":              {[]string{`{"at":"home"`}, wire.EndLength, "", wire.EndLength},
		"the same, and nobody says so":       {[]string{`{"at":"home"`}, wire.EndTools, "", wire.EndLength},
		"they are whole":                     {[]string{`{"at":`, `"home"}`}, wire.EndLength, `{"at":"home"}`, wire.EndLength},
		"they are whole, and nothing is cut": {[]string{`{"at":"home"}`}, wire.EndTools, `{"at":"home"}`, wire.EndTools},
		"a tool without any":                 {nil, wire.EndTools, `{}`, wire.EndTools},
		"an empty object for one":            {[]string{"{}"}, wire.EndTools, `{}`, wire.EndTools},
	} {
		t.Run(name, func(t *testing.T) {
			for d := range Rooms() {
				if d == backstop.Gemini || d == backstop.Responses {
					continue
				}
				up := fixtureOf(d)
				forms(t, func(t *testing.T, stream bool) {
					in(t, setup{primary: answers(up.breaksOff(c.end, c.pieces...)...), change: speak(up, up, withoutTemplate)}, func(h *house) {
						p, ev := h.ask(caller, withTool(question(stream)))
						h.want(p, 200, "primary")
						got := caller.hears(t, stream, p.String())
						calls := ""
						for _, x := range got.calls {
							calls += x.Arguments
						}
						if calls != c.want || got.ending != c.ending || len(ev.Repaired) > 0 {
							t.Errorf("%s: %q, %s, event %+v\n%s", d, calls, got.ending, ev, p)
						}
						if half := c.want == "" && len(c.pieces) > 0 && c.pieces[0] != "{}"; ev.Truncated != half {
							t.Errorf("%s: truncated %v\n%s", d, ev.Truncated, p)
						}
					})
				})
			}
		})
	}
}

func TestWhatIsSaidBesideACallThatWasCutIsKept(t *testing.T) {
	caller := fixtureOf(backstop.Gemini)
	for d := range Rooms() {
		if d == backstop.Gemini || d == backstop.Responses {
			continue
		}
		up := fixtureOf(d)
		forms(t, func(t *testing.T, stream bool) {
			list := append(texts("I look. "), wire.Delta{Kind: wire.DeltaCall, Part: 1, ID: "c1", Name: "look"}, wire.Delta{Kind: wire.DeltaArguments, Part: 1, Text: `{"at":"home"}`},
				wire.Delta{Kind: wire.DeltaPartEnd, Part: 1}, wire.Delta{Kind: wire.DeltaCall, Part: 2, ID: "c2", Name: "look"}, wire.Delta{Kind: wire.DeltaArguments, Part: 2, Text: `{"at":"wo`})
			in(t, setup{primary: answers(up.says(append(list, ended(wire.EndLength)...)...)...), change: speak(up, up, withoutTemplate)}, func(h *house) {
				p, _ := h.ask(caller, withTool(question(stream)))
				h.want(p, 200, "primary")
				got := caller.hears(t, stream, p.String())
				if got.text != "I look. " || len(got.calls) != 1 || got.calls[0].Arguments != `{"at":"home"}` || got.ending != wire.EndLength || strings.Contains(p.String(), "wo") {
					t.Errorf("%+v\n%s", got, p)
				}
			})
		})
	}
}

func TestACallThatWasCutIsTheSameInAStreamAndInABody(t *testing.T) {
	everyPair(t, func(t *testing.T, caller, up fixture) {
		if up.room.Dialect() == backstop.Gemini {
			t.Skip("arguments are an object there, never a text")
		}
		for name, pieces := range map[string][]string{"inside a name": {`{"a`}, "inside a value": {`{"at":`, `"ho`}, "whole": {`{"at":"home"}`}} {
			t.Run(name, func(t *testing.T) {
				var seen [2]string
				forms(t, func(t *testing.T, stream bool) {
					in(t, setup{primary: answers(up.breaksOff(wire.EndLength, pieces...)...), change: speak(up, up, withoutTemplate)}, func(h *house) {
						p, ev := h.ask(caller, withTool(question(stream)))
						got := caller.hears(t, stream, p.String())
						s := string(got.ending)
						for _, x := range got.calls {
							s += " " + x.Name + x.Arguments
						}
						if ev.Truncated {
							s += " truncated"
						}
						at := 0
						if stream {
							at = 1
						}
						seen[at] = s
					})
				})
				if seen[0] != seen[1] || !strings.HasPrefix(seen[0], "length") {
					t.Errorf("%q in a body, %q in a stream", seen[0], seen[1])
				}
			})
		}
	})
}
