package openai

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

// judged is one line of a file of upstream answers: what came, and what it is.
type judged struct {
	ID      string            `json:"id"`
	Vendor  string            `json:"vendor"`
	Surface string            `json:"surface"`
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
	Dialect string            `json:"dialect"`
	Want    struct {
		Outcome   string   `json:"outcome"`
		Kind      string   `json:"kind"`
		ParkMS    *float64 `json:"park_ms"`
		ParkScope string   `json:"park_scope"`
		Counts    string   `json:"counts"`
		RetrySame bool     `json:"retry_same"`
		NextTier  bool     `json:"next_tier"`
		Caller    string   `json:"caller"`
	} `json:"want"`
}

func readJudged(t testing.TB) []judged {
	t.Helper()
	var list []judged
	for _, path := range []string{"testdata/upstream-answers.jsonl", "testdata/upstream-answers-more.jsonl"} {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for lines := bufio.NewScanner(bytes.NewReader(b)); lines.Scan(); {
			var j judged
			if err := json.Unmarshal(lines.Bytes(), &j); err != nil {
				t.Fatal(err)
			}
			list = append(list, j)
		}
	}
	return list
}

func (j *judged) reply(s wire.Surface) *wire.Reply {
	h := http.Header{}
	for k, v := range j.Headers {
		h.Set(k, v)
	}
	return &wire.Reply{
		Vendor: j.Vendor, Dialect: backstop.OpenAI, Caller: backstop.OpenAI, Surface: s, Status: j.Status, Header: h,
		Body: []byte(j.Body), Now: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC),
	}
}

func (j *judged) check(t *testing.T, o backstop.Outcome) {
	t.Helper()
	got := j.Want
	got.Outcome, got.Kind, got.RetrySame, got.NextTier, got.ParkMS = o.Class.String(), string(o.Kind), o.RetrySame, o.NextTier, nil
	if o.Class == backstop.OK {
		got.Kind = "ok"
	}
	if o.HasHint {
		ms := float64(o.Hint) / float64(time.Millisecond)
		got.ParkMS = &ms
	}
	got.ParkScope = [...]string{"none", "key", "upstream"}[o.Park]
	got.Counts = [...]string{"none", "endpoint", "model", "quality"}[o.Counts]
	got.Caller = "translated"
	if o.Passthrough {
		got.Caller = "passthrough"
	}
	a, _ := json.Marshal(got)
	b, _ := json.Marshal(j.Want)
	if string(a) != string(b) {
		t.Errorf("got %s\nwant %s\nbody %.300s", a, b, j.Body)
	}
}

func TestJudgeBodyGivesTheRecordedVerdict(t *testing.T) {
	for _, j := range readJudged(t) {
		if j.Dialect == "openai" && j.Surface == "body-200" {
			t.Run(j.ID, func(t *testing.T) { j.check(t, Room{}.JudgeBody(&wire.Request{}, j.reply(wire.SurfaceBody))) })
		}
	}
}

func TestJudgeEventGivesTheRecordedVerdict(t *testing.T) {
	for _, j := range readJudged(t) {
		surface, ok := map[string]wire.Surface{"stream-first": wire.SurfaceFirst, "stream-mid": wire.SurfaceMid}[j.Surface]
		if j.Dialect == "openai" && ok {
			t.Run(j.ID, func(t *testing.T) { j.check(t, judgeStream(j.reply(surface))) })
		}
	}
}

// judgeStream judges every event until one is a fault.
func judgeStream(a *wire.Reply) backstop.Outcome {
	o := wire.Good(a, true)
	for _, raw := range strings.SplitAfter(string(a.Body), "\n\n") {
		ev := parseEvent(raw)
		if ev.Comment {
			continue
		}
		part := *a
		part.Event, part.Body = ev.Name, ev.Data
		if o = JudgeEvent(&wire.Request{Stream: true}, &part); o.Class != backstop.OK {
			return o
		}
	}
	return o
}

