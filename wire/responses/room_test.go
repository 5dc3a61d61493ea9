package responses

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"backstop"
	"backstop/sse"
	"backstop/wire"
	"backstop/wire/internal/edit"
	"backstop/wire/internal/follow"
)

const simple = `{"model":"gpt-4o","input":"hi"}`

func read(t testing.TB, body string) *wire.Request {
	t.Helper()
	r, fail := Room{}.Read(wire.Responses, []byte(body))
	if fail != nil {
		t.Fatalf("%s: %v", body, fail)
	}
	return r
}

func TestARequestIsReadStrictly(t *testing.T) {
	for name, c := range map[string]struct{ body, param, says string }{
		"no body":                     {` `, "", "empty"},
		"no object":                   {`[1]`, "", "not a JSON object"},
		"two objects":                 {simple + simple, "", "not valid JSON"},
		"broken UTF-8":                {"{\"model\":\"\xff\"}", "", "UTF-8"},
		"model is missing":            {`{"input":"a"}`, "model", "missing"},
		"model is no string":          {`{"model":1,"input":"a"}`, "model", "string"},
		"model is given twice":        {`{"model":"a","model":"b","input":"a"}`, "model", "twice"},
		"model in another case":       {`{"Model":"a","input":"a"}`, "model", "lower case"},
		"an escaped name counts":      {`{"model":"a","mod\u0065l":"b","input":"a"}`, "model", "twice"},
		"two earlier answers":         {`{"model":"a","input":"a","previous_response_id":"r","previous_response_id":"s"}`, "previous_response_id", "twice"},
		"input is missing":            {`{"model":"a"}`, "input", "missing"},
		"input is a number":           {`{"model":"a","input":1}`, "input", "string or an array"},
		"an item is no object":        {`{"model":"a","input":["hi"]}`, "input", "object"},
		"stream is no boolean":        {`{"model":"a","input":"a","stream":"yes"}`, "stream", "true or false"},
		"store is no boolean":         {`{"model":"a","input":"a","store":1}`, "store", "true or false"},
		"background is no boolean":    {`{"model":"a","input":"a","background":"no"}`, "background", "true or false"},
		"instructions are a list":     {`{"model":"a","input":"a","instructions":[]}`, "instructions", "string"},
		"a conversation without id":   {`{"model":"a","input":"a","conversation":{}}`, "conversation.id", "string"},
		"max_output_tokens is broken": {`{"model":"a","input":"a","max_output_tokens":1.5}`, "max_output_tokens", "whole"},
		"max_output_tokens is zero":   {`{"model":"a","input":"a","max_output_tokens":0}`, "max_output_tokens", "at least 1"},
		"tools are no array":          {`{"model":"a","input":"a","tools":{}}`, "tools", "array"},
		"text is a word":              {`{"model":"a","input":"a","text":"json"}`, "text", "object"},
		"a format without a type":     {`{"model":"a","input":"a","text":{"format":{}}}`, "text.format.type", "json_schema"},
		"a schema that is none":       {`{"model":"a","input":"a","text":{"format":{"type":"json_schema","schema":1}}}`, "text.format.schema", "object"},
		"temperature is a word":       {`{"model":"a","input":"a","temperature":"hot"}`, "temperature", "number"},
	} {
		t.Run(name, func(t *testing.T) {
			r, fail := Room{}.Read(wire.Responses, []byte(c.body))
			if fail == nil || fail.Param != c.param || !strings.Contains(fail.Message, c.says) || fail.Status != 400 {
				t.Errorf("%+v, %+v", r, fail)
			}
		})
	}
	if _, fail := (Room{}).Read(wire.Chat, []byte(simple)); fail == nil {
		t.Error("a chat was taken")
	}
}

