package gemini

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

// framed writes events as the API does.
func framed(list ...string) string {
	var b strings.Builder
	for _, data := range list {
		b.WriteString("data: " + data + "\r\n\r\n")
	}
	return b.String()
}

const (
	hello    = `{"candidates":[{"content":{"parts":[{"text":"Hello"}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":10,"totalTokenCount":10},"modelVersion":"gemini-x","responseId":"r1"}`
	world    = `{"candidates":[{"content":{"parts":[{"text":" world\n\ndata: x"}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":3,"thoughtsTokenCount":4,"totalTokenCount":17},"modelVersion":"gemini-x","responseId":"r1"}`
	thought  = `{"candidates":[{"content":{"parts":[{"text":"hm","thought":true}],"role":"model"},"index":0}],"modelVersion":"gemini-x","responseId":"r1"}`
	called   = `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"a":1}},"thoughtSignature":"c2ln"}],"role":"model"},"index":0}]}`
	signed   = `{"candidates":[{"content":{"parts":[{"text":"","thoughtSignature":"c2ln"}],"role":"model"},"index":0}]}`
	stopped  = `{"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":5,"thoughtsTokenCount":4,"totalTokenCount":19}}`
	counted  = `{"usageMetadata":{"promptTokenCount":10,"totalTokenCount":10}}`
	overload = `{"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}`
)

// ends is the last event with another finish reason.
func endsWith(reason string) string { return strings.Replace(stopped, "STOP", reason, 1) }

func play(t testing.TB, stream string, streaming, clean bool) roomtest.Played {
	t.Helper()
	r := &wire.Request{Op: wire.Chat, Stream: streaming, UsageOn: true, Dialect: backstop.Gemini}
	a := &wire.Reply{Status: 200, Dialect: backstop.Gemini, Caller: backstop.Gemini, Surface: wire.SurfaceFirst}
	return roomtest.Play(Room{}, r, a, stream, clean)
}

// checkCaller: events of one line of data and nothing else, as the SDKs read
// them.
func checkCaller(t testing.TB, out []byte) {
	t.Helper()
	events, n := sse.NewReader(bytes.NewReader(out), 0), 0
	for ; ; n++ {
		ev, err := events.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%v after %q", err, out)
		}
		if oneLiner(ev.Raw) == "" || ev.Name != "" || !json.Valid(ev.Data) || bytes.TrimSpace(ev.Data)[0] != '{' {
			t.Fatalf("event %q", ev.Raw)
		}
	}
	if list := asGoReads(out); len(list) != n {
		t.Fatalf("Google's SDK for Go reads %d events, not %d, in %q", len(list), n, out)
	}
}

func TestAStreamPassesByteForByte(t *testing.T) {
	for _, stream := range []string{
		framed(thought, hello, world, signed, called, stopped),
		strings.NewReplacer("\r\n", "\n", "data: ", "data:").Replace(framed(hello, world, stopped, counted)),
	} {
		p := play(t, stream, true, true)
		if string(p.Caller) != stream {
			t.Errorf("got  %q\nwant %q", p.Caller, stream)
		}
		checkCaller(t, p.Caller)
	}
	p := play(t, framed(counted, thought, hello, world, signed, called, stopped), true, true)
	want := []wire.SignalKind{wire.Quiet, wire.Token, wire.Token, wire.Token, wire.Quiet, wire.Token, wire.Token}
	for i, k := range want {
		if p.Signals[i] != k {
			t.Errorf("event %d is %d, not %d", i, p.Signals[i], k)
		}
	}
	o := p.Outcome
	if o.Class != backstop.OK || o.InputTokens != 10 || o.OutputTokens != 9 || p.Text != "Hello world\n\ndata: x" || p.Bytes != len("hm")+len(p.Text)+len(`{"name":"f","args":{"a":1}}`) {
		t.Errorf("%+v, %d bytes, %q", o, p.Bytes, p.Text)
	}
}

