package backstophttp

import (
	"strings"
	"testing"
	"time"

	"backstop"
	"backstop/local"
	"backstop/wire"
)

func TestAnUpstreamOfAnotherDialectAnswers(t *testing.T) {
	everyPair(t, func(t *testing.T, caller, up fixture) {
		forms(t, func(t *testing.T, stream bool) {
			for _, plain := range []bool{false, true} {
				primary := answers(up.tells("hello ", "wörld")...)
				if plain {
					primary = wrapped(up.plain(up.tells("hello ", "wörld")))
				}
				in(t, setup{primary: primary, change: speak(up, up, func(p *backstop.Plan) {
					if plain {
						p.Upstreams[0].Unary = backstop.UnaryPlain
					}
				})}, func(h *house) {
					p, ev := h.ask(caller, question(stream))
					h.want(p, 200, "primary")
					got := caller.hears(t, stream, p.String())
					if got.text != "hello wörld" || got.ending != wire.EndStop || got.usage.Input != 10 || got.usage.Output != 5 || stream && got.verdict.Class != backstop.OK {
						t.Errorf("plain %v: %+v\n%s", plain, got, p)
					}
					if ev.Outcome != backstop.OK || ev.InputTokens != 10 || ev.OutputTokens != 5 || ev.Calls() != 1 || ev.Dialect != caller.room.Dialect() {
						t.Errorf("event %+v", ev)
					}
				})
			}
		})
	})
}

func TestABackupOfAnotherDialectTakesOverBeforeTheFirstToken(t *testing.T) {
	pairs(t, func(t *testing.T, caller, up fixture) {
		own := caller
		if caller.room.Dialect() == backstop.Responses {
			own = fixtureOf(backstop.OpenAI)
		}
		forms(t, func(t *testing.T, stream bool) {
			for name, primary := range map[string][]string{"silence": {"hang"}, "a reset": {"fin"}} {
				in(t, setup{primary: answers(primary...), backup: answers(up.tells("from the ", "backup")...), change: speak(own, up)}, func(h *house) {
					p, ev := h.ask(caller, question(stream))
					h.want(p, 200, "backup")
					if got := caller.hears(t, stream, p.String()); got.text != "from the backup" {
						t.Errorf("%s: %+v\n%s", name, got, p)
					}
					if ev.Calls() != 2 {
						t.Errorf("%s: event %+v", name, ev)
					}
				})
			}
		})
	})
}

func TestAToolIsCalledAcrossDialects(t *testing.T) {
	for name, c := range map[string]struct {
		pieces   []string
		want     string
		repaired string
	}{
		"as it came": {[]string{`{"at":`, `"home"}`}, `{"at":"home"}`, ""},
		"mended":     {[]string{`{"at":`, `"home"`}, `{"at":"home"}`, "cut"},
	} {
		t.Run(name, func(t *testing.T) {
			everyPair(t, func(t *testing.T, caller, up fixture) {
				if up.room.Dialect() == backstop.Gemini && c.repaired != "" {
					t.Skip("arguments are an object there, never a text")
				}
				if caller.room.Dialect() == backstop.Gemini && c.repaired != "" {
					t.Skip("see TestACallThatWasCutIsNoneForAGeminiCaller")
				}
				forms(t, func(t *testing.T, stream bool) {
					in(t, setup{primary: answers(up.calls(c.pieces...)...), change: speak(up, up, withoutTemplate)}, func(h *house) {
						p, ev := h.ask(caller, withTool(question(stream)))
						h.want(p, 200, "primary")
						got := caller.hears(t, stream, p.String())
						if len(got.calls) != 1 || got.calls[0].Name != "look" || got.calls[0].Arguments != c.want || got.ending != wire.EndTools && c.repaired == "" {
							t.Errorf("%+v\n%s", got, p)
						}
						if strings.Join(ev.Repaired, ",") != c.repaired {
							t.Errorf("repaired %v", ev.Repaired)
						}
					})
				})
			})
		})
	}
}

func TestPromisedJSONIsMendedAcrossDialects(t *testing.T) {
	everyPair(t, func(t *testing.T, caller, up fixture) {
		forms(t, func(t *testing.T, stream bool) {
			fenced := up.tells("```json\n", `{"a"`, `: 1}`, "\n```")
			in(t, setup{primary: answers(fenced...), change: speak(up, up)}, func(h *house) {
				p, ev := h.ask(caller, withSchema(question(stream)))
				h.want(p, 200, "primary")
				if got := caller.hears(t, stream, p.String()); got.text != `{"a": 1}` || h.saw("primary") != 1 {
					t.Errorf("%+v\n%s", got, p)
				}
				if strings.Join(ev.Repaired, ",") != "fence" {
					t.Errorf("repaired %v", ev.Repaired)
				}
			})
		})
	})
}