func TestWhatACallNeedsIsRead(t *testing.T) {
	r := read(t, `{"model":"m","max_output_tokens":7,"stream":true,"input":[{"role":"user","content":"12345678"}],"tools":[{"type":"function","name":"f"}],"text":{"format":{"type":"json_schema","name":"n","schema":{"type":"object"}}},"store":true}`)
	if r.Model != "m" || r.MaxTokens != 7 || !r.Stream || !r.Tools || r.Promise.Kind != wire.PromiseSchema || string(r.Promise.Schema) != `{"type":"object"}` || r.InputSize < 2 || !r.Stored || r.Pinned {
		t.Errorf("%+v", r)
	}
	if r := read(t, `{"model":"m","input":"a","text":{"format":{"type":"json_object"}}}`); r.Promise.Kind != wire.PromiseObject || r.Stored || !r.Streamable() {
		t.Errorf("%+v", r)
	}
	for _, body := range []string{`{"model":"m","input":"a","background":true}`, `{"model":"m","input":"a","background":true,"store":false}`, `{"model":"m","input":"a","store":true}`} {
		if r := read(t, body); !r.Stored || r.Streamable() {
			t.Errorf("a stream of %s is not what its plain body is: %+v", body, r)
		}
	}
	for _, body := range []string{`{"model":"m","input":"a","background":false}`, `{"model":"m","input":"a","background":null,"store":null}`} {
		if r := read(t, body); r.Stored || !r.Streamable() {
			t.Errorf("%s: %+v", body, r)
		}
	}
	if r := read(t, `{"model":"m","input":"a","include":["message.output_text.logprobs"]}`); !r.Logprobs {
		t.Error("no logprobs")
	}
	if r := read(t, `{"model":"m","prompt":{"id":"p"}}`); r.Pinned {
		t.Error("a stored prompt belongs to an account, not to one answer")
	}
}

func TestWhatOnlyItsIssuerKnowsPinsACall(t *testing.T) {
	for name, c := range map[string]struct {
		more   string
		pinned bool
	}{
		"nothing":                  {`"background":false,"previous_response_id":null,"conversation":null`, false},
		"an earlier answer":        {`"previous_response_id":"resp_1"`, true},
		"a conversation":           {`"conversation":"conv_1"`, true},
		"a conversation object":    {`"conversation":{"id":"conv_1"}`, true},
		"work in the background":   {`"background":true`, true},
		"a file":                   {`"input":[{"role":"user","content":[{"type":"input_file","file_id":"file_1"}]}]`, true},
		"a picture that is a file": {`"input":[{"role":"user","content":[{"type":"input_image","file_id":"file_1"}]}]`, true},
		"an item that is stored":   {`"input":[{"type":"item_reference","id":"msg_1"}]`, true},
		"a file by its bytes":      {`"input":[{"role":"user","content":[{"type":"input_file","file_data":"aGk="}]}]`, false},
	} {
		t.Run(name, func(t *testing.T) {
			body := `{"model":"m",` + c.more
			if !strings.Contains(c.more, `"input"`) {
				body += `,"input":"a"`
			}
			r := read(t, body+"}")
			p, fail := Room{}.ToHub(r)
			if fail != nil || r.Pinned != c.pinned {
				t.Fatalf("pinned %v, %v", r.Pinned, fail)
			}
			if c.pinned && len(p.Losses().Cannot) == 0 {
				t.Error("it can be told in the words of the hub")
			}
		})
	}
}

