package backstophttp

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"backstop"
	"backstop/wire"
	"backstop/wire/openai"
)

const streamUsage = `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hi"}]}`

func rescue(mode string) func(*backstop.Plan) {
	return func(p *backstop.Plan) { p.Routes[0].Stream.Rescue = mode }
}

// breaks are the ways in which a committed stream can end badly, what follows
// the tokens, and the code of the error frame without a rescue.
var breaks = []struct {
	name  string
	then  []string
	code  string
	after time.Duration
}{
	{"a FIN", []string{"fin"}, "stream_incomplete", 0},
	{"a clean end without a finish reason", nil, "stream_incomplete", 0},
	{"[DONE] without a finish reason", []string{done}, "stream_incomplete", 0},
	{"an event cut in two", []string{`data: {"id":"p1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"half`, "fin"}, "stream_incomplete", 0},
	{"a stall", []string{"hang"}, "stream_stalled", 10 * time.Second},
	{"comments only", []string{": x\n\n", "wait:4s", ": x\n\n", "wait:4s", ": x\n\n", "hang"}, "stream_stalled", 10 * time.Second},
	{"empty deltas only", []string{"wait:4s", voiceP.say(""), "wait:4s", voiceP.say(""), "hang"}, "stream_stalled", 10 * time.Second},
	{"an error event", []string{`data: {"error":{"message":"m","type":"server_error","code":"server_is_overloaded"}}` + "\n\n"}, "upstream_unavailable", 0},
	{"a rate limit in the stream", []string{`data: {"error":{"message":"m","type":"rate_limit_error","code":"rate_limit_exceeded"}}` + "\n\n"}, "rate_limited", 0},
	{"a model that is gone", []string{`data: {"error":{"message":"m","type":"invalid_request_error","code":"model_not_found"}}` + "\n\n"}, "upstream_rejected", 0},
	{"an unknown finish reason that means a fault", []string{voiceP.end("network_error")}, "", 0},
	{"malformed events over the bound", []string{strings.Repeat("data: {\"oops\n\n", 17), "hang"}, "stream_incomplete", 0},
}

func TestABrokenStreamIsTakenOverWithoutASeam(t *testing.T) {
	for _, b := range breaks {
		for form, request := range map[string]string{"usage on": streamUsage, "usage off": stream} {
			t.Run(b.name+", "+form, func(t *testing.T) {
				primary := answers(voiceP.starts([]string{"The ", "quick"}, b.then...)...)
				in(t, setup{primary: primary, backup: answers(voiceB.tells("Th", "e quick br", "own ", "fox")...)}, func(h *house) {
					began := time.Now()
					p, ev := h.call(request)
					g := understand(t, p.String())
					if g.text != "The quick brown fox" || g.finish[0] != "stop" || !g.constant() || !g.ids["p1"] || !g.models["mp"] || !g.prints["fp_p"] {
						t.Errorf("%+v\n%s", g, p)
					}
					if want := map[bool]int{true: 4, false: 0}[request == streamUsage]; g.usage != want {
						t.Errorf("usage %d, want %d\n%s", g.usage, want, p)
					}
					if !g.note.Rescued || g.note.Continued || g.note.Upstream != "backup" || g.note.Tier != "backup" || g.note.Attempts != 2 || g.note.Reason == "" {
						t.Errorf("note %+v\n%s", g.note, p)
					}
					if ev.Rescued != "spliced" || ev.Outcome != backstop.OK || ev.Upstream != "backup" || ev.OutputTokens != 4 || h.saw("backup") != 1 {
						t.Errorf("event %+v", ev)
					}
					if took := time.Since(began); took < b.after || took > b.after+100*time.Millisecond {
						t.Errorf("took %s", took)
					}
				})
			})
		}
	}
}

