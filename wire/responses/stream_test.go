package responses

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	"backstop"
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
	begun   = `{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","created_at":1,"status":"in_progress","error":null,"model":"gpt-x","output":[]}}`
	going   = `{"type":"response.in_progress","sequence_number":1,"response":{"id":"resp_1","object":"response","created_at":1,"status":"in_progress","error":null,"model":"gpt-x","output":[]}}`
	msgOn   = `{"type":"response.output_item.added","sequence_number":2,"output_index":0,"item":{"id":"msg_1","type":"message","status":"in_progress","role":"assistant","content":[]}}`
	textOn  = `{"type":"response.content_part.added","sequence_number":3,"item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","annotations":[],"text":""}}`
	hello   = `{"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"Hello","obfuscation":"x9"}`
	world   = `{"type":"response.output_text.delta","sequence_number":5,"item_id":"msg_1","output_index":0,"content_index":0,"delta":" world\nevent: error"}`
	textOff = `{"type":"response.output_text.done","sequence_number":6,"item_id":"msg_1","output_index":0,"content_index":0,"text":"Hello world\nevent: error"}`
	msgOff  = `{"type":"response.output_item.done","sequence_number":7,"output_index":0,"item":{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","annotations":[],"text":"Hello world\nevent: error"}]}}`
	end     = `{"type":"response.completed","sequence_number":8,"response":{"id":"resp_1","object":"response","created_at":1,"status":"completed","error":null,"model":"gpt-x","output":[{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","annotations":[],"text":"Hello world\nevent: error"}]}],"usage":{"input_tokens":15,"output_tokens":7}}}`
	bare    = `{"type":"response.completed","sequence_number":8,"response":{"id":"resp_1","status":"completed","output":[]}}`
	busy    = `{"type":"error","sequence_number":2,"code":"server_error","message":"An error occurred","param":null}`
	gone    = `{"type":"response.failed","sequence_number":2,"response":{"id":"resp_1","status":"failed","error":{"code":"rate_limit_exceeded","message":"too many"}}}`
)

func play(t testing.TB, stream string, streaming, clean bool) roomtest.Played {
	t.Helper()
	r := &wire.Request{Op: wire.Responses, Stream: streaming, UsageOn: true, Dialect: backstop.Responses}
	a := &wire.Reply{Status: 200, Dialect: backstop.OpenAI, Caller: backstop.Responses, Surface: wire.SurfaceFirst}
	return roomtest.Play(Room{}, r, a, stream, clean)
}

// checkCaller: whole events with names, numbers that only go up, none that an
// SDK fails on, and at most one end, last.
func checkCaller(t testing.TB, out []byte, whole bool) {
	t.Helper()
	events, ended, last, sdk := sse.NewReader(bytes.NewReader(out), 0), false, -1.0, strictSDK{}
	for {
		ev, err := events.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%v after %q", err, out)
		}
		// Not a struct, whose members match in any case: those of most SDKs do not.
		var e map[string]json.RawMessage
		var kind string
		if ev.Comment || ended || json.Unmarshal(ev.Data, &e) != nil || json.Unmarshal(e["type"], &kind) != nil || kind != ev.Name {
			t.Fatalf("event %q, ended %v", ev.Raw, ended)
		}
		if seq, numbered := e["sequence_number"]; numbered {
			var n *float64
			if json.Unmarshal(seq, &n) != nil || n == nil || *n <= last {
				t.Fatalf("%q comes after %v", ev.Raw, last)
			}
			last = *n
		}
		if wrong := sdk.take(ev.Data); wrong != "" {
			t.Fatalf("%s: %q in %q", wrong, ev.Raw, out)
		}
		ended = ev.Name == completed || ev.Name == incomplete || ev.Name == errorEvent
	}
	if whole && !ended {
		t.Fatalf("no end: %q", out)
	}
}

func TestAStreamPassesByteForByte(t *testing.T) {
	stream := framed(begun, going, msgOn, textOn, hello, world, textOff, msgOff, end)
	p := play(t, stream, true, true)
	if string(p.Caller) != stream {
		t.Errorf("got  %q\nwant %q", p.Caller, stream)
	}
	want := []wire.SignalKind{wire.Quiet, wire.Quiet, wire.Quiet, wire.Quiet, wire.Token, wire.Token, wire.Quiet, wire.Quiet, wire.Terminal}
	for i, k := range want {
		if p.Signals[i] != k {
			t.Errorf("event %d is %d, not %d", i, p.Signals[i], k)
		}
	}
	if o := p.Outcome; o.Class != backstop.OK || o.InputTokens != 15 || o.OutputTokens != 7 || p.Bytes != len("Hello world\nevent: error") {
		t.Errorf("%+v, %d bytes", o, p.Bytes)
	}
	var e struct{ Response json.RawMessage }
	_ = json.Unmarshal([]byte(end), &e)
	if !bytes.Equal(p.Body, e.Response) {
		t.Errorf("the body is %s", p.Body)
	}
}

