package gemini

import (
	"encoding/json"
	"strings"
	"testing"

	"backstop"
	"backstop/sse"
	"backstop/wire"
)

// Whatever a stream holds, the reader gives a legal verdict, the caller gets
// events that its SDK reads, and the aggregate is JSON.
func FuzzStream(f *testing.F) {
	f.Add(framed(thought, hello, world, signed, called, stopped), true)
	f.Add(framed(hello, overload), false)
	f.Add(framed(`{"candidates":[{"index":9,"content":{"parts":[{"functionCall":{"name":"f"}}]},"logprobsResult":{"a":[1]}}]}`, endsWith("stop")), true)
	f.Add("event: x\ndata: {\"candidates\":[{\"content\":\ndata: {\"parts\":[]}}]}\n\n", true)
	f.Fuzz(func(t *testing.T, stream string, streaming bool) {
		p := play(t, stream, streaming, true)
		if p.Outcome.Class == 0 {
			t.Fatal("no verdict")
		}
		checkCaller(t, p.Caller)
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
// events again, of one line each; grafted ones too.
func FuzzDecoder(f *testing.F) {
	f.Add(framed(thought, hello, world, signed, called, stopped))
	f.Add(framed(`{"promptFeedback":{"blockReason":"SAFETY"}}`))
	f.Add(framed(`{"candidates":[{"index":1,"content":{"parts":[{"functionCall":{"name":"f","args":[1]}}]},"finishReason":"MAX_TOKENS"}]}`))
	f.Fuzz(func(t *testing.T, stream string) {
		b, w := wire.NewBridge(Room{}, Room{}, wire.Head{ID: "m"}), Room{}.Writer(nil)
		g := Room{}.Writer(nil).(wire.Grafter)
		var out, grafted []byte
		events := sse.NewReader(strings.NewReader(stream), 0)
		for {
			ev, err := events.Next()
			if ev != nil {
				for _, e := range b.Event(ev, nil) {
					if !json.Valid(e.Data) || strings.ContainsAny(string(e.Data), "\r\n") {
						t.Fatalf("%q", e.Data)
					}
					out = append(out, w.Event(&sse.Event{Data: e.Data}, nil)...)
				}
				grafted = append(grafted, g.Graft(ev, nil, true)...)
			}
			if err != nil {
				break
			}
		}
		for _, e := range b.End() {
			out = append(out, w.Event(&sse.Event{Data: e.Data}, nil)...)
		}
		checkCaller(t, append(out, w.Close(&wire.Note{Stale: 1})...))
		checkCaller(t, append(grafted, g.(wire.StreamWriter).Close(nil)...))
	})
}

// A body that is taken stays JSON whatever is done to it, and its prompt can
// be written again.
func FuzzRequest(f *testing.F) {
	f.Add([]byte(simple), "gemini-2.5-flash")
	f.Add([]byte(`{"model":"m","system_instruction":{"parts":{"text":"s"}},"contents":[{"parts":[{"inline_data":{"mime_type":"image/png","data":"aGk="}}]},{"role":"model","parts":[{"text":"t","thought":true},{"functionCall":{"name":"f"},"thoughtSignature":"c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="}]},{"parts":[{"functionResponse":{"name":"f","response":{"output":"x"}}}]}],"tools":[{"functionDeclarations":[{"name":"f","parameters":{"type":"OBJECT","nullable":true,"anyOf":[{}]}}]}],"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["f"]}},"generationConfig":{"responseMimeType":"application/json","responseSchema":{"type":"STRING"},"thinkingConfig":{"thinkingBudget":5},"topK":1}}`), "../x")
	f.Fuzz(func(t *testing.T, body []byte, model string) {
		r, fail := Room{}.Read(wire.Chat, body)
		if fail != nil {
			return
		}
		if p := r.Promise.Schema; p != nil && !json.Valid(p) {
			t.Fatalf("promised: %s", p)
		}
		u := backstop.Upstream{Vendor: "gemini", BaseURL: "https://x", Quirks: backstop.Quirks{DropParams: []string{"top_k"}, SetParams: map[string]any{"seed": 1}, Prefill: true}}
		s := backstop.Step{Model: model, Without: []string{"generationConfig.topP", "labels", "systemInstruction"}}
		if out, cannot := (Room{}).Outbound(r, &u, &s); cannot == nil {
			path, _, _ := strings.Cut(out.Path, "?")
			if !json.Valid(out.Body) || strings.Contains(path, "..") && strings.Contains(path, "/../") || strings.ContainsAny(path, "%?#\\ \r\n") {
				t.Fatalf("sent: %s %s", out.Path, out.Body)
			}
		}
		s.Model = "gemini-3-flash"
		p, fail := Room{}.ToHub(r)
		if fail != nil {
			return
		}
		out, losses := Room{}.FromHub(p, &u, &s)
		if len(losses.Cannot) > 0 {
			return
		}
		if _, fail := (Room{}).Read(wire.Chat, out.Body); fail != nil {
			t.Fatalf("%s became %s: %v", body, out.Body, fail)
		}
	})
}

// Plain bodies: decoded, edited and annotated they stay JSON.
func FuzzBody(f *testing.F) {
	f.Add([]byte(`{"candidates":[{"content":{"parts":[{"text":"a"},{"text":"b","thoughtSignature":"s"},{"functionCall":{"name":"f","args":{}}}]},"finishReason":"x"}],"usageMetadata":{}}`))
	f.Add([]byte(`{"candidates":[{"content":{"parts":[{"text":"a"},{"text":"b"}]}}],"x_backstop":1}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		a := &wire.Reply{Status: 200, Dialect: backstop.Gemini, Caller: backstop.Gemini, Surface: wire.SurfaceBody, Body: body}
		if o := (Room{}).JudgeBody(nil, a); o.Class == 0 {
			t.Fatal("no verdict")
		}
		pieces := Room{}.Pieces(body)
		for i := range pieces {
			pieces[i].Text, pieces[i].Cut = `{"x":"\n"}`, true
		}
		for _, out := range [][]byte{Room{}.Annotate(body, &wire.Note{Stale: 1}), Room{}.Replace(body, "x\xff\n"), Room{}.Mend(body, pieces)} {
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
