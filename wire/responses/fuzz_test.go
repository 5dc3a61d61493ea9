package responses

import (
	"encoding/json"
	"strings"
	"testing"

	"backstop"
	"backstop/sse"
	"backstop/wire"
)

// Whatever a stream holds, the reader gives a legal verdict, the caller gets
// whole events and at most one end, and the aggregate is JSON.
func FuzzStream(f *testing.F) {
	f.Add(framed(begun, going, msgOn, textOn, hello, world, textOff, msgOff, end), true)
	f.Add(framed(begun, msgOn, hello, busy), false)
	f.Add(framed(begun, gone), true)
	f.Add(framed(`{"type":"response.output_text.delta","output_index":9,"content_index":3,"delta":"a"}`, hello, bare), true)
	f.Add("data: {\"type\":\"response.completed\",\ndata: \"response\":{\"status\":\"completed\",\"output\":[]}}\n\n", true)
	f.Fuzz(func(t *testing.T, stream string, streaming bool) {
		p := play(t, stream, streaming, true)
		if p.Outcome.Class == 0 {
			t.Fatal("no verdict")
		}
		checkCaller(t, p.Caller, false)
		if !json.Valid(p.Body) {
			t.Fatalf("aggregate: %s", p.Body)
		}
		for _, data := range (Room{}).Explode(nil, p.Body) {
			if !json.Valid(data) {
				t.Fatalf("exploded: %s", data)
			}
		}
	})
}

// Whatever an upstream says, the deltas that are decoded from it make whole
// events of known names again.
func FuzzDecoder(f *testing.F) {
	f.Add(framed(begun, going, msgOn, textOn, hello, world, textOff, msgOff, end))
	f.Add(framed(begun, hello, `{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}}`, end))
	f.Add(framed(`{"type":"response.reasoning_text.delta","delta":"a"}`, `{"type":"response.reasoning_summary_text.done","text":"b"}`, bare))
	f.Fuzz(func(t *testing.T, stream string) {
		b := wire.NewBridge(Room{}, Room{}, wire.Head{ID: "m"})
		w := b.Writer(Room{}.Writer(nil))
		events := sse.NewReader(strings.NewReader(stream), 0)
		var out []byte
		for {
			ev, err := events.Next()
			if ev != nil {
				out = append(out, w.Event(ev, nil)...)
			}
			if err != nil {
				break
			}
		}
		checkCaller(t, append(out, w.Close(nil)...), false)
	})
}

// Whatever two upstreams say, the caller of the first who is given on to the
// second gets whole events, numbers that go up, and one end.
func FuzzGraft(f *testing.F) {
	f.Add(framed(begun, msgOn, textOn, hello), framed(begun, msgOn, textOn, world, msgOff, end))
	f.Add(framed(begun), framed(`{"type":"response.output_item.added","output_index":7,"item":{"type":"function_call"}}`, `{"type":"response.function_call_arguments.delta","output_index":7,"delta":"{"}`, bare))
	f.Fuzz(func(t *testing.T, first, second string) {
		w := Room{}.Writer(nil).(*writer)
		var out []byte
		run := func(stream string, graft bool) {
			read := Room{}.Reader(&wire.Request{Stream: true}, nil)
			events := sse.NewReader(strings.NewReader(stream), 0)
			for {
				ev, err := events.Next()
				if ev != nil {
					sig := read.Event(ev)
					if graft {
						out = append(out, w.Graft(ev, &sig, true)...)
					} else {
						out = append(out, w.Event(ev, &sig)...)
					}
				}
				if err != nil {
					return
				}
			}
		}
		run(framed(begun)+first, false) // nobody takes over a stream that has not begun
		w.Hold()
		out = append(out, w.Text([]byte("x"))...)
		run(second, true)
		checkCaller(t, append(out, w.Close(&wire.Note{Rescued: true})...), false)
	})
}

// A body that is taken stays JSON whatever is done to it, and its prompt can
// be written again.
func FuzzRequest(f *testing.F) {
	f.Add([]byte(simple))
	f.Add([]byte(`{"model":"m","instructions":"i","input":[{"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,aGk="}]},{"id":"rs_backstop_1","type":"reasoning","summary":[{"type":"summary_text","text":"t"}],"encrypted_content":"e"},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"o"}],"tools":[{"type":"function","name":"f","parameters":{}}],"text":{"format":{"type":"json_schema","name":"n","schema":{}}},"reasoning":{"effort":"low"},"store":false}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, fail := Room{}.Read(wire.Responses, body)
		if fail != nil {
			return
		}
		u := backstop.Upstream{Vendor: "openai", Dialect: backstop.OpenAI, Quirks: backstop.Quirks{DropParams: []string{"user"}, SetParams: map[string]any{"max_tokens": 3}}}
		s := backstop.Step{Model: "other", Without: []string{"reasoning", "instructions"}}
		if out, cannot := (Room{}).Outbound(r, &u, &s); cannot == nil && !json.Valid(out.Body) {
			t.Fatalf("sent: %s", out.Body)
		}
		if more, cannot := (Room{}).Continue(r, &u, "m", []byte("a")); cannot == nil && !json.Valid(more.Body) {
			t.Fatalf("went on with: %s", more.Body)
		}
		p, fail := Room{}.ToHub(r)
		if fail != nil {
			return
		}
		out, losses := Room{}.FromHub(p, &u, &s)
		if len(losses.Cannot) > 0 {
			return
		}
		if _, fail := (Room{}).Read(wire.Responses, out.Body); fail != nil {
			t.Fatalf("%s became %s: %v", body, out.Body, fail)
		}
	})
}

// Plain bodies: decoded, edited, mended and annotated they stay JSON.
func FuzzBody(f *testing.F) {
	f.Add([]byte(`{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"a"}]},{"type":"function_call","arguments":"{"}],"usage":{}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		a := &wire.Reply{Status: 200, Dialect: backstop.Responses, Caller: backstop.Responses, Surface: wire.SurfaceBody, Body: body}
		if o := (Room{}).JudgeBody(nil, a); o.Class == 0 {
			t.Fatal("no verdict")
		}
		list := Room{}.Pieces(body)
		for i := range list {
			list[i].Text, list[i].Cut = "x\xff\n", true
		}
		for _, out := range [][]byte{Room{}.Annotate(body, &wire.Note{Stale: 1}), Room{}.Replace(body, "x\xff\n"), Room{}.Mend(body, list)} {
			if json.Valid(body) && !json.Valid(out) {
				t.Fatalf("%s became %s", body, out)
			}
		}
		if m, ok := (Room{}).DecodeBody(body); ok {
			if out, ok := (Room{}).EncodeBody(m); ok && !json.Valid(out) {
				t.Fatalf("%s became %s", body, out)
			}
		}
	})
}
