package anthropic

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

		RetrySame bool `json:"retry_same"`
		NextTier  bool `json:"next_tier"`
	}
}

func (j *judged) reply(s wire.Surface) *wire.Reply {
	h := http.Header{}
	for k, v := range j.Headers {
		h.Set(k, v)
	}
	return &wire.Reply{
		Vendor: j.Vendor, Dialect: backstop.Anthropic, Caller: backstop.Anthropic, Surface: s,
		Status: j.Status, Header: h, Body: []byte(j.Body), Now: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC),
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
		if j.Dialect != "anthropic" || j.Surface == "http" {
			continue
		}
		seen++
		t.Run(j.ID, func(t *testing.T) {
			var o backstop.Outcome
			if strings.HasPrefix(j.Surface, "stream-") {
				r := Room{}.Reader(&wire.Request{Op: wire.Chat, Stream: true}, j.reply(wire.SurfaceFirst))
				events := sse.NewReader(strings.NewReader(j.Body), 0)
				for {
					ev, err := events.Next()
					if ev != nil && r.Event(ev).Kind == wire.Fault || err != nil {
						break
					}
				}
				o = r.End(true)
			} else {
				o = Room{}.JudgeBody(nil, j.reply(wire.SurfaceBody))
			}
			w := j.Want
			if o.Class.String() != w.Outcome || string(o.Kind) != w.Kind || o.RetrySame != w.RetrySame || o.NextTier != w.NextTier ||
				(o.Counts != backstop.CountsNone) != (w.Counts != "none") || o.Passthrough != (w.Caller == "passthrough") {
				t.Errorf("%+v, want %+v", o, w)
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
