package wire_test

import (
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"

	"backstop"
	"backstop/sse"
	"backstop/wire"
)

// What a chat has no words for is named as a caller of Responses calls it.
func TestWhatAResponsesCallCannotHaveOfAChatIsNamed(t *testing.T) {
	for name, c := range map[string]struct{ more, cannot, left string }{
		"an earlier answer":        {`"previous_response_id":"resp_1"`, "previous_response_id", ""},
		"a conversation":           {`"conversation":{"id":"c"}`, "conversation", ""},
		"work in the background":   {`"background":true`, "background", ""},
		"a stored answer":          {`"store":true`, "", "store"},
		"an answer not stored":     {`"store":false,"background":false`, "", ""},
		"a stored prompt":          {`"prompt":{"id":"p"}`, "prompt", ""},
		"a tool of the vendor":     {`"tools":[{"type":"function","name":"f"},{"type":"web_search"}]`, "tools[1]", ""},
		"a server of tools":        {`"tools":[{"type":"mcp","server_label":"s"}]`, "tools[0]", ""},
		"a tool without a schema":  {`"tools":[{"type":"custom","name":"f"}]`, "tools[0]", ""},
		"a set of tools":           {`"tool_choice":{"type":"allowed_tools","mode":"auto"}`, "tool_choice", ""},
		"a grammar":                {`"text":{"format":{"type":"grammar"}}`, "text.format", ""},
		"odds":                     {`"top_logprobs":2`, "top_logprobs", ""},
		"odds in the answer":       {`"include":["message.output_text.logprobs"]`, "include", ""},
		"sealed reasoning":         {`"include":["reasoning.encrypted_content"]`, "", ""},
		"results of a search":      {`"include":["file_search_call.results"]`, "", "include"},
		"a parameter nobody knows": {`"frobnicate":1`, "frobnicate", ""},
		"null says nothing":        {`"frobnicate":null,"previous_response_id":null,"conversation":null`, "", ""},
		"hints":                    {`"service_tier":"auto","metadata":{"a":"b"},"text":{"verbosity":"low"},"prompt_cache_key":"k","truncation":"auto","max_tool_calls":3`, "", "service_tier metadata text.verbosity prompt_cache_key truncation max_tool_calls"},
		"hints that say nothing":   {`"metadata":{},"truncation":"disabled","top_logprobs":0,"stream_options":{"include_obfuscation":false},"reasoning":{"summary":"auto"}`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, losses := hub(t, "responses", "openai", []byte(`{"model":"m","input":"hi",`+c.more+`}`), nil)
			for _, x := range []struct {
				what string
				got  []string
				want string
			}{{"cannot", losses.Cannot, c.cannot}, {"left", losses.Left, c.left}} {
				got, want := slices.Sorted(slices.Values(x.got)), slices.Sorted(slices.Values(strings.Fields(x.want)))
				if !slices.Equal(got, want) {
					t.Errorf("%s: %q, want %q", x.what, got, want)
				}
			}
		})
	}
}

// Places in the input that have no form in a chat.
func TestItemsThatCannotBeExpressedAreNamed(t *testing.T) {
	for name, c := range map[string]struct{ input, cannot, left string }{
		"a file":                 {`[{"role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_file","file_data":"x"}]}]`, "input[0].content[1]", ""},
		"a picture by its id":    {`[{"role":"user","content":[{"type":"input_image","file_id":"f"}]}]`, "input[0].content[0].file_id", ""},
		"an item that is stored": {`[{"type":"item_reference","id":"msg_1"}]`, "input[0]", ""},
		"a search":               {`[{"role":"user","content":"a"},{"type":"web_search_call","id":"ws_1","status":"completed"}]`, "input[1]", ""},
		"a picture from a tool":  {`[{"role":"user","content":"a"},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":[{"type":"input_image","image_url":"https://x"}]}]`, "input[2].output[0]", ""},
		"an object from a tool":  {`[{"role":"user","content":"a"},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":{"a":1}}]`, "input[2].output", ""},
		"an answer begun":        {`[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]`, "input[1].role", ""},
		"a role nobody knows":    {`[{"role":"user","content":"a"},{"role":"critic","content":"b"}]`, "input[1].role", ""},
		"sealed reasoning":       {`[{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"zz"},{"role":"user","content":"a"}]`, "", "input[0].encrypted_content"},
		"a picture in detail":    {`[{"role":"user","content":[{"type":"input_image","image_url":"https://x","detail":"high"}]}]`, "", "input[0].content[0].detail"},
	} {
		t.Run(name, func(t *testing.T) {
			_, losses := hub(t, "responses", "openai", []byte(`{"model":"m","input":`+c.input+`}`), nil)
			if got := strings.Join(losses.Cannot, " "); got != c.cannot {
				t.Errorf("cannot %q, want %q", got, c.cannot)
			}
			if got := strings.Join(losses.Left, " "); got != c.left {
				t.Errorf("left %q, want %q", got, c.left)
			}
		})
	}
}

