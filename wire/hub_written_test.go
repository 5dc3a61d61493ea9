package wire_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"backstop"
	"backstop/wire"
)

// asObject are answers of servers that write what a tool is called with as
// JSON, where a string of it belongs: a body, a stream, a request with such a
// call in its history.
var asObject = map[string]struct{ body, stream, history string }{
	"openai": {
		`{"id":"c","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"t1","type":"function","function":{"name":"f","arguments":%s}}]},"finish_reason":"tool_calls"}]}`,
		"data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"t1\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":%s}}]}}]}\n\n" +
			"data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n",
		`{"model":"m","messages":[{"role":"user","content":"hi"},{"role":"assistant","tool_calls":[{"id":"t1","type":"function","function":{"name":"f","arguments":%s}}]},{"role":"tool","tool_call_id":"t1","content":"x"}]}`,
	},
	"responses": {
		`{"id":"r","status":"completed","output":[{"type":"function_call","id":"fc","call_id":"t1","name":"f","arguments":%s}]}`,
		"data: {\"type\":\"response.created\",\"response\":{\"id\":\"r\"}}\n\n" +
			"data: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"type\":\"function_call\",\"id\":\"fc\",\"call_id\":\"t1\",\"name\":\"f\",\"arguments\":%[1]s}}\n\n" +
			"data: {\"type\":\"response.completed\",\"response\":{\"id\":\"r\",\"status\":\"completed\",\"output\":[{\"type\":\"function_call\",\"id\":\"fc\",\"call_id\":\"t1\",\"name\":\"f\",\"arguments\":%[1]s}]}}\n\n",
		`{"model":"m","input":[{"role":"user","content":"hi"},{"type":"function_call","call_id":"t1","name":"f","arguments":%s},{"type":"function_call_output","call_id":"t1","output":"x"}]}`,
	},
}

func TestWhatAToolIsCalledWithIsNeverLost(t *testing.T) {
	const given = `{"a":"b\"\u00e9","c":[1,{}]}`
	for from, as := range asObject {
		for to := range rooms {
			if to == from {
				continue
			}
			t.Run(from+" to "+to, func(t *testing.T) {
				body, _, ok := wire.Translate(rooms[from], rooms[to], fmt.Appendf(nil, as.body, given), head)
				if !ok {
					t.Fatal("not possible")
				}
				calledWith(t, to, body, given)
				out, o := streamed(t, from, to, fmt.Sprintf(as.stream, given))
				if o.Class != backstop.OK {
					t.Fatalf("%+v", o)
				}
				sum := rooms[to].Aggregator(&wire.Request{Op: wire.Chat})
				feed(t, sum, out)
				calledWith(t, to, sum.Body(), given)
				asked, losses := hub(t, from, to, fmt.Appendf(nil, as.history, given), nil)
				if flat := strings.ReplaceAll(string(asked.Body), `\`, ""); len(losses.Cannot) > 0 || !strings.Contains(flat, `"c":[1,{}]`) {
					t.Errorf("%+v %s", losses, asked.Body)
				}
			})
		}
	}
}

// The other way round: where an object belongs some write a string of it, or
// null where there are no arguments.
func TestAnInputThatIsTextIsTheObjectInIt(t *testing.T) {
	const (
		body    = `{"id":"m","type":"message","content":[{"type":"tool_use","id":"t1","name":"f","input":%s}],"stop_reason":"tool_use"}`
		stream  = "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\"}}\n\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"f\",\"input\":%s}}\n\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n"
		history = `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":%s}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]}]}`
	)
	for input, want := range map[string]string{`"{\"a\":[1]}"`: `{"a":[1]}`, `null`: `{}`} {
		for to := range rooms {
			t.Run(input+" to "+to, func(t *testing.T) {
				if to == "anthropic" {
					sum := rooms[to].Aggregator(&wire.Request{Op: wire.Chat})
					feed(t, sum, fmt.Sprintf(stream, input))
					if got := string(sum.Body()); input != "null" && !strings.Contains(got, `"input":`+want) {
						t.Errorf("%s", got)
					}
					return
				}
				body, _, ok := wire.Translate(rooms["anthropic"], rooms[to], fmt.Appendf(nil, body, input), head)
				if !ok {
					t.Fatal("not possible")
				}
				calledWith(t, to, body, want)
				out, o := streamed(t, "anthropic", to, fmt.Sprintf(stream, input))
				if o.Class != backstop.OK {
					t.Fatalf("%+v", o)
				}
				sum := rooms[to].Aggregator(&wire.Request{Op: wire.Chat})
				feed(t, sum, out)
				if body := sum.Body(); input != "null" {
					calledWith(t, to, body, want)
				}
				asked, losses := hub(t, "anthropic", to, fmt.Appendf(nil, history, input), nil)
				if flat := strings.ReplaceAll(string(asked.Body), `\`, ""); len(losses.Cannot) > 0 || !strings.Contains(flat, want) || strings.Contains(flat, `"null"`) {
					t.Errorf("%+v %s", losses, asked.Body)
				}
			})
		}
	}
}

// An aggregate writes them as the string that typed callers read.
func TestAnAggregateWritesWhatAToolIsCalledWithAsText(t *testing.T) {
	const given = `{"a":"b\"\u00e9","c":[1,{}]}`
	sum := rooms["openai"].Aggregator(&wire.Request{Op: wire.Chat})
	feed(t, sum, fmt.Sprintf(asObject["openai"].stream, given))
	var answer struct {
		Choices []struct {
			Message struct {
				Calls []struct{ Function struct{ Arguments string } } `json:"tool_calls"`
			}
		}
	}
	if err := json.Unmarshal(sum.Body(), &answer); err != nil || answer.Choices[0].Message.Calls[0].Function.Arguments != given {
		t.Errorf("%v: %s", err, sum.Body())
	}
}

// An empty object may stand where the pieces begin.
func TestAnEmptyObjectIsNoBeginOfWhatAToolIsCalledWith(t *testing.T) {
	stream := "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"t1\",\"function\":{\"name\":\"f\",\"arguments\":{}}}]}}]}\n\n" +
		"data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{\\\"a\\\":1}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n"
	sum := rooms["openai"].Aggregator(&wire.Request{Op: wire.Chat})
	feed(t, sum, stream)
	calledWith(t, "openai", sum.Body(), `{"a":1}`)
	out, _ := streamed(t, "openai", "anthropic", stream)
	whole := rooms["anthropic"].Aggregator(&wire.Request{Op: wire.Chat})
	feed(t, whole, out)
	calledWith(t, "anthropic", whole.Body(), `{"a":1}`)
}

func calledWith(t *testing.T, dialect string, body []byte, want string) {
	t.Helper()
	m, ok := rooms[dialect].DecodeBody(body)
	if !ok || len(m.Choices[0].Parts) != 1 {
		t.Fatalf("not read: %s", body)
	}
	var a, b any
	if err := json.Unmarshal([]byte(m.Choices[0].Parts[0].Arguments), &a); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	if json.Unmarshal([]byte(want), &b); !reflect.DeepEqual(a, b) {
		t.Errorf("called with %v, want %v: %s", a, b, body)
	}
}