func TestAStreamIsJudged(t *testing.T) {
	second := strings.NewReplacer(`"index":0`, `"index":1`).Replace(hello)
	for name, c := range map[string]struct {
		stream    string
		streaming bool
		clean     bool
		want      string
	}{
		"whole":                        {framed(hello, world, stopped), true, true, "ok"},
		"all at once":                  {framed(strings.Replace(hello, `"index":0`, `"finishReason":"STOP"`, 1)), true, true, "ok"},
		"reset after the reason":       {framed(hello, stopped), true, false, "ok"},
		"cut":                          {framed(hello, world), true, true, "garbled/cut"},
		"usage alone":                  {framed(counted, counted), true, true, "garbled/cut"},
		"nothing":                      {"", true, true, "garbled/empty"},
		"reset before anything":        {"", true, false, "broken/reset"},
		"reset after usage":            {framed(counted), true, false, "broken/reset"},
		"no dialect":                   {framed(`{"x":1}`), true, true, "garbled/protocol"},
		"blank":                        {framed(stopped), true, true, "garbled/blank"},
		"a signature alone":            {framed(signed, stopped), true, true, "garbled/blank"},
		"thoughts alone, for a body":   {framed(thought, stopped), false, true, "garbled/blank"},
		"thoughts alone, streamed":     {framed(thought, stopped), true, true, "ok"},
		"a call":                       {framed(called, stopped), true, true, "ok"},
		"a spoiled call":               {framed(endsWith("MALFORMED_FUNCTION_CALL")), true, true, "garbled/json"},
		"a spoiled call after text":    {framed(hello, endsWith("MALFORMED_FUNCTION_CALL")), true, true, "garbled/json"},
		"refused":                      {framed(endsWith("SAFETY")), true, true, "ok"},
		"recited":                      {framed(hello, endsWith("RECITATION")), true, true, "ok"},
		"the prompt is blocked":        {framed(`{"promptFeedback":{"blockReason":"SAFETY"}}`), true, true, "ok"},
		"nothing but length":           {framed(endsWith("MAX_TOKENS")), true, true, "ok"},
		"not over yet":                 {framed(hello, endsWith("FINISH_REASON_UNSPECIFIED")), true, true, "garbled/cut"},
		"an unknown reason":            {framed(hello, endsWith("SUNSPOTS")), true, true, "garbled/protocol"},
		"one of two goes on":           {framed(hello, second, stopped), true, true, "garbled/cut"},
		"both are over":                {framed(hello, second, stopped, strings.Replace(stopped, `"index":0`, `"index":1`, 1)), true, true, "ok"},
		"overloaded first":             {framed(counted, overload), true, true, "broken/overload"},
		"overloaded later":             {framed(hello, overload), true, true, "broken/overload"},
		"an error beside candidates":   {framed(hello[:len(hello)-1] + `,"error":{"code":500,"message":"x","status":"INTERNAL"}}`), true, true, "broken/server"},
		"two answers in one event":     {framed(hello[:len(hello)-1] + `,"candidates":[]}`), true, true, "garbled/protocol"},
		"candidates beyond all bounds": {framed(strings.Replace(hello, `"index":0`, `"index":99999999`, 1)), true, true, "garbled/protocol"},
	} {
		t.Run(name, func(t *testing.T) {
			p := play(t, c.stream, c.streaming, c.clean)
			if got := p.Outcome.Reason(); got != c.want {
				t.Errorf("%s, want %s (%+v)", got, c.want, p.Outcome)
			}
			checkCaller(t, p.Caller)
		})
	}
}

func TestWhatMayStillGoElsewhereDoes(t *testing.T) {
	p := play(t, framed(counted, overload), true, true)
	if !p.Outcome.NextTier || len(p.Caller) != len(framed(counted)) {
		t.Errorf("%+v %s", p.Outcome, p.Caller)
	}
	if p := play(t, framed(hello, overload), true, true); p.Outcome.NextTier || p.Outcome.RetrySame {
		t.Errorf("%+v", p.Outcome)
	}
	if p := play(t, framed(hello, overload), false, true); !p.Outcome.NextTier {
		t.Errorf("%+v", p.Outcome)
	}
}

