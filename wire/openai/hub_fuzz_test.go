package openai

import (
	"encoding/json"
	"testing"

	"backstop"
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
