package backstophttp

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"backstop"
)

// turns answers the first request with one thing and later ones with another.
func turns(first, later http.HandlerFunc) http.HandlerFunc {
	var n atomic.Int32
	return func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1) == 1 {
			first(w, r)
			return
		}
		later(w, r)
	}
}

func TestPromisedJSONIsAskedForOnceMore(t *testing.T) {
	for form, request := range map[string]string{"unary": asJSON, "stream": streamJSON} {
		t.Run(form, func(t *testing.T) {
			in(t, setup{primary: turns(answers(good("I cannot do that.")...), answers(good(`{"a":1}`)...)), backup: answers(good(`{"b":2}`)...)}, func(h *house) {
				p, ev := h.call(request)
				h.want(p, 200, "primary")
				if h.saw("primary") != 2 || h.saw("backup") != 0 || ev.Calls() != 2 || !strings.Contains(p.String(), `{\"a\":1}`) {
					t.Errorf("primary %d, backup %d\n%s", h.saw("primary"), h.saw("backup"), p)
				}
				again := h.bodies["primary"]
				if !strings.Contains(again, `{"role":"user","content":"json"},{"role":"user","content":"Your answer was not`) || strings.Contains(again, "cannot do that") {
					t.Errorf("the second question is %s", again)
				}
				if o := ev.Attempts[0].Outcome; o.Reason() != "garbled/json" || o.Counts != backstop.CountsQuality {
					t.Errorf("outcome %+v", o)
				}
			})
		})
	}
}

func TestHopelessJSONIsAskedForTwiceThenElsewhere(t *testing.T) {
	for invalid, questions := range map[string]int{"reask": 2, "next": 1} {
		t.Run(invalid, func(t *testing.T) {
			in(t, setup{primary: answers(good("no")...), backup: answers(good(`{"b":2}`)...),
				change: func(p *backstop.Plan) { p.Routes[0].JSON.Invalid = invalid }}, func(h *house) {
				p, ev := h.call(asJSON)
				h.want(p, 200, "backup")
				if h.saw("primary") != questions || ev.Repaired != nil {
					t.Errorf("asked %d times, event %v", h.saw("primary"), ev.Repaired)
				}
			})
		})
	}
	t.Run("error", func(t *testing.T) {
		in(t, setup{primary: answers(good("no")...), change: func(p *backstop.Plan) { p.Routes[0].JSON.Invalid = "error" }}, func(h *house) {
			p, _ := h.call(asJSON)
			if p.status != 502 || !strings.Contains(p.String(), `"json_invalid"`) || h.saw("primary") != 1 {
				t.Errorf("%d %s", p.status, p)
			}
		})
	})
}

func withoutTemplate(p *backstop.Plan) { p.Routes[0].Tiers = p.Routes[0].Tiers[:2] }

func TestTruncatedJSONThatNobodyHasBetterIsDeliveredMarked(t *testing.T) {
	for form, request := range map[string]string{"unary": asJSON, "stream": strings.Replace(streamJSON, `"stream"`, `"n":1,"stream"`, 1)} {
		for _, reason := range []string{"length", "stop"} {
			t.Run(form+", "+reason, func(t *testing.T) {
				in(t, setup{primary: answers(role, token(`{"name":"Jo`), finish(reason), done), change: withoutTemplate}, func(h *house) {
					p, ev := h.call(request)
					h.want(p, 200, "primary")
					for _, part := range []string{`{\"name\":\"Jo`, `"finish_reason":"length"`, `"truncated":true`, `"repaired":["cut"]`} {
						if !strings.Contains(p.String(), part) {
							t.Errorf("%s is not in %s", part, p)
						}
					}
					if !ev.Truncated || h.saw("primary") != 1 || form == "unary" && p.header.Get("X-Backstop-Truncated") != "1" {
						t.Errorf("event %+v, header %v", ev, p.header)
					}
				})
			})
		}
	}
}

func TestTruncatedJSONThatBreaksItsSchemaIsAnError(t *testing.T) {
	in(t, setup{primary: answers(role, token(`{"a":"Jo`), finish("length"), done), options: Options{Schema: compiled},
		change: func(p *backstop.Plan) { alwaysB(p); p.Routes[0].Tiers = p.Routes[0].Tiers[:1] }}, func(h *house) {
		p, ev := h.call(unary)
		if p.status != 502 || !strings.Contains(p.String(), `"json_truncated"`) {
			t.Errorf("%d %s", p.status, p)
		}
		if o := ev.Attempts[0].Outcome; o.Kind != backstop.KindTruncated || o.Counts != backstop.CountsNone {
			t.Errorf("outcome %+v", o)
		}
	})
}

