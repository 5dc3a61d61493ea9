package gemini

import (
	"strings"
	"testing"

	"backstop"
	"backstop/wire"
)

// asked is the request that a prompt becomes.
func asked(t *testing.T, p *wire.Prompt, model string, without ...string) (string, wire.Losses) {
	t.Helper()
	if p.Turns == nil {
		p.Turns = []wire.Turn{{Role: wire.ByAsker, Parts: []wire.Part{{Kind: wire.PartText, Text: "hi"}}}}
	}
	p.Dialect, p.Op, p.Model = backstop.OpenAI, wire.Chat, "m"
	u := &backstop.Upstream{Dialect: backstop.Gemini, Vendor: "gemini"}
	out, losses := Room{}.FromHub(p, u, &backstop.Step{Model: model, Without: without, Plain: true})
	return string(out.Body), losses
}

func TestAPromiseOfJSONIsKeptOrPutIntoWords(t *testing.T) {
	const closed, open = `{"type":"object","properties":{"a":{"type":"string"}}}`, `{"type":"object","properties":{"a":{"type":"string","pattern":"^x"}}}`
	for name, c := range map[string]struct {
		model, schema, without string
		tools                  bool
		want                   string // responseMimeType, responseJsonSchema, words
	}{
		"a schema":                              {"gemini-2.5-pro", closed, "", false, "m s -"},
		"one with more than is compiled":        {"gemini-2.5-pro", open, "", false, "m - w"},
		"one without a word":                    {"gemini-2.5-pro", `{}`, "", false, "m - w"},
		"one nested without end":                {"gemini-2.5-pro", strings.Repeat(`{"items":`, 40) + `{}` + strings.Repeat(`}`, 40), "", false, "m - w"},
		"any object":                            {"gemini-2.5-pro", "", "", false, "m - w"},
		"a model that knows no schema":          {"gemini-2.0-flash", closed, "", false, "m - w"},
		"beside tools":                          {"gemini-2.5-pro", closed, "", true, "- - w"},
		"beside tools, later":                   {"gemini-3-pro", closed, "", true, "m s -"},
		"a schema that was refused":             {"gemini-2.5-pro", closed, "generation_config.response_json_schema", false, "m - w"},
		"a promise that was refused altogether": {"gemini-2.5-pro", closed, "response_mime_type", false, "- - w"},
	} {
		t.Run(name, func(t *testing.T) {
			p := &wire.Prompt{Promise: wire.Promise{Kind: wire.PromiseObject}}
			if c.schema != "" {
				p.Promise = wire.Promise{Kind: wire.PromiseSchema, Schema: []byte(c.schema)}
			}
			if c.tools {
				p.Tools = []wire.Tool{{Name: "f"}}
			}
			var without []string
			if c.without != "" {
				without = []string{c.without}
			}
			body, losses := asked(t, p, c.model, without...)
			got := ""
			for _, f := range [...][2]string{{"m", `"responseMimeType":"application/json"`}, {"s", `"responseJsonSchema":{`}, {"w", "no code fence"}} {
				if strings.Contains(body, f[1]) {
					got += " " + f[0]
				} else {
					got += " -"
				}
			}
			if got[1:] != c.want || len(losses.Cannot)+len(losses.Left) > 0 {
				t.Errorf("%s, want %s: %+v %s", got, c.want, losses, body)
			}
		})
	}
}

