package backstophttp

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"backstop"
	"backstop/wire"
)

// take serves a call that is written out.
func (h *house) take(d backstop.Dialect, op wire.Op, text string) (*page, *backstop.Event) {
	h.t.Helper()
	r, f := Rooms()[d].Read(op, []byte(text))
	if f != nil {
		h.t.Fatal(f)
	}
	return h.serve(context.Background(), &Call{Request: r, ID: "req_1", Caller: "web"})
}

const (
	threeChoices = `{"model":"m","n":3,"messages":[{"role":"user","content":"hi"}]}`
	seeded       = `{"model":"m","seed":7,"messages":[{"role":"user","content":"hi"}]}`
	counting     = `{"model":"m","messages":[{"role":"user","content":"hi"}]}`
)

func TestWhatAnUpstreamCannotExpressSkipsItsTier(t *testing.T) {
	oa, an := fixtureOf(backstop.OpenAI), fixtureOf(backstop.Anthropic)
	three := plainBody("x")
	in(t, setup{primary: answers(an.tells("no")...), backup: body(200, three), change: speak(an, oa)}, func(h *house) {
		p, ev := h.take(backstop.OpenAI, wire.Chat, threeChoices)
		h.want(p, 200, "backup")
		if h.saw("primary") != 0 || ev.Calls() != 1 || p.header.Get("X-Backstop-Attempts") != "1" || p.header.Get("X-Backstop-Reason") != "rejected" {
			t.Errorf("primary saw %d, event %+v, headers %v", h.saw("primary"), ev, p.header)
		}
		if len(h.turns) != 0 {
			t.Errorf("a breaker moved: %+v", h.turns)
		}
	})
}

func TestWhatNoUpstreamCanExpressIsTheCallersBusiness(t *testing.T) {
	an := fixtureOf(backstop.Anthropic)
	in(t, setup{primary: answers(an.tells("no")...), backup: answers(an.tells("no")...), change: speak(an, an)}, func(h *house) {
		for range 2 {
			p, ev := h.take(backstop.OpenAI, wire.Chat, threeChoices)
			if p.status != 400 || !strings.Contains(p.String(), `"param":"n"`) || !strings.Contains(p.String(), `"invalid_request"`) {
				t.Errorf("%d %s", p.status, p)
			}
			if h.saw("primary")+h.saw("backup") != 0 || ev.Calls() != 0 || ev.Outcome != backstop.Rejected {
				t.Errorf("event %+v", ev)
			}
		}
	})
}

func TestATierThatWasNotAskedForAnotherReasonLeavesTheLocalOne(t *testing.T) {
	oa, an := fixtureOf(backstop.OpenAI), fixtureOf(backstop.Anthropic)
	in(t, setup{primary: answers(an.tells("no")...), change: speak(an, oa)}, func(h *house) {
		p, _ := h.take(backstop.OpenAI, wire.Chat, threeChoices) // the backup refuses connections
		h.want(p, 200, "local")
	})
}

func TestAHintThatIsLeftOutIsNamed(t *testing.T) {
	an := fixtureOf(backstop.Anthropic)
	in(t, setup{primary: answers(an.tells("hello")...), change: speak(an, an)}, func(h *house) {
		p, ev := h.take(backstop.OpenAI, wire.Chat, seeded)
		h.want(p, 200, "primary")
		if p.header.Get("X-Backstop-Dropped") != "seed" || strings.Join(ev.Dropped, ",") != "seed" {
			t.Errorf("headers %v, event %+v", p.header, ev)
		}
	})
}

func TestAParameterThatAQuirkLeavesOutIsNamed(t *testing.T) {
	everyPair(t, func(t *testing.T, caller, up fixture) {
		forms(t, func(t *testing.T, stream bool) {
			param := "top_p"
			if up.room.Dialect() == backstop.Gemini {
				param = "topP"
			}
			quirk := func(p *backstop.Plan) { p.Upstreams[0].Quirks.DropParams = []string{param, "seed"} }
			in(t, setup{primary: answers(up.tells("hello")...), change: speak(up, up, quirk)}, func(h *house) {
				for _, given := range []bool{true, false} {
					q, want := question(stream), ""
					if given {
						q.TopP, want = "0.5", param
					}
					p, ev := h.ask(caller, q)
					h.want(p, 200, "primary")
					if p.header.Get("X-Backstop-Dropped") != want || strings.Join(ev.Dropped, ",") != want || strings.Contains(h.bodies["primary"], param) {
						t.Errorf("named %q, event %v, want %q; sent %s", p.header.Get("X-Backstop-Dropped"), ev.Dropped, want, h.bodies["primary"])
					}
				}
			})
		})
	})
}

