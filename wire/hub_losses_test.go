package wire_test

import (
	"slices"
	"strings"
	"testing"

	"backstop"
	"backstop/wire"
)

// What the other dialect has no words for is named as the caller calls it.
func TestWhatCannotBeExpressedIsNamed(t *testing.T) {
	for name, c := range map[string]struct{ from, more, cannot, left string }{
		"n":                         {"openai", `"n":2`, "n", ""},
		"n of one":                  {"openai", `"n":1`, "", ""},
		"logprobs":                  {"openai", `"logprobs":true,"top_logprobs":2`, "logprobs top_logprobs", ""},
		"logit_bias":                {"openai", `"logit_bias":{"1":2}`, "logit_bias", ""},
		"audio":                     {"openai", `"modalities":["text","audio"],"audio":{"voice":"x"}`, "audio modalities", ""},
		"a stored answer":           {"openai", `"store":true`, "store", ""},
		"legacy functions":          {"openai", `"functions":[{"name":"f"}]`, "functions", ""},
		"web search":                {"openai", `"web_search_options":{}`, "web_search_options", ""},
		"a custom tool":             {"openai", `"tools":[{"type":"custom","custom":{"name":"f"}}]`, "tools[0]", ""},
		"a set of tools":            {"openai", `"tool_choice":{"type":"allowed_tools","allowed_tools":{}}`, "tool_choice", ""},
		"a grammar":                 {"openai", `"response_format":{"type":"grammar"}`, "response_format", ""},
		"a blank stop":              {"openai", `"stop":"\n"`, "stop", ""},
		"a parameter nobody knows":  {"openai", `"frobnicate":1`, "frobnicate", ""},
		"null says nothing":         {"openai", `"frobnicate":null,"logit_bias":null`, "", ""},
		"hints":                     {"openai", `"seed":1,"service_tier":"auto","metadata":{"a":"b"},"verbosity":"low","prompt_cache_key":"k"`, "", "seed service_tier metadata verbosity prompt_cache_key"},
		"penalties":                 {"openai", `"frequency_penalty":0.1,"presence_penalty":0`, "", "frequency_penalty"},
		"a hot temperature":         {"openai", `"temperature":1.2`, "", "temperature"},
		"both kinds of sampling":    {"openai", `"temperature":0.2,"top_p":0.3`, "", "top_p"},
		"a tool of the vendor":      {"anthropic", `"tools":[{"type":"web_search_20250305","name":"web_search"}]`, "tools[0]", ""},
		"servers of tools":          {"anthropic", `"mcp_servers":[{"url":"x"}]`, "mcp_servers", ""},
		"a container":               {"anthropic", `"container":"c"`, "container", ""},
		"five stops":                {"anthropic", `"stop_sequences":["1","2","3","4","5"]`, "stop_sequences", ""},
		"hints of the other":        {"anthropic", `"top_k":3,"service_tier":"auto","thinking":{"type":"enabled","budget_tokens":2000}`, "", "top_k service_tier thinking"},
		"thinking that is off":      {"anthropic", `"thinking":{"type":"disabled"}`, "", ""},
		"another parameter":         {"anthropic", `"frobnicate":1`, "frobnicate", ""},
		"a long name":               {"anthropic", `"tools":[{"name":"` + strings.Repeat("x", 65) + `","input_schema":{}}]`, "tools[0].name", ""},
		"an unknown form of answer": {"anthropic", `"output_config":{"format":{"type":"grammar"}}`, "output_config.format", ""},
	} {
		t.Run(name, func(t *testing.T) {
			body, to := `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}],`+c.more+`}`, "openai"
			if c.from == "openai" {
				to = "anthropic"
			}
			_, losses := hub(t, c.from, to, []byte(body), nil)
			check := func(what string, got []string, want string) {
				words := strings.Fields(want)
				slices.Sort(words)
				got = slices.Clone(got)
				slices.Sort(got)
				if !slices.Equal(got, words) {
					t.Errorf("%s: %q, want %q", what, got, words)
				}
			}
			check("cannot", losses.Cannot, c.cannot)
			check("left", losses.Left, c.left)
		})
	}
}

