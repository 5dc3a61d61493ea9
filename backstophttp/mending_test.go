package backstophttp

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"backstop"
	"backstop/jsonfix"
)

var streamJSON = strings.Replace(asJSON, `{`, `{"stream":true,`, 1)

// thirds cuts a text into pieces of three bytes, whole characters only.
func thirds(text string) (pieces []string) {
	for len(text) > 0 {
		end := min(3, len(text))
		for end < len(text) && text[end]&0xC0 == 0x80 {
			end++
		}
		pieces, text = append(pieces, text[:end]), text[end:]
	}
	return pieces
}

func TestPromisedJSONIsMendedWhileItStreams(t *testing.T) {
	for name, c := range map[string]struct {
		text, finish string
		want, code   string // text, or error code behind its beginning
		tier         string
		repaired     string
		truncated    bool
	}{
		"valid":                              {`{"a": [1, 2.5e3, "x 北京 🌍"]}`, "stop", `{"a": [1, 2.5e3, "x 北京 🌍"]}`, "", "primary", "", false},
		"blanks around it stay":              {"\n {\"a\":1}\n ", "stop", "\n {\"a\":1}\n ", "", "primary", "", false},
		"a fence":                            {"```json\n{\"a\": 1}\n```", "stop", `{"a": 1}`, "", "primary", "fence", false},
		"prose around it":                    {"Sure:\n\n{\"a\":1}\n\nIs that all?", "stop", `{"a":1}`, "", "primary", "prose", false},
		"a thought before it":                {"<think>maybe {\"x\":0}?</think>{\"a\":1}", "stop", `{"a":1}`, "", "primary", "think", false},
		"careless spelling":                  {"{a: 'b', c: True,}", "stop", `{"a": "b", "c": true}`, "", "primary", "unquoted-key,single-quote,literal,trailing-comma", false},
		"cut at the length limit":            {`{"name":"Jo`, "length", `{"name":"Jo"}`, "", "primary", "cut", true},
		"cut although it says stop":          {`{"name":["Jo`, "stop", `{"name":["Jo"]}`, "", "primary", "cut", true},
		"cut in a number":                    {`{"a":"b","n":12`, "length", `{"a":"b"}`, "", "primary", "cut-number", true},
		"whole although it says length":      {`{"a":1}`, "length", `{"a":1}`, "", "primary", "", false},
		"two documents":                      {`{"a":1} {"b":2}`, "stop", `{"a":1}`, "json_invalid", "primary", "", false},
		"nothing but prose":                  {"I would rather not.", "stop", `{"b":2}`, "", "backup", "", false},
		"an array instead of an object":      {`[{"a":1}]`, "stop", `{"b":2}`, "", "backup", "", false},
		"prose at the length limit":          {"Well, let me", "length", `{"b":2}`, "", "backup", "", false},
		"a document behind braces in prose":  {"use {braces} like {\"a\":1}", "stop", `{"a":1}`, "", "primary", "prose", false},
		"a whole document escaped once":      {`{\"a\": \"b\"}`, "stop", `{"a": "b"}`, "", "primary", "escaped", false},
		"a filter in the middle":             {`{"name":"Jo`, "content_filter", `{"name":"Jo"}`, "", "primary", "cut", true},
		"blanks without end behind a member": {`{"a":"x",` + strings.Repeat(" \n", 3000) + `"b":2}`, "stop", `{"a":"x`, "json_invalid", "primary", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			mine := voiceP.starts(thirds(c.text), voiceP.end(c.finish), voiceP.usage(3), done)
			in(t, setup{primary: answers(mine...), backup: answers(voiceB.tells(`{"b":`, `2}`)...)}, func(h *house) {
				p, ev := h.call(streamJSON)
				h.want(p, 200, c.tier)
				g := understand(t, p.String())
				if g.text != c.want || g.code != c.code {
					t.Fatalf("got %q %q, want %q %q\n%s", g.text, g.code, c.want, c.code, p)
				}
				if c.code != "" {
					if o := &ev.Attempts[0].Outcome; o.Counts != backstop.CountsQuality || h.saw("primary") != 1 {
						t.Errorf("outcome %+v after %d questions", o, h.saw("primary"))
					}
					return
				}
				if g.note.Truncated != c.truncated || ev.Truncated != c.truncated || strings.Join(g.note.Repaired, ",") != c.repaired && c.tier == "primary" && p.header.Get("X-Backstop-Repaired") != c.repaired {
					t.Errorf("note %+v, event %v %v, header %q", g.note, ev.Repaired, ev.Truncated, p.header.Get("X-Backstop-Repaired"))
				}
				if want := map[bool]string{true: "length", false: c.finish}[c.truncated && c.finish != "content_filter"]; c.tier == "primary" && g.finish[0] != want {
					t.Errorf("finish %q, want %q", g.finish[0], want)
				}
				if ev.Attempts[0].Outcome.Kind == backstop.KindTruncated && h.saw("primary") != 1 {
					t.Error("what was cut is asked for again")
				}
			})
		})
	}
}