func TestAStoredResponsesCallIsAskedAsAStreamWhereNobodyStores(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*backstop.Plan)
		tier   string
		stream bool
	}{
		"nobody on the route does":       {native(), "primary", true},
		"another tier of the route does": {native("backup"), "primary", false},
	} {
		t.Run(name, func(t *testing.T) {
			primary := func(w http.ResponseWriter, r *http.Request) {
				if strings.Contains(r.Header.Get("Accept"), "event-stream") {
					answers(good("hello")...)(w, r)
					return
				}
				body(200, plainBody("hello"))(w, r)
			}
			in(t, setup{primary: primary, change: c.change}, func(h *house) {
				p, _ := h.take(backstop.Responses, wire.Responses, `{"model":"m","input":"hi","store":true}`)
				h.want(p, 200, c.tier)
				if p.header.Get("X-Backstop-Dropped") != "store" || !strings.Contains(p.String(), "hello") {
					t.Errorf("%v\n%s", p.header, p)
				}
				if got := strings.Contains(h.bodies["primary"], `"stream":true`); got != c.stream {
					t.Errorf("sent %s", h.bodies["primary"])
				}
			})
		})
	}
}

func TestATierThatCannotExpressACallKeepsItsRate(t *testing.T) {
	oa, an := fixtureOf(backstop.OpenAI), fixtureOf(backstop.Anthropic)
	limit := func(p *backstop.Plan) {
		p.Upstreams[0].Limits.Rate, p.Upstreams[0].Limits.Burst = 0.001, 1
		p.Routes[0].Tiers[0].Rate, p.Routes[0].Tiers[0].Burst = 0.001, 1
	}
	in(t, setup{primary: answers(an.tells("hello")...), backup: body(200, plainBody("x")), change: speak(an, oa, limit)}, func(h *house) {
		for range 3 {
			p, _ := h.take(backstop.OpenAI, wire.Chat, threeChoices)
			h.want(p, 200, "backup")
		}
		p, _ := h.call(unary)
		h.want(p, 200, "primary")
		if p, _ = h.call(unary); p.header.Get("X-Backstop-Reason") != "rate" {
			t.Errorf("headers %v", p.header)
		}
	})
}

func TestTokensAreCountedOnlyWhereTheDialectCan(t *testing.T) {
	oa, an := fixtureOf(backstop.OpenAI), fixtureOf(backstop.Anthropic)
	for name, c := range map[string]struct {
		primary, backup fixture
		status          int
		tier, want      string
	}{
		"by the primary":                  {an, oa, 200, "primary", `{"input_tokens":12}`},
		"by the backup":                   {oa, an, 200, "backup", `{"input_tokens":12}`},
		"by nobody, least a local answer": {oa, oa, 404, "backup", `"not_found_error"`},
	} {
		t.Run(name, func(t *testing.T) {
			count := func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/v1/messages/count_tokens" || r.Header.Get("Accept") != "application/json" {
					t.Errorf("asked for %s with %v", r.URL.Path, r.Header)
				}
				body(200, `{"input_tokens":12}`)(w, r)
			}
			in(t, setup{primary: count, backup: count, change: speak(c.primary, c.backup)}, func(h *house) {
				p, ev := h.take(backstop.Anthropic, wire.CountTokens, counting)
				if p.status != c.status || p.header.Get("X-Backstop-Tier") != c.tier || !strings.Contains(p.String(), c.want) {
					t.Errorf("%d %v\n%s", p.status, p.header, p)
				}
				if ev.Op != "count_tokens" {
					t.Errorf("event %+v", ev)
				}
			})
		})
	}
}

func TestADeadCountHasNoLocalAnswer(t *testing.T) {
	an := fixtureOf(backstop.Anthropic)
	in(t, setup{change: speak(an, an)}, func(h *house) {
		p, _ := h.take(backstop.Anthropic, wire.CountTokens, counting)
		if p.status != 503 || !strings.Contains(p.String(), `"type":"error"`) {
			t.Errorf("%d %s", p.status, p)
		}
	})
}

func TestAnUpstreamsHeadersAreItsDialects(t *testing.T) {
	an := fixtureOf(backstop.Anthropic)
	var got http.Header
	primary := func(w http.ResponseWriter, r *http.Request) {
		got = r.Header
		answers(an.tells("hello")...)(w, r)
	}
	in(t, setup{primary: primary, change: speak(an, an)}, func(h *house) {
		h.call(unary)
		if got.Get("Anthropic-Version") != "2023-06-01" {
			t.Errorf("headers %v", got)
		}
	})
}