func TestOnlyWhatMustChangeChanges(t *testing.T) {
	spaced := "{ \"model\" : \"gpt\",\n \"unknown\":{\"a\" :1}, \"input\":[ {\"role\":\"user\",\"content\":\"hi\"} ] }"
	long := strings.Repeat("x", 70)
	for name, c := range map[string]struct {
		body string
		u    backstop.Upstream
		s    backstop.Step
		want string
	}{
		"nothing":          {spaced, backstop.Upstream{Unary: backstop.UnaryPlain}, backstop.Step{Plain: true}, spaced},
		"the model":        {spaced, backstop.Upstream{}, backstop.Step{Model: "other", Plain: true}, strings.Replace(spaced, `"gpt"`, `"other"`, 1)},
		"the stream":       {spaced, backstop.Upstream{}, backstop.Step{}, strings.TrimSuffix(spaced, "}") + `,"stream":true}`},
		"asked plainly":    {`{"model":"a","input":"b","stream":true,"stream_options":{"include_obfuscation":false}}`, backstop.Upstream{}, backstop.Step{Plain: true}, `{"model":"a","input":"b","stream":false}`},
		"a parameter":      {spaced, backstop.Upstream{}, backstop.Step{Without: []string{"unknown"}, Plain: true}, strings.Replace(spaced, "\"unknown\":{\"a\" :1}, ", "", 1)},
		"a quirk":          {`{"model":"a","input":"b","x":1,"max_output_tokens":5}`, backstop.Upstream{Quirks: backstop.Quirks{RenameParams: map[string]string{"x": "z"}, SetParams: map[string]any{"max_tokens": 9}}}, backstop.Step{Plain: true}, `{"model":"a","input":"b","z":1,"max_output_tokens":9}`},
		"sampling dropped": {`{"model":"gpt-5","input":"b","temperature":1}`, backstop.Upstream{Vendor: "openai"}, backstop.Step{Plain: true}, `{"model":"gpt-5","input":"b"}`},
		"a too long id":    {`{"model":"a","input":[{"type":"function_call","call_id":"` + long + `","name":"f","arguments":"{}"}]}`, backstop.Upstream{}, backstop.Step{Plain: true}, `{"model":"a","input":[{"type":"function_call","call_id":"` + wire.ToolID(long) + `","name":"f","arguments":"{}"}]}`},
		"a pinned long id": {`{"model":"a","previous_response_id":"r","input":[{"type":"function_call_output","call_id":"` + long + `","output":""}]}`, backstop.Upstream{}, backstop.Step{Plain: true}, `{"model":"a","previous_response_id":"r","input":[{"type":"function_call_output","call_id":"` + long + `","output":""}]}`},
		"reasoning of us":  {`{"model":"a","input":[{"role":"user","content":"a"}, {"id":"rs_backstop_x_0","type":"reasoning","summary":[]} ,{"role":"user","content":"b"}]}`, backstop.Upstream{}, backstop.Step{Plain: true}, `{"model":"a","input":[{"role":"user","content":"a"}, {"role":"user","content":"b"}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			out, cannot := Room{}.Outbound(read(t, c.body), &c.u, &c.s)
			if cannot != nil || string(out.Body) != c.want || out.Path != "/responses" || out.Stream == c.s.Plain {
				t.Errorf("%+v\n got %s %s\nwant %s", cannot, out.Path, out.Body, c.want)
			}
		})
	}
}

func TestWhatAnUpstreamCannotTakeIsNotDropped(t *testing.T) {
	r := read(t, `{"model":"m","input":"a","tools":[{"type":"function","name":"f"}],"text":{"format":{"type":"json_object"}}}`)
	for _, without := range []string{"tools", "text", "text.format", "input", "model"} {
		if _, o := (Room{}).Outbound(r, &backstop.Upstream{}, &backstop.Step{Without: []string{without}}); o == nil || !o.NextTier || o.Param != without {
			t.Errorf("without %s: %+v", without, o)
		}
	}
	if _, o := (Room{}).Outbound(r, &backstop.Upstream{Quirks: backstop.Quirks{NoTools: true}}, &backstop.Step{}); o == nil {
		t.Error("tools were sent")
	}
}

func TestAProbeIsTinyAndStoresNothing(t *testing.T) {
	for _, p := range []backstop.Probe{{Model: "m"}, {Model: "m", Stream: true, JSON: true}} {
		out := Room{}.Probe(&p)
		r, fail := Room{}.Read(wire.Responses, out.Body)
		if fail != nil || r.MaxTokens > 16 || r.Stream != p.Stream || out.Stream != p.Stream || !bytes.Contains(out.Body, []byte(`"store":false`)) {
			t.Errorf("%s %+v", out.Body, fail)
		}
	}
}

func TestErrorsHaveTheDialectsShape(t *testing.T) {
	own := `{"error":{"message":"m","type":"invalid_request_error","param":null,"code":null}}`
	for _, c := range []struct {
		f    backstop.Failure
		want string
	}{
		{backstop.Failure{Code: backstop.CodeUpstreamTimeout, Message: "late"}, `{"error":{"message":"late","type":"timeout_error","param":null,"code":"upstream_timeout"}}`},
		{backstop.Failure{Code: backstop.CodeInvalidRequest, Message: "x", Param: "input"}, `{"error":{"message":"x","type":"invalid_request_error","param":"input","code":"invalid_request"}}`},
		{backstop.Failure{Code: backstop.CodeUpstreamUnavailable}, `{"error":{"message":"the request failed","type":"server_error","param":null,"code":"upstream_unavailable"}}`},
		{backstop.Failure{Code: backstop.CodeUpstreamRejected, From: backstop.Responses, Body: []byte(own)}, own},
		{backstop.Failure{Code: backstop.CodeUpstreamRejected, Message: "m", From: backstop.Anthropic, Body: []byte(own)}, `{"error":{"message":"m","type":"invalid_request_error","param":null,"code":"upstream_rejected"}}`},
	} {
		if got := string(Room{}.Failure(&c.f, "req_1")); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestALocalAnswerIsAResponse(t *testing.T) {
	a := &wire.Answer{ID: "r1", Created: 7, Model: "backstop-template", Text: "busy\n", Note: wire.Note{Tier: "local"}}
	body := Room{}.Compose(nil, a)
	for _, want := range []string{`"id":"r1"`, `"created_at":7`, `"status":"completed"`, `"model":"backstop-template"`, `"text":"busy\n"`, `"input_tokens":0`, `"x_backstop":{"tier":"local"}`} {
		if !bytes.Contains(body, []byte(want)) {
			t.Errorf("no %s in %s", want, body)
		}
	}
	text, finish, ok := Room{}.Content(body)
	if text != "busy\n" || finish != "stop" || !ok {
		t.Errorf("%q %q %v", text, finish, ok)
	}
	w := Room{}.Writer(nil)
	var stream []byte
	for _, data := range (Room{}).Explode(nil, body) {
		stream = append(stream, w.Event(&sse.Event{Data: data}, &wire.Signal{Kind: wire.Token})...)
	}
	stream = append(stream, w.Close(nil)...)
	checkCaller(t, stream, true)
	if !bytes.Contains(stream, []byte(`},"x_backstop":{"tier":"local"}}`+"\n\n")) {
		t.Errorf("%s", stream)
	}
}

func TestTextIsReplacedInPlace(t *testing.T) {
	body := `{"a":1,"status":"incomplete","output":[{"type":"message","phase":"commentary","content":[{"type":"output_text","text":"hm"}]}, {"type":"message","content":[{"type":"output_text","text":"one"} ,{"type":"output_text","text":"two"}]}] }`
	want := `{"a":1,"status":"incomplete","output":[{"type":"message","phase":"commentary","content":[{"type":"output_text","text":"hm"}]}, {"type":"message","content":[{"type":"output_text","text":"new\n"} ,{"type":"output_text","text":""}]}] }`
	if got := string(Room{}.Replace([]byte(body), "new\n")); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if text, finish, ok := (Room{}).Content([]byte(body)); text != "onetwo" || finish != "length" || !ok {
		t.Errorf("%q %q %v", text, finish, ok)
	}
	if got := string(Room{}.Annotate([]byte(body), &wire.Note{Stale: 3})); !json.Valid([]byte(got)) || !strings.HasSuffix(got, `,"x_backstop":{"stale":3}}`) {
		t.Errorf("%s", got)
	}
}

func TestPiecesAreMendedOneByOne(t *testing.T) {
	text := `{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"{\"a\":1"}]}]}`
	list := Room{}.Pieces([]byte(text))
	if len(list) != 1 || list[0].Call != wire.NoCall || list[0].Text != `{"a":1` || list[0].Finish != "stop" {
		t.Fatalf("%+v", list)
	}
	list[0].Text, list[0].Cut = `{"a":1}`, true
	want := `{"status":"incomplete","output":[{"type":"message","content":[{"type":"output_text","text":"{\"a\":1}"}]}],"incomplete_details":{"reason":"max_output_tokens"}}`
	if got := string(Room{}.Mend([]byte(text), list)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	calls := `{"output":[{"type":"message","content":[{"type":"output_text","text":"talk"}]},{"type":"function_call","arguments":"{}"},{"type":"function_call","arguments":"{b"}]}`
	list = Room{}.Pieces([]byte(calls))
	if len(list) != 2 || list[1].Call != 1 || list[1].Text != "{b" || list[1].Finish != "tool_calls" {
		t.Fatalf("%+v", list)
	}
	list[1].Text = `{"b":1}`
	if got := string(Room{}.Mend([]byte(calls), list)); got != strings.Replace(calls, `"{b"`, `"{\"b\":1}"`, 1) {
		t.Errorf("%s", got)
	}
}

func TestACallThatWasCutIsNotCompleted(t *testing.T) {
	body := `{"status":"completed","output":[{"type":"function_call","status":"completed","arguments":"{}"},{"type":"function_call","status":"completed","arguments":"{\"a\":"}]}`
	list := Room{}.Pieces([]byte(body))
	if len(list) != 2 {
		t.Fatalf("%+v", list)
	}
	list[1].Cut = true
	got := Room{}.Mend([]byte(body), list[1:])
	for path, want := range map[string]string{"status": "incomplete", "output.0.status": "completed", "output.1.status": "incomplete", "output.1.arguments": `{"a":`} {
		if is := gjson.GetBytes(got, path).Str; is != want {
			t.Errorf("%s is %q, want %q", path, is, want)
		}
	}
}

func TestMoreIsPutBehindACall(t *testing.T) {
	u := &backstop.Upstream{Dialect: backstop.OpenAI, Vendor: "generic"}
	chat := &backstop.Upstream{Dialect: backstop.OpenAI, Vendor: "generic", Quirks: backstop.Quirks{Prefill: true}}
	for name, c := range map[string]struct {
		body string
		ask  func(r *wire.Request) (*wire.Request, *backstop.Outcome)
		want string
	}{
		"a question behind a text": {simple, func(r *wire.Request) (*wire.Request, *backstop.Outcome) { return Room{}.Ask(r, "again\n") },
			`{"model":"gpt-4o","input":[{"role":"user","content":"hi"},{"role":"user","content":"again\n"}]}`},
		"a question behind items": {`{"model":"m","input":[{"role":"user","content":"a"} ]}`, func(r *wire.Request) (*wire.Request, *backstop.Outcome) { return Room{}.Ask(r, "b") },
			`{"model":"m","input":[{"role":"user","content":"a"} ,{"role":"user","content":"b"}]}`},
		"a question behind nothing": {`{"model":"m","input":[]}`, func(r *wire.Request) (*wire.Request, *backstop.Outcome) { return Room{}.Ask(r, "b") },
			`{"model":"m","input":[{"role":"user","content":"b"}]}`},
		"the rest": {simple, func(r *wire.Request) (*wire.Request, *backstop.Outcome) {
			return Room{}.Continue(r, u, "m", []byte("Once"))
		}, `{"model":"gpt-4o","input":[{"role":"user","content":"hi"},{"role":"assistant","content":"Once"},{"role":"user","content":` + edit.Quoted(follow.GoOn) + `}]}`},
		"the rest of a beginning": {simple, func(r *wire.Request) (*wire.Request, *backstop.Outcome) {
			return Room{}.Continue(r, chat, "m", []byte("Once"))
		}, `{"model":"gpt-4o","input":[{"role":"user","content":"hi"},{"role":"assistant","content":"Once"}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			r, o := c.ask(read(t, c.body))
			if o != nil || string(r.Body) != c.want {
				t.Fatalf("%+v\n got %s\nwant %s", o, r.Body, c.want)
			}
		})
	}
	if _, o := (Room{}).Continue(read(t, `{"model":"m","input":"a","previous_response_id":"r"}`), u, "m", []byte("x")); o == nil {
		t.Error("a pinned call was gone on with")
	}
	if _, o := (Room{}).Ask(read(t, `{"model":"m","prompt":{"id":"p"}}`), "x"); o == nil {
		t.Error("a call without input was added to")
	}
}