func TestWithoutARescueABrokenStreamEndsInOneErrorFrame(t *testing.T) {
	other := voiceB.tells("Another text")
	for _, c := range []struct {
		name, mode string
		backup     []string
		asked      int
		word       string
	}{
		{"off", "off", voiceB.tells("The quick brown fox"), 0, ""},
		{"a text that diverges at once", "splice", other, 1, "failed"},
		{"a text that diverges late", "splice", voiceB.tells("The ", "quacks"), 1, "failed"},
		{"a text that ends too soon", "splice", voiceB.tells("The "), 1, "failed"},
		{"a refusal", "splice", []string{voiceB.role(), voiceB.delta(`{"refusal":"no"}`, "null"), voiceB.end("stop"), done}, 1, "failed"},
		{"a filter", "splice", []string{voiceB.role(), voiceB.end("content_filter"), done}, 1, "failed"},
		{"a tool call before the seam", "splice", []string{voiceB.role(), voiceB.say("The"), voiceB.delta(`{"tool_calls":[{"index":0,"id":"t","type":"function","function":{"name":"f","arguments":"{}"}}]}`, "null"), voiceB.end("tool_calls"), done}, 1, "failed"},
		{"an empty answer", "splice", []string{voiceB.role(), done}, 1, "failed"},
		{"a rescuer that breaks before the seam", "splice", []string{voiceB.role(), voiceB.say("The"), "fin"}, 1, "failed"},
		{"a rescuer that hangs before the seam", "splice", []string{voiceB.role(), voiceB.say("The"), "hang"}, 1, "failed"},
		{"a rescuer that breaks after the seam", "splice", []string{voiceB.role(), voiceB.say("The quick brown"), "fin"}, 1, "failed"},
		{"a rescuer that hangs after the seam", "splice", []string{voiceB.role(), voiceB.say("The quick brown"), "hang"}, 1, "failed"},
		{"a rescuer that only thinks", "splice", []string{voiceB.role(), voiceB.think("hm"), "hang"}, 1, "failed"},
		{"a body that is another text", "splice", nil, 1, "failed"},
	} {
		for _, b := range breaks {
			t.Run(c.name+" after "+b.name, func(t *testing.T) {
				backup := answers(c.backup...)
				if c.backup == nil {
					backup = body(200, plainBody("Another text"))
				}
				in(t, setup{primary: answers(voiceP.starts([]string{"The ", "quick"}, b.then...)...), backup: backup, change: rescue(c.mode)}, func(h *house) {
					p, ev := h.call(stream)
					g := understand(t, p.String())
					if b.code != "" && g.code != b.code || g.code == "" || !strings.HasPrefix("The quick brown", g.text) || !strings.HasPrefix(g.text, "The quick") || g.noted {
						t.Errorf("%+v\n%s", g, p)
					}
					if ev.Rescued != c.word || h.saw("backup") != c.asked || ev.Failure == nil || ev.Status != 200 {
						t.Errorf("event %+v, backup saw %d", ev, h.saw("backup"))
					}
					for _, turn := range h.turns {
						t.Errorf("a breaker moved: %+v", turn)
					}
				})
			})
		}
	}
}

// Some servers find out while they answer that a conversation is too long.
func TestAStreamThatOutgrowsItsModelGoesOnWhereThereIsRoom(t *testing.T) {
	full := `data: {"error":{"code":500,"message":"Context size has been exceeded.","type":"server_error"}}` + "\n\n"
	for name, c := range map[string]struct {
		primary, backup int // context, 0 = not declared
		goesOn          bool
	}{
		"a larger one below":   {8000, 128000, true},
		"one of the same size": {8000, 8000, false},
		"a size nobody knows":  {8000, 0, false},
		"its own size unknown": {0, 128000, false},
		"a smaller one below":  {8000, 4000, false},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, setup{primary: answers(voiceP.starts([]string{"The ", "quick"}, full)...), backup: answers(voiceB.tells("The quick brown ", "fox")...), change: func(p *backstop.Plan) {
				p.Routes[0].Tiers[0].Context, p.Routes[0].Tiers[1].Context = c.primary, c.backup
			}}, func(h *house) {
				p, ev := h.call(stream)
				g := understand(t, p.String())
				if c.goesOn != (g.text == "The quick brown fox") || c.goesOn != (ev.Rescued == "spliced") || !c.goesOn && (g.code != "upstream_rejected" || h.saw("backup") != 0) {
					t.Errorf("%q %q, rescued %q\n%s", g.text, g.code, ev.Rescued, p)
				}
			})
		})
	}
}

func TestADivergenceIsSeenAtEveryPosition(t *testing.T) {
	const said = "Zürich, 北京 🌍 \"quoted\"\n"
	for i := range len([]rune(said)) {
		other := []rune(said)
		other[i] = 'X'
		for _, pieces := range [][]string{{string(other) + "and on"}, bytewise(string(other) + "and on")} {
			in(t, setup{primary: answers(voiceP.starts(bytewise(said), "fin")...), backup: answers(voiceB.tells(pieces...)...)}, func(h *house) {
				p, ev := h.call(stream)
				if g := understand(t, p.String()); g.text != said || g.code != "stream_incomplete" || ev.Attempts[1].Outcome.Kind != backstop.KindDiverged || ev.Attempts[1].Outcome.Counts != backstop.CountsNone {
					t.Errorf("position %d: %+v", i, g)
				}
			})
		}
	}
}

