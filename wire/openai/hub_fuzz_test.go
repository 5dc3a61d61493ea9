package openai

import (
	"bytes"
	"encoding/json"
	"testing"

	"backstop"
	"backstop/sse"
	"backstop/wire"
)

// A request that is taken can be told in the hub and written again, or what
// cannot is named.
func FuzzHubRequest(f *testing.F) {
	f.Add([]byte(`{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}}]},{"role":"assistant","content":null,"refusal":"r","tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"1","content":"x"},{"role":"user","content":"b"}],"tools":[{"type":"function","function":{"name":"f","parameters":{}}}],"stop":"x","response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{}}}}`))
	f.Add([]byte(`{"model":"m","messages":[{"content":[1,{"type":"x"}]},{"role":"tool"}],"tools":[1],"stop":[2],"temperature":"x","logit_bias":{},"modalities":[]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, fail := Room{}.Read(wire.Chat, body)
		if fail != nil {
			return
		}
		p, fail := Room{}.ToHub(r)
		if fail != nil {
			return
		}
		u := backstop.Upstream{Vendor: "deepseek"}
		out, losses := Room{}.FromHub(p, &u, &backstop.Step{Model: "other", Without: []string{"user"}})
		if len(losses.Cannot) > 0 {
			return
		}
		if _, fail := (Room{}).Read(wire.Chat, out.Body); fail != nil {
			t.Fatalf("%s became %s: %v", body, out.Body, fail)
		}
	})
}

// Whatever an upstream says, the deltas that are decoded from it make chunks
// again, of one line each, and one end; in another writer's stream too.
func FuzzDecoder(f *testing.F) {
	f.Add([]byte(framed(good...)))
	f.Add([]byte(framed(ch(`{"tool_calls":[{"index":9,"id":"t","function":{"name":"f","arguments":"{"}},{"index":9,"id":"u","function":{"name":"g"}}]}`, `"tool_calls"`))))
	f.Add([]byte(framed(`{"choices":[{"index":127,"delta":{"reasoning":"r","content":[{"text":"a"}],"refusal":"no"},"finish_reason":"x","usage":{"prompt_tokens":1}}]}`, "[DONE]", tok("b"))))
	f.Fuzz(func(t *testing.T, stream []byte) {
		b, w := wire.NewBridge(Room{}, Room{}, wire.Head{ID: "m"}), Room{}.Writer(streamRequest())
		var out []byte
		write := func(list []wire.Framed) {
			for i := range list {
				e := &list[i]
				if end := e.Kind == wire.Terminal; e.Name != "" || end != bytes.Equal(e.Data, doneWord) || !end && !json.Valid(e.Data) || bytes.ContainsAny(e.Data, "\r\n") {
					t.Fatalf("%q", e.Data)
				}
				out = append(out, w.Event(&sse.Event{Data: e.Data}, &wire.Signal{Kind: e.Kind})...)
			}
		}
		events := sse.NewReader(bytes.NewReader(stream), 0)
		for {
			ev, err := events.Next()
			if ev != nil {
				write(b.Event(ev, nil))
			}
			if err != nil {
				break
			}
		}
		write(b.End())
		checkCaller(t, append(out, w.Close(&wire.Note{Stale: 1})...))
	})
}

// A plain body that is decoded is a body again.
func FuzzHubBody(f *testing.F) {
	f.Add([]byte(`{"id":"c","choices":[{"message":{"content":[{"type":"text","text":"a"}],"reasoning":"x","tool_calls":[{"id":1,"function":{}}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens_details":{"reasoning_tokens":2}}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		m, ok := Room{}.DecodeBody(body)
		if !ok {
			return
		}
		if out, ok := (Room{}).EncodeBody(m); !ok || !json.Valid(out) {
			t.Fatalf("%s became %s", body, out)
		}
	})
}
