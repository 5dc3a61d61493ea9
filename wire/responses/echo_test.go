package responses

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"backstop/sse"
	"backstop/wire"
)

func TestAnAnswerRepeatsWhatWasAskedFor(t *testing.T) {
	for name, c := range map[string]struct{ asked, member, want string }{
		"a promise of JSON":        {`{"text":{"format":{"type":"json_schema","name":"n","schema":{"type":"object"}}}}`, "text", `{"format":{"type":"json_schema","name":"n","schema":{"type":"object"}}}`},
		"text without a format":    {`{"text":{"verbosity":"low"}}`, "text", `{"verbosity":"low","format":{"type":"text"}}`},
		"an empty text":            {`{"text":{}}`, "text", `{"format":{"type":"text"}}`},
		"a text that is none":      {`{"text":[]}`, "text", plainText},
		"tools over several lines": {"{\"tools\":[\n {\"type\":\"function\",\r\n\"name\":\"f\"}]}", "tools", `[{"type":"function","name":"f"}]`},
		"sampling":                 {`{"temperature":0.5}`, "temperature", "0.5"},
		"a null":                   {`{"metadata":null}`, "metadata", "{}"},
		"nothing":                  {`{}`, "tool_choice", `"auto"`},
		"an unknown request":       {``, "parallel_tool_calls", "true"},
		"nothing is stored":        {`{"store":true}`, "store", "false"},
	} {
		t.Run(name, func(t *testing.T) {
			m := &wire.Message{ID: "resp_1", Model: "m", Asked: []byte(c.asked), Choices: []wire.Choice{{Ending: wire.EndStop, Parts: []wire.Part{{Kind: wire.PartText, Text: "hi"}}}}}
			body, _ := Room{}.EncodeBody(m)
			if got := gjson.GetBytes(body, c.member).Raw; !wire.ValidJSON(body) || got != c.want {
				t.Errorf("%s is %s, want %s\n%s", c.member, got, c.want, body)
			}
		})
	}
}

func TestAStreamRepeatsWhatWasAskedForInEachResponse(t *testing.T) {
	head := wire.Head{ID: "resp_1", Model: "m", Asked: []byte("{\"metadata\":{\n\"a\":\"b\"}}")}
	b := wire.NewBridge(Room{}, Room{}, head)
	var seen []string
	for _, data := range (Room{}).Explode(nil, []byte(`{"id":"resp_2","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"hi"}]}]}`)) {
		for _, f := range b.Event(&sse.Event{Data: data}, nil) {
			if v := gjson.GetBytes(f.Data, "response.metadata"); v.Exists() {
				seen = append(seen, f.Name+" "+v.Raw)
			}
		}
	}
	want := []string{created + ` {"a":"b"}`, inProgress + ` {"a":"b"}`, completed + ` {"a":"b"}`}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Error(diff)
	}
}

func TestALocalAnswerRepeatsWhatWasAskedFor(t *testing.T) {
	r := read(t, `{"model":"m","input":"a","text":{"format":{"type":"json_object"}}}`)
	if got := gjson.GetBytes(Room{}.Compose(r, &wire.Answer{ID: "resp_1", Text: "{}"}), "text.format.type").Str; got != "json_object" {
		t.Errorf("the format is %q", got)
	}
}
