package gemini

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"backstop"
	"backstop/sse"
	"backstop/wire"
)

// judged is one line of the file of upstream answers that all rooms share.
type judged struct {
	ID, Vendor, Surface, Body, Dialect string

	Status  int
	Headers map[string]string
	Want    struct {
		Outcome, Kind, Counts, Caller string

		ParkMS    *int64 `json:"park_ms"`
		RetrySame bool   `json:"retry_same"`
		NextTier  bool   `json:"next_tier"`
	}
}

func (j *judged) reply(s wire.Surface) *wire.Reply {
	h := http.Header{}
	for k, v := range j.Headers {
		h.Set(k, v)
	}
	return &wire.Reply{
		Vendor: j.Vendor, Dialect: backstop.Gemini, Caller: backstop.Gemini, Surface: s,
		Status: j.Status, Header: h, Body: []byte(j.Body), Now: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC),
	}
}

// verdict runs an answer through whatever part of the room sees it first.
func (j *judged) verdict() backstop.Outcome {
	switch {
	case j.Surface == "http":
		return wire.Judge(j.reply(wire.SurfaceHTTP))
	case !strings.HasPrefix(j.Surface, "stream-"):
		return Room{}.JudgeBody(nil, j.reply(wire.SurfaceBody))
	}
	r := Room{}.Reader(&wire.Request{Op: wire.Chat, Stream: true}, j.reply(wire.SurfaceFirst))
	events := sse.NewReader(strings.NewReader(j.Body), 0)
	for {
		ev, err := events.Next()
		if ev != nil && r.Event(ev).Kind == wire.Fault || err != nil {
			return r.End(true)
		}
	}
}

func TestRecordedAnswersGetTheirVerdict(t *testing.T) {
	b, err := os.ReadFile("../openai/testdata/upstream-answers.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for lines := bufio.NewScanner(bytes.NewReader(b)); lines.Scan(); {
		var j judged
		if err := json.Unmarshal(lines.Bytes(), &j); err != nil {
			t.Fatal(err)
		}
		if j.Dialect != "gemini" {
			continue
		}
		seen++
		t.Run(j.ID, func(t *testing.T) {
			o, w := j.verdict(), j.Want
			if o.Class.String() != w.Outcome || string(o.Kind) != w.Kind || o.RetrySame != w.RetrySame || o.NextTier != w.NextTier ||
				(o.Counts != backstop.CountsNone) != (w.Counts != "none") || o.Passthrough != (w.Caller == "passthrough") {
				t.Errorf("%+v, want %+v", o, w)
			}
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