func TestThinkingIsAskedForInTheModelsOwnWay(t *testing.T) {
	for _, c := range []struct {
		model, effort string
		budget        int
		want, left    string
	}{
		{"gemini-2.5-flash", "low", 0, `{"thinkingBudget":1024,"includeThoughts":true}`, ""},
		{"gemini-2.5-flash", "", 3000, `{"thinkingBudget":3000,"includeThoughts":true}`, ""},
		{"gemini-2.5-flash", "none", 0, `{"thinkingBudget":0}`, ""},
		{"gemini-2.5-pro", "none", 0, ``, "reasoning_effort"},
		{"gemini-2.5-pro", "enormous", 0, ``, "reasoning_effort"},
		{"gemini-2.0-flash", "high", 0, ``, "reasoning_effort"},
		{"gemini-2.0-flash", "none", 0, ``, ""},
		{"ok", "high", 0, ``, "reasoning_effort"},
		{"gemini-3-flash", "minimal", 0, `{"thinkingLevel":"MINIMAL","includeThoughts":true}`, ""},
		{"gemini-3-flash", "none", 0, `{"thinkingLevel":"MINIMAL","includeThoughts":true}`, "reasoning_effort"},
		{"models/gemini-3-pro-preview", "medium", 0, `{"thinkingLevel":"HIGH","includeThoughts":true}`, ""},
		{"gemini-3.5-flash", "max", 0, `{"thinkingLevel":"HIGH","includeThoughts":true}`, ""},
		{"gemini-3.5-flash", "", 5000, `{"thinkingLevel":"MEDIUM","includeThoughts":true}`, ""},
		{"gemini-3.5-flash", "odd", 0, ``, "reasoning_effort"},
	} {
		body, losses := asked(t, &wire.Prompt{Effort: c.effort, Budget: c.budget}, c.model)
		if has := strings.Contains(body, `"thinkingConfig":`+c.want); has != (c.want != "") || strings.Contains(body, "thinkingConfig") != has || strings.Join(losses.Left, " ") != c.left {
			t.Errorf("%s %q %d: %s, left %v", c.model, c.effort, c.budget, body, losses.Left)
		}
	}
}

// What the API would refuse is named, in the caller's words.
func TestWhatThisDialectCannotSayIsNamed(t *testing.T) {
	text := func(s string) wire.Part { return wire.Part{Kind: wire.PartText, Text: s} }
	call := wire.Part{Kind: wire.PartToolCall, ID: "1", Name: "f", Arguments: `{"a`}
	result := wire.Part{Kind: wire.PartToolResult, ID: "2", Result: []wire.Part{text("x")}}
	asker := wire.Turn{Role: wire.ByAsker, Parts: []wire.Part{text("a")}, At: "messages[0]"}
	picture := wire.Part{Kind: wire.PartImage, Media: "image/png", Data: "aGk="}
	whole := wire.Part{Kind: wire.PartToolCall, ID: "2", Name: "f", Arguments: "{}"}
	for name, c := range map[string]struct {
		p            wire.Prompt
		cannot, left string
	}{
		"log probabilities":         {wire.Prompt{Logprobs: true, TopLogprobs: "2"}, "logprobs top_logprobs", ""},
		"six stops":                 {wire.Prompt{Stop: []string{"1", "2", "3", "4", "5", "6"}}, "stop", ""},
		"who is served":             {wire.Prompt{Served: "x", Parallel: wire.Off, Tools: []wire.Tool{{Name: "f", Strict: wire.On}}}, "", "tools[0].strict parallel_tool_calls user"},
		"penalties":                 {wire.Prompt{Presence: "0.5", Frequency: "0"}, "", "presence_penalty"},
		"a seed that is too long":   {wire.Prompt{Seed: "12345678901"}, "", "seed"},
		"a name that is too long":   {wire.Prompt{Tools: []wire.Tool{{Name: strings.Repeat("x", 65)}}}, "tools[0].name", ""},
		"broken arguments":          {wire.Prompt{Turns: []wire.Turn{asker, {Role: wire.ByModel, Parts: []wire.Part{call}, At: "messages[1]"}, asker}}, "messages[1].content[0].arguments", ""},
		"an answer begun":           {wire.Prompt{Turns: []wire.Turn{asker, {Role: wire.ByModel, Parts: []wire.Part{text("b")}, At: "messages[1]"}}}, "messages[1].role", ""},
		"a result without its call": {wire.Prompt{Turns: []wire.Turn{asker, {Role: wire.ByTool, Parts: []wire.Part{result}, At: "messages[1]"}}}, "messages[1]", ""},
		"a picture over http":       {wire.Prompt{Turns: []wire.Turn{{Role: wire.ByAsker, Parts: []wire.Part{{Kind: wire.PartImage, URL: "http://x/a.png"}}, At: "messages[0]"}}}, "messages[0].content[0]", ""},
		"a moving picture":          {wire.Prompt{Turns: []wire.Turn{{Role: wire.ByAsker, Parts: []wire.Part{{Kind: wire.PartImage, Media: "image/gif", Data: "aGk="}}, At: "messages[0]"}}}, "messages[0].content[0]", ""},
		"a picture from a tool": {wire.Prompt{Turns: []wire.Turn{asker, {Role: wire.ByModel, Parts: []wire.Part{whole}}, {
			Role: wire.ByTool, Parts: []wire.Part{{Kind: wire.PartToolResult, ID: "2", Result: []wire.Part{picture}}}, At: "messages[2]",
		}}}, "messages[2].content[0]", ""},
		"an instruction in the middle": {wire.Prompt{Turns: []wire.Turn{asker, {Role: wire.BySystem, Parts: []wire.Part{text("b")}, At: "messages[1]"}}}, "", "messages[1]"},
		"no words at all":              {wire.Prompt{Turns: []wire.Turn{{Role: wire.ByAsker}}}, "messages", ""},
		"reasoning":                    {wire.Prompt{Turns: []wire.Turn{asker, {Role: wire.ByModel, Parts: []wire.Part{{Kind: wire.PartReasoning, Text: "t"}, text("b")}}, asker}}, "", "reasoning_content"},
	} {
		t.Run(name, func(t *testing.T) {
			_, losses := asked(t, &c.p, "gemini-2.5-flash")
			if strings.Join(losses.Cannot, " ") != c.cannot || strings.Join(losses.Left, " ") != c.left {
				t.Errorf("%+v, want cannot %q left %q", losses, c.cannot, c.left)
			}
		})
	}
}

