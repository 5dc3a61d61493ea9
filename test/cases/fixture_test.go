package cases

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// fixture is a dialect as the fake upstreams and the callers of the cases use
// it. What it says is written out here, by the pages of the vendors, and not
// made by the program's own rooms: they are what is judged.
type fixture struct {
	name   string
	config string // what the configuration says of an upstream that speaks it
	place  string // the version path of such an upstream's base URL
	keys   string // the header that its upstreams get their key in

	path func(stream bool) string // of a call
	body func(stream bool) string // of a call; it ends with a brace

	head  func(v voice) []string                      // what comes before the first delta
	says  func(v voice, pieces ...string) []string    // a text
	ends  func(v voice, text, reason string) []string // what comes behind it; reason is the dialect's own word
	whole func(v voice, text, reason string) string   // a plain answer
	calls func(v voice, id, arguments string) []string

	stop, length, filter string // its words for how an answer ended
	ping                 string // an event that is no progress
	busy                 string // an overload in a stream
	busyBody             string // and as a body

	heard func(a *answer, r *reading)                      // takes a stream apart
	read  func(body []byte, r *reading)                    // takes a plain answer apart
	fault func(body []byte, status int) (errorForm, error) // takes an error apart
}

// The fixtures by name.
var fixtures = map[string]*fixture{"chat": &chatFixture, "responses": &responsesFixture, "messages": &messagesFixture, "gemini": &geminiFixture}

// everyFixture runs a test for each dialect, caller and upstream.
func everyFixture(t *testing.T, test func(t *testing.T, l *fixture)) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(fixtures)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, fixtures[name])
		})
	}
}

// everyPair runs a test for each dialect of a caller and each of an upstream.
func everyPair(t *testing.T, test func(t *testing.T, caller, up *fixture)) {
	t.Helper()
	for _, from := range slices.Sorted(maps.Keys(fixtures)) {
		for _, to := range slices.Sorted(maps.Keys(fixtures)) {
			if to == "responses" && from != to {
				continue // an upstream is asked in that form only by who speaks it
			}
			t.Run(from+" caller, "+to+" upstream", func(t *testing.T) {
				t.Parallel()
				test(t, fixtures[from], fixtures[to])
			})
		}
	}
}

// dialect is its name in a configuration: the Responses form is OpenAI's too.
func (l *fixture) dialect() string {
	return map[string]string{"chat": "openai", "responses": "openai", "messages": "anthropic", "gemini": "gemini"}[l.name]
}

// good is a whole stream of some pieces.
func (l *fixture) good(v voice, pieces ...string) []string {
	list := append(l.head(v), l.says(v, pieces...)...)
	return append(list, l.ends(v, strings.Join(pieces, ""), l.stop)...)
}

// begun is the begin of a stream.
func (l *fixture) begun(v voice, pieces ...string) []string {
	return append(l.head(v), l.says(v, pieces...)...)
}

// healthy answers well in the form that was asked for.
func (l *fixture) healthy(v voice, pieces ...string) script {
	return func(x *exchange) {
		if x.streams() {
			streamed(l.good(v, pieces...)...)(x)
			return
		}
		x.json(200, l.whole(v, strings.Join(pieces, ""), l.stop))
	}
}

// newFakeOf is an upstream that speaks a dialect.
func newFakeOf(t testing.TB, name string, l *fixture, s script) *fake {
	f := newFake(t, name, s)
	f.fixture = l
	return f
}

// pairOf is a primary with a script, and a backup that always answers well.
func pairOf(t testing.TB, primary, backup *fixture, s script) (p, b *fake) {
	return newFakeOf(t, "primary", primary, s), newFakeOf(t, "backup", backup, backup.healthy(backupVoice, "B1", "B2"))
}

// The first member of every call's body that may carry more.
func asks(stream bool, members string) string {
	if stream {
		members += `,"stream":true`
	}
	return `{"model":"asked",` + members + `}`
}

