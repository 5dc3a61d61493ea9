package wire_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"backstop"
	"backstop/internal/testkit"
	"backstop/sse"
	"backstop/wire"
	"backstop/wire/anthropic"
	"backstop/wire/gemini"
	"backstop/wire/openai"
	"backstop/wire/responses"
)

var rooms = map[string]wire.HubRoom{"openai": openai.Room{}, "anthropic": anthropic.Room{}, "responses": responses.Room{}, "gemini": gemini.Room{}}

// opOf is what a request of a dialect asks for.
func opOf(dialect string) wire.Op {
	if dialect == "responses" {
		return wire.Responses
	}
	return wire.Chat
}

var head = wire.Head{ID: "req_1", Created: 1700000000, Model: "m"}

// upstreams are what a request is made for.
var upstreams = map[string]*backstop.Upstream{
	"openai":    {Name: "o", Dialect: backstop.OpenAI, Vendor: "openai", Unary: backstop.UnaryPlain},
	"anthropic": {Name: "a", Dialect: backstop.Anthropic, Vendor: "anthropic", Unary: backstop.UnaryPlain},
	"responses": {Name: "r", Dialect: backstop.OpenAI, Vendor: "openai", Unary: backstop.UnaryPlain},
	"gemini":    {Name: "g", Dialect: backstop.Gemini, Vendor: "gemini", Unary: backstop.UnaryPlain},
}

var models = map[string]string{"openai": "gpt-4o", "anthropic": "claude-sonnet-4-5", "responses": "gpt-4o", "gemini": "gemini-3-flash"}

// hub asks for the request that a caller's request becomes at another dialect.
func hub(t testing.TB, from, to string, body []byte, s *backstop.Step) (wire.Outbound, wire.Losses) {
	t.Helper()
	r, fail := rooms[from].Read(opOf(from), body)
	if fail != nil {
		t.Fatal(fail)
	}
	p, fail := rooms[from].ToHub(r)
	if fail != nil {
		t.Fatal(fail)
	}
	if s == nil {
		s = &backstop.Step{Model: models[to], Plain: !r.Stream} // as the engine orders it
	}
	return rooms[to].FromHub(p, upstreams[to], s)
}

// fixtures runs a test for each file testdata/hub/KIND/FROM-NAME.EXT.
func fixtures(t *testing.T, kind string, run func(t *testing.T, from, to, name string, b []byte)) {
	files, err := filepath.Glob("testdata/hub/" + kind + "/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures of %s: %v", kind, err)
	}
	for _, file := range files {
		base := filepath.Base(file)
		if strings.Contains(base, ".to-") {
			continue
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		from, _, _ := strings.Cut(base, "-")
		for to := range rooms {
			if to != from {
				name := "hub/" + kind + "/" + strings.TrimSuffix(base, filepath.Ext(base)) + ".to-" + to + filepath.Ext(base)
				t.Run(base+" to "+to, func(t *testing.T) { run(t, from, to, name, b) })
			}
		}
	}
}

func indented(t testing.TB, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := json.Indent(&out, b, "", " "); err != nil {
		t.Fatalf("%v in %s", err, b)
	}
	return append(out.Bytes(), '\n')
}

func TestRequestsBecomeThoseOfTheOtherDialect(t *testing.T) {
	fixtures(t, "requests", func(t *testing.T, from, to, name string, b []byte) {
		out, losses := hub(t, from, to, b, nil)
		if len(losses.Cannot) > 0 {
			testkit.Golden(t, name, []byte("cannot: "+strings.Join(losses.Cannot, " ")+"\n"))
			return
		}
		if _, fail := rooms[to].Read(opOf(to), out.Body); fail != nil {
			t.Fatal(fail)
		}
		got := indented(t, out.Body)
		got = append(got, ("left: " + strings.Join(losses.Left, " ") + "\npath: " + out.Path + "\n")...)
		testkit.Golden(t, name, got)
	})
}

func TestBodiesBecomeThoseOfTheOtherDialect(t *testing.T) {
	fixtures(t, "bodies", func(t *testing.T, from, to, name string, b []byte) {
		out, _, ok := wire.Translate(rooms[from], rooms[to], b, head)
		if !ok {
			t.Fatal("not possible")
		}
		reply := &wire.Reply{Status: 200, Dialect: rooms[to].Dialect(), Caller: rooms[to].Dialect(), Surface: wire.SurfaceBody, Body: out}
		if o := rooms[to].JudgeBody(nil, reply); o.Class != backstop.OK && o.Class != backstop.Refused {
			t.Fatalf("%s: %s", o.Reason(), out)
		}
		testkit.Golden(t, name, indented(t, out))
	})
}