func TestAStreamIsJudged(t *testing.T) {
	call := `{"type":"response.output_item.added","sequence_number":2,"output_index":0,"item":{"id":"fc_1","type":"function_call","call_id":"c","name":"f","arguments":""}}`
	search := `{"type":"response.output_item.added","sequence_number":2,"output_index":0,"item":{"id":"ws_1","type":"web_search_call","status":"in_progress"}}`
	thought := `{"type":"response.reasoning_summary_text.delta","sequence_number":2,"output_index":0,"summary_index":0,"delta":"hm"}`
	cut := strings.NewReplacer("response.completed", "response.incomplete", `"status":"completed"`, `"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}`).Replace(bare)
	filtered := strings.Replace(cut, "max_output_tokens", "content_filter", 1)
	queuedEvent := strings.Replace(going, "in_progress", "queued", 1)
	for name, c := range map[string]struct {
		stream    string
		streaming bool
		clean     bool
		want      string
	}{
		"whole":                             {framed(begun, going, msgOn, textOn, hello, textOff, msgOff, end), true, true, "ok"},
		"reset after the end":               {framed(begun, hello, end), true, false, "ok"},
		"the last event alone":              {framed(begun, end), false, true, "ok"},
		"a text without its pieces":         {framed(begun, textOff, bare), true, true, "ok"},
		"cut":                               {framed(begun, msgOn, textOn, hello), true, true, "garbled/cut"},
		"cut behind the whole text":         {framed(begun, msgOn, textOn, hello, textOff, msgOff), true, true, "garbled/cut"},
		"only its beginning":                {framed(begun, going, queuedEvent), true, true, "garbled/cut"},
		"[DONE] is no end":                  {framed(begun, hello) + "data: [DONE]\n\n", true, true, "garbled/cut"},
		"nothing":                           {"", true, true, "garbled/empty"},
		"reset before anything":             {"", true, false, "broken/reset"},
		"no dialect":                        {"data: {\"x\":1}\n\n", true, true, "garbled/protocol"},
		"blank":                             {framed(begun, going, msgOn, textOn, bare), true, true, "garbled/blank"},
		"reasoning alone, for a body":       {framed(begun, thought, bare), false, true, "garbled/blank"},
		"reasoning alone, streamed":         {framed(begun, thought, bare), true, true, "ok"},
		"a tool call":                       {framed(begun, call, bare), true, true, "ok"},
		"a search":                          {framed(begun, search, bare), true, true, "ok"},
		"nothing but length":                {framed(begun, cut), true, true, "ok"},
		"filtered":                          {framed(begun, filtered), true, true, "ok"},
		"an error first":                    {framed(begun, going, busy), true, true, "broken/server"},
		"an error later":                    {framed(begun, hello, busy), true, true, "broken/server"},
		"failed":                            {framed(begun, gone), true, true, "limited/rate"},
		"completed, but failed":             {framed(begun, strings.Replace(bare, `"completed","output"`, `"failed","output"`, 1)), true, true, "broken/server"},
		"a status nobody knows":             {framed(begun, strings.Replace(bare, `"completed","output"`, `"molten","output"`, 1)), true, true, "garbled/protocol"},
		"an error without type":             {framed(begun) + "data: {\"error\":{\"message\":\"Overloaded\",\"type\":\"overloaded_error\"}}\n\n", true, true, "broken/overload"},
		"an error in the chat's form":       {framed(begun) + "event: error\ndata: {\"error\":{\"code\":\"rate_limit_exceeded\",\"message\":\"x\"}}\n\n", true, true, "limited/rate"},
		"an error event that is not JSON":   {framed(begun) + "event: error\ndata: oops\n\n", true, true, "broken/server"},
		"two types in one event are no two": {"data: {\"type\":\"response.completed\",\"type\":\"x\",\"response\":{}}\n\n", true, true, "garbled/protocol"},
	} {
		t.Run(name, func(t *testing.T) {
			p := play(t, c.stream, c.streaming, c.clean)
			if got := p.Outcome.Reason(); got != c.want {
				t.Errorf("%s, want %s (%+v)", got, c.want, p.Outcome)
			}
			checkCaller(t, p.Caller, false)
			ends := bytes.Contains(p.Caller, []byte("event: response.completed")) || bytes.Contains(p.Caller, []byte("event: response.incomplete"))
			if o := p.Outcome; ends != (o.Class == backstop.OK) && o.Kind != backstop.KindBlank && !strings.Contains(c.stream, "molten") && !strings.Contains(c.stream, "failed") {
				t.Errorf("the end does not fit: %s", p.Caller)
			}
		})
	}
}