func parseEvent(raw string) sse.Event {
	ev := sse.Event{Raw: []byte(raw), Comment: true}
	for _, line := range strings.Split(raw, "\n") {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "event":
			ev.Name = value
		case "data":
			ev.Data, ev.Comment = []byte(value), false
		}
	}
	return ev
}

func TestJudgeBodyOf(t *testing.T) {
	answer := func(message, finish string) string {
		return `{"id":"c","choices":[{"index":0,"message":` + message + `,"finish_reason":` + finish + `}],"usage":{"prompt_tokens":7,"completion_tokens":3}}`
	}
	for name, c := range map[string]struct {
		body, want string
		as         bool // passed on as it is
		status     int
	}{
		"text is ok":                                {answer(`{"content":"hi"}`, `"stop"`), "ok", true, 200},
		"text without a finish reason is ok":        {answer(`{"content":"hi"}`, `null`), "ok", true, 200},
		"blank lines in front are no fault":         {"\n\n \n" + answer(`{"content":"hi"}`, `"stop"`), "ok", true, 200},
		"a vendor's own finish word must be edited": {answer(`{"content":"hi"}`, `"eos_token"`), "ok", false, 200},
		"content parts are ok":                      {answer(`{"content":[{"type":"text","text":"x"}]}`, `"stop"`), "ok", true, 200},
		"audio is ok":                               {answer(`{"content":null,"audio":{"id":"a"}}`, `"stop"`), "ok", true, 200},
		"an old function call is ok":                {answer(`{"content":null,"function_call":{"name":"f"}}`, `"function_call"`), "ok", true, 200},
		"nothing at the length limit is ok":         {answer(`{"content":""}`, `"length"`), "ok", true, 200},
		"nothing at all is blank":                   {answer(`{"content":""}`, `"stop"`), "garbled/blank", false, 200},
		"reasoning alone is blank":                  {answer(`{"content":"","reasoning_content":"x"}`, `"stop"`), "garbled/blank", false, 200},
		"a filtered answer is a refusal":            {answer(`{"content":""}`, `"content_filter"`), "refused/filter", true, 200},
		"a sensitive answer must be edited":         {answer(`{"content":""}`, `"sensitive"`), "refused/filter", false, 200},
		"an unknown finish reason is a fault":       {answer(`{"content":"hi"}`, `"weird"`), "garbled/protocol", false, 200},
		"a choice without message is no answer":     {`{"choices":[{"index":0}]}`, "garbled/protocol", false, 200},
		"a text completion is ok":                   {`{"choices":[{"text":"x","finish_reason":"stop"}]}`, "ok", true, 200},
		"one good choice of two is ok":              {`{"choices":[{"message":{"content":""},"finish_reason":"content_filter"},{"message":{"content":"x"},"finish_reason":"stop"}]}`, "ok", true, 200},
		"an error beside choices is an error":       {`{"choices":[{"message":{"content":"x"}}],"error":{"message":"m","code":502}}`, "broken/server", false, 502},
		"an error in a choice is an error":          {`{"choices":[{"error":{"message":"m","code":429},"finish_reason":"error"}]}`, "limited/rate", false, 429},
		"an empty error is none":                    {`{"choices":[{"message":{"content":"x"}}],"error":{}}`, "ok", true, 200},
		"no embeddings are no answer":               {`{"object":"list","data":[]}`, "garbled/protocol", false, 200},
		"an unknown error is the upstream's":        {`{"error":{"code":"1305x","message":"m"}}`, "broken/server", false, 500},
		"an error without status gets one":          {`{"error":{"type":"invalid_request_error","message":"bad"}}`, "rejected/param", true, 400},
		"base_resp needs no profile":                {`{"base_resp":{"status_code":1008,"status_msg":"m"}}`, "limited/quota", false, 429},
		"a cut body is no answer":                   {`{"choices":[{"message":{"content":"x`, "garbled/protocol", false, 200},
		"an array is no answer":                     {`[1]`, "garbled/protocol", false, 200},
		"nothing is empty":                          {" \n\n", "garbled/empty", false, 200},
		"a page is html":                            {"<html>", "garbled/html", false, 200},
		"a failed response is its error":            {`{"object":"response","status":"failed","error":{"code":"server_error","message":"m"},"output":[]}`, "broken/server", false, 500},
		"a filtered response is a refusal":          {`{"object":"response","status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[]}`, "refused/filter", true, 200},
		"a response without output is blank":        {`{"object":"response","status":"completed","output":[]}`, "garbled/blank", false, 200},
	} {
		t.Run(name, func(t *testing.T) {
			a := &wire.Reply{Vendor: "generic", Dialect: backstop.OpenAI, Caller: backstop.OpenAI, Surface: wire.SurfaceBody, Status: 200, Body: []byte(c.body)}
			o := Room{}.JudgeBody(nil, a)
			if o.Reason() != c.want || o.Passthrough != c.as || o.Status != c.status {
				t.Errorf("got %s %v %d, want %s %v %d", o.Reason(), o.Passthrough, o.Status, c.want, c.as, c.status)
			}
		})
	}
}

