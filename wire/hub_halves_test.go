package wire_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"backstop"
	"backstop/wire"
)

// halved are streams of each dialect whose texts, arguments and thoughts are
// the given pieces of JSON strings.
var halved = map[string]func(pieces ...string) string{
	"openai": func(pieces ...string) string {
		var b strings.Builder
		for _, form := range []string{`{"reasoning_content":"%s"}`, `{"content":"%s"}`, `{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"f","arguments":"%s"}}]}`} {
			for i, p := range pieces {
				if i > 0 {
					form = strings.Replace(form, `"id":"call_1","type":"function","function":{"name":"f",`, `"function":{`, 1)
				}
				fmt.Fprintf(&b, `data: {"id":"c","model":"m","choices":[{"index":0,"delta":`+form+`}]}`+"\n\n", argued(form, i, len(pieces), p))
			}
		}
		return b.String() + `data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}` + "\n\ndata: [DONE]\n\n"
	},
	"anthropic": func(pieces ...string) string {
		b := &strings.Builder{}
		say := func(data string) { fmt.Fprintf(b, "data: %s\n\n", data) }
		say(`{"type":"message_start","message":{"id":"c","model":"m"}}`)
		for at, kind := range []string{`"thinking","thinking":""`, `"text","text":""`, `"tool_use","id":"call_1","name":"f","input":{}`} {
			say(fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{"type":%s}}`, at, kind))
			form := []string{`"thinking_delta","thinking":"%s"`, `"text_delta","text":"%s"`, `"input_json_delta","partial_json":"%s"`}[at]
			for i, p := range pieces {
				say(fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":`+form+`}}`, at, argued(form, i, len(pieces), p)))
			}
			say(fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, at))
		}
		say(`{"type":"message_delta","delta":{"stop_reason":"tool_use"}}`)
		say(`{"type":"message_stop"}`)
		return b.String()
	},
}

// argued makes a document of what a tool is called with.
func argued(form string, i, n int, piece string) string {
	if !strings.Contains(form, "arguments") && !strings.Contains(form, "partial_json") {
		return piece
	}
	if i == 0 {
		piece = `{\"a\":\"` + piece
	}
	if i == n-1 {
		piece += `\"}`
	}
	return piece
}

func TestACharacterCutIntoTwoEventsIsWholeInAnotherDialect(t *testing.T) {
	for _, c := range []struct {
		name   string
		pieces []string
		want   string
	}{
		{"in the middle of two pieces", []string{`a\ud83c`, `\udf0db`}, "a🌍b"},
		{"one unit an event", []string{`\ud83c`, `\udf0d`, `\ud83d`, `\ude00`}, "🌍😀"},
		{"whole ones beside it", []string{`\ud83c\udf0d한\ud83c`, `\udf0d\ud83c\udf0d`}, "🌍한🌍🌍"},
		{"a half without its other one", []string{`a\ud83c`, `b\udf0dc`}, "a\ufffdb\ufffdc"},
		{"the same in one piece", []string{`a\ud83cb\udf0dc`, "d"}, "a\ufffdb\ufffdcd"},
		{"the character that stands for one", []string{"a\ufffd", `\ufffd\n\\ud83c`}, "a\ufffd\ufffd\n\\ud83c"},
	} {
		for from, write := range halved {
			for to := range rooms {
				if to == from {
					continue
				}
				t.Run(from+" to "+to+": "+c.name, func(t *testing.T) {
					out, o := streamed(t, from, to, write(c.pieces...))
					if o.Class != backstop.OK || !utf8.ValidString(out) {
						t.Fatalf("%s: %s", o.Reason(), out)
					}
					sum := rooms[to].Aggregator(&wire.Request{Op: wire.Chat, UsageOn: true})
					feed(t, sum, out)
					m, ok := rooms[to].DecodeBody(sum.Body())
					if !ok {
						t.Fatalf("no answer: %s", sum.Body())
					}
					seen := map[wire.PartKind]bool{}
					for _, p := range m.Choices[0].Parts {
						got := p.Text
						if p.Kind == wire.PartToolCall {
							if strings.Contains(c.want, "\n") {
								continue // no JSON
							}
							var args struct{ A string }
							if err := json.Unmarshal([]byte(p.Arguments), &args); err != nil {
								t.Fatalf("%v: %s", err, p.Arguments)
							}
							got = args.A
						}
						if seen[p.Kind] = true; got != c.want {
							t.Errorf("kind %d: %+q, want %+q", p.Kind, got, c.want)
						}
					}
					if !seen[wire.PartText] || !seen[wire.PartReasoning] {
						t.Errorf("%+v", m.Choices[0].Parts)
					}
				})
			}
		}
	}
}