// Places in the talk that have no form in the other dialect.
func TestPartsThatCannotBeExpressedAreNamed(t *testing.T) {
	for name, c := range map[string]struct{ from, talk, cannot string }{
		"an audio part":                 {"openai", `[{"role":"user","content":[{"type":"text","text":"a"},{"type":"input_audio","input_audio":{}}]}]`, "messages[0].content[1]"},
		"a file":                        {"openai", `[{"role":"user","content":[{"type":"file","file":{}}]}]`, "messages[0].content[0]"},
		"a picture in a strange format": {"openai", `[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/tiff;base64,aGk="}}]}]`, "messages[0].content[0]"},
		"an answer begun":               {"openai", `[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]`, "messages[1].role"},
		"broken arguments":              {"openai", `[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"f","arguments":"{\"a"}}]},{"role":"tool","tool_call_id":"1","content":"x"}]`, "messages[1].tool_calls[0].function.arguments"},
		"a content of another type":     {"openai", `[{"role":"user","content":{"type":"text","text":"a"}},{"role":"user","content":5}]`, "messages[0].content messages[1].content"},
		"a text of another type":        {"openai", `[{"role":"user","content":[{"type":"text","text":{"a":1}}]}]`, "messages[0].content[0].text"},
		"an object from a tool":         {"openai", `[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"1","content":{"a":1}}]`, "messages[2].content"},
		"no words at all":               {"openai", `[{"role":"user","content":""}]`, "messages"},
		"a document":                    {"anthropic", `[{"role":"user","content":[{"type":"document","source":{}}]}]`, "messages[0].content[0]"},
		"a picture from a tool":         {"anthropic", `[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":[{"type":"image","source":{"type":"url","url":"https://x"}}]}]}]`, "messages[2].content[0].content[0]"},
		"a number from a tool":          {"anthropic", `[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":5}]}]`, "messages[2].content[0].content"},
		"a prefilled answer":            {"anthropic", `[{"role":"user","content":"a"},{"role":"assistant","content":"{"}]`, "messages[1].role"},
	} {
		t.Run(name, func(t *testing.T) {
			to := "openai"
			if c.from == "openai" {
				to = "anthropic"
			}
			_, losses := hub(t, c.from, to, []byte(`{"model":"m","max_tokens":9,"messages":`+c.talk+`}`), nil)
			if strings.Join(losses.Cannot, " ") != c.cannot {
				t.Errorf("%q, want %q", losses.Cannot, c.cannot)
			}
		})
	}
}