func TestPromisedJSONIsAskedForOnceMoreAcrossDialects(t *testing.T) {
	everyPair(t, func(t *testing.T, caller, up fixture) {
		if _, asks := caller.room.(wire.Asker); !asks {
			t.Skip("no second question in this dialect")
		}
		forms(t, func(t *testing.T, stream bool) {
			in(t, setup{primary: turns(answers(up.tells("I cannot.")...), answers(up.tells(`{"a":1}`)...)), change: speak(up, up)}, func(h *house) {
				p, ev := h.ask(caller, withSchema(question(stream)))
				h.want(p, 200, "primary")
				if got := caller.hears(t, stream, p.String()); got.text != `{"a":1}` || h.saw("primary") != 2 || ev.Calls() != 2 {
					t.Errorf("%+v, asked %d times\n%s", got, h.saw("primary"), p)
				}
				if again := h.bodies["primary"]; !strings.Contains(again, "Your answer was not the JSON") {
					t.Errorf("the second question is %s", again)
				}
			})
		})
	})
}

func TestABrokenStreamIsTakenOverAcrossDialects(t *testing.T) {
	speakers := []backstop.Dialect{}
	for d := range Rooms() {
		if d != backstop.Responses {
			speakers = append(speakers, d)
		}
	}
	for d := range Rooms() {
		for _, first := range speakers {
			for _, second := range speakers {
				t.Run(string(d)+" caller, "+string(first)+" then "+string(second), func(t *testing.T) {
					caller, one, two := fixtureOf(d), fixtureOf(first), fixtureOf(second)
					in(t, setup{primary: answers(one.begins([]string{"The ", "quick"}, "fin")...), backup: answers(two.tells("Th", "e quick br", "own ", "fox")...), change: speak(one, two)}, func(h *house) {
						p, ev := h.ask(caller, question(true))
						got := caller.hears(t, true, p.String())
						if got.text != "The quick brown fox" || got.verdict.Class != backstop.OK || got.ending != wire.EndStop || got.usage.Output != 5 || got.usage.Input != 10 {
							t.Errorf("%+v\n%s", got, p)
						}
						if !shows([]byte(p.String()), `"rescued":true`, `"upstream":"backup"`) || ev.Rescued != "spliced" {
							t.Errorf("event %+v\n%s", ev, p)
						}
					})
				})
			}
		}
	}
}

