package openai

import (
	"bytes"
	"encoding/json"
	"testing"

	"backstop/sse"
	"backstop/wire"
)

const mendable = `{"id":"c","choices":[` +
	`{"index":0,"message":{"role":"assistant","content":"one \"1\""},"finish_reason":"stop"}, ` +
	`{"index":1,"message":{"content":[{"type":"text","text":"a"},{"text":"b"}]},"finish_reason":"length"},` +
	`{"index":2,"message":{"content":"talk","tool_calls":[{"id":"t","function":{"name":"f","arguments":"{\"x\":"}},{"custom":{"input":"raw"}},{"function":{"arguments":"{}"}}]},"finish_reason":"tool_calls"},` +
	`{"index":3,"message":{"content":null,"refusal":"no"},"finish_reason":null}],"usage":{}}`

func TestPiecesAreTextsAndArguments(t *testing.T) {
	want := []wire.Piece{
		{Choice: 0, Call: wire.NoCall, Text: `one "1"`, Finish: "stop"},
		{Choice: 1, Call: wire.NoCall, Text: "ab", Finish: "length"},
		{Choice: 2, Call: 0, Text: `{"x":`, Finish: "tool_calls", Tool: "f"},
		{Choice: 2, Call: 2, Text: "{}", Finish: "tool_calls"},
	}
	got := Room{}.Pieces([]byte(mendable))
	if len(got) != len(want) {
		t.Fatalf("got %+v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("piece %d is %+v, want %+v", i, got[i], want[i])
		}
	}
	if out := (Room{}).Mend([]byte(mendable), got); string(out) != mendable {
		t.Errorf("nothing to mend, but\n%s", out)
	}
}

func TestMendExchangesOnePieceAndEndsWhatWasCut(t *testing.T) {
	got := Room{}.Mend([]byte(mendable), []wire.Piece{{Choice: 2, Call: 0, Text: `{"x":1}`, Cut: true}, {Choice: 1, Call: wire.NoCall, Text: "c", Cut: true}})
	want := bytes.Replace([]byte(mendable), []byte(`"{\"x\":"`), []byte(`"{\"x\":1}"`), 1)
	want = bytes.Replace(want, []byte(`"tool_calls"}`), []byte(`"length"}`), 1)
	want = bytes.Replace(want, []byte(`[{"type":"text","text":"a"},{"text":"b"}]`), []byte(`"c"`), 1)
	if !bytes.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestASecondQuestionIsTheLastMessage(t *testing.T) {
	for op, c := range map[wire.Op][2]string{
		wire.Chat:       {`{"model":"m","messages":[{"role":"user","content":"a"} ],"n":1}`, `{"model":"m","messages":[{"role":"user","content":"a"} ,{"role":"user","content":"b\n\"c\""}],"n":1}`},
		wire.Completion: {`{"model":"m","prompt":"a"}`, `{"model":"m","prompt":"a\n\nb\n\"c\""}`},
	} {
		q, cannot := Room{}.Ask(&wire.Request{Op: op, Body: []byte(c[0])}, "b\n\"c\"")
		if cannot != nil || string(q.Body) != c[1] {
			t.Errorf("%s: %v\n%s", op, cannot, q.Body)
		}
	}
	for op, body := range map[wire.Op]string{wire.Completion: `{"prompt":["a","b"]}`, wire.Embedding: `{"input":"a"}`} {
		if _, cannot := (Room{}).Ask(&wire.Request{Op: op, Body: []byte(body)}, "b"); cannot == nil || !cannot.NotSent {
			t.Errorf("%s can be asked again", op)
		}
	}
}

func TestPatchChangesTheTextAndTheEndAlone(t *testing.T) {
	for name, c := range map[string]struct{ data, text, finish, want string }{
		"another text":                         {`{"id":"c","choices":[{"index":0,"delta":{"content":"ab"},"finish_reason":null}]}`, "b\n", "", `{"id":"c","choices":[{"index":0,"delta":{"content":"b\n"},"finish_reason":null}]}`},
		"no text, nothing else":                {`{"id":"c","choices":[{"index":0,"delta":{"content":"ab"},"finish_reason":null}]}`, "", "", ""},
		"no text, but a role":                  {`{"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":"ab"}}]}`, "", "", `{"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}`},
		"no text, but sources":                 {`{"id":"c","choices":[{"index":0,"delta":{"content":"ab","annotations":[{"type":"url_citation"}]}}]}`, "", "", `{"id":"c","choices":[{"index":0,"delta":{"content":"","annotations":[{"type":"url_citation"}]}}]}`},
		"no text, but an object of a vendor's": {`{"id":"c","choices":[{"index":0,"delta":{"content":"ab","search":{"q":1},"none":[]}}]}`, "", "", `{"id":"c","choices":[{"index":0,"delta":{"content":"","search":{"q":1},"none":[]}}]}`},
		"a finish reason":                      {`{"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, "", "length", `{"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"length"}]}`},
		"a vendor's own word":                  {`{"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"eos"}]}`, "", "", `{"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`},
		"usage nobody asked":                   {`{"id":"c","choices":[{"index":0,"delta":{"content":"a"}}],"usage":{"total_tokens":1}}`, "b", "", `{"id":"c","choices":[{"index":0,"delta":{"content":"b"}}]}`},
		"a legacy completion":                  {`{"id":"c","choices":[{"index":0,"text":"ab","finish_reason":null}]}`, "b", "", `{"id":"c","choices":[{"index":0,"text":"b","finish_reason":null}]}`},
	} {
		w := Room{}.Writer(nil).(wire.Patcher)
		want := ""
		if c.want != "" {
			want = "data: " + c.want + "\n\n"
		}
		if got := w.Patch(&sse.Event{Data: []byte(c.data)}, &wire.Signal{Kind: wire.Token}, []byte(c.text), c.finish); string(got) != want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
	}
}

// FuzzMend: whatever the body, mending it leaves JSON JSON, and the texts are
// then what was given.
func FuzzMend(f *testing.F) {
	f.Add([]byte(mendable), "new\n")
	f.Add([]byte(`{"choices":[{"text":"a"},{"message":{"function_call":{"arguments":"{"}}}]}`), "")
	f.Fuzz(func(t *testing.T, body []byte, text string) {
		pieces := Room{}.Pieces(body)
		if out := (Room{}).Mend(body, pieces); json.Valid(body) && !json.Valid(out) {
			t.Fatalf("%s became %s", body, out)
		}
		for i := range pieces {
			pieces[i].Text, pieces[i].Cut = text, true
		}
		out := Room{}.Mend(body, pieces)
		if json.Valid(body) && !json.Valid(out) {
			t.Fatalf("%s became %s", body, out)
		}
		again := Room{}.Pieces(out)
		if len(again) != len(pieces) {
			t.Fatalf("%d pieces became %d", len(pieces), len(again))
		}
		for i := range again {
			if closing(again[i].Finish) && again[i].Finish != "" {
				t.Fatalf("%s still ends as if it were whole", out)
			}
		}
	})
}