func TestTheSeamMayFallAnywhere(t *testing.T) {
	const all = "Zürich, 北京 🌍 \"quoted\"\\ \u2028 \t end"
	runes := []rune(all)
	escaped := func(text string) string { // \u escapes, surrogate pairs included
		var b strings.Builder
		for _, r := range text {
			if r >= 0x10000 {
				fmt.Fprintf(&b, `\u%04X\u%04x`, 0xD800+(r-0x10000)>>10, 0xDC00+(r-0x10000)&0x3FF)
				continue
			}
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		return voiceB.delta(`{"content":"`+b.String()+`"}`, "null")
	}
	for i := 1; i < len(runes); i++ {
		whole := []string{voiceB.role(), escaped(all), voiceB.end("length"), done}
		split := []string{voiceB.role()}
		for _, c := range bytewise(all) {
			split = append(split, escaped(c))
		}
		split = append(split, voiceB.end("length"), done)
		ending := []string{voiceB.role(), voiceB.delta(`{"content":`+quoted(all)+`}`, `"length"`), done}
		for name, backup := range map[string][]string{"in one piece": whole, "in characters": split, "with the finish reason": ending} {
			in(t, setup{primary: answers(voiceP.starts([]string{string(runes[:i])}, "fin")...), backup: answers(backup...)}, func(h *house) {
				p, _ := h.call(stream)
				if g := understand(t, p.String()); g.text != all || g.finish[0] != "length" || !g.constant() || !g.note.Rescued {
					t.Errorf("%s, seam at %d: %+v\n%s", name, i, g, p)
				}
			})
		}
	}
}

func TestASurrogatePairMayBeCutBetweenEvents(t *testing.T) {
	half := func(v voice, h string) string { return v.delta(`{"content":"`+h+`"}`, "null") }
	pair := []string{half(voiceB, `\ud83c`), half(voiceB, `\udf0d`)}
	script := append(append([]string{voiceB.role(), voiceB.say("a")}, pair...), voiceB.say("z"), voiceB.end("stop"), done)
	for name, primary := range map[string][]string{
		"before the seam":     {voiceP.role(), voiceP.say("a🌍")},
		"after the seam":      {voiceP.role(), voiceP.say("a")},
		"on both sides":       {voiceP.role(), voiceP.say("a"), half(voiceP, `\ud83c`), half(voiceP, `\udf0d`)},
		"of what was written": {voiceP.role(), half(voiceP, `a\ud83c`), half(voiceP, `\udf0dz`)},
	} {
		in(t, setup{primary: answers(append(primary, "fin")...), backup: answers(script...)}, func(h *house) {
			p, ev := h.call(stream)
			all := ""
			for _, line := range strings.Split(p.String(), "\n") { // as a reader does that puts UTF-16 together
				if _, rest, ok := strings.Cut(line, `"content":"`); ok {
					text, _, _ := strings.Cut(rest, `"`)
					all += text
				}
			}
			all = strings.ReplaceAll(all, `\ud83c\udf0d`, "🌍")
			if all != "a🌍z" || ev.Rescued != "spliced" {
				t.Errorf("%s: %q, %s\n%s", name, all, ev.Rescued, p)
			}
		})
	}
	in(t, setup{primary: answers(voiceP.role(), half(voiceP, `a\ud83c`), "fin"), backup: answers(script...)}, func(h *house) {
		if _, ev := h.call(stream); ev.Failure == nil || h.saw("backup") != 0 {
			t.Errorf("half a character was gone on from: %+v", ev)
		}
	})
}

func TestReasoningIsKeptOnceAndNeverTwice(t *testing.T) {
	thinker := []string{voiceB.role(), voiceB.think("other thoughts"), voiceB.delta(`{"reasoning_content":"more","content":"The answer"}`, "null"), voiceB.delta(`{"reasoning_content":"late","content":" is 4"}`, "null"), voiceB.end("stop"), done}
	for name, primary := range map[string][]string{
		"broken in its thoughts": {voiceP.role(), voiceP.think("my thoughts"), "fin"},
		"broken in its text":     {voiceP.role(), voiceP.think("my "), voiceP.think("thoughts"), voiceP.say("The an"), "fin"},
	} {
		in(t, setup{primary: answers(primary...), backup: answers(thinker...)}, func(h *house) {
			p, ev := h.call(stream)
			if g := understand(t, p.String()); g.text != "The answer is 4" || g.thoughts != "my thoughts" || ev.Rescued != "spliced" {
				t.Errorf("%s: %+v\n%s", name, g, p)
			}
		})
	}
}

func TestWhatIsNotOneTextIsNeverTakenOver(t *testing.T) {
	call := voiceP.delta(`{"tool_calls":[{"index":0,"id":"t","type":"function","function":{"name":"f","arguments":"{\"a"}}]}`, "null")
	refusal := voiceP.delta(`{"refusal":"I can"}`, "null")
	text := func(extra string) string { return strings.Replace(stream, `"model":"m",`, `"model":"m",`+extra, 1) }
	for name, c := range map[string]struct {
		request string
		script  []string
	}{
		"a tool call had begun":      {stream, []string{voiceP.say("a"), call, "fin"}},
		"a refusal had begun":        {stream, []string{voiceP.say("a"), refusal, "fin"}},
		"several choices were asked": {text(`"n":2,`), []string{voiceP.say("a"), "fin"}},
		"logprobs were asked":        {text(`"logprobs":true,`), []string{voiceP.say("a"), "fin"}},
		"a second choice came":       {stream, []string{voiceP.say("a"), voiceP.chunk(`[{"index":1,"delta":{"content":"b"},"finish_reason":null}]`, ""), "fin"}},
		"content in parts":           {stream, []string{voiceP.delta(`{"content":[{"type":"text","text":"a"}]}`, "null"), "fin"}},
		"more than the bound":        {stream, []string{voiceP.say(strings.Repeat("a", maxHeldBack+1)), "fin"}},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, setup{primary: answers(append([]string{voiceP.role()}, c.script...)...), backup: answers(voiceB.tells("a", "b")...)}, func(h *house) {
				p, ev := h.call(c.request)
				if ev.Failure == nil || ev.Failure.Code != backstop.CodeStreamIncomplete || h.saw("backup") != 0 || strings.Contains(p.String(), "[DONE]") || !strings.Contains(p.String(), `"error"`) {
					t.Errorf("event %+v, backup saw %d", ev, h.saw("backup"))
				}
			})
		})
	}
}