func TestAPromiseOfJSONIsNeverDropped(t *testing.T) {
	closed := `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}],"response_format":{"type":"json_schema","json_schema":{"name":"x","schema":{"type":"object","additionalProperties":false}}}}`
	for name, c := range map[string]struct {
		step   backstop.Step
		native bool
	}{
		"a model that knows it":          {backstop.Step{Model: "claude-sonnet-4-5"}, true},
		"an older model":                 {backstop.Step{Model: "claude-3-5-haiku"}, false},
		"one that refused the parameter": {backstop.Step{Model: "claude-sonnet-4-5", Without: []string{"output_config"}}, false},
		"one that refused a part of it":  {backstop.Step{Model: "claude-sonnet-4-5", Without: []string{"output_config.format"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			out, losses := hub(t, "openai", "anthropic", []byte(closed), &c.step)
			body := string(out.Body)
			if len(losses.Cannot) > 0 || strings.Contains(body, `"output_config"`) != c.native || strings.Contains(body, "JSON Schema") == c.native {
				t.Errorf("%+v %s", losses, body)
			}
		})
	}
}

func TestToolIDsStayTheSame(t *testing.T) {
	long := strings.Repeat("x", 94)
	if a, b := wire.ToolID(long), wire.ToolID(long); a != b || len(a) > 40 || wire.ToolID(a) != a {
		t.Errorf("%s %s", a, b)
	}
	if wire.ToolID("call_a-1") != "call_a-1" || wire.ToolID("a b") == wire.ToolID("a.b") || wire.ToolID("") == "" {
		t.Error("an id changed, or two became one")
	}
}

func TestSamplingGoesOnlyToModelsThatTakeIt(t *testing.T) {
	body := `{"model":"m","messages":[{"role":"user","content":"hi"}],"temperature":0.3}`
	for model, takes := range map[string]bool{
		"claude-3-5-haiku": true, "claude-sonnet-4-5": true, "claude-sonnet-4-6": true, "claude-opus-4-6": true, "other": true,
		"claude-opus-4-7": false, "claude-opus-5": false, "claude-sonnet-5-5": false, "claude-haiku-5-5": false,
	} {
		out, losses := hub(t, "openai", "anthropic", []byte(body), &backstop.Step{Model: model})
		if len(losses.Cannot) > 0 || strings.Contains(string(out.Body), `"temperature":0.3`) != takes || (strings.Join(losses.Left, " ") == "temperature") == takes {
			t.Errorf("%s: %+v %s", model, losses, out.Body)
		}
	}
}

func TestAnEffortIsOneThatTheModelKnows(t *testing.T) {
	body := `{"model":"m","messages":[{"role":"user","content":"hi"}],"reasoning_effort":"xhigh"}`
	for model, want := range map[string]string{
		"claude-opus-4-6": `"effort":"high"`, "claude-opus-4-7": `"effort":"xhigh"`, "claude-sonnet-4-5": `"budget_tokens"`,
	} {
		if out, losses := hub(t, "openai", "anthropic", []byte(body), &backstop.Step{Model: model}); len(losses.Cannot) > 0 || !strings.Contains(string(out.Body), want) {
			t.Errorf("%s: %+v %s", model, losses, out.Body)
		}
	}
}

// Pieces of text that have one string at the upstream stay apart, and a picture
// in an instruction is not taken for nothing, wherever the instruction stands.
func TestPiecesOfATextStayApart(t *testing.T) {
	for name, c := range map[string]struct{ from, body, cannot, has string }{
		"a tool's, to chat":        {"anthropic", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":[{"type":"text","text":"12"},{"type":"text","text":"3"}]}]}]}`, "", `"12\n3"`},
		"an item's":                {"responses", `{"model":"m","input":[{"type":"function_call","call_id":"1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"1","output":[{"type":"input_text","text":"12"},{"type":"input_text","text":"3"}]}]}`, "", `"12\n3"`},
		"an instruction's":         {"anthropic", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"system","content":[{"type":"text","text":"12"},{"type":"text","text":"3"}]},{"role":"user","content":"b"}]}`, "", `"12\n3"`},
		"a picture in one":         {"anthropic", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"system","content":[{"type":"text","text":"s"},{"type":"image","source":{"type":"url","url":"https://x"}}]},{"role":"user","content":"b"}]}`, "messages[1].content[1]", ""},
		"a picture in the first":   {"responses", `{"model":"m","input":[{"role":"developer","content":[{"type":"input_text","text":"s"},{"type":"input_image","image_url":"https://x"}]},{"role":"user","content":"b"}]}`, "input[0].content[1]", ""},
		"a picture of Gemini's":    {"gemini", `{"contents":[{"role":"system","parts":[{"text":"s"},{"inlineData":{"mimeType":"image/png","data":"aGk="}}]},{"role":"user","parts":[{"text":"b"}]}]}`, "contents[0].parts[1]", ""},
		"a picture that has words": {"openai", `{"model":"m","messages":[{"role":"system","content":[{"type":"text","text":"s"},{"type":"image_url","image_url":{"url":"https://x"}}]},{"role":"user","content":"b"}]}`, "", "https://x"},
	} {
		for to := range rooms {
			if to == c.from || c.from != "openai" && to != "openai" && (to != "gemini" || !strings.HasPrefix(name, "a tool's") && !strings.HasPrefix(name, "an item's")) {
				continue
			}
			t.Run(name+" to "+to, func(t *testing.T) {
				out, losses := hub(t, c.from, to, []byte(c.body), nil)
				if strings.Join(losses.Cannot, " ") != c.cannot || !strings.Contains(string(out.Body), c.has) {
					t.Errorf("cannot %q, want %q; %s has no %s", losses.Cannot, c.cannot, out.Body, c.has)
				}
			})
		}
	}
}

// A part is named as its caller counts it, whatever became turns of their own
// or was left out in front of it.
func TestAPartIsNamedAsItsCallerCounts(t *testing.T) {
	const tiff = `"image/tiff","data":"aGk="`
	for name, c := range map[string]struct{ from, body, cannot string }{
		"gemini":               {"gemini", `{"contents":[{"role":"model","parts":[{"functionCall":{"name":"f"}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}},{"text":""},{"inlineData":{"mimeType":` + tiff + `}}]}]}`, "contents[1].parts[2]"},
		"a result of gemini's": {"gemini", `{"contents":[{"role":"model","parts":[{"functionCall":{"name":"f"}}]},{"role":"user","parts":[{"text":"a"},{"functionResponse":{"name":"f","response":{},"parts":[{"inlineData":{"mimeType":` + tiff + `}}]}}]}]}`, "contents[1].parts[1].functionResponse.parts[0]"},
		"openai":               {"openai", `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":""},{"type":"image_url","image_url":{"url":"data:image/tiff;base64,aGk="}}]}]}`, "messages[0].content[1]"},
		"responses":            {"responses", `{"model":"m","input":[{"role":"user","content":[{"type":"input_text","text":""},{"type":"input_image","image_url":"data:image/tiff;base64,aGk="}]}]}`, "input[0].content[1]"},
	} {
		if _, losses := hub(t, c.from, "anthropic", []byte(c.body), nil); strings.Join(losses.Cannot, " ") != c.cannot {
			t.Errorf("%s: %q, want %q", name, losses.Cannot, c.cannot)
		}
	}
}