func TestSloppyStreamsArePutRight(t *testing.T) {
	sloppy := ": hi\n\nevent: message\ndata: " + hello + "\n\nid: 7\ndata: {\"candidates\":[{\"content\":\ndata: {\"parts\":[{\"text\":\" world\"}]}}]}\n\ndata: not json\n\ndata: \n\ndata: " + endsWith("stop")
	p := play(t, sloppy, true, true)
	want := "data: " + hello + "\n\n" + `data: {"candidates":[{"content":{"parts":[{"text":" world"}]}}]}` + "\n\n" + "data: " + stopped + "\n\n"
	if string(p.Caller) != want {
		t.Errorf("got  %s\nwant %s", p.Caller, want)
	}
	if !bytes.Contains(p.Body, []byte(`"finishReason":"STOP"`)) || !strings.Contains(string(p.Body), `"text":"Hello world"`) {
		t.Errorf("%s", p.Body)
	}
}

func TestStreamsBecomeBodiesAndBodiesStreams(t *testing.T) {
	p := play(t, framed(thought, thought, hello, world, signed,
		`{"candidates":[{"content":{"parts":[{"text":"b"},{"text":"old","thoughtSignature":"s"},{"text":"new"}]},"logprobsResult":{"chosenCandidates":[{"token":"b"}],"topCandidates":[]},"citationMetadata":{"citationSources":[{"uri":"u1"}]},"custom":{"a":1}}],"promptFeedback":{"safetyRatings":[]}}`,
		`{"candidates":[{"index":1,"content":{"role":"model","parts":[{"executableCode":{"code":"1+1"}}]},"finishReason":"STOP"}]}`,
		called, called,
		`{"candidates":[{"content":{"parts":[{"text":""}]},"logprobsResult":{"chosenCandidates":[{"token":"c"}]},"citationMetadata":{"citationSources":[{"uri":"u2"}]},"custom":null,"groundingMetadata":{"x":1}}],"unknown":[1]}`,
		stopped), false, true)
	testkit.Golden(t, "merged.json", append(p.Body, '\n'))
	sum := Room{}.Aggregator(nil)
	for _, data := range (Room{}).Explode(nil, p.Body) {
		sum.Add(data)
	}
	if again := sum.Body(); string(again) != string(p.Body) {
		t.Errorf("got  %s\nwant %s", again, p.Body)
	}
	if _, _, ok := (Room{}).Content(p.Body); ok {
		t.Error("a call is no text")
	}
}

func TestAFailureEndsTheStream(t *testing.T) {
	w := Room{}.Writer(nil)
	out := string(w.Failure(&backstop.Failure{Code: backstop.CodeStreamStalled, Message: "a\nb"}, "req_1"))
	want := `data: {"error":{"code":502,"message":"a\nb","status":"UNAVAILABLE","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"stream_stalled","domain":"backstop","metadata":{"request_id":"req_1"}}]}}` + "\n\n"
	if out != want {
		t.Errorf("got  %q\nwant %q", out, want)
	}
	if w.Close(nil) != nil || w.Event(&sse.Event{Data: []byte(hello)}, nil) != nil {
		t.Error("something came after the error")
	}
}

func TestANoteGoesIntoTheLastEvent(t *testing.T) {
	w := Room{}.Writer(nil)
	var out []byte
	for _, data := range []string{hello, stopped, counted} {
		out = append(out, w.Event(&sse.Event{Data: []byte(data)}, nil)...)
	}
	out = append(out, w.Close(&wire.Note{Attempts: 2})...)
	want := "data: " + hello + "\n\ndata: " + stopped + "\n\ndata: " + counted[:len(counted)-1] + `,"x_backstop":{"attempts":2}}` + "\n\n"
	if string(out) != want {
		t.Errorf("got  %q\nwant %q", out, want)
	}
	w = Room{}.Writer(nil)
	w.Event(&sse.Event{Data: []byte(hello)}, nil)
	if out := w.Close(&wire.Note{Attempts: 2}); out != nil {
		t.Errorf("an answer that is not whole was ended: %s", out)
	}
}