func TestNoFallbackForbidsTheRescue(t *testing.T) {
	in(t, setup{primary: answers(voiceP.starts([]string{"a"}, "fin")...), backup: answers(voiceB.tells("a", "b")...)}, func(h *house) {
		_, ev := h.serve(context.Background(), &Call{Request: h.read(stream), ID: "req_1", NoFallback: true})
		if ev.Failure == nil || h.saw("backup") != 0 {
			t.Errorf("event %+v", ev)
		}
	})
}

func TestATextUpToTheBoundIsTakenOver(t *testing.T) {
	text := strings.Repeat("0123456789abcdef", maxHeldBack/16)
	in(t, setup{primary: answers(voiceP.starts([]string{text}, "fin")...), backup: answers(voiceB.tells(text[:1000], text[1000:]+"!")...)}, func(h *house) {
		p, ev := h.call(stream)
		if g := understand(t, p.String()); g.text != text+"!" || ev.Rescued != "spliced" {
			t.Errorf("%d bytes, %s", len(g.text), ev.Rescued)
		}
	})
}

func TestARescuerThatAnswersInOneBodyIsTakenApart(t *testing.T) {
	in(t, setup{primary: answers(voiceP.starts([]string{"The qu"}, "fin")...), backup: body(200, plainBody("The quick fox"))}, func(h *house) {
		p, ev := h.call(streamUsage)
		if g := understand(t, p.String()); g.text != "The quick fox" || !g.constant() || g.usage != 5 || ev.Rescued != "spliced" {
			t.Errorf("%+v\n%s", g, p)
		}
	})
}