// countsFirst is an upstream that says how long the question is before it
// begins to answer, and never again.
func countsFirst(pieces ...string) (events []string) {
	say := func(name, data string) { events = append(events, "event: "+name+"\ndata: "+data+"\n\n") }
	say("message_start", `{"type":"message_start","message":{"id":"c2","type":"message","role":"assistant","model":"m2","content":[],"stop_reason":null,"usage":{"input_tokens":7,"cache_read_input_tokens":3,"output_tokens":1}}}`)
	say("content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`)
	for _, text := range pieces {
		say("content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"`+text+`"}}`)
	}
	say("content_block_stop", `{"type":"content_block_stop","index":0}`)
	say("message_delta", `{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":5}}`)
	say("message_stop", `{"type":"message_stop"}`)
	return events
}

func TestARescuersTokensAreCountedAlthoughItSaidThemBeforeTheSeam(t *testing.T) {
	for d := range Rooms() {
		for first := range Rooms() {
			if first == backstop.Responses {
				continue
			}
			for _, mode := range []string{"splice", "continue"} {
				t.Run(string(d)+" caller, "+string(first)+" upstream, "+mode, func(t *testing.T) {
					caller, one := fixtureOf(d), fixtureOf(first)
					backup := answers(countsFirst("Th", "e quick br", "own ", "fox")...)
					if mode == "continue" {
						backup = turns(answers(countsFirst("A slow ", "cat")...), answers(countsFirst("quick brown", " fox")...))
					}
					in(t, setup{primary: answers(one.begins([]string{"The ", "quick"}, "fin")...), backup: backup, change: speak(one, fixtureOf(backstop.Anthropic), rescue(mode))}, func(h *house) {
						p, ev := h.ask(caller, question(true))
						if _, ok := caller.room.(wire.Continuer); !ok && mode == "continue" {
							return
						}
						got := caller.hears(t, true, p.String())
						if got.text != "The quick brown fox" || got.verdict.Class != backstop.OK || got.usage.Input != 10 || got.usage.Output != 5 {
							t.Errorf("%+v\n%s", got, p)
						}
						if ev.InputTokens != 10 || ev.OutputTokens != 5 {
							t.Errorf("event %+v", ev)
						}
					})
				})
			}
		}
	}
}

func TestADivergingRescuerIsAskedForTheRestAcrossDialects(t *testing.T) {
	pairs(t, func(t *testing.T, caller, up fixture) {
		if _, ok := caller.room.(wire.Continuer); !ok {
			t.Skip("no rest can be asked for")
		}
		own := caller
		if caller.room.Dialect() == backstop.Responses {
			own = fixtureOf(backstop.OpenAI)
		}
		backup := turns(answers(up.tells("A slow brown cat")...), answers(up.tells("quick brown", " fox")...))
		in(t, setup{primary: answers(own.begins([]string{"The ", "quick"}, "fin")...), backup: backup, change: speak(own, up, rescue("continue"))}, func(h *house) {
			p, ev := h.ask(caller, question(true))
			got := caller.hears(t, true, p.String())
			if got.text != "The quick brown fox" || got.verdict.Class != backstop.OK || !shows([]byte(p.String()), `"continued":true`) || ev.Rescued != "continued" {
				t.Errorf("%+v, event %+v\n%s", got, ev, p)
			}
		})
	})
}

func TestAStreamThatNobodyGoesOnWithEndsInTheCallersError(t *testing.T) {
	pairs(t, func(t *testing.T, caller, up fixture) {
		in(t, setup{primary: answers(up.begins([]string{"The ", "quick"}, "fin")...), change: speak(up, up, func(p *backstop.Plan) { p.Routes[0].Tiers = p.Routes[0].Tiers[:1] })}, func(h *house) {
			p, ev := h.ask(caller, question(true))
			if got := caller.judges(p.String()); got.Class == backstop.OK || got.Kind == backstop.KindCut || !strings.Contains(p.String(), "stream_incomplete") {
				t.Errorf("%+v\n%s", got, p)
			}
			if ev.Failure == nil || ev.Failure.Code != backstop.CodeStreamIncomplete {
				t.Errorf("event %+v", ev)
			}
		})
	})
}

func TestAnErrorIsToldInTheCallersDialect(t *testing.T) {
	for d := range Rooms() {
		for up := range Rooms() {
			if up == backstop.Responses {
				continue
			}
			t.Run(string(d)+" caller, "+string(up)+" upstream", func(t *testing.T) {
				caller, u := fixtureOf(d), fixtureOf(up)
				in(t, setup{primary: body(503, `{"error":{"message":"down"}}`), backup: body(503, `{"error":{"message":"down"}}`), change: speak(u, u, withoutTemplate)}, func(h *house) {
					p, ev := h.ask(caller, question(false))
					want := string(caller.room.Failure(ev.Failure, "req_1"))
					if p.status != 503 || p.String() != want || p.header.Get("X-Should-Retry") != "false" || p.header.Get("Content-Type") != "application/json" {
						t.Errorf("%d %v\n%s\nwant %s", p.status, p.header, p, want)
					}
				})
			})
		}
	}
}

func TestTheLocalTierSpeaksEveryDialect(t *testing.T) {
	for d := range Rooms() {
		t.Run(string(d), func(t *testing.T) {
			forms(t, func(t *testing.T, stream bool) {
				caller := fixtureOf(d)
				in(t, setup{}, func(h *house) {
					p, _ := h.ask(caller, question(stream))
					h.want(p, 200, "local")
					got := caller.hears(t, stream, p.String())
					if got.text != "busy" || !strings.Contains(p.String(), templateModel) || !shows([]byte(p.String()), `"tier":"local"`) {
						t.Errorf("%+v\n%s", got, p)
					}
				})
			})
		})
	}
}

func TestAnAnswerOfAnotherDialectIsKeptForAWorseDay(t *testing.T) {
	pairs(t, func(t *testing.T, caller, up fixture) {
		forms(t, func(t *testing.T, stream bool) {
			s := &shelf{m: map[local.Key]local.Entry{}}
			primary := turns(answers(up.tells("fresh")...), body(503, `{}`))
			in(t, setup{primary: primary, options: Options{Cache: func(*backstop.Route) local.Cache { return s }}, change: speak(up, up, func(p *backstop.Plan) {
				p.Routes[0].Tiers = []backstop.Tier{{Upstream: "primary"}, {Local: &backstop.Local{Cache: &backstop.CacheSettings{Age: time.Hour, Size: 1 << 20}}}}
			})}, func(h *house) {
				h.ask(caller, question(stream))
				for _, again := range []bool{false, true} {
					p, _ := h.ask(caller, question(again))
					h.want(p, 200, "local")
					if got := caller.hears(t, again, p.String()); got.text != "fresh" || p.header.Get("X-Backstop-Upstream") != "cache" {
						t.Errorf("%+v\n%s", got, p)
					}
				}
			})
		})
	})
}
