package anthropic

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"backstop"
	"backstop/internal/testkit"
	"backstop/sse"
	"backstop/wire"
	"backstop/wire/internal/roomtest"
)

// framed writes events, each named after the type in its data.
func framed(list ...string) string {
	var b strings.Builder
	for _, data := range list {
		var e struct{ Type string }
		_ = json.Unmarshal([]byte(data), &e)
		b.WriteString("event: " + e.Type + "\ndata: " + data + "\n\n")
	}
	return b.String()
}

const (
	start    = `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-x","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":10,"cache_read_input_tokens":5,"output_tokens":1}}}`
	textOn   = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
	hello    = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}`
	world    = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" world\nevent: error"}}`
	off      = `{"type":"content_block_stop","index":0}`
	ping     = `{"type":"ping"}`
	endTurn  = `{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":7}}`
	stopped  = `{"type":"message_stop"}`
	overload = `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`
)

func play(t testing.TB, stream string, streaming, clean bool) roomtest.Played {
	t.Helper()
	r := &wire.Request{Op: wire.Chat, Stream: streaming, UsageOn: true, Dialect: backstop.Anthropic}
	a := &wire.Reply{Status: 200, Dialect: backstop.Anthropic, Caller: backstop.Anthropic, Surface: wire.SurfaceFirst}
	return roomtest.Play(Room{}, r, a, stream, clean)
}

// checkCaller: whole events with names, none that an SDK fails on, and at most
// one message_stop, last.
func checkCaller(t testing.TB, out []byte, whole bool) {
	t.Helper()
	events, ended, sdk := sse.NewReader(bytes.NewReader(out), 0), false, strictSDK{}
	for {
		ev, err := events.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%v after %q", err, out)
		}
		if ev.Comment {
			t.Fatalf("comment %q", ev.Raw)
		}
		if ended || ev.Name == "" || typeOf(ev.Data) != ev.Name {
			t.Fatalf("event %q, ended %v", ev.Raw, ended)
		}
		if wrong := sdk.take(ev.Data); wrong != "" {
			t.Fatalf("%s: %q in %q", wrong, ev.Raw, out)
		}
		ended = ev.Name == "message_stop" || ev.Name == "error"
	}
	if whole && !ended {
		t.Fatalf("no end: %q", out)
	}
}

// typeOf is the type of an event by that very name (a struct's members match in
// any case, those of most SDKs do not), "" for what is none.
func typeOf(data []byte) (kind string) {
	var e map[string]json.RawMessage
	if json.Unmarshal(data, &e) != nil || json.Unmarshal(e["type"], &kind) != nil {
		return ""
	}
	return kind
}

func TestAStreamPassesByteForByte(t *testing.T) {
	stream := framed(start, ping, textOn, hello, world, off, endTurn, stopped)
	p := play(t, stream, true, true)
	if string(p.Caller) != stream {
		t.Errorf("got  %q\nwant %q", p.Caller, stream)
	}
	want := []wire.SignalKind{wire.Quiet, wire.Quiet, wire.Quiet, wire.Token, wire.Token, wire.Quiet, wire.Token, wire.Terminal}
	for i, k := range want {
		if p.Signals[i] != k {
			t.Errorf("event %d is %d, not %d", i, p.Signals[i], k)
		}
	}
	o := p.Outcome
	if o.Class != backstop.OK || o.InputTokens != 15 || o.OutputTokens != 7 || p.Bytes != len("Hello world\nevent: error") {
		t.Errorf("%+v, %d bytes", o, p.Bytes)
	}
}

func TestAStreamIsJudged(t *testing.T) {
	thought := `{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}`
	tool := `{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t1","name":"f","input":{}}}`
	reason := func(s string) string { return strings.Replace(endTurn, "end_turn", s, 1) }
	for name, c := range map[string]struct {
		stream    string
		streaming bool
		clean     bool
		want      string
	}{
		"whole":                              {framed(start, textOn, hello, off, endTurn, stopped), true, true, "ok"},
		"without message_stop":               {framed(start, textOn, hello, off, endTurn), true, true, "ok"},
		"reset after the stop reason":        {framed(start, textOn, hello, off, endTurn), true, false, "ok"},
		"cut":                                {framed(start, textOn, hello), true, true, "garbled/cut"},
		"pings only":                         {framed(start, ping, ping), true, true, "garbled/cut"},
		"nothing":                            {"", true, true, "garbled/empty"},
		"reset before anything":              {"", true, false, "broken/reset"},
		"no dialect":                         {"data: {\"x\":1}\n\n", true, true, "garbled/protocol"},
		"blank":                              {framed(start, textOn, off, endTurn, stopped), true, true, "garbled/blank"},
		"thinking alone, for a body":         {framed(start, thought, endTurn, stopped), false, true, "garbled/blank"},
		"thinking alone, streamed":           {framed(start, thought, endTurn, stopped), true, true, "ok"},
		"a tool call":                        {framed(start, tool, reason("tool_use"), stopped), true, true, "ok"},
		"refused":                            {framed(start, reason("refusal"), stopped), true, true, "ok"},
		"nothing but length":                 {framed(start, reason("max_tokens"), stopped), true, true, "ok"},
		"paused":                             {framed(start, textOn, hello, reason("pause_turn"), stopped), true, true, "ok"},
		"an unknown reason":                  {framed(start, textOn, hello, reason("network_error"), stopped), true, true, "broken/server"},
		"overloaded first":                   {framed(start, ping, overload), true, true, "broken/overload"},
		"overloaded later":                   {framed(start, textOn, hello, overload), true, true, "broken/overload"},
		"overloaded without the events name": {"data: " + overload + "\n\n", true, true, "broken/overload"},
	} {
		t.Run(name, func(t *testing.T) {
			p := play(t, c.stream, c.streaming, c.clean)
			if got := p.Outcome.Reason(); got != c.want {
				t.Errorf("%s, want %s (%+v)", got, c.want, p.Outcome)
			}
			checkCaller(t, p.Caller, false)
			if o := p.Outcome; o.Kind != backstop.KindBlank && bytes.Contains(p.Caller, []byte("message_stop")) != (o.Class == backstop.OK) {
				t.Errorf("the end does not fit: %s", p.Caller)
			}
		})
	}
}

