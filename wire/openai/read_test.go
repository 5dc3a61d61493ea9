package openai

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"backstop"
	"backstop/wire"
)

const hello = `"messages":[{"role":"user","content":"hi"}]`

func TestBodiesThatAreRefused(t *testing.T) {
	for _, c := range []struct{ name, body, param string }{
		{"empty", "", ""},
		{"blank", " \n", ""},
		{"an array", `[{"model":"m"}]`, ""},
		{"not JSON", `{"model":`, ""},
		{"a trailing comma", `{"model":"m",` + hello + `,}`, ""},
		{"two documents", `{"model":"m",` + hello + `}{}`, ""},
		{"junk behind", `{"model":"m",` + hello + `} x`, ""},
		{"a byte order mark", "\ufeff" + `{"model":"m",` + hello + `}`, ""},
		{"broken UTF-8", "{\"model\":\"m\xff\"," + hello + "}", ""},
		{"a control byte in a string", "{\"model\":\"m\n\"," + hello + "}", ""},
		{"nested too deep", `{"model":"m",` + hello + `,"x":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `}`, ""},
		{"model twice", `{"model":"m","model":"n",` + hello + `}`, "model"},
		{"model twice, one escaped", `{"model":"m","mod\u0065l":"n",` + hello + `}`, "model"},
		{"model in another case as well", `{"model":"m","MODEL":"n",` + hello + `}`, "model"},
		{"model in another case only", `{"Model":"m",` + hello + `}`, "model"},
		{"stream in another case", `{"model":"m","Stream":true,` + hello + `}`, "stream"},
		{"stream with a long s", `{"model":"m","ſtream":true,` + hello + `}`, "stream"},
		{"stream twice", `{"model":"m","stream":true,"stream":false,` + hello + `}`, "stream"},
		{"max_tokens twice", `{"model":"m","max_tokens":1,"max_tokens":2,` + hello + `}`, "max_tokens"},
		{"max_tokens in another case", `{"model":"m","Max_Tokens":1,` + hello + `}`, "max_tokens"},
		{"messages twice", `{"model":"m",` + hello + `,` + hello + `}`, "messages"},
		{"tools twice", `{"model":"m",` + hello + `,"tools":[],"tools":[]}`, "tools"},
		{"no model", `{` + hello + `}`, "model"},
		{"an empty model", `{"model":"",` + hello + `}`, "model"},
		{"a model that is a number", `{"model":1,` + hello + `}`, "model"},
		{"a model that is null", `{"model":null,` + hello + `}`, "model"},
		{"no messages", `{"model":"m"}`, "messages"},
		{"messages that are a string", `{"model":"m","messages":"hi"}`, "messages"},
		{"messages that are null", `{"model":"m","messages":null}`, "messages"},
		{"no message in messages", `{"model":"m","messages":[]}`, "messages"},
		{"a message that is a string", `{"model":"m","messages":["hi"]}`, "messages"},
		{"stream as a string", `{"model":"m","stream":"true",` + hello + `}`, "stream"},
		{"stream as a number", `{"model":"m","stream":1,` + hello + `}`, "stream"},
		{"n of zero", `{"model":"m","n":0,` + hello + `}`, "n"},
		{"a negative n", `{"model":"m","n":-1,` + hello + `}`, "n"},
		{"a huge n", `{"model":"m","n":1e9,` + hello + `}`, "n"},
		{"half an n", `{"model":"m","n":1.5,` + hello + `}`, "n"},
		{"max_tokens as a string", `{"model":"m","max_tokens":"9",` + hello + `}`, "max_tokens"},
		{"tools as an object", `{"model":"m","tools":{},` + hello + `}`, "tools"},
		{"tool_choice as an array", `{"model":"m","tool_choice":[],` + hello + `}`, "tool_choice"},
		{"stream_options as a boolean", `{"model":"m","stream_options":true,` + hello + `}`, "stream_options"},
		{"include_usage as a number", `{"model":"m","stream_options":{"include_usage":1},` + hello + `}`, "stream_options.include_usage"},
		{"response_format as a string", `{"model":"m","response_format":"json_object",` + hello + `}`, "response_format"},
		{"response_format without type", `{"model":"m","response_format":{},` + hello + `}`, "response_format.type"},
		{"json_schema without its object", `{"model":"m","response_format":{"type":"json_schema"},` + hello + `}`, "response_format.json_schema"},
		{"a schema that is a string", `{"model":"m","response_format":{"type":"json_schema","json_schema":{"schema":"x"}},` + hello + `}`, "response_format.json_schema.schema"},
		{"logprobs as a number in a chat", `{"model":"m","logprobs":3,` + hello + `}`, "logprobs"},
		{"modalities as a string", `{"model":"m","modalities":"audio",` + hello + `}`, "modalities"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, fail := Room{}.Read(wire.Chat, []byte(c.body))
			if fail == nil {
				t.Fatalf("accepted: %+v", r)
			}
			if fail.Code != backstop.CodeInvalidRequest || fail.Status != 400 || fail.Param != c.param || fail.Message == "" {
				t.Errorf("got %d %s param %q: %s", fail.Status, fail.Code, fail.Param, fail.Message)
			}
		})
	}
	for op, param := range map[wire.Op]string{wire.Completion: "prompt", wire.Embedding: "input"} {
		for _, body := range []string{`{"model":"m"}`, `{"model":"m","` + param + `":null}`, `{"model":"m","` + param + `":{}}`} {
			if _, fail := (Room{}).Read(op, []byte(body)); fail == nil || fail.Param != param {
				t.Errorf("%s %s: %+v", op, body, fail)
			}
		}
	}
}

func TestWhatIsReadFromABody(t *testing.T) {
	schema := `{"type":"object","properties":{"a":{"type":"string"}}}`
	for _, c := range []struct {
		name, body string
		op         wire.Op
		want       wire.Request
	}{
		{"the least", `{"model":"m",` + hello + `}`, wire.Chat, wire.Request{Choices: 1}},
		{"unknown fields", `{"x":{"model":"n","stream":true},"model":"m",` + hello + `,"Zeta":1,"Zeta":2}`, wire.Chat, wire.Request{Choices: 1}},
		{"null means not given", `{"model":"m",` + hello + `,"stream":null,"n":null,"tools":null,"response_format":null,"stream_options":null,"logprobs":null,"max_tokens":null}`, wire.Chat, wire.Request{Choices: 1}},
		{"stream with usage", `{"model":"m",` + hello + `,"stream":true,"stream_options":{"include_usage":true}}`, wire.Chat, wire.Request{Choices: 1, Stream: true, UsageOn: true}},
		{"usage without stream", `{"model":"m",` + hello + `,"stream_options":{"include_usage":true}}`, wire.Chat, wire.Request{Choices: 1}},
		{"numbers in other spellings", `{"model":"m",` + hello + `,"n":2.0,"max_tokens":1e2}`, wire.Chat, wire.Request{Choices: 2, MaxTokens: 100}},
		{"max_completion_tokens wins", `{"model":"m",` + hello + `,"max_tokens":5,"max_completion_tokens":7}`, wire.Chat, wire.Request{Choices: 1, MaxTokens: 7}},
		{"max_tokens of -1 is no limit", `{"model":"m",` + hello + `,"max_tokens":-1}`, wire.Chat, wire.Request{Choices: 1}},
		{"tools", `{"model":"m",` + hello + `,"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":"auto"}`, wire.Chat, wire.Request{Choices: 1, Tools: true}},
		{"no tool in tools", `{"model":"m",` + hello + `,"tools":[]}`, wire.Chat, wire.Request{Choices: 1}},
		{"functions of old", `{"model":"m",` + hello + `,"functions":[{"name":"f"}]}`, wire.Chat, wire.Request{Choices: 1, Tools: true}},
		{"logprobs", `{"model":"m",` + hello + `,"logprobs":true}`, wire.Chat, wire.Request{Choices: 1, Logprobs: true}},
		{"audio", `{"model":"m",` + hello + `,"modalities":["text","audio"],"audio":{"voice":"x"}}`, wire.Chat, wire.Request{Choices: 1, Audio: true}},
		{"stored", `{"model":"m",` + hello + `,"store":true}`, wire.Chat, wire.Request{Choices: 1, Stored: true}},
		{"text format", `{"model":"m",` + hello + `,"response_format":{"type":"text"}}`, wire.Chat, wire.Request{Choices: 1}},
		{"a promised object", `{"model":"m",` + hello + `,"response_format":{"type":"json_object"}}`, wire.Chat, wire.Request{Choices: 1, Promise: wire.Promise{Kind: wire.PromiseObject}}},
		{"a promised schema", `{"model":"m",` + hello + `,"response_format":{"type":"json_schema","json_schema":{"name":"x","schema":` + schema + `}}}`, wire.Chat, wire.Request{Choices: 1, Promise: wire.Promise{Kind: wire.PromiseSchema, Schema: []byte(schema)}}},
		{"a schema format without schema", `{"model":"m",` + hello + `,"response_format":{"type":"json_schema","json_schema":{"name":"x"}}}`, wire.Chat, wire.Request{Choices: 1, Promise: wire.Promise{Kind: wire.PromiseObject}}},
		{"a legacy completion", `{"model":"m","prompt":"hi","logprobs":2,"max_tokens":0}`, wire.Completion, wire.Request{Choices: 1, Logprobs: true}},
		{"embeddings of token ids", `{"model":"m","input":[[1,2],[3]]}`, wire.Embedding, wire.Request{Choices: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, fail := Room{}.Read(c.op, []byte(c.body))
			if fail != nil {
				t.Fatal(fail)
			}
			want := c.want
			want.Dialect, want.Op, want.Model, want.Body, want.InputSize = backstop.OpenAI, c.op, "m", []byte(c.body), r.InputSize
			if !reflect.DeepEqual(*r, want) {
				t.Errorf("got  %+v\nwant %+v", *r, want)
			}
			if r.InputSize == 0 && !strings.Contains(c.body, `"hi"`) {
				t.Error("no input size")
			}
		})
	}
}

func TestInputSizeFollowsTheScript(t *testing.T) {
	size := func(content string) int {
		r, fail := Room{}.Read(wire.Chat, []byte(`{"model":"m","messages":[{"role":"user","content":`+content+`}]}`))
		if fail != nil {
			t.Fatal(fail)
		}
		return r.InputSize
	}
	long := strings.Repeat("a", 4000)
	for _, c := range []struct {
		name, content string
		low, high     int
	}{
		{"ASCII is four bytes a token", `"` + long + `"`, 1000, 1000},
		{"CJK is a character a token", `"` + strings.Repeat("模", 1000) + `"`, 1000, 1000},
		{"escaped CJK counts the same", `"` + strings.Repeat(`\u6a21`, 1000) + `"`, 1000, 1000},
		{"Cyrillic is two characters a token", `"` + strings.Repeat("ж", 1000) + `"`, 500, 500},
		{"parts count their text", `[{"type":"text","text":"` + long + `"}]`, 1000, 1000},
		{"an image is not its base64", `[{"type":"image_url","image_url":{"url":"data:image/png;base64,` + strings.Repeat("A", 1<<20) + `"}}]`, 500, 500},
		{"deep nesting still counts", strings.Repeat("[", 200) + `"` + long + `"` + strings.Repeat("]", 200), 1000, 1200},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := size(c.content); got < c.low || got > c.high {
				t.Errorf("got %d, want %d to %d", got, c.low, c.high)
			}
		})
	}
}

// What we read is what another parser reads, or the body is refused.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		`{"model":"m",` + hello + `,"stream":true}`, `{"model":"m","Model":"n"}`, `{"mod\u0065l":"m",` + hello + `}`,
		`{"model":"\ud83d\ude00",` + hello + `,"n":1E0,"x":[[{}],-0.5e+3,"\\\""]}`, "{\"model\":\"m\"}\x00", `{"ſtream":true}`,
		`{"model":"m","prompt":["a"],"input":"b",` + hello + `,"stream_options":{"include_usage":true}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		h, fail := scanHead(body)
		if fail != nil {
			if json.Valid(body) && utf8.Valid(body) && fail.Param == "" && bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{")) && depthOf(body) < maxDepth {
				t.Fatalf("refused a good body: %s", fail.Message)
			}
		} else if !json.Valid(body) || !utf8.Valid(body) {
			t.Fatal("accepted what is no JSON")
		}
		for _, op := range []wire.Op{wire.Chat, wire.Completion, wire.Embedding} {
			r, fail := Room{}.Read(op, body)
			if fail != nil {
				continue
			}
			var loose struct {
				Model     string
				Stream    *bool
				MaxTokens *json.Number `json:"max_tokens"`
			}
			if err := json.Unmarshal(body, &loose); err != nil {
				t.Fatalf("encoding/json: %v", err)
			}
			if loose.Model != r.Model || (loose.Stream != nil && *loose.Stream) != r.Stream {
				t.Fatalf("read %q %v, encoding/json %q %v", r.Model, r.Stream, loose.Model, loose.Stream)
			}
			if !h[fModel].there() || !bytes.Equal(r.Body, body) {
				t.Fatal("the body changed")
			}
		}
	})
}

func depthOf(b []byte) int {
	return bytes.Count(b, []byte("[")) + bytes.Count(b, []byte("{"))
}