var chatFixture = fixture{
	name: "chat", place: "/v1", keys: "Authorization",
	path: func(bool) string { return "/v1/chat/completions" },
	body: func(stream bool) string { return asks(stream, `"messages":[{"role":"user","content":"hi"}]`) },
	head: func(v voice) []string { return []string{v.role()} },
	says: func(v voice, pieces ...string) (list []string) {
		for _, p := range pieces {
			list = append(list, v.tok(p))
		}
		return list
	},
	ends: func(v voice, _, reason string) []string { return []string{v.end(reason), v.usage(10, 2), done} },
	calls: func(v voice, id, arguments string) []string {
		return []string{v.role(), v.ch(`{"tool_calls":[{"index":0,"id":`+quote(id)+`,"type":"function","function":{"name":"look","arguments":""}}]}`, "null"),
			v.ch(`{"tool_calls":[{"index":0,"function":{"arguments":`+quote(arguments)+`}}]}`, "null"), v.end("tool_calls"), v.usage(10, 2), done}
	},
	whole: func(v voice, text, reason string) string { return v.whole(text, reason) },
	stop:  "stop", length: "length", filter: "content_filter",
	ping: ": ping", busy: overloadedFrame,
	busyBody: `{"error":{"message":"busy","type":"server_error","code":"server_is_overloaded"}}`,
	heard:    func(a *answer, r *reading) { a.readStream(r) },
	read:     readChat, fault: faultOfChat,
}

// named is an event with a name, which its data repeat as their type.
func named(kind, members string, args ...any) string {
	return "event: " + kind + "\ndata: {\"type\":\"" + kind + "\"" + fmt.Sprintf(members, args...) + "}"
}

var messagesFixture = fixture{
	name: "messages", config: "dialect: anthropic\nvendor: anthropic\n", keys: "X-Api-Key",
	path: func(bool) string { return "/v1/messages" },
	body: func(stream bool) string {
		return asks(stream, `"max_tokens":100,"messages":[{"role":"user","content":"hi"}]`)
	},
	head: messagesHead,
	says: func(_ voice, pieces ...string) []string {
		list := []string{named("content_block_start", `,"index":0,"content_block":{"type":"text","text":""}`)}
		for _, p := range pieces {
			list = append(list, named("content_block_delta", `,"index":0,"delta":{"type":"text_delta","text":%s}`, quote(p)))
		}
		return list
	},
	ends: func(_ voice, _, reason string) []string {
		return []string{named("content_block_stop", `,"index":0`),
			named("message_delta", `,"delta":{"stop_reason":%q,"stop_sequence":null},"usage":{"output_tokens":2}`, reason), named("message_stop", "")}
	},
	calls: func(v voice, id, arguments string) []string {
		return []string{messagesHead(v)[0],
			named("content_block_start", `,"index":0,"content_block":{"type":"tool_use","id":%s,"name":"look","input":{}}`, quote(id)),
			named("content_block_delta", `,"index":0,"delta":{"type":"input_json_delta","partial_json":%s}`, quote(arguments)),
			named("content_block_stop", `,"index":0`), named("message_delta", `,"delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":2}`), named("message_stop", "")}
	},
	whole: func(v voice, text, reason string) string {
		return fmt.Sprintf(`{"id":%q,"type":"message","role":"assistant","model":%q,"content":[{"type":"text","text":%s}],"stop_reason":%q,"stop_sequence":null,"usage":{"input_tokens":10,"output_tokens":5}}`,
			v.id, v.model, quote(text), reason)
	},
	stop: "end_turn", length: "max_tokens", filter: "refusal",
	ping: named("ping", ""), busy: named("error", `,"error":{"type":"overloaded_error","message":"m"}`),
	busyBody: `{"type":"error","error":{"type":"overloaded_error","message":"m"}}`,
	heard:    heardMessages, read: readMessages, fault: faultOfMessages,
}

func messagesHead(v voice) []string {
	return []string{named("message_start", `,"message":{"id":%q,"type":"message","role":"assistant","model":%q,"content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":10,"output_tokens":1}}`, v.id, v.model)}
}