func TestEmbeddingsHaveNoOtherDialect(t *testing.T) {
	an := fixtureOf(backstop.Anthropic)
	in(t, setup{primary: answers(an.tells("no")...), backup: answers(an.tells("no")...), change: speak(an, an)}, func(h *house) {
		p, _ := h.take(backstop.OpenAI, wire.Embedding, `{"model":"m","input":"x"}`)
		if p.status != 400 || h.saw("primary") != 0 {
			t.Errorf("%d %s", p.status, p)
		}
	})
}

func TestACallersOwnMistakeIsTold(t *testing.T) {
	an := fixtureOf(backstop.Anthropic)
	in(t, setup{primary: answers(an.tells("no")...), backup: answers(an.tells("no")...), change: speak(an, an)}, func(h *house) {
		p, _ := h.take(backstop.OpenAI, wire.Chat, `{"model":"m","tools":[{"type":"function","function":{"description":"nameless"}}],"messages":[{"role":"user","content":"hi"}]}`)
		if p.status != 400 || !strings.Contains(p.String(), "tools[0].function.name") {
			t.Errorf("%d %s", p.status, p)
		}
	})
}

func TestACommittedCallsPiecesKeepTheirOrder(t *testing.T) {
	an := fixtureOf(backstop.Anthropic)
	oa := fixtureOf(backstop.OpenAI)
	list := []wire.Delta{{Kind: wire.DeltaStart, ID: "a1", Model: "mu"},
		{Kind: wire.DeltaText, Text: "Let me see."},
		{Kind: wire.DeltaCall, Part: 1, ID: "c1", Name: "look"}, {Kind: wire.DeltaCall, Part: 2, ID: "c2", Name: "look"},
		{Kind: wire.DeltaArguments, Part: 1, Text: `{"at":`}, {Kind: wire.DeltaArguments, Part: 2, Text: `{"at":`},
		{Kind: wire.DeltaArguments, Part: 1, Text: `"here"}`}, {Kind: wire.DeltaArguments, Part: 2, Text: `"there"}`}}
	in(t, setup{primary: answers(oa.says(append(list, ended(wire.EndTools)...)...)...), change: speak(oa, oa)}, func(h *house) {
		p, _ := h.ask(an, withTool(question(true)))
		got := an.hears(t, true, p.String())
		if len(got.calls) != 2 || got.calls[0].Arguments != `{"at":"here"}` || got.calls[1].Arguments != `{"at":"there"}` || got.text != "Let me see." || got.calls[0].ID != "c1" {
			t.Errorf("%+v\n%s", got, p)
		}
	})
}

func TestPromisedJSONStreamsAcrossDialectsWhileItComes(t *testing.T) {
	everyPair(t, func(t *testing.T, caller, up fixture) {
		all := up.tells("```json\n", `{"a"`, `: 1`, `}`)
		script := append(append([]string(nil), all[:len(all)-1]...), "wait:8s", all[len(all)-1])
		in(t, setup{primary: answers(script...), change: speak(up, up)}, func(h *house) {
			p, ev := h.ask(caller, withSchema(question(true)))
			h.want(p, 200, "primary")
			if got := caller.hears(t, true, p.String()); got.text != `{"a": 1}` || got.verdict.Class != backstop.OK {
				t.Errorf("%+v\n%s", got, p)
			}
			if p.first > time.Second || !ev.Committed {
				t.Errorf("the first byte came after %s", p.first)
			}
		})
	})
}

func TestArgumentsThatWereCutAreMarkedAcrossDialects(t *testing.T) {
	everyPair(t, func(t *testing.T, caller, up fixture) {
		if up.room.Dialect() == backstop.Gemini {
			t.Skip("arguments are an object there, never a text")
		}
		forms(t, func(t *testing.T, stream bool) {
			list := []wire.Delta{{Kind: wire.DeltaStart, ID: "a1", Model: "mu"}, {Kind: wire.DeltaCall, ID: "call_1", Name: "look"},
				{Kind: wire.DeltaArguments, Text: `{"at":"ho`}, {Kind: wire.DeltaPartEnd}}
			in(t, setup{primary: answers(up.says(append(list, ended(wire.EndLength)...)...)...), change: speak(up, up, withoutTemplate)}, func(h *house) {
				p, ev := h.ask(caller, withTool(question(stream)))
				h.want(p, 200, "primary")
				got := caller.hears(t, stream, p.String())
				if caller.room.Dialect() == backstop.Gemini { // see TestACallThatWasCutIsNoneForAGeminiCaller
					got.calls = append(got.calls, wire.Part{Arguments: `{"at":"ho"}`})
				}
				if len(got.calls) != 1 || got.calls[0].Arguments != `{"at":"ho"}` || got.ending != wire.EndLength || !ev.Truncated {
					t.Errorf("%+v, event %+v\n%s", got, ev, p)
				}
			})
		})
	})
}