// What only this dialect knows is named in its words.
func TestWhatOnlyThisDialectKnowsIsNamed(t *testing.T) {
	for name, c := range map[string]struct{ more, cannot, left string }{
		"hints":                  {`"safetySettings":[{}],"labels":{"a":"b"},"serviceTier":"x","generationConfig":{"mediaResolution":"LOW"}`, "", "safetySettings labels serviceTier generationConfig.mediaResolution"},
		"a cache":                {`"cachedContent":"cachedContents/1"`, "cachedContent", ""},
		"an empty cache":         {`"cached_content":""`, "", "cachedContent"},
		"a search":               {`"tools":[{"googleSearch":{}},{"functionDeclarations":[{"name":"f"}],"code_execution":{}}]`, "tools[0].googleSearch tools[1].codeExecution", ""},
		"sound":                  {`"generationConfig":{"responseModalities":["TEXT","AUDIO"],"speechConfig":{"a":1}}`, "generationConfig.responseModalities generationConfig.speechConfig", ""},
		"log probabilities":      {`"generationConfig":{"responseLogprobs":true,"logprobs":2}`, "generationConfig.responseLogprobs generationConfig.logprobs", ""},
		"a choice of words":      {`"generationConfig":{"responseMimeType":"text/x.enum","responseSchema":{"enum":["a"]}}`, "generationConfig.responseMimeType generationConfig.responseSchema", ""},
		"several functions":      {`"tools":[{"functionDeclarations":[{"name":"f"},{"name":"g"},{"name":"h"}]}],"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["f","g"]}}`, "toolConfig.functionCallingConfig.allowedFunctionNames", ""},
		"all functions":          {`"tools":[{"functionDeclarations":[{"name":"f"},{"name":"g"}]}],"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["f","g"]}}`, "", ""},
		"functions that wait":    {`"tools":[{"functionDeclarations":[{"name":"f","behavior":"NON_BLOCKING"}]}]`, "tools[0].functionDeclarations[0].behavior", ""},
		"calls that are checked": {`"toolConfig":{"functionCallingConfig":{"mode":"VALIDATED"},"retrievalConfig":{"a":1}}`, "", "toolConfig.functionCallingConfig.mode toolConfig.retrievalConfig"},
		"what nobody knows":      {`"frobnicate":1,"generationConfig":{"frobnicate":1}`, "frobnicate generationConfig.frobnicate", ""},
		"null says nothing":      {`"frobnicate":null,"cachedContent":null,"generationConfig":null`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := read(t, `{"contents":[{"parts":[{"text":"hi"}]}],`+c.more+`}`, false)
			p, fail := Room{}.ToHub(r)
			if fail != nil {
				t.Fatal(fail)
			}
			if l := p.Losses(); strings.Join(l.Cannot, " ") != c.cannot || strings.Join(l.Left, " ") != c.left {
				t.Errorf("%+v", l)
			}
		})
	}
	for name, c := range map[string]struct{ parts, cannot string }{
		"a file of the vendor's": {`{"fileData":{"mimeType":"image/png","fileUri":"https://generativelanguage.googleapis.com/v1beta/files/x"}}`, "contents[0].parts[1].fileData"},
		"a bucket":               {`{"file_data":{"mime_type":"image/png","file_uri":"gs://x"}}`, "contents[0].parts[1].fileData"},
		"a film":                 {`{"fileData":{"fileUri":"https://www.youtube.com/watch?v=x"}}`, "contents[0].parts[1]"},
		"a document":             {`{"inlineData":{"mimeType":"application/pdf","data":"x"}}`, "contents[0].parts[1]"},
		"code":                   {`{"executableCode":{"code":"1"}}`, "contents[0].parts[1]"},
		"a result of nothing":    {`{"functionResponse":{"name":"f","response":{}}}`, "contents[0].parts[1].functionResponse"},
		"an empty part":          {`{}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p, fail := Room{}.ToHub(read(t, `{"contents":[{"parts":[{"text":"hi"},`+c.parts+`]}]}`, false))
			if fail != nil {
				t.Fatal(fail)
			}
			if l := p.Losses(); strings.Join(l.Cannot, " ") != c.cannot {
				t.Errorf("%+v", l)
			}
		})
	}
}

func TestWhatIsNoPartIsNamed(t *testing.T) {
	for name, c := range map[string]struct{ body, cannot string }{
		"a text":         {`{"contents":[{"parts":"hi"}]}`, "contents[0].parts"},
		"a list of text": {`{"contents":[{"parts":["hi"]}]}`, "contents[0].parts[0]"},
		"a rule":         {`{"systemInstruction":{"parts":"be brief"},"contents":[{"parts":[{"text":"hi"}]}]}`, "systemInstruction.parts"},
		"one part":       {`{"contents":{"parts":{"text":"hi"}}}`, ""},
		"nothing":        {`{"contents":[{"parts":null},{"parts":[{"text":"hi"}]}]}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p, fail := Room{}.ToHub(read(t, c.body, false))
			if fail != nil {
				t.Fatal(fail)
			}
			if l := p.Losses(); strings.Join(l.Cannot, " ") != c.cannot {
				t.Errorf("%+v", l)
			}
		})
	}
}