func TestACutThatIsSaidToBeWholeAgainStaysMarked(t *testing.T) {
	usage := voiceP.chunk(`[{"index":0,"delta":{},"finish_reason":"stop"}]`, `,"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}`)
	for _, first := range []string{"stop", "length"} {
		in(t, setup{primary: answers(voiceP.starts(thirds(`{"name":["Jo`), voiceP.end(first), voiceP.end("stop"), usage, done)...)}, func(h *house) {
			p, ev := h.call(streamJSON)
			if n := strings.Count(p.String(), `"finish_reason":"length"`); n != 3 || strings.Contains(p.String(), `"stop"`) || !ev.Truncated || !strings.Contains(p.String(), `"truncated":true`) {
				t.Errorf("first %s: %s", first, p)
			}
		})
	}
}

func TestValidJSONStreamsAtOnceAndInItsOwnEvents(t *testing.T) {
	script := []string{voiceP.role(), voiceP.say(`{"a`), voiceP.say(`":"x`), voiceP.say(` y`), "wait:2s", voiceP.say(`z, and`), voiceP.say(` so on`), voiceP.say(`"}`), voiceP.end("stop"), done}
	in(t, setup{primary: answers(script...)}, func(h *house) {
		p, ev := h.call(streamJSON)
		h.want(p, 200, "primary")
		if p.first >= time.Second || ev.FirstToken >= time.Second {
			t.Errorf("the first byte came after %s", p.first)
		}
		for _, piece := range []string{voiceP.say(`z, and`), voiceP.say(` so on`), voiceP.say(`"}`), voiceP.end("stop")} {
			if !strings.Contains(p.String(), piece) {
				t.Errorf("%q is not in %q", piece, p)
			}
		}
		if ev.Repaired != nil || strings.Contains(p.String(), "x_backstop") {
			t.Errorf("repairs %v of valid JSON", ev.Repaired)
		}
	})
}

func TestAStreamThatFailsBeforeItsDocumentBeganIsAskedForElsewhere(t *testing.T) {
	prose := []string{voiceP.role(), voiceP.say("Here it "), voiceP.say("is:\n")}
	for name, end := range map[string][]string{"a cut": {"fin"}, "a hang": {"hang"}} {
		t.Run(name, func(t *testing.T) {
			in(t, setup{primary: answers(append(prose, end...)...), backup: answers(voiceB.tells(`{"b":2}`)...)}, func(h *house) {
				p, _ := h.call(streamJSON)
				h.want(p, 200, "backup")
				if g := understand(t, p.String()); g.text != `{"b":2}` {
					t.Errorf("got %q", g.text)
				}
			})
		})
	}
}

