package anthropic

import (
	"strings"
	"testing"

	"backstop"
	"backstop/wire"
	"backstop/wire/internal/roomtest"
)

func TestRecordedAnswersGetTheirVerdict(t *testing.T) {
	seen := 0
	for _, j := range roomtest.Answers(t) {
		if j.Dialect != "anthropic" || j.Surface == "http" {
			continue
		}
		seen++
		t.Run(j.ID, func(t *testing.T) {
			if strings.HasPrefix(j.Surface, "stream-") {
				r := Room{}.Reader(&wire.Request{Op: wire.Chat, Stream: true}, j.Reply(backstop.Anthropic, backstop.Anthropic, wire.SurfaceFirst))
				j.Check(t, roomtest.Verdict(r, j.Body))
			} else {
				j.Check(t, Room{}.JudgeBody(nil, j.Reply(backstop.Anthropic, backstop.Anthropic, wire.SurfaceBody)))
			}
		})
	}
	if seen < 3 {
		t.Errorf("%d answers of this dialect", seen)
	}
}

func TestBodiesAreJudged(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"an answer":          {`{"content":[{"type":"text","text":"a"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":2}}`, "ok"},
		"a tool call":        {`{"content":[{"type":"tool_use","id":"1","name":"f","input":{}}],"stop_reason":"tool_use"}`, "ok"},
		"cut at the limit":   {`{"content":[],"stop_reason":"max_tokens"}`, "ok"},
		"nothing":            {`{"content":[],"stop_reason":"end_turn"}`, "garbled/blank"},
		"an empty text":      {`{"content":[{"type":"text","text":""}],"stop_reason":"end_turn"}`, "garbled/blank"},
		"thinking alone":     {`{"content":[{"type":"thinking","thinking":"x"}],"stop_reason":"end_turn"}`, "garbled/blank"},
		"an error in a 200":  {`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, "broken/overload"},
		"an unknown reason":  {`{"content":[{"type":"text","text":"a"}],"stop_reason":"network_error"}`, "broken/server"},
		"a page":             {`<html><body>502</body></html>`, "garbled/html"},
		"another dialect":    {`{"choices":[]}`, "garbled/protocol"},
		"an empty body":      {``, "garbled/empty"},
		"content is a text":  {`{"content":"a"}`, "garbled/protocol"},
		"nested without end": {strings.Repeat("[", 100000), "garbled/protocol"},
	} {
		t.Run(name, func(t *testing.T) {
			a := &wire.Reply{Status: 200, Dialect: backstop.Anthropic, Caller: backstop.Anthropic, Surface: wire.SurfaceBody, Body: []byte(c.body)}
			if o := (Room{}).JudgeBody(nil, a); o.Reason() != c.want {
				t.Errorf("%s, want %s", o.Reason(), c.want)
			}
		})
	}
	count := &wire.Request{Op: wire.CountTokens}
	if o := (Room{}).JudgeBody(count, &wire.Reply{Status: 200, Surface: wire.SurfaceBody, Body: []byte(`{"input_tokens":3}`)}); o.Class != backstop.OK {
		t.Errorf("a count: %+v", o)
	}
	if o := (Room{}).JudgeBody(count, &wire.Reply{Status: 200, Surface: wire.SurfaceBody, Body: []byte(`{"tokens":3}`)}); o.Class == backstop.OK {
		t.Errorf("no count: %+v", o)
	}
}
