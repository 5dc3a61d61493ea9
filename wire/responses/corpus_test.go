package responses

import (
	"strings"
	"testing"

	"backstop"
	"backstop/sse"
	"backstop/wire"
	"backstop/wire/internal/edit"
	"backstop/wire/internal/roomtest"
)

// An upstream of the OpenAI dialect may say in any body that something is
// wrong, whichever form it was asked in; streams are those of this form.
func TestRecordedAnswersGetTheirVerdict(t *testing.T) {
	seen := 0
	for _, j := range roomtest.Answers(t) {
		stream := strings.HasPrefix(j.Surface, "stream-") && strings.Contains(j.Body, `"response.`)
		body := j.Surface == "body-200" && (j.Want.Outcome != "ok" || strings.Contains(j.Body, `"object":"response"`)) && !strings.Contains(j.Body, `"choices"`)
		if j.Dialect != "openai" || !stream && !body {
			continue
		}
		seen++
		t.Run(j.ID, func(t *testing.T) {
			if stream {
				r := Room{}.Reader(&wire.Request{Op: wire.Responses, Stream: true}, j.Reply(backstop.OpenAI, backstop.Responses, wire.SurfaceFirst))
				j.Check(t, roomtest.Verdict(r, j.Body))
			} else {
				j.Check(t, Room{}.JudgeBody(nil, j.Reply(backstop.OpenAI, backstop.Responses, wire.SurfaceBody)))
			}
		})
	}
	if seen < 10 {
		t.Errorf("%d answers of this form", seen)
	}
}

// Servers that speak several forms have one shape for their errors.
func TestErrorsOfAnotherShapeEndAStream(t *testing.T) {
	for name, c := range map[string]struct{ event, want string }{
		"an object that is an error":  {`{"object":"error","message":"max_tokens must be at least 1, got -186.","type":"BadRequestError","param":null,"code":400}`, "rejected/param"},
		"an error object":             {`{"error":{"message":"busy","type":"server_error","code":"server_is_overloaded"}}`, "broken/overload"},
		"an error that is a text":     {`{"error":"Input validation error: ` + "`temperature`" + ` must be strictly positive","error_type":"validation"}`, "rejected/param"},
		"an error that is null":       {`{"type":"response.in_progress","error":null,"response":{}}`, "garbled/cut"},
		"an object that is no error":  {`{"type":"response.in_progress","object":"response","response":{}}`, "garbled/cut"},
		"an error beside a good type": {`{"type":"response.output_text.delta","object":"error","delta":"a"}`, "garbled/cut"},
	} {
		t.Run(name, func(t *testing.T) {
			r := Room{}.Reader(&wire.Request{Op: wire.Responses, Stream: true}, &wire.Reply{Status: 200, Dialect: backstop.OpenAI, Caller: backstop.Responses})
			r.Event(&sse.Event{Data: []byte(c.event)})
			if o := r.End(true); o.Reason() != c.want && o.Reason()+"/cut" != c.want {
				t.Errorf("%s, want %s", o.Reason(), c.want)
			}
		})
	}
}

func TestBodiesAreJudged(t *testing.T) {
	text := func(s string) string {
		return `[{"type":"message","content":[{"type":"output_text","text":` + edit.Quoted(s) + `}]}]`
	}
	for name, c := range map[string]struct{ body, want string }{
		"an answer":               {`{"status":"completed","output":` + text("a") + `,"usage":{"input_tokens":1,"output_tokens":2}}`, "ok"},
		"an answer without words": {`{"output":` + text("a") + `}`, "ok"},
		"a tool call":             {`{"status":"completed","output":[{"type":"function_call","name":"f"}]}`, "ok"},
		"a search alone":          {`{"status":"completed","output":[{"type":"web_search_call"}]}`, "ok"},
		"cut at the limit":        {`{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[]}`, "ok"},
		"filtered":                {`{"status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":` + text("a") + `}`, "refused/filter"},
		"refused":                 {`{"status":"completed","output":[{"type":"message","content":[{"type":"refusal","refusal":"no"}]}]}`, "refused/filter"},
		"nothing":                 {`{"status":"completed","output":[]}`, "garbled/blank"},
		"an empty text":           {`{"status":"completed","output":` + text("") + `}`, "garbled/blank"},
		"reasoning alone":         {`{"status":"completed","output":[{"type":"reasoning","summary":[{"type":"summary_text","text":"x"}]}]}`, "garbled/blank"},
		"failed":                  {`{"status":"failed","error":{"code":"server_error","message":"x"},"output":[]}`, "broken/server"},
		"failed without a word":   {`{"status":"failed","error":null,"output":` + text("a") + `}`, "broken/server"},
		"cancelled":               {`{"status":"cancelled","output":[]}`, "broken/server"},
		"over its rate":           {`{"error":{"code":"rate_limit_exceeded","message":"x"}}`, "limited/rate"},
		"not done":                {`{"status":"in_progress","output":[]}`, "garbled/blank"},
		"in the background":       {`{"status":"queued","background":true,"output":[]}`, "ok"},
		"a page":                  {`<html><body>502</body></html>`, "garbled/html"},
		"a chat":                  {`{"choices":[]}`, "garbled/protocol"},
		"an empty body":           {``, "garbled/empty"},
		"output is a text":        {`{"output":"a"}`, "garbled/protocol"},
		"nested without end":      {strings.Repeat("[", 100000), "garbled/protocol"},
	} {
		t.Run(name, func(t *testing.T) {
			a := &wire.Reply{Status: 200, Dialect: backstop.OpenAI, Caller: backstop.Responses, Surface: wire.SurfaceBody, Body: []byte(c.body)}
			o := Room{}.JudgeBody(nil, a)
			if o.Reason() != c.want {
				t.Errorf("%s, want %s", o.Reason(), c.want)
			}
			if c.want == "ok" && !o.Passthrough || c.want == "refused/filter" && (!o.Passthrough || string(o.Body) != c.body) {
				t.Errorf("it may not pass: %+v", o)
			}
		})
	}
}