func TestACallersOwnMistakeInAnItemIsAFailure(t *testing.T) {
	for _, input := range []string{
		`[{"type":"function_call","name":"f","arguments":"{}"}]`, `[{"type":"function_call_output","output":"x"}]`,
		`[{"role":"user","content":[{"type":"input_image"}]}]`,
	} {
		r, fail := rooms["responses"].Read(wire.Responses, []byte(`{"model":"m","input":`+input+`}`))
		if fail != nil {
			t.Fatal(fail)
		}
		if _, fail := rooms["responses"].ToHub(r); fail == nil || fail.Status != 400 || !strings.HasPrefix(fail.Param, "input[0]") {
			t.Errorf("%s: %+v", input, fail)
		}
	}
}

func TestACutStreamEndsInTheErrorOfResponses(t *testing.T) {
	out, o := streamed(t, "openai", "responses", "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n")
	if o.Kind != backstop.KindCut || strings.Contains(out, "response.completed") {
		t.Errorf("%+v %s", o, out)
	}
	last := out[strings.LastIndex(out, "event: "):]
	for _, want := range []string{"event: error\n", `{"type":"error","sequence_number":5,"code":"stream_incomplete","message":"cut","param":null,"error":{`} {
		if !strings.Contains(last, want) {
			t.Errorf("no %s in %s", want, last)
		}
	}
}

// Clients act on a call as soon as its item is completed.
func TestACallThatTheLimitCutIsNeverCompleted(t *testing.T) {
	for from, stream := range map[string]string{
		"openai": "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"t1\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]}}]}\n\n" +
			"data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":1,\"id\":\"t2\",\"function\":{\"name\":\"g\",\"arguments\":\"{\\\"a\\\":\"}}]}}]}\n\n" +
			"data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"length\"}]}\n\ndata: [DONE]\n\n",
		"anthropic": "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\"}}\n\n" +
			"data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"f\",\"input\":{}}}\n\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n" +
			"data: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t2\",\"name\":\"g\",\"input\":{}}}\n\n" +
			"data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"a\\\":\"}}\n\ndata: {\"type\":\"content_block_stop\",\"index\":1}\n\n" +
			"data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"max_tokens\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n",
	} {
		t.Run(from, func(t *testing.T) {
			out, o := streamed(t, from, "responses", stream)
			if o.Class != backstop.OK {
				t.Fatalf("%+v", o)
			}
			for name, want := range map[string]string{"f": "completed", "g": "incomplete"} {
				n := strings.Count(out, `"status":"`+want+`","call_id":"`+map[string]string{"f": "t1", "g": "t2"}[name]+`"`)
				if n != 2 { // where the item is done, and in the whole answer
					t.Errorf("%s is %s %d times in\n%s", name, want, n, out)
				}
			}
		})
	}
}

// What a hostile upstream puts into a text stays a text for a caller of
// Responses, whose last event repeats all of it.
func TestNothingInATextBecomesAnEventOfResponses(t *testing.T) {
	evil := "a\n\nevent: response.completed\ndata: {\"type\":\"response.completed\"}\n\ndata: [DONE]\r\n\r\n\u2028event: error"
	quoted, err := json.Marshal(evil)
	if err != nil {
		t.Fatal(err)
	}
	stream := "data: {\"id\":" + string(quoted) + ",\"model\":" + string(quoted) + ",\"choices\":[{\"index\":0,\"delta\":{\"content\":" + string(quoted) +
		",\"reasoning_content\":" + string(quoted) + "}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":" + string(quoted) +
		",\"function\":{\"name\":" + string(quoted) + ",\"arguments\":" + string(quoted) + "}}]},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n"
	out, o := streamed(t, "openai", "responses", stream)
	if o.Class != backstop.OK {
		t.Fatalf("%+v", o)
	}
	ends, events := 0, sse.NewReader(strings.NewReader(out), 0)
	for {
		ev, err := events.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		var e struct{ Type string }
		if json.Unmarshal(ev.Data, &e) != nil || e.Type != ev.Name || ev.Name == "error" || ends > 0 {
			t.Errorf("%q", ev.Raw)
		}
		if ev.Name == "response.completed" {
			ends++
		}
	}
	if ends != 1 || !strings.HasSuffix(out, "\n\n") {
		t.Errorf("%d ends in %q", ends, out)
	}
}

// Whatever an upstream of a chat, or of messages, says, a caller of Responses
// gets whole events with numbers that go up and at most one end, the last.
func FuzzBridgeToResponses(f *testing.F) {
	f.Add("data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\",\"tool_calls\":[{\"index\":0,\"id\":\"t\",\"function\":{\"name\":\"f\",\"arguments\":\"{\"}}]},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", true)
	f.Add("data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"\",\"name\":\"f\",\"input\":{\"a\":1}}}\n\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"}}\n\n", false)
	f.Fuzz(func(t *testing.T, stream string, fromOpenAI bool) {
		from := "anthropic"
		if fromOpenAI {
			from = "openai"
		}
		out, _ := streamed(t, from, "responses", stream)
		events, ended, last := sse.NewReader(strings.NewReader(out), 0), false, -1
		for {
			ev, err := events.Next()
			if err == io.EOF {
				return
			}
			var e struct {
				Type   string
				Number int `json:"sequence_number"`
			}
			if err != nil || ended || json.Unmarshal(ev.Data, &e) != nil || e.Type != ev.Name || e.Number != last+1 {
				t.Fatalf("%v, ended %v, after %d: %q", err, ended, last, out)
			}
			last = e.Number
			ended = ev.Name == "response.completed" || ev.Name == "response.incomplete" || ev.Name == "error"
		}
	})
}