func TestSloppyStreamsArePutRight(t *testing.T) {
	nameless := strings.NewReplacer("event: message_start\n", "", "event: content_block_delta\n", "").Replace(framed(start, textOn, hello, off, endTurn))
	nameless = ": hi\n\n" + strings.Replace(nameless, "end_turn", "stop", 1) + "event: x\ndata: not json\n\n"
	p := play(t, nameless, true, true)
	if want := framed(start, textOn, hello, off, endTurn, stopped); string(p.Caller) != want {
		t.Errorf("got  %s\nwant %s", p.Caller, want)
	}
	if !bytes.Contains(p.Body, []byte(`"stop_reason":"end_turn"`)) {
		t.Errorf("%s", p.Body)
	}
}

func TestStreamsBecomeBodiesAndBodiesStreams(t *testing.T) {
	stream := framed(start,
		`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"let "}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"me"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"sig=="}}`, off,
		`{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"zzz"}}`,
		`{"type":"content_block_stop","index":1}`,
		`{"type":"content_block_start","index":2,"content_block":{"type":"text","text":"","citations":[]}}`,
		`{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"\"q\""}}`,
		`{"type":"content_block_delta","index":2,"delta":{"type":"citations_delta","citation":{"type":"char_location","start":1}}}`,
		`{"type":"content_block_stop","index":2}`,
		`{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_1","name":"f","input":{}}}`,
		`{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":""}}`,
		`{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"a\": [1,"}}`,
		`{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"2]}"}}`,
		`{"type":"content_block_stop","index":3}`,
		`{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":20},"context_management":{"applied_edits":[]}}`, stopped)
	p := play(t, stream, false, true)
	testkit.Golden(t, "tools.json", append(p.Body, '\n'))
	sum := Room{}.Aggregator(nil)
	for _, data := range (Room{}).Explode(nil, p.Body) {
		sum.Add(data)
	}
	if again := sum.Body(); string(again) != string(p.Body) {
		t.Errorf("got  %s\nwant %s", again, p.Body)
	}
	if _, _, ok := (Room{}).Content(p.Body); ok {
		t.Error("a tool call is no text")
	}
}

func TestToolInputThatIsNoJSONIsMarked(t *testing.T) {
	p := play(t, framed(start,
		`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"f","input":{}}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\":\"b"}}`,
		off, strings.Replace(endTurn, "end_turn", "max_tokens", 1), stopped), false, true)
	if !json.Valid(p.Body) || !bytes.Contains(p.Body, []byte(`"input":{"INVALID_JSON":"{\"a\":\"b"}`)) {
		t.Errorf("%s", p.Body)
	}
}

func TestAFailureEndsTheStream(t *testing.T) {
	w := Room{}.Writer(nil)
	out := string(w.Failure(&backstop.Failure{Code: backstop.CodeStreamStalled, Message: "a\nb"}, "req_1"))
	want := "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"timeout_error\",\"message\":\"a\\nb\",\"code\":\"stream_stalled\"},\"request_id\":\"req_1\"}\n\n"
	if out != want {
		t.Errorf("got  %q\nwant %q", out, want)
	}
	if w.Close(nil) != nil || w.Event(&sse.Event{Data: []byte(hello)}, nil) != nil {
		t.Error("something came after the error")
	}
}

func TestANoteGoesIntoTheTerminalEvent(t *testing.T) {
	w := Room{}.Writer(nil)
	for _, data := range []string{start, textOn, hello, off, endTurn, stopped} {
		w.Event(&sse.Event{Data: []byte(data)}, nil)
	}
	want := "event: message_stop\ndata: {\"type\":\"message_stop\",\"x_backstop\":{\"attempts\":2}}\n\n"
	if got := string(w.Close(&wire.Note{Attempts: 2})); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
