package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"testing"
	"time"
	"unicode/utf8"

	"backstop"
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

var testNow = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

func readJudged(t *testing.T, path string) []judged {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var list []judged
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var j judged
		if err := json.Unmarshal(lines.Bytes(), &j); err != nil {
			t.Fatal(err)
		}
		list = append(list, j)
	}
	return list
}

func (j *judged) reply(s Surface) *Reply {
	h := http.Header{}
	for k, v := range j.Headers {
		h.Set(k, v)
	}
	return &Reply{
		Vendor: j.Vendor, Dialect: backstop.Dialect(j.Dialect), Caller: backstop.Dialect(j.Dialect), Surface: s,
		Status: j.Status, Header: h, Body: []byte(j.Body), Now: testNow,
	}
}

func (j *judged) check(t *testing.T, o backstop.Outcome) {
	t.Helper()
	got := j.Want
	got.Outcome, got.Kind, got.RetrySame, got.NextTier = o.Class.String(), string(o.Kind), o.RetrySame, o.NextTier
	if o.Class == backstop.OK {
		got.Kind = "ok"
	}
	got.ParkMS = nil
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
		t.Errorf("%s\n got %s\nwant %s\nbody %.300s", j.ID, a, b, j.Body)
	}
}

func TestJudgeGivesTheRecordedVerdictOnEveryErrorStatus(t *testing.T) {
	for _, path := range []string{"openai/testdata/upstream-answers.jsonl", "openai/testdata/upstream-answers-more.jsonl"} {
		for _, j := range readJudged(t, path) {
			if j.Surface != "http" {
				continue
			}
			t.Run(j.ID, func(t *testing.T) { j.check(t, Judge(j.reply(SurfaceHTTP))) })
		}
	}
}

func TestJudgeGivesTheRecordedVerdictOnErrorEventsOfOtherDialects(t *testing.T) {
	for _, j := range readJudged(t, "openai/testdata/upstream-answers.jsonl") {
		s, ok := map[string]Surface{"stream-first": SurfaceFirst, "stream-mid": SurfaceMid}[j.Surface]
		if !ok || j.Dialect == "openai" {
			continue
		}
		t.Run(j.ID, func(t *testing.T) {
			a := j.reply(s)
			a.Body = a.Body[bytes.LastIndex(a.Body, []byte("data: "))+len("data: "):]
			j.check(t, Judge(a))
		})
	}
}

func TestJudgeTellsTheCaller(t *testing.T) {
	for name, c := range map[string]struct {
		status           int
		body             string
		message, param   string
		noStream, passed bool
		caller           backstop.Dialect
		reason           string
	}{
		"its own parameter in its own shape":    {status: 400, body: `{"error":{"message":"Unknown parameter: 'foo'.","type":"invalid_request_error","param":"foo","code":"unknown_parameter"}}`, message: "Unknown parameter: 'foo'.", param: "foo", passed: true},
		"not in the shape of another dialect":   {status: 400, body: `{"error":{"message":"bad"}}`, message: "bad", caller: backstop.Anthropic},
		"the parameter of a list of violations": {status: 422, body: `{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","store"],"msg":"Extra inputs are not permitted"}]}}`, message: "store: Extra inputs are not permitted", param: "store"},
		"the parameter that only words name":    {status: 400, body: `{"error":{"message":"invalid temperature: only 1 is allowed for this model","type":"invalid_request_error"}}`, message: "invalid temperature: only 1 is allowed for this model", param: "temperature", passed: true},
		"the parameter in single quotes":        {status: 400, body: `{"error":"Unsupported parameter: 'seed'"}`, message: "Unsupported parameter: 'seed'", param: "seed"},
		"a property that is not there":          {status: 400, body: `{"error":{"message":"property 'logit_bias' is unsupported"}}`, message: "property 'logit_bias' is unsupported", param: "logit_bias", passed: true},
		"a parameter in backticks":              {status: 422, body: "{\"error\":\"Input validation error: `temperature` must be strictly positive\",\"error_type\":\"validation\"}", message: "Input validation error: `temperature` must be strictly positive", param: "temperature"},
		"that streaming is what is wrong":       {status: 400, body: `{"error":{"message":"Your organization must be verified to stream this model.","type":"invalid_request_error","param":"stream","code":"unsupported_value"}}`, message: "Your organization must be verified to stream this model.", param: "stream", noStream: true, passed: true},
		"that streaming is not supported":       {status: 400, body: `{"error":{"message":"This model does not support streaming"}}`, message: "This model does not support streaming", noStream: true, passed: true},
		"that only streaming is supported":      {status: 400, body: `{"error":{"message":"This model only support stream mode"}}`, message: "This model only support stream mode", passed: true},
		"nothing of a page":                     {status: 400, body: `<html><h1>bad key sk-1</h1></html>`},
		"one line without control characters":   {status: 400, body: `{"detail":"a\u0000b\r\n\tc\u202ed"}`, message: "a b cd"},
		"no credential":                         {status: 400, body: `{"detail":"bad key sk-abcdefgh12345678 of org-x12345678"}`, message: "bad key [secret] of [secret]"},
		"nothing about limits":                  {status: 429, body: `{"error":{"message":"org-secret123 is over its limit"}}`, reason: "limited/rate"},
		"nothing about faults":                  {status: 500, body: `{"error":{"message":"panic at 10.0.0.1"}}`, reason: "broken/server"},
	} {
		t.Run(name, func(t *testing.T) {
			caller := c.caller
			if caller == "" {
				caller = backstop.OpenAI
			}
			reason := c.reason
			if reason == "" {
				reason = "rejected/param"
			}
			o := Judge(&Reply{Dialect: backstop.OpenAI, Caller: caller, Surface: SurfaceHTTP, Status: c.status, Body: []byte(c.body)})
			if o.Message != c.message || o.Param != c.param || o.NoStream != c.noStream || o.Passthrough != c.passed || o.Reason() != reason {
				t.Errorf("got %+v", o)
			}
			if o.Passthrough != (o.Body != nil) || o.Passthrough && string(o.Body) != c.body {
				t.Errorf("body %q", o.Body)
			}
		})
	}
}

