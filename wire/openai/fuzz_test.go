package openai

import (
	"bytes"
	"encoding/json"
	"testing"

	"backstop/sse"
	"backstop/wire"
	"backstop/wire/internal/follow"
)

// Whatever a stream holds, the reader gives a legal verdict, the caller gets
// whole events and at most one [DONE] as the last, and the aggregate is JSON.
func FuzzStream(f *testing.F) {
	f.Add([]byte(framed(good...)), true)
	f.Add([]byte(framed(tok("a"), end("eos_token"), `{"error":{"message":"x"}}`)), false)
	f.Add([]byte(framed(ch(`{"tool_calls":[{"index":0,"id":"t","function":{"name":"f","arguments":"{"}}],"audio":{"data":"x"}}`, `"tool_calls"`))), true)
	f.Add([]byte(framed(`{"choices":[{"index":0,"text":"a","logprobs":{"tokens":["a"]},"usage":{"prompt_tokens":1}}]}`, `[{"error":1}]`)), false)
	f.Fuzz(func(t *testing.T, stream []byte, usageOn bool) {
		r := streamRequest()
		r.UsageOn = usageOn
		read, write, sum := Room{}.Reader(r, okReply()), Room{}.Writer(r), Room{}.Aggregator(r)
		var caller []byte
		events := sse.NewReader(bytes.NewReader(stream), 0)
		for {
			ev, err := events.Next()
			if ev != nil {
				sig := read.Event(ev)
				if sig.Kind < wire.Quiet || sig.Kind > wire.Malformed || sig.Bytes < 0 || (sig.Kind == wire.Fault) != (sig.Outcome != nil) {
					t.Fatalf("signal %+v", sig)
				}
				caller = append(caller, write.Event(ev, &sig)...)
				sum.Add(ev.Data)
			}
			if err != nil {
				break
			}
		}
		if o := read.End(true); o.Class == 0 {
			t.Fatal("no verdict")
		}
		caller = append(caller, write.Close(&wire.Note{Attempts: 1})...)
		checkCaller(t, caller)
		body := sum.Body()
		if !json.Valid(body) {
			t.Fatalf("aggregate: %s", body)
		}
		for _, data := range (Room{}).Explode(r, body) {
			if !json.Valid(data) {
				t.Fatalf("exploded: %s", data)
			}
		}
		text, _, ok := Room{}.Content(body)
		if again, _, _ := (Room{}).Content(Room{}.Replace(body, text)); ok && again != string([]rune(text)) { // broken UTF-8 is mended
			t.Fatalf("text %q became %q", text, again)
		}
	})
}

func checkCaller(t *testing.T, out []byte) {
	t.Helper()
	if len(out) == 0 {
		return
	}
	if !follow.Closed(out) {
		t.Fatalf("the last event is open: %q", out)
	}
	events, ended := sse.NewReader(bytes.NewReader(out), 0), false
	for {
		ev, err := events.Next()
		if err != nil {
			return
		}
		data := bytes.TrimSpace(ev.Data)
		switch {
		case ended:
			t.Fatalf("after the end: %q", ev.Raw)
		case bytes.Equal(data, doneWord):
			ended = true
		case !json.Valid(data):
			t.Fatalf("the caller got %q", ev.Raw)
		}
	}
}

// Any body exploded is JSON, and put together again it has the same text.
func FuzzExplode(f *testing.F) {
	f.Add([]byte(`{"id":"c","choices":[{"index":0,"message":{"role":"assistant","content":"a","tool_calls":[{"id":"t"},3]},"finish_reason":"stop"}],"usage":{},"x_backstop":{}}`), false)
	f.Add([]byte(`{"choices":[{"text":"a"}]}`), true)
	f.Fuzz(func(t *testing.T, body []byte, legacy bool) {
		r := &wire.Request{Op: wire.Chat, UsageOn: true}
		if legacy {
			r.Op = wire.Completion
		}
		for _, data := range (Room{}).Explode(r, body) {
			if !json.Valid(data) {
				t.Fatalf("%s gave %s", body, data)
			}
		}
		if out := (Room{}).Annotate(body, &wire.Note{Stale: 3}); json.Valid(body) && !json.Valid(out) {
			t.Fatalf("annotated: %s", out)
		}
		if out := (Room{}).Replace(body, "x\xff"); json.Valid(body) && !json.Valid(out) {
			t.Fatalf("replaced: %s", out)
		}
	})
}

// The strict scanner agrees with encoding/json on what is a value.
func FuzzScan(f *testing.F) {
	for _, s := range []string{`{"a":[1,-0.5e+3,true,false,null,"\u00e9\n"]}`, `{"a":01}`, `{"a":"` + "\x1f" + `"}`, `{"a":1,}`, `{"a":"12345678\"901234567\\"}`, `{"a":.5}`, `{"a":1.}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		_, ok := root(b)
		trimmed := bytes.TrimLeft(b, " \t\r\n")
		want := json.Valid(b) && len(trimmed) > 0 && trimmed[0] == '{'
		if ok != want && depthOf(b) < maxDepth {
			t.Fatalf("%q: %v, encoding/json says %v", b, ok, want)
		}
	})
}
