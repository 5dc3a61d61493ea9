package backstophttp

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"backstop"
	"backstop/sse"
	"backstop/wire"
)

// losing are streams whose answers say more than the hub can: in front of the
// text, behind it, or in the event that ends them.
var losing = map[backstop.Dialect]map[string][]string{
	backstop.OpenAI: {
		"answer.annotations": {chunkOf(`{"content":"seen"}`, `null`), chunkOf(`{"annotations":[{"type":"url_citation"}]}`, `"stop"`), "data: [DONE]\n\n"},
		"answer.citations":   {chunkOf(`{"content":"seen","citations":[{"url":"u"}]}`, `null`), chunkOf(`{}`, `"stop"`), "data: [DONE]\n\n"},
		"answer.images":      {chunkOf(`{"images":[{"type":"image_url","image_url":{"url":"data:,"}}]}`, `null`), chunkOf(`{"content":"seen"}`, `null`), chunkOf(`{}`, `"stop"`), "data: [DONE]\n\n"},
	},
	backstop.Anthropic: {
		"answer.citations": {
			named("message_start", `{"type":"message_start","message":{"id":"1","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}`),
			named("content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`),
			named("content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"seen"}}`),
			named("content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"type":"char_location","cited_text":"x"}}}`),
			named("content_block_stop", `{"type":"content_block_stop","index":0}`),
			named("message_delta", `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}`),
			named("message_stop", `{"type":"message_stop"}`),
		},
	},
	backstop.Gemini: {
		"answer.groundingMetadata": {
			"data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"seen\"}]}}],\"responseId\":\"r\"}\n\n",
			"data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[]},\"finishReason\":\"STOP\",\"groundingMetadata\":{\"webSearchQueries\":[\"q\"]}}],\"responseId\":\"r\"}\n\n",
		},
		"answer.inlineData": {
			"data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"inlineData\":{\"mimeType\":\"image/png\",\"data\":\"aGk=\"}},{\"text\":\"seen\"}]},\"finishReason\":\"STOP\"}],\"responseId\":\"r\"}\n\n",
		},
	},
}

func chunkOf(delta, finish string) string {
	return `data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + finish + "}]}\n\n"
}

func named(event, data string) string { return "event: " + event + "\ndata: " + data + "\n\n" }

// A part of an answer that has no form for the caller is named: in the header,
// or where that was gone already, once, in the last event of the stream.
func TestWhatOfAnAnswerIsLostIsNamed(t *testing.T) {
	pairs(t, func(t *testing.T, caller, up fixture) {
		for want, events := range losing[up.room.Dialect()] {
			forms(t, func(t *testing.T, stream bool) {
				for _, plain := range []bool{false, true} {
					primary := answers(events...)
					if plain {
						primary = wrapped(up.plain(events))
					}
					in(t, setup{primary: primary, change: speak(up, up, func(p *backstop.Plan) {
						if plain {
							p.Upstreams[0].Unary = backstop.UnaryPlain
						}
					})}, func(h *house) {
						p, ev := h.ask(caller, question(stream))
						h.want(p, 200, "primary")
						if got := caller.hears(t, stream, p.String()); got.text != "seen" || stream && got.verdict.Class != backstop.OK {
							t.Errorf("%+v\n%s", got, p)
						}
						said := p.header.Get("X-Backstop-Dropped")
						if said == "" && stream {
							said = lastNote(t, p.String())
						}
						if said != want || strings.Join(ev.Dropped, ",") != want {
							t.Errorf("plain %v: named %q, event %q, want %q\n%s", plain, said, ev.Dropped, want, p)
						}
						if strings.Contains(p.String(), `"choices":[],"x_backstop"`) {
							t.Errorf("an event that no caller asked for: %s", p)
						}
					})
				}
			})
		}
	})
}

// lastNote is what the last event of a stream says was lost.
func lastNote(t *testing.T, stream string) string {
	t.Helper()
	last := ""
	for list := sse.NewReader(strings.NewReader(stream), 0); ; {
		ev, err := list.Next()
		if err != nil {
			break
		}
		if json.Valid(ev.Data) {
			last = string(ev.Data)
		}
	}
	var names []string
	gjson.Get(last, "x_backstop.dropped").ForEach(func(_, v gjson.Result) bool {
		names = append(names, v.Str)
		return true
	})
	return strings.Join(names, ",")
}

// What the upstream that took a stream over did not get was not in the header.
func TestWhatARescuerDidNotGetIsNamed(t *testing.T) {
	an, ge := fixtureOf(backstop.Anthropic), fixtureOf(backstop.Gemini)
	in(t, setup{primary: answers(ge.begins([]string{"The ", "quick"}, "fin")...), backup: answers(an.tells("The quick brown ", "fox")...), change: speak(ge, an)}, func(h *house) {
		p, ev := h.take(backstop.OpenAI, "chat", `{"model":"m","stream":true,"seed":7,"messages":[{"role":"user","content":"hi"}]}`)
		if p.header.Get("X-Backstop-Dropped") != "" || lastNote(t, p.String()) != "seed" || strings.Join(ev.Dropped, ",") != "seed" {
			t.Errorf("headers %v, event %v\n%s", p.header, ev.Dropped, p)
		}
	})
}

// A header holds whole names only; what has no room is counted, and named in the
// last event of a stream.
func TestLossesThatHaveNoRoomInTheHeaderAreCounted(t *testing.T) {
	an := fixtureOf(backstop.Anthropic)
	var parts []string
	for range 60 {
		parts = append(parts, `{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}`)
	}
	forms(t, func(t *testing.T, stream bool) {
		in(t, setup{primary: answers(an.tells("hello")...), change: speak(an, an)}, func(h *house) {
			p, ev := h.take(backstop.OpenAI, "chat", `{"model":"m","stream":`+strconv.FormatBool(stream)+`,"messages":[{"role":"user","content":[`+strings.Join(parts, ",")+`]}]}`)
			said := strings.Split(p.header.Get("X-Backstop-Dropped"), ",")
			rest := said[len(said)-1]
			said = said[:len(said)-1]
			if len(ev.Dropped) != 60 || rest != "+"+strconv.Itoa(60-len(said)) || len(said) < 20 || !strings.HasSuffix(said[len(said)-1], "].cache_control") {
				t.Errorf("%d names, then %q; event %d", len(said), rest, len(ev.Dropped))
			}
			if note := lastNote(t, p.String()); stream && note != strings.Join(ev.Dropped[len(said):], ",") {
				t.Errorf("the rest is named as %q", note)
			}
		})
	})
}

// Nor is it forgotten where a stream is mended on its way: that of promised JSON
// and that of a caller with tools.
func TestWhatAMendedStreamLosesIsNamed(t *testing.T) {
	pairs(t, func(t *testing.T, caller, up fixture) {
		for want, events := range losing[up.room.Dialect()] {
			for name, c := range map[string]struct {
				asks          *wire.Prompt
				said, reaches string
			}{
				"tools":    {withTool(question(true)), `seen`, `seen`},
				"document": {withSchema(question(true)), `{\"a\":1}`, `{"a":1}`},
				"fenced":   {withSchema(question(true)), "```json\\n{\\\"a\\\":1}\\n```", `{"a":1}`},
			} {
				t.Run(want+" of "+name, func(t *testing.T) {
					sent := strings.Split(strings.ReplaceAll(strings.Join(events, "\x00"), `"seen"`, `"`+c.said+`"`), "\x00")
					in(t, setup{primary: answers(sent...), change: speak(up, up)}, func(h *house) {
						p, ev := h.ask(caller, c.asks)
						h.want(p, 200, "primary")
						said := p.header.Get("X-Backstop-Dropped")
						if said == "" {
							said = lastNote(t, p.String())
						}
						if got := caller.hears(t, true, p.String()); got.text != c.reaches || said != want || strings.Join(ev.Dropped, ",") != want {
							t.Errorf("named %q, event %q, want %q, text %q\n%s", said, ev.Dropped, want, got.text, p)
						}
					})
				})
			}
		}
	})
}