const withTools = `{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}]}`

// calling is a stream that calls a tool with arguments in pieces.
func calling(reason string, pieces ...string) []string {
	script := []string{role, voiceP.delta(`{"tool_calls":[{"index":0,"id":"t1","type":"function","function":{"name":"f","arguments":""}}]}`, "null")}
	for _, p := range pieces {
		script = append(script, voiceP.delta(fmt.Sprintf(`{"tool_calls":[{"index":0,"function":{"arguments":%s}}]}`, quoted(p)), "null"))
	}
	return append(script, voiceP.end(reason), done)
}

func TestToolArgumentsAreMendedAndNeverPassedOnCut(t *testing.T) {
	for name, c := range map[string]struct {
		pieces         []string
		finish         string
		unary, streams string // arguments as they come out; "" = not from the primary, or an error frame
		truncated      bool
	}{
		"valid":                   {[]string{`{"a":`, `"x"}`}, "tool_calls", `{"a":"x"}`, `{"a":"x"}`, false},
		"none at all":             {nil, "tool_calls", ``, ``, false},
		"a trailing comma":        {[]string{`{"a":`, `"x",}`}, "tool_calls", `{"a":"x"}`, ``, false},
		"cut at the length limit": {[]string{`{"a":`, `"x`}, "length", `{"a":"x"}`, `{"a":"x"}`, true},
		"cut, and claims a call":  {[]string{`{"a":`, `"x`}, "tool_calls", `{"a":"x"}`, `{"a":"x"}`, true},
		"cut before anything":     {[]string{`{"ci`}, "tool_calls", `{"ci`, `{"ci`, true},
		"cut in a literal":        {[]string{`{"a":"x","b":tr`}, "length", `{"a":"x","b":true}`, `{"a":"x","b":true}`, true},
	} {
		mark := func(p *backstop.Plan) { p.Routes[0].JSON.Truncated = "mark" }
		t.Run(name+", unary", func(t *testing.T) {
			in(t, setup{primary: answers(calling(c.finish, c.pieces...)...), change: mark}, func(h *house) {
				p, ev := h.call(withTools)
				h.want(p, 200, "primary")
				if !strings.Contains(p.String(), `"arguments":`+quoted(c.unary)) || ev.Truncated != c.truncated || strings.Contains(p.String(), `"finish_reason":"length"`) != c.truncated {
					t.Errorf("truncated %v: %s", ev.Truncated, p)
				}
			})
		})
		t.Run(name+", stream", func(t *testing.T) {
			in(t, setup{primary: answers(calling(c.finish, c.pieces...)...), change: mark}, func(h *house) {
				p, ev := h.call(strings.Replace(withTools, `{`, `{"stream":true,`, 1))
				h.want(p, 200, "primary")
				g := understand(t, p.String())
				switch {
				case g.code != "":
					if c.streams != "" || g.code != "json_invalid" {
						t.Errorf("error %q", g.code)
					}
				case g.tools != c.streams || g.note.Truncated != c.truncated || ev.Truncated != c.truncated || (g.finish[0] == "length") != c.truncated:
					t.Errorf("arguments %q, finish %q, note %+v", g.tools, g.finish[0], g.note)
				}
			})
		})
	}
}

func TestTalkBesidesAToolCallIsNotThePromisedJSON(t *testing.T) {
	script := append([]string{role, token("Let me "), token("look.")}, calling("tool_calls", `{"a":1}`)[1:]...)
	for form, stream := range map[string]string{"unary": `"stream":false,`, "stream": `"stream":true,`} {
		t.Run(form, func(t *testing.T) {
			in(t, setup{primary: answers(script...)}, func(h *house) {
				p, ev := h.call(strings.Replace(withTools, `{`, `{`+stream+`"response_format":{"type":"json_object"},`, 1))
				h.want(p, 200, "primary")
				if !strings.Contains(p.String(), "Let me look.") || len(ev.Attempts) != 1 || ev.Repaired != nil {
					t.Errorf("event %v\n%s", ev.Repaired, p)
				}
			})
		})
	}
}