func TestReasoningGoesOutBeforeTheDocument(t *testing.T) {
	script := []string{voiceP.role(), voiceP.think("let me see"), voiceP.say("```json\n"), voiceP.say(`{"a":1}`), voiceP.say("\n```"), voiceP.end("stop"), done}
	in(t, setup{primary: answers(script...)}, func(h *house) {
		p, ev := h.call(streamJSON)
		h.want(p, 200, "primary")
		g := understand(t, p.String())
		if g.text != `{"a":1}` || g.thoughts != "let me see" || strings.Join(ev.Repaired, "") != "fence" || strings.Join(g.note.Repaired, "") != "fence" {
			t.Errorf("got %+v, event %v", g, ev.Repaired)
		}
	})
}

func TestASchemaThatAStreamBreaksEndsInAnErrorFrame(t *testing.T) {
	in(t, setup{primary: answers(voiceP.tells(`{"a":`, `1}`)...), options: Options{Schema: compiled}, change: alwaysB}, func(h *house) {
		p, ev := h.call(stream)
		h.want(p, 200, "primary")
		if g := understand(t, p.String()); g.code != "json_invalid" || g.text != `{"a":1}` {
			t.Errorf("got %+v", g)
		}
		if ev.Attempts[0].Outcome.Reason() != "garbled/json" {
			t.Errorf("outcome %+v", ev.Attempts[0].Outcome)
		}
	})
}

func TestRepairOffPassesOnlyWholeValidJSON(t *testing.T) {
	off := func(p *backstop.Plan) { p.Routes[0].JSON.Repair = false }
	in(t, setup{primary: answers(voiceP.tells("```\n", `{"a":1}`, "\n```")...), backup: answers(voiceB.tells(`{"b":2}`)...), change: off}, func(h *house) {
		p, ev := h.call(streamJSON)
		h.want(p, 200, "backup")
		if ev.Attempts[0].Outcome.Reason() != "garbled/json" {
			t.Errorf("outcome %+v", ev.Attempts[0].Outcome)
		}
	})
}

// FuzzMendedStreams: whatever the text and wherever it is cut, a stream of
// promised JSON that ends well is JSON, and valid JSON comes out as it went in.
func FuzzMendedStreams(f *testing.F) {
	for _, text := range []string{`{"a":[1,2,{"b":"c 北"}]}`, "```json\n{\"a\":1}\n```", `{a: 'b', "c": tru`, "x {\"a\":1} y {\"b\":2}", "\n{\"a\":\"\\ud83d\\ude00\"}\n", `{"a":1}}`, `{{"a":1}}`} {
		f.Add(text, uint8(3), false)
		f.Add(text, uint8(1), true)
	}
	f.Fuzz(func(t *testing.T, text string, size uint8, limit bool) {
		if len(text) > 400 || !utf8.ValidString(text) {
			return
		}
		var pieces []string
		for rest := []rune(text); len(rest) > 0; {
			n := min(len(rest), 1+int(size)%9)
			pieces, rest = append(pieces, string(rest[:n])), rest[n:]
		}
		finish := map[bool]string{true: "length", false: "stop"}[limit]
		in(t, setup{primary: answers(voiceP.starts(pieces, voiceP.end(finish), done)...)}, func(h *house) {
			p, ev := h.call(streamJSON)
			g := understand(t, p.String())
			switch valid := jsonfix.Valid([]byte(text)) && strings.HasPrefix(strings.TrimLeft(text, blanks), "{"); {
			case ev.Attempts[0].Outcome.Kind == backstop.KindBug:
				t.Errorf("%q made us panic", text)
			case g.code == "" && !json.Valid([]byte(g.text)):
				t.Errorf("%q came out as %q", text, g.text)
			case valid && (g.text != text || ev.Repaired != nil || ev.Truncated):
				t.Errorf("valid %q came out as %q %q, %v", text, g.text, g.code, ev.Repaired)
			}
		})
	})
}

func TestComplaintsAreBounded(t *testing.T) {
	var wrong []breach
	for range 100 {
		wrong = append(wrong, breach{-1, jsonfix.Violation{Path: "/" + strings.Repeat("é\n", 500), Reason: "type"}})
	}
	if got := complaint(wrong); len(got) > maxBreaches*(2*maxPath+40)+300 || !strings.Contains(got, "and 80 more") || strings.Count(got, "\n") != maxBreaches+2 {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}
