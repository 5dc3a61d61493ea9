package backstophttp

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"backstop"
	"backstop/wire"
)

// asks is a piece of a tool call; the first one has the name.
func (v voice) asks(call int, name, arguments, finish string) string {
	head, tool := "", ""
	if name != "" {
		head, tool = fmt.Sprintf(`"id":"call_%d","type":"function",`, call), `"name":"`+name+`",`
	}
	return v.delta(fmt.Sprintf(`{"tool_calls":[{"index":%d,%s"function":{%s"arguments":%s}}]}`, call, head, tool, quoted(arguments)), finish)
}

// A finish reason may come with a piece of a call, or be none because more of
// the call comes behind it. What was cut is closed behind all that came of it.
func TestACallIsClosedOnlyBehindAllThatCame(t *testing.T) {
	const tools, length, none = `"tool_calls"`, `"length"`, "null"
	p := voiceP
	for name, c := range map[string]struct {
		script []string
		want   []string // the arguments; nil = it ends in an error
		ending wire.Ending
		took   time.Duration
	}{
		"a finish reason in every event":            {[]string{p.asks(0, "look", `{"at":`, tools), p.asks(0, "", `"home"}`, tools), done}, []string{`{"at":"home"}`}, wire.EndTools, 0},
		"the same within a text":                    {[]string{p.asks(0, "look", `{"at":"ho`, tools), p.asks(0, "", `me"}`, tools), done}, []string{`{"at":"home"}`}, wire.EndTools, 0},
		"the same with two calls":                   {[]string{p.asks(0, "look", "", tools), p.asks(0, "", `{"at":"a`, tools), p.asks(1, "look", "", tools), p.asks(0, "", `"}`, tools), p.asks(1, "", `{"at":"b"}`, tools), done}, []string{`{"at":"a"}`, `{"at":"b"}`}, wire.EndTools, 0},
		"the same, cut":                             {[]string{p.asks(0, "look", `{"at":"h`, length), p.asks(0, "", `o`, length), done}, []string{`{"at":"ho"}`}, wire.EndLength, 0},
		"with the last piece, cut":                  {[]string{p.asks(0, "look", `{"at":`, none), p.asks(0, "", `"ho`, length), p.usage(3), done}, []string{`{"at":"ho"}`}, wire.EndLength, 0},
		"with the only piece, cut":                  {[]string{p.asks(0, "look", `{"at":"ho`, length), done}, []string{`{"at":"ho"}`}, wire.EndLength, 0},
		"with the only piece, and nothing else":     {[]string{p.asks(0, "look", `{"at":"ho`, length), "fin"}, []string{`{"at":"ho"}`}, wire.EndLength, 0},
		"with the last piece, and then a stall":     {[]string{p.asks(0, "look", `{"at":`, none), p.asks(0, "", `"ho`, length), "hang"}, []string{`{"at":"ho"}`}, wire.EndLength, 10 * time.Second},
		"two of them":                               {[]string{p.asks(0, "look", `{"at":"home"}`, `"stop"`), p.end("tool_calls"), done}, []string{`{"at":"home"}`}, wire.EndTools, 0},
		"a call behind it":                          {[]string{p.asks(0, "look", `{"at":"a"}`, none), p.end("tool_calls"), p.asks(1, "look", `{"at":"b`, none), p.end("length"), done}, []string{`{"at":"a"}`, `{"at":"b"}`}, wire.EndLength, 0},
		"a piece behind it, and no other one":       {[]string{p.asks(0, "look", `{"at":"ho`, none), p.end("tool_calls"), p.asks(0, "", `me"}`, none), "fin"}, nil, "", 0},
		"a piece of what was closed, behind all":    {[]string{p.asks(0, "look", `{"at":"ho`, none), p.end("tool_calls"), p.usage(3), p.asks(0, "", `me"}`, tools), done}, nil, "", 0},
		"an empty piece behind it":                  {[]string{p.asks(0, "look", `{"at":"home"}`, none), p.end("tool_calls"), p.asks(0, "", "", none), "fin"}, []string{`{"at":"home"}`}, wire.EndTools, 0},
		"a finish reason in every event, then gone": {[]string{p.asks(0, "look", `{"at":`, tools), p.asks(0, "", `"ho`, tools), "fin"}, nil, "", 0},
	} {
		for from := range Rooms() {
			caller := fixtureOf(from)
			t.Run(name+", to "+string(from), func(t *testing.T) {
				in(t, setup{primary: answers(append([]string{p.role()}, c.script...)...), change: withoutTemplate}, func(h *house) {
					began := time.Now()
					page, ev := h.ask(caller, withTool(question(true)))
					if (ev.Failure == nil) != (c.want != nil) || time.Since(began) != c.took {
						t.Fatalf("%+v, %s\n%s", ev.Failure, time.Since(began), page)
					}
					if c.want == nil {
						return
					}
					got, want := caller.hears(t, true, page.String()), c.want
					if from == backstop.Gemini && c.ending == wire.EndLength {
						want = want[:len(want)-1] // every call there is to be made
					}
					if len(got.calls) != len(want) || got.ending != c.ending || ev.Truncated != (c.ending == wire.EndLength) {
						t.Fatalf("%d calls, %v, truncated %v\n%s", len(got.calls), got.ending, ev.Truncated, page)
					}
					for i, x := range got.calls {
						if x.Arguments != want[i] {
							t.Errorf("%q, want %q\n%s", x.Arguments, want[i], page)
						}
					}
				})
			})
		}
	}
}

// Some vendors give all parallel calls the index 0, or none. Each of them is
// judged on its own, also where another upstream goes on with them.
func TestCallsThatShareANumberAreJudgedOneByOne(t *testing.T) {
	other := func(arguments string) string {
		return strings.Replace(voiceB.asks(0, "look", arguments, "null"), "call_0", "call_9", 1)
	}
	for name, c := range map[string]struct {
		second, ending string
		whole          bool
	}{
		"whole":         {`{"at":"b"}`, "tool_calls", true},
		"without any":   {"", "tool_calls", true},
		"no JSON":       {`at home`, "tool_calls", false},
		"cut by length": {`{"at":"b`, "length", true},
	} {
		for _, index := range []string{`"index":0,"id"`, `"id"`} {
			calls := []string{voiceB.asks(0, "look", `{"at":"a"}`, "null"), other(c.second), voiceB.end(c.ending), done}
			for i := range calls {
				calls[i] = strings.Replace(calls[i], `"index":0,"id"`, index, 1)
			}
			for from := range Rooms() {
				caller := fixtureOf(from)
				for _, rescue := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s, %s, to %s, rescue %v", name, index, from, rescue), func(t *testing.T) {
						s := setup{primary: answers(append([]string{voiceB.role()}, calls...)...), change: withoutTemplate}
						if rescue {
							s.primary = answers(voiceP.role(), voiceP.say("I look"), "fin")
							s.backup = answers(append([]string{voiceB.role(), voiceB.say("I look"), voiceB.say(" it up")}, calls...)...)
						}
						in(t, s, func(h *house) {
							p, ev := h.ask(caller, withTool(question(true)))
							got := caller.hears(t, true, p.String())
							if (ev.Failure == nil) != c.whole || c.ending != "length" && c.whole && len(got.calls) != 2 {
								t.Errorf("%+v, %d calls\n%s", ev.Failure, len(got.calls), p)
							}
						})
					})
				}
			}
		}
	}
}