func TestAProbeOpensTheWayBackInEveryDialect(t *testing.T) {
	for d := range Rooms() {
		if d == backstop.Responses {
			continue
		}
		t.Run(string(d), func(t *testing.T) {
			g := fixtureOf(d)
			var down atomic.Bool
			down.Store(true)
			primary := func(w http.ResponseWriter, r *http.Request) {
				if down.Load() {
					body(503, `{}`)(w, r)
					return
				}
				answers(g.tells("back")...)(w, r)
			}
			in(t, setup{primary: primary, backup: answers(g.tells("B")...), change: speak(g, g)}, func(h *house) {
				for range 10 {
					h.ask(g, question(true))
				}
				if ev := h.events[len(h.events)-1]; ev.Reason != "open" {
					t.Fatalf("the breaker did not open: %+v", ev)
				}
				down.Store(false)
				time.Sleep(20 * time.Second)
				for range 50 { // the first may be its trial, or not admitted yet
					h.ask(g, question(true))
					time.Sleep(time.Second)
				}
				if ev := h.events[len(h.events)-1]; ev.Tier != "primary" {
					t.Errorf("it is still away: %+v\n%+v", ev, h.turns)
				}
			})
		})
	}
}

// A picture that the caller's dialect has no form for is no answer to it: the
// next tier is asked, also by who streams, and not the same upstream again.
func TestAPictureThatTheCallerCannotBeToldGoesToTheNextTier(t *testing.T) {
	chat := func(object, member, answer string) string {
		return `{"id":"c1","object":"` + object + `","created":1,"model":"m","choices":[{"index":0,"` + member + `":{"role":"assistant",` + answer + `},"finish_reason":"stop"}]}`
	}
	images := `"content":"","images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}}]`
	sound := `"content":null,"audio":{"id":"a","data":"aGk=","transcript":""}`
	parts := `"content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}}]`
	gem := `{"candidates":[{"content":{"role":"model","parts":[{"inlineData":{"mimeType":"image/png","data":"aGk="}}]},"finishReason":"STOP","index":0}],"responseId":"r"}`
	block := `{"type":"server_tool_use","id":"s1","name":"web_search","input":{}}`
	again := func(p *backstop.Plan) { p.Upstreams[0].Retry.Max = 1 }
	for name, c := range map[string]struct {
		from   backstop.Dialect
		answer http.HandlerFunc
	}{
		"Gemini, a stream":                     {backstop.Gemini, wrapped("data: " + gem + "\n\n")},
		"Gemini, one body":                     {backstop.Gemini, wrapped(gem)},
		"images, a stream":                     {backstop.OpenAI, answers("data: "+chat("chat.completion.chunk", "delta", images)+"\n\n", done)},
		"images, one body":                     {backstop.OpenAI, wrapped(chat("chat.completion", "message", images))},
		"sound, a stream":                      {backstop.OpenAI, answers("data: "+chat("chat.completion.chunk", "delta", sound)+"\n\n", done)},
		"sound, one body":                      {backstop.OpenAI, wrapped(chat("chat.completion", "message", sound))},
		"parts, a stream":                      {backstop.OpenAI, answers("data: "+chat("chat.completion.chunk", "delta", parts)+"\n\n", done)},
		"parts, one body":                      {backstop.OpenAI, wrapped(chat("chat.completion", "message", parts))},
		"a tool of the vendor's own, one body": {backstop.Anthropic, wrapped(`{"id":"m","type":"message","role":"assistant","model":"m","content":[` + block + `],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`)},
		"a tool of the vendor's own, a stream": {backstop.Anthropic, answers(events(
			`{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}`,
			`{"type":"content_block_start","index":0,"content_block":`+block+`}`, `{"type":"content_block_stop","index":0}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}`, `{"type":"message_stop"}`)...)},
	} {
		forms(t, func(t *testing.T, stream bool) {
			for _, d := range []backstop.Dialect{backstop.OpenAI, backstop.Anthropic, backstop.Responses, backstop.Gemini} {
				up, caller := fixtureOf(c.from), fixtureOf(d)
				in(t, setup{primary: c.answer, backup: answers(up.tells("from the backup")...), change: speak(up, up, again)}, func(h *house) {
					p, _ := h.ask(caller, question(stream))
					if told := strings.Contains(p.String(), "from the backup"); p.status != 200 || told == (d == c.from) || h.saw("primary") != 1 {
						t.Errorf("%s, %s: the primary was asked %d times\n%d %v %s", name, d, h.saw("primary"), p.status, p.header, p)
					}
				})
			}
		})
	}
}

// events are events of Anthropic's form, named by their types.
func events(list ...string) (out []string) {
	for _, data := range list {
		out = append(out, "event: "+gjson.Get(data, "type").Str+"\ndata: "+data+"\n\n")
	}
	return out
}