func TestJudgeGivesAnErrorInsideA200TheStatusItStandsFor(t *testing.T) {
	for body, want := range map[string]int{
		`{"error":{"message":"m","code":529}}`:                          529,
		`{"error":{"message":"m","code":"server_is_overloaded"}}`:       503,
		`{"error":{"message":"m","type":"invalid_request_error"}}`:      400,
		`{"error":{"message":"m","code":"insufficient_quota"}}`:         429,
		`{"error":{"message":"m","code":404,"type":"not_found_error"}}`: 404,
		`{"error":{"message":"context length exceeded","code":500}}`:    400,
		`not json`: 200,
	} {
		if o := Judge(&Reply{Surface: SurfaceBody, Status: 200, Body: []byte(body)}); o.Status != want {
			t.Errorf("%s: got %d %s, want %d", body, o.Status, o.Reason(), want)
		}
	}
}

func TestJudgeSurvivesDeepNesting(t *testing.T) {
	body := bytes.Repeat([]byte{'['}, 1<<20)
	for _, s := range []Surface{SurfaceHTTP, SurfaceBody} {
		Judge(&Reply{Surface: s, Status: 500, Body: body})
		Judge(&Reply{Surface: s, Status: 500, Body: append([]byte(`{"error":`), body...)})
	}
}

func FuzzJudgeIsTotal(f *testing.F) {
	data, err := os.ReadFile("openai/testdata/upstream-answers.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	for _, line := range bytes.Split(data, []byte{'\n'}) {
		var j judged
		if json.Unmarshal(line, &j) == nil {
			f.Add([]byte(j.Body), j.Vendor, j.Status, "text/html", "")
		}
	}
	f.Fuzz(func(t *testing.T, body []byte, vendor string, status int, kind, event string) {
		for s := SurfaceHTTP; s <= SurfaceMid; s++ {
			a := &Reply{
				Vendor: vendor, Dialect: backstop.OpenAI, Caller: backstop.OpenAI, Surface: s, Status: status, Event: event, Body: body, Now: testNow,
				Header: http.Header{"Content-Type": {kind}, "Retry-After": {event}},
			}
			if why := illegal(a, Judge(a)); why != "" {
				t.Fatalf("%s: surface %d status %d body %q", why, s, status, body)
			}
		}
	})
}

// illegal names what no outcome of the Judge may be.
func illegal(a *Reply, o backstop.Outcome) string {
	reply := o.Class == backstop.Refused || o.Class == backstop.Rejected
	switch {
	case o.Class != backstop.Limited && o.Class != backstop.Broken && o.Class != backstop.Garbled && !reply:
		return "class " + o.Class.String()
	case o.Kind == "":
		return "no kind"
	case len(o.Message) > maxMessage || !utf8.ValidString(o.Message):
		return "message"
	case !reply && (o.Message != "" || o.Passthrough || o.Param != ""):
		return "words of an upstream's own trouble"
	case o.Passthrough != (o.Body != nil):
		return "body"
	case o.Hint < 0 || o.Hint > maxHint || o.HasHint && o.Park == backstop.ParkNone:
		return "hint"
	case a.Surface == SurfaceMid && (o.RetrySame || o.NextTier):
		return "a tier after the first token"
	case reply && (o.RetrySame || o.Counts != backstop.CountsNone):
		return "a request's fault held against the upstream"
	case o.Class == backstop.Limited && (o.Counts != backstop.CountsNone || o.RetrySame):
		return "a limit held against the upstream"
	}
	return ""
}

func ExampleJudge() {
	o := Judge(&Reply{
		Vendor: "dashscope", Dialect: backstop.OpenAI, Caller: backstop.OpenAI, Surface: SurfaceHTTP, Status: 429,
		Header: http.Header{"Retry-After": {"7"}},
		Body:   []byte(`{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}`),
	})
	fmt.Println(o.Reason(), o.Hint)
	// Output: limited/rate 7s
}

// Status 451 is a filter of StepFun's, whose answer has the form of the API; a
// page or a word without that form is a wall in front of the upstream.
func TestALegalWallIsNoFilter(t *testing.T) {
	for body, want := range map[string]backstop.Kind{
		`{"error":{"message":"blocked","type":"censorship_block"}}`:          backstop.KindFilter,
		`{"error":{"message":"the content you gave is blocked"}}`:            backstop.KindFilter,
		`{"error":{"message":"this model is not available in your region"}}`: backstop.KindAuth,
		"<!DOCTYPE html><html><title>451</title></html>":                     backstop.KindAuth,
		"Unavailable For Legal Reasons\n":                                    backstop.KindAuth,
		"":                                                                   backstop.KindAuth,
	} {
		for _, vendor := range []string{"stepfun", "openai", "generic", "one-api"} {
			o := Judge(&Reply{Vendor: vendor, Dialect: backstop.OpenAI, Caller: backstop.OpenAI, Surface: SurfaceHTTP, Status: 451, Header: http.Header{}, Body: []byte(body), Now: testNow})
			if o.Kind != want || o.NextTier == (want == backstop.KindFilter) {
				t.Errorf("%s of %s: %s/%s, next tier %v", body, vendor, o.Class, o.Kind, o.NextTier)
			}
		}
	}
}
