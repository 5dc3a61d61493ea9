package gemini

import (
	"strings"
	"testing"

	"backstop"
	"backstop/wire"
	"backstop/wire/internal/roomtest"
)

// verdict runs an answer through whatever part of the room sees it first.
func verdict(j *roomtest.Answer) backstop.Outcome {
	reply := func(s wire.Surface) *wire.Reply { return j.Reply(backstop.Gemini, backstop.Gemini, s) }
	switch {
	case j.Surface == "http":
		return wire.Judge(reply(wire.SurfaceHTTP))
	case !strings.HasPrefix(j.Surface, "stream-"):
		return Room{}.JudgeBody(nil, reply(wire.SurfaceBody))
	}
	return roomtest.Verdict(Room{}.Reader(&wire.Request{Op: wire.Chat, Stream: true}, reply(wire.SurfaceFirst)), j.Body)
}

func TestRecordedAnswersGetTheirVerdict(t *testing.T) {
	seen := 0
	for _, j := range roomtest.Answers(t) {
		if j.Dialect != "gemini" {
			continue
		}
		seen++
		t.Run(j.ID, func(t *testing.T) {
			o, w := verdict(&j), j.Want
			j.Check(t, o)
			if o.HasHint != (w.ParkMS != nil) || w.ParkMS != nil && o.Hint.Milliseconds() != *w.ParkMS {
				t.Errorf("the delay is %v", o.Hint)
			}
		})
	}
	if seen < 13 {
		t.Errorf("%d answers of this dialect", seen)
	}
}

// F-30: a candidate with a finish reason and no content is an answer; one
// without candidates is none.
func TestBodiesAreJudged(t *testing.T) {
	text := `"content":{"role":"model","parts":[{"text":"a"}]}`
	for name, c := range map[string]struct{ body, want string }{
		"an answer":               {`{"candidates":[{` + text + `,"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1}}`, "ok"},
		"a call":                  {`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f"}}]},"finishReason":"STOP"}]}`, "ok"},
		"a picture":               {`{"candidates":[{"content":{"parts":[{"inlineData":{"mimeType":"image/png","data":"aGk="}}]},"finishReason":"STOP"}]}`, "ok"},
		"cut at the limit":        {`{"candidates":[{"finishReason":"MAX_TOKENS"}]}`, "ok"},
		"nothing but the reason":  {`{"candidates":[{"finishReason":"NO_IMAGE","index":0}]}`, "refused/filter"},
		"refused":                 {`{"candidates":[{"finishReason":"SAFETY"}]}`, "refused/filter"},
		"refused in the middle":   {`{"candidates":[{` + text + `,"finishReason":"RECITATION"}]}`, "refused/filter"},
		"one of two is refused":   {`{"candidates":[{"finishReason":"SAFETY"},{` + text + `,"finishReason":"STOP","index":1}]}`, "ok"},
		"no candidates":           {`{"candidates":[],"usageMetadata":{"promptTokenCount":1}}`, "garbled/blank"},
		"usage alone":             {`{"usageMetadata":{"promptTokenCount":1}}`, "garbled/blank"},
		"an empty text":           {`{"candidates":[{"content":{"parts":[{"text":""}]},"finishReason":"STOP"}]}`, "garbled/blank"},
		"thoughts alone":          {`{"candidates":[{"content":{"parts":[{"text":"x","thought":true}]},"finishReason":"STOP"}]}`, "garbled/blank"},
		"a signature alone":       {`{"candidates":[{"content":{"parts":[{"text":"","thoughtSignature":"x"}]},"finishReason":"STOP"}]}`, "garbled/blank"},
		"blocked for no reason":   {`{"promptFeedback":{"blockReason":"BLOCKED_REASON_UNSPECIFIED"}}`, "garbled/blank"},
		"a tool nobody offered":   {`{"candidates":[{"finishReason":"UNEXPECTED_TOOL_CALL"}]}`, "garbled/json"},
		"another reason":          {`{"candidates":[{` + text + `,"finishReason":"OTHER"}]}`, "broken/server"},
		"a reason nobody knows":   {`{"candidates":[{` + text + `,"finishReason":"SUNSPOTS"}]}`, "garbled/protocol"},
		"to be continued":         {`{"candidates":[{` + text + `,"finishReason":"CONTINUATION"}]}`, "ok"},
		"an error in a 200":       {`{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}`, "broken/overload"},
		"an error beside a text":  {`{"candidates":[{` + text + `}],"error":{"code":500,"message":"x","status":"INTERNAL"}}`, "broken/server"},
		"a page":                  {`<html><body>502</body></html>`, "garbled/html"},
		"another dialect":         {`{"choices":[]}`, "garbled/protocol"},
		"an empty object":         {`{}`, "garbled/protocol"},
		"an empty body":           {``, "garbled/empty"},
		"candidates are a text":   {`{"candidates":"a"}`, "garbled/protocol"},
		"candidates given twice":  {`{"candidates":[{` + text + `}],"candidates":[]}`, "garbled/protocol"},
		"an index without bounds": {`{"candidates":[{` + text + `,"index":1e9}]}`, "garbled/protocol"},
		"nested without end":      {strings.Repeat("[", 100000), "garbled/protocol"},
	} {
		t.Run(name, func(t *testing.T) {
			a := &wire.Reply{Status: 200, Dialect: backstop.Gemini, Caller: backstop.Gemini, Surface: wire.SurfaceBody, Body: []byte(c.body)}
			if o := (Room{}).JudgeBody(nil, a); o.Reason() != c.want {
				t.Errorf("%s, want %s", o.Reason(), c.want)
			}
		})
	}
	count := &wire.Request{Op: wire.CountTokens}
	if o := (Room{}).JudgeBody(count, &wire.Reply{Status: 200, Surface: wire.SurfaceBody, Body: []byte(`{"totalTokens":3}`)}); o.Class != backstop.OK {
		t.Errorf("a count: %+v", o)
	}
	if o := (Room{}).JudgeBody(count, &wire.Reply{Status: 200, Surface: wire.SurfaceBody, Body: []byte(`{"tokens":3}`)}); o.Class == backstop.OK {
		t.Errorf("no count: %+v", o)
	}
}
