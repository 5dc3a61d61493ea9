package backstophttp

import (
	"strings"
	"testing"

	"backstop"
)

// strays are pieces of tool calls that never began, by dialect.
var strays = map[backstop.Dialect]string{
	backstop.OpenAI:    `data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":3,"function":{"arguments":"{\"at\":\"ghost\"}"}}]},"finish_reason":null}]}` + "\n\n",
	backstop.Anthropic: "event: content_block_delta\n" + `data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"at\":\"ghost\"}"}}` + "\n\n",
	backstop.Gemini:    `data: {"candidates":[{"content":{"parts":[{"functionCall":{"args":{"at":"ghost"}}}],"role":"model"},"index":0}],"responseId":"r"}` + "\n\n",
	backstop.Responses: "event: response.function_call_arguments.delta\n" + `data: {"type":"response.function_call_arguments.delta","output_index":3,"delta":"{\"at\":\"ghost\"}"}` + "\n\n",
}

// among puts events between the first event that says something and the rest.
func among(events []string, odd ...string) []string {
	at := len(events)
	for i, e := range events {
		if strings.Contains(e, "hello") {
			at = i + 1
			break
		}
	}
	return append(append(append([]string(nil), events[:at]...), odd...), events[at:]...)
}

func TestAToolCallThatNeverBeganReachesNobody(t *testing.T) {
	everyPair(t, func(t *testing.T, caller, up fixture) {
		if caller.room.Dialect() == backstop.Gemini && up.room.Dialect() == backstop.Gemini {
			t.Skip("nothing fails on it there, so it passes as it came")
		}
		forms(t, func(t *testing.T, stream bool) {
			in(t, setup{primary: answers(among(up.tells("hello ", "world"), strays[up.room.Dialect()])...), change: speak(up, up, withoutTemplate)}, func(h *house) {
				p, ev := h.ask(caller, withTool(question(stream)))
				h.want(p, 200, "primary")
				got := caller.hears(t, stream, p.String())
				if got.text != "hello world" || len(got.calls) > 0 || strings.Contains(p.String(), "ghost") {
					t.Errorf("%+v\n%s", got, p)
				}
				if n := ev.Attempts[0].Outcome.Malformed; n != 1 && up.room.Dialect() != backstop.Gemini {
					t.Errorf("%d malformed", n)
				}
			})
		})
	})
}

func TestAStreamOfWhatNeverBeganIsBroken(t *testing.T) {
	for d := range Rooms() {
		if d == backstop.Gemini {
			continue
		}
		t.Run(string(d), func(t *testing.T) {
			up := fixtureOf(d)
			many := strings.Split(strings.Repeat(strays[d]+"\x00", 17), "\x00")
			in(t, setup{primary: answers(among(up.tells("hello ", "world"), many[:17]...)...), change: speak(up, up, withoutTemplate)}, func(h *house) {
				p, ev := h.ask(up, withTool(question(true)))
				if ev.Failure == nil || ev.Failure.Code != backstop.CodeStreamIncomplete || strings.Contains(p.String(), "ghost") || strings.Contains(p.String(), "world") {
					t.Errorf("%+v\n%s", ev.Failure, p)
				}
			})
		})
	}
}