// Results belong to the calls with their id, else to the first of their name.
func TestResultsFindTheirCalls(t *testing.T) {
	p, fail := Room{}.ToHub(read(t, `{"contents":[{"parts":[{"text":"a"}]},
		{"role":"model","parts":[{"function_call":{"name":"f","args":{"n":1}}},{"functionCall":{"name":"f","args":{"n":2}}},{"functionCall":{"id":"x","name":"f"}},{"functionCall":{"name":"g","args":null}}]},
		{"role":"function","parts":[{"functionResponse":{"name":"g","response":{"result":"G"}}},{"functionResponse":{"id":"x","name":"f","response":{"output":"X"}}},{"function_response":{"name":"f","response":{"output":"1","more":2}}},{"functionResponse":{"name":"f"}}]},
		{"role":"model","parts":[{"functionCall":{"name":"f"}}]},{"parts":[{"functionResponse":{"name":"f","response":{"error":"E"}}}]}]}`, false))
	if fail != nil {
		t.Fatal(fail)
	}
	var got []string
	for _, turn := range p.Turns {
		for _, part := range turn.Parts {
			switch part.Kind {
			case wire.PartToolCall:
				got = append(got, "call "+part.ID+" "+part.Name+" "+part.Arguments)
			case wire.PartToolResult:
				text := ""
				for _, r := range part.Result {
					text += r.Text
				}
				if part.Failed {
					text += "!"
				}
				got = append(got, "result "+part.ID+" "+text)
			}
		}
	}
	want := []string{
		`call call_0_backstop f {"n":1}`, `call call_1_backstop f {"n":2}`, `call x f {}`, `call call_3_backstop g {}`,
		`result call_3_backstop G`, `result x X`, `result call_0_backstop {"output":"1","more":2}`, `result call_1_backstop `,
		`call call_4_backstop f {}`, `result call_4_backstop E!`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// The SDKs keep each event of a streamed answer as a content of its own.
func TestAnAnswerInPiecesIsOneTurn(t *testing.T) {
	p, fail := Room{}.ToHub(read(t, `{"contents":[{"role":"user","parts":[{"text":"a"}]},
		{"role":"model","parts":[{"text":"h","thought":true}]},{"role":"model","parts":[{"text":"m","thought":true},{"text":"Hel"}]},{"role":"model","parts":[{"text":"lo"}]},
		{"role":"model","parts":[{"functionCall":{"name":"f"}}]},{"role":"model","parts":[{"functionCall":{"name":"g"}}]},{"role":"model","parts":[{"text":""}]},
		{"role":"user","parts":[{"functionResponse":{"name":"f"}},{"functionResponse":{"name":"g"}}]},
		{"role":"model","parts":[{"text":"two"},{"text":"texts"}]}]}`, false))
	if fail != nil {
		t.Fatal(fail)
	}
	if len(p.Turns) != 5 || len(p.Turns[1].Parts) != 4 || p.Turns[1].Parts[0].Text != "hm" || p.Turns[1].Parts[1].Text != "Hello" || len(p.Turns[4].Parts) != 2 {
		t.Errorf("%+v", p.Turns)
	}
}

// A call whose arguments never become an object is not passed on as one.
func TestACallThatIsCutIsNoCall(t *testing.T) {
	for end, want := range map[wire.Ending]string{wire.EndTools: "MALFORMED_FUNCTION_CALL", wire.EndLength: "MAX_TOKENS"} {
		e := Room{}.Encoder(wire.Head{ID: "r", Model: "m"})
		e.Encode([]wire.Delta{{Kind: wire.DeltaStart}, {Kind: wire.DeltaCall, Name: "f"}, {Kind: wire.DeltaArguments, Text: `{"a`}})
		out := e.Encode([]wire.Delta{{Kind: wire.DeltaFinish, Ending: end}, {Kind: wire.DeltaDone}})
		if len(out) != 1 || !strings.Contains(string(out[0].Data), `"finishReason":"`+want+`"`) || strings.Contains(string(out[0].Data), "functionCall") {
			t.Errorf("%s: %q", end, out)
		}
	}
	e := Room{}.Encoder(wire.Head{ID: "r", Model: "m"})
	out := e.Encode([]wire.Delta{
		{Kind: wire.DeltaCall, Part: 0, Name: "f"}, {Kind: wire.DeltaArguments, Text: `{"a":1}`}, {Kind: wire.DeltaText, Part: 1, Text: "so"},
		{Kind: wire.DeltaCall, Part: 2, Name: "g", ID: "2"}, {Kind: wire.DeltaPartEnd, Part: 2}, {Kind: wire.DeltaFinish}, {Kind: wire.DeltaDone},
	})
	if len(out) != 4 || !strings.Contains(string(out[0].Data), `"args":{"a":1}`) || !strings.Contains(string(out[1].Data), `"so"`) || !strings.Contains(string(out[2].Data), `"name":"g","args":{}`) {
		t.Errorf("%q", out)
	}
}