// streamed runs a stream through the upstream's reader and the bridge into
// the caller's writer.
func streamed(t testing.TB, from, to, stream string) (string, backstop.Outcome) {
	t.Helper()
	r := &wire.Request{Op: wire.Chat, Stream: true, UsageOn: true, Dialect: rooms[to].Dialect()}
	reply := &wire.Reply{Status: 200, Dialect: rooms[from].Dialect(), Caller: rooms[to].Dialect(), Surface: wire.SurfaceFirst}
	read := rooms[from].Reader(r, reply)
	w := wire.NewBridge(rooms[from], rooms[to], head).Writer(rooms[to].Writer(r))
	var out strings.Builder
	events := sse.NewReader(strings.NewReader(stream), 0)
	for {
		ev, err := events.Next()
		if ev != nil {
			sig := read.Event(ev)
			out.Write(w.Event(ev, &sig))
		}
		if err != nil {
			break
		}
	}
	o := read.End(true)
	if o.Class == backstop.OK {
		out.Write(w.Close(nil))
	} else {
		out.Write(w.Failure(&backstop.Failure{Code: backstop.CodeStreamIncomplete, Message: "cut"}, "req_1"))
	}
	return out.String(), o
}

func TestStreamsBecomeThoseOfTheOtherDialect(t *testing.T) {
	fixtures(t, "streams", func(t *testing.T, from, to, name string, b []byte) {
		out, o := streamed(t, from, to, string(b))
		if o.Class != backstop.OK {
			t.Fatalf("%+v", o)
		}
		testkit.Golden(t, name, []byte(out))
		sum := rooms[to].Aggregator(&wire.Request{Op: wire.Chat, UsageOn: true})
		whole := rooms[from].Aggregator(&wire.Request{Op: wire.Chat, UsageOn: true})
		feed(t, sum, out)
		feed(t, whole, string(b))
		direct, _, ok := wire.Translate(rooms[from], rooms[to], whole.Body(), head)
		if !ok {
			t.Fatal("the body of the stream cannot be translated")
		}
		if got, want := said(t, to, sum.Body()), said(t, to, direct); got != want {
			t.Errorf("the stream says\n%s\nthe body says\n%s", got, want)
		}
	})
}

func feed(t testing.TB, sum wire.Aggregator, stream string) {
	t.Helper()
	events := sse.NewReader(strings.NewReader(stream), 0)
	for {
		ev, err := events.Next()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		sum.Add(ev.Data)
	}
}

// said is what a body says in the words of the hub.
func said(t testing.TB, dialect string, body []byte) string {
	t.Helper()
	m, ok := rooms[dialect].DecodeBody(body)
	if !ok {
		t.Fatalf("no answer: %s", body)
	}
	b, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestACutStreamEndsInTheCallersError(t *testing.T) {
	out, o := streamed(t, "openai", "anthropic", "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n")
	if o.Kind != backstop.KindCut || !strings.HasSuffix(out, "\"code\":\"stream_incomplete\"},\"request_id\":\"req_1\"}\n\n") || strings.Contains(out, "message_stop") {
		t.Errorf("%+v %s", o, out)
	}
	out, o = streamed(t, "anthropic", "openai", "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"c\"}}\n\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}}\n\n")
	if o.Kind != backstop.KindCut || strings.Contains(out, "[DONE]") || !strings.Contains(out, `data: {"error":`) {
		t.Errorf("%+v %s", o, out)
	}
}

// What a hostile upstream puts into a text stays a text.
func TestNothingInATextBecomesAnEvent(t *testing.T) {
	evil := "a\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\ndata: [DONE]\r\n\r\n\u2028event: error"
	quoted, _ := json.Marshal(evil)
	for from, stream := range map[string]string{
		"openai": "data: {\"id\":" + string(quoted) + ",\"model\":" + string(quoted) + ",\"choices\":[{\"index\":0,\"delta\":{\"content\":" + string(quoted) +
			",\"reasoning_content\":" + string(quoted) + "}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":" + string(quoted) +
			",\"function\":{\"name\":" + string(quoted) + ",\"arguments\":" + string(quoted) + "}}]},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n",
		"anthropic": "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":" + string(quoted) + ",\"model\":" + string(quoted) + "}}\n\n" +
			"data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":" + string(quoted) + ",\"name\":" + string(quoted) + ",\"input\":{}}}\n\n" +
			"data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":" + string(quoted) + "}}\n\n" +
			"data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\",\"stop_sequence\":" + string(quoted) + "}}\n\ndata: {\"type\":\"message_stop\"}\n\n",
	} {
		to := map[string]string{"openai": "anthropic", "anthropic": "openai"}[from]
		out, o := streamed(t, from, to, stream)
		if o.Class != backstop.OK {
			t.Fatalf("%s: %+v", from, o)
		}
		ends := 0
		events := sse.NewReader(strings.NewReader(out), 0)
		for {
			ev, err := events.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case string(ev.Data) == "[DONE]", ev.Name == "message_stop":
				ends++
			case ev.Name == "error" || !json.Valid(ev.Data):
				t.Errorf("%s: %q", from, ev.Raw)
			}
		}
		if ends != 1 || !strings.HasSuffix(out, "\n\n") {
			t.Errorf("%s: %d ends in %q", from, ends, out)
		}
	}
}