var geminiFixture = fixture{
	name: "gemini", config: "dialect: gemini\nvendor: gemini\n", keys: "X-Goog-Api-Key",
	path: func(stream bool) string {
		if stream {
			return "/v1beta/models/asked:streamGenerateContent?alt=sse"
		}
		return "/v1beta/models/asked:generateContent"
	},
	body: func(bool) string { return `{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}` },
	head: func(v voice) []string {
		return []string{fmt.Sprintf(`data: {"usageMetadata":{"promptTokenCount":10,"totalTokenCount":10},"modelVersion":%q,"responseId":%q}`, v.model, v.id)}
	},
	says: func(v voice, pieces ...string) (list []string) {
		for _, p := range pieces {
			list = append(list, geminiChunk(v, `{"text":`+quote(p)+`}`, "", 2))
		}
		return list
	},
	ends: func(v voice, _, reason string) []string { return []string{geminiChunk(v, "", reason, 2)} },
	calls: func(v voice, id, arguments string) []string {
		return []string{geminiChunk(v, `{"functionCall":{"id":`+quote(id)+`,"name":"look","args":`+arguments+`}}`, "STOP", 2)}
	},
	whole: func(v voice, text, reason string) string {
		return strings.TrimPrefix(geminiChunk(v, `{"text":`+quote(text)+`}`, reason, 5), "data: ")
	},
	stop: "STOP", length: "MAX_TOKENS", filter: "SAFETY",
	ping: ": ping", busy: `data: {"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}`,
	busyBody: `{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}`,
	heard:    heardGemini, read: readGemini, fault: faultOfGemini,
}

func geminiChunk(v voice, part, reason string, output int) string {
	end := ""
	if reason != "" {
		end = fmt.Sprintf(`,"finishReason":%q`, reason)
	}
	return fmt.Sprintf(`data: {"candidates":[{"content":{"role":"model","parts":[%s]}%s,"index":0}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":%d,"totalTokenCount":%d},"modelVersion":%q,"responseId":%q}`,
		part, end, output, 10+output, v.model, v.id)
}

// withTool is a call's body that offers a tool.
func (l *fixture) withTool(stream bool) string {
	const parameters = `{"type":"object","properties":{"at":{"type":"string"}}}`
	tools := map[string]string{
		"chat":      `"tools":[{"type":"function","function":{"name":"look","parameters":` + parameters + `}}]`,
		"responses": `"tools":[{"type":"function","name":"look","parameters":` + parameters + `,"strict":false}]`,
		"messages":  `"tools":[{"name":"look","input_schema":` + parameters + `}]`,
		"gemini":    `"tools":[{"functionDeclarations":[{"name":"look","parameters":` + parameters + `}]}]`,
	}
	return l.with(stream, tools[l.name])
}

// withJSON is a call's body that demands an object with an integer a.
func (l *fixture) withJSON(stream bool, schema string) string {
	promise := map[string]string{
		"chat":      `"response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":` + schema + `}}`,
		"responses": `"text":{"format":{"type":"json_schema","name":"answer","schema":` + schema + `}}`,
		"messages":  `"output_config":{"format":{"type":"json_schema","schema":` + schema + `}}`,
		"gemini":    `"generationConfig":{"responseMimeType":"application/json","responseJsonSchema":` + schema + `}`,
	}
	return l.with(stream, promise[l.name])
}

// withTemperature is a call's body with a parameter that can be left out.
func (l *fixture) withTemperature(stream bool) string {
	if l == &geminiFixture {
		return l.with(stream, `"generationConfig":{"temperature":0.5}`)
	}
	return l.with(stream, `"temperature":0.5`)
}

// with is a call's body with more members.
func (l *fixture) with(stream bool, members string) string {
	return strings.TrimSuffix(l.body(stream), "}") + "," + members + "}"
}

// sameJSON compares two JSON texts by what they say.
func sameJSON(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}
