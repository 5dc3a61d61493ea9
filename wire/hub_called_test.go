package wire_test

import (
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"backstop"
	"backstop/wire"
)

// calledBy are the names of the tools that an answer calls, and whether it says
// that it ended for them.
func calledBy(dialect string, body []byte) (names string, ended bool) {
	at := map[string][2]string{
		"openai":    {`choices.0.message.tool_calls.#.function.name`, `choices.0.finish_reason`},
		"anthropic": {`content.#(type=="tool_use")#.name`, `stop_reason`},
		"gemini":    {`candidates.0.content.parts.#.functionCall.name`, ``},
		"responses": {`output.#(type=="function_call")#.name`, ``},
	}[dialect]
	for _, v := range gjson.GetBytes(body, at[0]).Array() {
		names += v.Str
	}
	word := gjson.GetBytes(body, at[1]).Str
	return names, strings.HasPrefix(word, "tool_")
}

// A call in the form that came before tool calls is one, and an answer that
// says it ended for its calls has some.
func TestAnAnswerThatEndedForItsCallsHasThem(t *testing.T) {
	for name, c := range map[string]struct{ from, answer, call string }{
		"a legacy call":                {"openai", `{"id":"1","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{\"a\":1}"}},"finish_reason":"function_call"}]}`, "f"},
		"the same call twice":          {"openai", `{"id":"1","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}],"function_call":{"name":"f","arguments":"{}"}},"finish_reason":"tool_calls"}]}`, "f"},
		"a word for calls, and none":   {"openai", `{"id":"1","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hi","tool_calls":[]},"finish_reason":"tool_calls"}]}`, ""},
		"that word of another":         {"anthropic", `{"id":"1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"hi"}],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":1}}`, ""},
		"a legacy call without a name": {"openai", `{"id":"1","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hi","function_call":{}},"finish_reason":"function_call"}]}`, ""},
	} {
		for to := range rooms {
			if to == c.from {
				continue
			}
			body, _, ok := wire.Translate(rooms[c.from], rooms[to], []byte(c.answer), head)
			if !ok {
				t.Errorf("%s to %s: nothing", name, to)
			}
			check := func(form string, body []byte) {
				if names, ended := calledBy(to, body); names != c.call || (to == "openai" || to == "anthropic") && ended != (c.call != "") {
					t.Errorf("%s to %s, %s: %s", name, to, form, body)
				}
			}
			check("plain", body)
			events := rooms[c.from].Explode(&wire.Request{Op: wire.Chat}, []byte(c.answer))
			stream := ""
			for _, data := range events {
				if kind := gjson.GetBytes(data, "type").Str; kind != "" {
					stream += "event: " + kind + "\n"
				}
				stream += "data: " + string(data) + "\n\n"
			}
			if c.from == "openai" {
				stream += "data: [DONE]\n\n"
			}
			out, _ := streamed(t, c.from, to, stream)
			sum := rooms[to].Aggregator(&wire.Request{Op: wire.Chat})
			feed(t, sum, out)
			check("streamed", sum.Body())
		}
	}
}

func TestALegacyCallThatComesInPiecesIsOne(t *testing.T) {
	stream := ""
	for _, delta := range []string{
		`{"role":"assistant","content":null,"function_call":{"name":"f","arguments":""}}`, `{"function_call":{"arguments":"{\"a\""}}`, `{"function_call":{"arguments":":1}"}}`,
	} {
		stream += `data: {"id":"1","choices":[{"index":0,"delta":` + delta + "}]}\n\n"
	}
	stream += "data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"function_call\"}]}\n\ndata: [DONE]\n\n"
	for _, to := range []string{"anthropic", "gemini", "responses"} {
		out, o := streamed(t, "openai", to, stream)
		sum := rooms[to].Aggregator(&wire.Request{Op: wire.Chat})
		feed(t, sum, out)
		if names, _ := calledBy(to, sum.Body()); o.Class != backstop.OK || names != "f" || !strings.Contains(strings.ReplaceAll(string(sum.Body()), `\`, ""), `{"a":1}`) {
			t.Errorf("%s: %+v %s", to, o, sum.Body())
		}
	}
}

// A tool that is called without arguments is called with none, which callers
// parse; of a call that was cut nobody knows.
func TestACallWithoutArgumentsHasNone(t *testing.T) {
	for end, want := range map[string]string{"tool_use": "{}", "max_tokens": ""} {
		stream := ""
		for _, data := range []string{
			`{"type":"message_start","message":{"id":"1","model":"m","content":[]}}`, `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"f","input":{}}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":""}}`, `{"type":"content_block_stop","index":0}`,
			`{"type":"message_delta","delta":{"stop_reason":"` + end + `"},"usage":{"output_tokens":1}}`, `{"type":"message_stop"}`,
		} {
			stream += "data: " + data + "\n\n"
		}
		out, _ := streamed(t, "anthropic", "openai", stream)
		sum := rooms["openai"].Aggregator(&wire.Request{Op: wire.Chat})
		feed(t, sum, out)
		if got := gjson.GetBytes(sum.Body(), "choices.0.message.tool_calls.0.function.arguments"); got.Str != want || !got.Exists() {
			t.Errorf("%s: %s", end, out)
		}
	}
}
