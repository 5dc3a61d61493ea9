package gemini

import (
	"testing"

	"backstop"
	"backstop/sse"
	"backstop/wire"
)

func TestACallWithoutANameIsNone(t *testing.T) {
	part := func(call string) string {
		return `{"candidates":[{"content":{"parts":[{"functionCall":` + call + `}],"role":"model"},"finishReason":"STOP"}],"responseId":"r"}`
	}
	for name, c := range map[string]struct {
		call, outcome string
		told          int
	}{
		"with a name":                 {`{"name":"f","args":{"a":1}}`, "ok", 1},
		"without":                     {`{"args":{"a":1}}`, "garbled/blank", 0},
		"with an empty one":           {`{"name":"","args":{"a":1}}`, "garbled/blank", 0},
		"arguments that are streamed": {`{"partialArgs":[{"jsonPath":"$.a","numberValue":1}],"willContinue":true}`, "ok", 0},
	} {
		t.Run(name, func(t *testing.T) {
			body := []byte(part(c.call))
			a := &wire.Reply{Status: 200, Dialect: backstop.Gemini, Caller: backstop.Gemini, Surface: wire.SurfaceBody, Body: body}
			read := Room{}.Reader(&wire.Request{Op: wire.Chat, Stream: true}, &wire.Reply{Status: 200, Dialect: backstop.Gemini, Caller: backstop.Gemini})
			ev := &sse.Event{Data: body}
			read.Event(ev)
			if plain, streamed := (Room{}).JudgeBody(nil, a), read.End(true); plain.Reason() != c.outcome || streamed.Reason() != c.outcome {
				t.Errorf("a body is %q, a stream %q, want %q", plain.Reason(), streamed.Reason(), c.outcome)
			}
			told := 0
			for _, d := range (Room{}).Decoder().Event(ev) {
				if d.Kind == wire.DeltaCall {
					told++
				}
			}
			m, ok := Room{}.DecodeBody(body)
			if !ok || told != c.told || len(m.Choices[0].Parts) != c.told {
				t.Errorf("%d calls in a stream, a body is %+v", told, m)
			}
		})
	}
}