// A name that the upstream would refuse is no mistake of the caller's.
func TestANameThatTheUpstreamRefusesIsNamed(t *testing.T) {
	for name, plain := range map[string]bool{"look_up-1": true, "weather.get": false, "ns:get": false} {
		body := `{"contents":[{"parts":[{"text":"a"}]}],"tools":[{"functionDeclarations":[{"name":"` + name + `"}]}]}`
		for to := range rooms {
			if to == "gemini" {
				continue
			}
			if _, losses := hub(t, "gemini", to, []byte(body), nil); (strings.Join(losses.Cannot, " ") == "tools[0].functionDeclarations[0].name") == plain {
				t.Errorf("%s to %s: %+v", name, to, losses)
			}
		}
	}
}

// A tool may have members that only its dialect knows. They are named.
func TestWhatElseIsSaidOfAToolIsNamed(t *testing.T) {
	for from, c := range map[string]struct{ body, left string }{
		"openai":    {`{"model":"m","messages":[{"role":"user","content":"a"}],"tools":[{"type":"function","cache_control":{},"function":{"name":"f","examples":[1],"x":null}}]}`, "tools[0].cache_control tools[0].function.examples"},
		"anthropic": {`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"}],"tools":[{"name":"f","input_schema":{"type":"object"},"input_examples":[{}],"defer_loading":true,"cache_control":null}]}`, "tools[0].input_examples tools[0].defer_loading"},
		"responses": {`{"model":"m","input":"a","tools":[{"type":"function","name":"f","parameters":{},"strict":false,"defer_loading":true}]}`, "tools[0].defer_loading"},
		"gemini":    {`{"contents":[{"parts":[{"text":"a"}]}],"tools":[{"functionDeclarations":[{"name":"f","response":{"type":"OBJECT"}}]}]}`, "tools[0].functionDeclarations[0].response"},
	} {
		for to := range rooms {
			if to == from {
				continue
			}
			if _, losses := hub(t, from, to, []byte(c.body), nil); len(losses.Cannot) > 0 || strings.Join(losses.Left, " ") != c.left {
				t.Errorf("%s to %s: %+v, want %s", from, to, losses, c.left)
			}
		}
	}
}

// Where a text was taken from is named where it is lost, and what an SDK sends
// back without saying anything is not.
func TestSourcesOfATextAreNamed(t *testing.T) {
	for from, c := range map[string]struct{ body, some, left string }{
		"openai":    {`{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b","refusal":null,"annotations":[%s]},{"role":"user","content":[{"type":"text","text":"c"}]}]}`, `{"type":"url_citation"}`, "messages[1].annotations"},
		"anthropic": {`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"text","text":"b","citations":[%s]}]},{"role":"user","content":"c"}]}`, `{"type":"char_location"}`, "messages[1].content[0].citations"},
		"responses": {`{"model":"m","input":[{"role":"user","content":"a"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"b","annotations":[%s],"logprobs":[]}]},{"role":"user","content":"c"}]}`, `{"type":"url_citation"}`, "input[1].content[0].annotations"},
	} {
		for to := range rooms {
			if to == from {
				continue
			}
			for some, want := range map[string]string{c.some: c.left, "": ""} {
				if _, losses := hub(t, from, to, []byte(strings.Replace(c.body, "%s", some, 1)), nil); len(losses.Cannot) > 0 || strings.Join(losses.Left, " ") != want {
					t.Errorf("%s to %s: %+v, want %s", from, to, losses, want)
				}
			}
		}
	}
}

// A picture that a model made is no hint: a talk without it is another.
func TestAPictureOfTheModelsIsNotLostInSilence(t *testing.T) {
	body := `{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b","images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}}]},{"role":"user","content":"c"}]}`
	for _, to := range []string{"anthropic", "gemini", "responses"} {
		if _, losses := hub(t, "openai", to, []byte(body), nil); strings.Join(losses.Cannot, " ") != "messages[1].images" {
			t.Errorf("%s: %+v", to, losses)
		}
	}
}

// A word on tools where there are none says nothing, and chat upstreams refuse
// it: callers of other dialects may send it all the same.
func TestAWordOnToolsWithoutToolsDoesNotGoToAChat(t *testing.T) {
	for from, body := range map[string]string{
		"responses": `{"model":"m","input":"a","tools":[],"tool_choice":"auto","parallel_tool_calls":true}`,
		"anthropic": `{"model":"m","max_tokens":9,"tool_choice":{"type":"auto","disable_parallel_tool_use":true},"messages":[{"role":"user","content":"a"}]}`,
		"gemini":    `{"contents":[{"parts":[{"text":"a"}]}],"toolConfig":{"functionCallingConfig":{"mode":"NONE"}}}`,
	} {
		out, losses := hub(t, from, "openai", []byte(body), nil)
		if len(losses.Cannot)+len(losses.Left) > 0 || strings.Contains(string(out.Body), "tool") {
			t.Errorf("%s: %+v %s", from, losses, out.Body)
		}
	}
}