func TestJudgeBodyCountsTokensOfFaultsToo(t *testing.T) {
	a := &wire.Reply{Surface: wire.SurfaceBody, Status: 200, Body: []byte(`{"choices":[{"message":{"content":""},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":0}}`)}
	if o := (Room{}).JudgeBody(nil, a); o.InputTokens != 7 || o.OutputTokens != 0 {
		t.Errorf("got %d %d", o.InputTokens, o.OutputTokens)
	}
	a.Body = []byte(`{"choices":[{"message":{"content":"x"}}]}`)
	if o := (Room{}).JudgeBody(nil, a); o.InputTokens != -1 || o.OutputTokens != -1 {
		t.Errorf("got %d %d, want not reported", o.InputTokens, o.OutputTokens)
	}
}

func FuzzJudgeBodyIsTotal(f *testing.F) {
	for _, j := range readJudged(f) {
		f.Add([]byte(j.Body), j.Vendor, "")
	}
	f.Add([]byte(`{"choices":[{"message":{"content":"\u00`), "openai", "error")
	f.Fuzz(func(t *testing.T, body []byte, vendor, event string) {
		for s := wire.SurfaceBody; s <= wire.SurfaceMid; s++ {
			a := &wire.Reply{Vendor: vendor, Dialect: backstop.OpenAI, Caller: backstop.OpenAI, Surface: s, Status: 200, Event: event, Body: body}
			o := JudgeEvent(nil, a)
			if s == wire.SurfaceBody {
				o = Room{}.JudgeBody(nil, a)
			}
			if o.Class < backstop.OK || o.Class > backstop.Canceled || len(o.Message) > 512 || o.Hint < 0 || o.Hint > 24*time.Hour {
				t.Fatalf("illegal outcome %+v", o)
			}
			if s == wire.SurfaceMid && (o.RetrySame || o.NextTier) {
				t.Fatalf("a tier after the first token: %+v", o)
			}
		}
	})
}

// answer1KiB is a good answer of about 1 KiB.
var answer1KiB = []byte(`{"id":"chatcmpl-1","object":"chat.completion","created":1764417600,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"` +
	strings.Repeat("All is well here. ", 40) + `"},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":160,"total_tokens":170}}`)

func BenchmarkJudgeBody1KiB(b *testing.B) {
	a := &wire.Reply{Vendor: "openai", Dialect: backstop.OpenAI, Caller: backstop.OpenAI, Surface: wire.SurfaceBody, Status: 200, Body: answer1KiB}
	b.ReportAllocs()
	for b.Loop() {
		if o := (Room{}).JudgeBody(nil, a); o.Class != backstop.OK {
			b.Fatal(o.Class)
		}
	}
}

// BenchmarkValid1KiB is what a check of the syntax alone costs.
func BenchmarkValid1KiB(b *testing.B) {
	for b.Loop() {
		if !json.Valid(answer1KiB) {
			b.Fatal("invalid")
		}
	}
}
