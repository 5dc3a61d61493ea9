package anthropic

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
	f.Add(framed(start, ping, textOn, hello, world, off, endTurn, stopped), true)
	f.Add(framed(start, textOn, hello, overload), false)
	f.Add(framed(`{"type":"content_block_start","index":9,"content_block":{"type":"tool_use","id":"t","name":"f","input":{"a":1}}}`, endTurn), true)
	f.Add("event: content_block_delta\ndata: {\"index\":0,\"delta\":\ndata: {\"type\":\"text_delta\",\"text\":\"a\"}}\n\n", true)
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
	f.Add(framed(start, ping, textOn, hello, world, off, endTurn, stopped))
	f.Add(framed(`{"type":"content_block_start","index":9,"content_block":{"type":"tool_use","id":"t","name":"f","input":{"a":1}}}`, off, endTurn))
	f.Add(framed(`{"type":"content_block_start","index":0,"content_block":{"type":"redacted_thinking","data":"x"}}`, hello, stopped))
	f.Fuzz(func(t *testing.T, stream string) {
		b := wire.NewBridge(Room{}, Room{}, wire.Head{ID: "m"})
		events := sse.NewReader(strings.NewReader(stream), 0)
		var list []wire.Framed
		for {
			ev, err := events.Next()
			if ev != nil {
				list = append(list, copied(b.Event(ev, nil))...)
			}
			if err != nil {
				break
			}
		}
		list = append(list, copied(b.End())...)
		ended := false
		for _, e := range list {
			if e.Name == "" || typeOf(e.Data) != e.Name || strings.ContainsAny(string(e.Data), "\r\n") || ended {
				t.Fatalf("%s %q", e.Name, e.Data)
			}
			ended = e.Kind == wire.Terminal
		}
	})
}

// Whatever two upstreams say, the caller of the first who is given on to the
// second gets whole events and one end.
func FuzzGraft(f *testing.F) {
	f.Add(framed(start, textOn, hello), framed(start, textOn, world, off, endTurn, stopped), true)
	f.Add(framed(start, `{"type":"content_block_start","index":7,"content_block":{"type":"thinking","thinking":"a"}}`), framed(`{"type":"content_block_start","index":9,"content_block":{"type":"tool_use","id":"t","name":"f","input":{"a":1}}}`, `{"type":"content_block_delta","index":9,"delta":{"type":"input_json_delta","partial_json":"{"}}`, endTurn), false)
	f.Fuzz(func(t *testing.T, first, second string, text bool) {
		w := Room{}.Writer(nil).(*writer)
		var out []byte
		run := func(stream string, pass func(*sse.Event, *wire.Signal) []byte) {
			read, events := Room{}.Reader(&wire.Request{Stream: true}, nil), sse.NewReader(strings.NewReader(stream), 0)
			for {
				ev, err := events.Next()
				if ev != nil {
					sig := read.Event(ev)
					out = append(out, pass(ev, &sig)...)
				}
				if err != nil {
					return
				}
			}
		}
		run(framed(start)+first, w.Event) // nobody takes over a stream that has not begun
		w.Hold()
		out = append(out, w.Text([]byte("x\xff\n"))...)
		run(second, func(ev *sse.Event, sig *wire.Signal) []byte { return w.Graft(ev, sig, text) })
		checkCaller(t, append(out, w.Close(&wire.Note{Rescued: true})...), false)
	})
}

func copied(list []wire.Framed) []wire.Framed { return append([]wire.Framed(nil), list...) }

// A body that is taken stays JSON whatever is done to it, and its prompt can
// be written again.
func FuzzRequest(f *testing.F) {
	f.Add([]byte(simple))
	f.Add([]byte(`{"model":"m","max_tokens":3,"system":[{"type":"text","text":"s"}],"thinking":{"type":"adaptive"},"output_config":{"format":{"type":"json_schema","schema":{"type":"object","additionalProperties":false}},"effort":"low"},"messages":[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"https://x"}}]},{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"backstop-unsigned"},{"type":"tool_use","id":"1","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"x","is_error":true}]}],"tools":[{"name":"f","input_schema":{}}],"tool_choice":{"type":"auto","disable_parallel_tool_use":true}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, fail := Room{}.Read(wire.Chat, body)
		if fail != nil {
			return
		}
		u := backstop.Upstream{Vendor: "anthropic", Quirks: backstop.Quirks{DropParams: []string{"top_k"}, Prefill: true}}
		s := backstop.Step{Model: "claude-other", Without: []string{"thinking", "system"}}
		if out, cannot := (Room{}).Outbound(r, &u, &s); cannot == nil && !json.Valid(out.Body) {
			t.Fatalf("sent: %s", out.Body)
		}
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
	f.Add([]byte(`{"content":[{"type":"text","text":"a"},{"type":"tool_use","id":"1","name":"f","input":{}}],"stop_reason":"x","usage":{}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		a := &wire.Reply{Status: 200, Dialect: backstop.Anthropic, Caller: backstop.Anthropic, Surface: wire.SurfaceBody, Body: body}
		if o := (Room{}).JudgeBody(nil, a); o.Class == 0 {
			t.Fatal("no verdict")
		}
		for _, out := range [][]byte{Room{}.Annotate(body, &wire.Note{Stale: 1}), Room{}.Replace(body, "x\xff\n")} {
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