func TestAToolCallBeyondTheSeamPasses(t *testing.T) {
	script := []string{voiceB.role(), voiceB.say("I look it up."), voiceB.delta(`{"tool_calls":[{"index":0,"id":"t","type":"function","function":{"name":"f","arguments":"{}"}}]}`, "null"), voiceB.end("tool_calls"), done}
	in(t, setup{primary: answers(voiceP.starts([]string{"I look"}, "fin")...), backup: answers(script...)}, func(h *house) {
		p, ev := h.call(stream)
		if g := understand(t, p.String()); g.text != "I look it up." || g.tools != "{}" || g.finish[0] != "tool_calls" || !g.constant() || ev.Rescued != "spliced" {
			t.Errorf("%+v\n%s", g, p)
		}
	})
}

func TestLegacyCompletionsAreTakenOverToo(t *testing.T) {
	piece := func(id, text, finish string) string {
		return fmt.Sprintf(`data: {"id":%q,"object":"text_completion","created":1,"model":%q,"choices":[{"index":0,"text":%q,"logprobs":null,"finish_reason":%s}]}`+"\n\n", id, id, text, finish)
	}
	primary := answers(piece("p", "Once up", "null"), "fin")
	backup := answers(piece("b", "Once", "null"), piece("b", " upon a", "null"), piece("b", " time", `"stop"`), done)
	for name, change := range map[string]func(*backstop.Plan){"splice": rescue("splice"), "continue": rescue("continue")} {
		in(t, setup{primary: primary, backup: backup, change: change}, func(h *house) {
			q, f := (openai.Room{}).Read(wire.Completion, []byte(`{"model":"m","stream":true,"prompt":"tell"}`))
			if f != nil {
				t.Fatal(f)
			}
			p, ev := h.serve(context.Background(), &Call{Request: q, ID: "req_1"})
			if g := understand(t, p.String()); g.text != "Once upon a time" || !g.constant() || ev.Rescued != "spliced" {
				t.Errorf("%s: %+v\n%s", name, g, p)
			}
		})
	}
}

func TestACallerWhoLeavesDuringARescueEndsIt(t *testing.T) {
	for name, backup := range map[string][]string{
		"before the headers": {"hang"},
		"before the seam":    {voiceB.role(), voiceB.say("The"), "hang"},
		"after the seam":     {voiceB.role(), voiceB.say("The quick"), "hang"},
	} {
		t.Run(name, func(t *testing.T) {
			freed := make(chan time.Time, 1)
			in(t, setup{primary: answers(voiceP.starts([]string{"The q"}, "fin")...), backup: func(w http.ResponseWriter, r *http.Request) {
				answers(backup...)(w, r)
				freed <- time.Now()
			}}, func(h *house) {
				ctx, cancel := context.WithCancel(context.Background())
				left := time.Now().Add(2 * time.Second)
				time.AfterFunc(2*time.Second, cancel)
				_, ev := h.serve(ctx, &Call{Request: h.read(stream), ID: "req_1"})
				if at := <-freed; at.Sub(left) > 100*time.Millisecond {
					t.Errorf("the rescuer was freed %s late", at.Sub(left))
				}
				if ev.Outcome != backstop.Canceled {
					t.Errorf("event %+v", ev)
				}
			})
		})
	}
}

func TestKeepalivesGoOutWhileARescuerCatchesUp(t *testing.T) {
	slow := func(p *backstop.Plan) {
		p.Upstreams[1].Timeouts.FirstToken = time.Minute
		p.Routes[0].Stream.Keepalive = 5 * time.Second
	}
	backup := answers(voiceB.role(), "wait:12s", voiceB.say("The quick"), voiceB.end("stop"), done)
	in(t, setup{primary: answers(voiceP.starts([]string{"The"}, "fin")...), backup: backup, change: slow}, func(h *house) {
		p, _ := h.call(stream)
		if n := strings.Count(p.String(), ": keep-alive\n\n"); n != 2 || understand(t, p.String()).text != "The quick" {
			t.Errorf("%d comments\n%s", n, p)
		}
	})
}

func TestTextThatCameInOneReadIsNotHeldBackUntilTheRescue(t *testing.T) {
	primary := answers(voiceP.role() + voiceP.say("a") + voiceP.say("b") + `data: {"error":{"message":"m","code":"server_is_overloaded"}}` + "\n\n")
	in(t, setup{primary: primary, backup: answers("wait:3s", voiceB.role(), voiceB.say("abc"), voiceB.end("stop"), done)}, func(h *house) {
		p, _ := h.call(stream)
		if p.at[0] != 0 || understand(t, p.String()).text != "abc" {
			t.Errorf("%v\n%s", p.at, p)
		}
	})
}