// A rescuer's calls and its end go on in the stream, its thoughts do not.
func TestAGraftKeepsTheNameOfTheStream(t *testing.T) {
	w := Room{}.Writer(nil).(wire.Grafter)
	stream := w.(wire.StreamWriter)
	out := string(stream.Event(&sse.Event{Data: []byte(hello)}, nil))
	other := strings.NewReplacer("gemini-x", "gemini-y", "r1", "r2")
	out += string(w.Graft(&sse.Event{Data: []byte(other.Replace(thought))}, nil, true))
	out += string(w.Graft(&sse.Event{Data: []byte(other.Replace(hello))}, nil, false))
	out += string(w.Text([]byte(" there")))
	out += string(w.Graft(&sse.Event{Data: []byte(other.Replace(world))}, nil, true))
	out += string(w.Graft(&sse.Event{Data: []byte(called)}, nil, false))
	out += string(w.Graft(&sse.Event{Data: []byte(endsWith("max_tokens"))}, nil, true))
	out += string(stream.Close(&wire.Note{Rescued: true}))
	checkCaller(t, []byte(out))
	sum := Room{}.Aggregator(nil)
	for _, line := range strings.Split(out, "\n\n") {
		sum.Add([]byte(strings.TrimPrefix(line, "data: ")))
	}
	want := `{"candidates":[{"content":{"parts":[{"text":"Hello there world\n\ndata: x"},{"functionCall":{"name":"f","args":{"a":1}},"thoughtSignature":"c2ln"}],"role":"model"},"index":0,"finishReason":"MAX_TOKENS"}],"usageMetadata":{"promptTokenCount":10,"totalTokenCount":19,"candidatesTokenCount":5,"thoughtsTokenCount":4},"modelVersion":"gemini-x","responseId":"r1","x_backstop":{"rescued":true}}`
	if got := string(sum.Body()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Words of an event are exchanged, or it goes as a whole when none is left.
func TestEventsArePatched(t *testing.T) {
	patch := func(event, text, finish string) string {
		w := Room{}.Writer(nil)
		out := string(w.(wire.Patcher).Patch(&sse.Event{Data: []byte(event)}, nil, []byte(text), finish))
		return strings.TrimSuffix(strings.TrimPrefix(out+string(w.Close(nil)), "data: "), "\n\n")
	}
	last := strings.Replace(hello, `"index":0`, `"finishReason":"STOP"`, 1)
	for name, c := range map[string][4]string{
		"other words":            {hello, "new", "", strings.Replace(hello, "Hello", "new", 1)},
		"no words":               {hello, "", "", ""},
		"no words, but an end":   {last, "", "", strings.Replace(last, "Hello", "", 1)},
		"another end":            {last, "}", "length", strings.NewReplacer("Hello", "}", "STOP", "MAX_TOKENS").Replace(last)},
		"an end where none is":   {hello, "x", "length", strings.Replace(hello, "Hello", "x", 1)},
		"a call has no words":    {called, "x", "", called},
		"a thought is no answer": {thought, "", "", thought},
	} {
		if got := patch(c[0], c[1], c[2]); got != c[3] {
			t.Errorf("%s: got  %s\nwant %s", name, got, c[3])
		}
	}
}

func TestTheReaderShowsCallsAndEnds(t *testing.T) {
	r := Room{}.Reader(nil, nil)
	two := strings.Replace(called, `"parts":[`, `"parts":[{"functionCall":{"name":"g"}},`, 1)
	got := ""
	for _, data := range []string{called, two, hello, endsWith("MAX_TOKENS")} {
		r.Event(&sse.Event{Data: []byte(data)})
		r.(wire.PieceReader).Arguments(func(choice, call int, appendTo func([]byte) []byte) {
			got += string(rune('0'+choice)) + string(rune('0'+call)) + string(appendTo(nil)) + " "
		})
		r.(wire.ToolNamer).ToolNames(func(_, call int, tool string) { got += tool + " " })
		got += r.(wire.PieceReader).Finish() + "|"
	}
	if want := `00{"a":1} f |01 02{"a":1} g f ||length|`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