func TestSloppyStreamsArePutRight(t *testing.T) {
	nameless := strings.NewReplacer("event: response.created\n", "", "event: response.output_text.delta\n", "").Replace(framed(begun, msgOn, textOn, hello, msgOff, end))
	nameless = ": hi\n\n" + nameless + "data: [DONE]\n\nevent: x\ndata: not json\n\n"
	p := play(t, nameless, true, true)
	if want := framed(begun, msgOn, textOn, hello, msgOff, end); string(p.Caller) != want {
		t.Errorf("got  %s\nwant %s", p.Caller, want)
	}
	again := strings.Replace(world, `"sequence_number":5`, `"sequence_number":1`, 1)
	p = play(t, framed(begun, msgOn, textOn, hello, again, end), true, true)
	checkCaller(t, p.Caller, true)
	if want := framed(begun, msgOn, textOn, hello, world, end); string(p.Caller) != want {
		t.Errorf("got  %s\nwant %s", p.Caller, want)
	}
}

func TestBodiesBecomeStreamsAndStreamsBodies(t *testing.T) {
	body := `{"id":"resp_1","object":"response","created_at":1,"status":"completed","model":"m","output":[` +
		`{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"content":[{"type":"reasoning_text","text":"so"}],"encrypted_content":"zz"},` +
		`{"id":"ws_1","type":"web_search_call","status":"completed","action":{"type":"search","query":"q"}},` +
		`{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","annotations":[{"type":"url_citation"}],"text":"a\nb"},{"type":"refusal","refusal":"no"},{"type":"new"}]},` +
		`{"id":"fc_1","type":"function_call","status":"completed","call_id":"c","name":"f","arguments":"{\"a\":1}"}],"usage":{"input_tokens":1,"output_tokens":2},"later":{"x":1},"x_backstop":{"stale":2}}`
	sum, read, r := Room{}.Aggregator(nil), Room{}.Reader(&wire.Request{Stream: true}, nil), Room{}.Writer(nil)
	var stream []byte
	for _, data := range (Room{}).Explode(nil, []byte(body)) {
		ev := &sse.Event{Data: data}
		sig := read.Event(ev)
		sum.Add(data)
		stream = append(stream, r.Event(ev, &sig)...)
	}
	stream = append(stream, r.Close(nil)...)
	checkCaller(t, stream, true)
	if got := string(sum.Body()); got != body {
		t.Errorf("got  %s\nwant %s", got, body)
	}
	if o := read.End(true); o.Class != backstop.OK || !read.ToolBegun() {
		t.Errorf("%+v", o)
	}
	for _, none := range []string{`{}`, `[]`, `{"status":"in_progress","output":[]}`, `{"status":"failed","output":[]}`, `x`} {
		if (Room{}).Explode(nil, []byte(none)) != nil {
			t.Errorf("%s is an answer", none)
		}
	}
}

func TestAnOutputThatTheLastEventForgotIsPutTogether(t *testing.T) {
	b, err := os.ReadFile("../testdata/hub/streams/responses-tools.sse")
	if err != nil {
		t.Fatal(err)
	}
	whole := play(t, string(b), false, true)
	at := strings.LastIndex(string(b), `"output":[`)
	forgot := string(b)[:at] + `"output":[],"x":[` + string(b)[at+len(`"output":[`):]
	p := play(t, forgot, false, true)
	if text, want := gjsonOutput(p.Body), gjsonOutput(whole.Body); text != want || want == "[]" {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	if o := (Room{}).JudgeBody(nil, &wire.Reply{Status: 200, Body: p.Body, Surface: wire.SurfaceBody}); o.Class != backstop.OK {
		t.Errorf("%+v", o)
	}
}

func gjsonOutput(body []byte) string {
	_, output := outputOf(body)
	return output.Raw
}

func TestAFailureEndsTheStream(t *testing.T) {
	w := Room{}.Writer(nil)
	w.Event(&sse.Event{Data: []byte(begun)}, nil)
	out := string(w.Failure(&backstop.Failure{Code: backstop.CodeStreamStalled, Message: "a\nb"}, "req_1"))
	want := "event: error\ndata: {\"type\":\"error\",\"sequence_number\":1,\"code\":\"stream_stalled\",\"message\":\"a\\nb\",\"param\":null,\"error\":{\"message\":\"a\\nb\",\"type\":\"timeout_error\",\"param\":null,\"code\":\"stream_stalled\"}}\n\n"
	if out != want {
		t.Errorf("got  %q\nwant %q", out, want)
	}
	if w.Close(nil) != nil || w.Event(&sse.Event{Data: []byte(hello)}, nil) != nil || w.Failure(&backstop.Failure{}, "") != nil {
		t.Error("something came after the error")
	}
}

func TestANoteGoesIntoTheTerminalEvent(t *testing.T) {
	w := Room{}.Writer(nil)
	for _, data := range []string{begun, msgOn, textOn, hello, bare} {
		w.Event(&sse.Event{Data: []byte(data)}, nil)
	}
	want := framed(strings.TrimSuffix(bare, "}") + `,"x_backstop":{"attempts":2}}`)
	if got := string(w.Close(&wire.Note{Attempts: 2})); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if got := string(Room{}.Writer(nil).Close(&wire.Note{Attempts: 2})); got != "" {
		t.Errorf("an end without one: %q", got)
	}
}
