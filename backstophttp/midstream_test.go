package backstophttp

import (
	"encoding/json"
	"strings"
	"testing"

	"backstop"
)

// faultEvents are errors as upstreams put them into their streams, by dialect.
var faultEvents = map[backstop.Dialect]map[string]string{
	backstop.OpenAI: {
		"down":     `{"error":{"message":"down","type":"server_error","code":503}}`,
		"failed":   `{"error":{"message":"oops","type":"server_error","code":"internal_error"}}`,
		"limited":  `{"error":{"message":"slow down","type":"rate_limit_error","code":"rate_limit_exceeded"}}`,
		"used up":  `{"error":{"message":"no credit left","type":"insufficient_quota","code":"insufficient_quota"}}`,
		"refused":  `{"error":{"message":"bad key","type":"authentication_error","code":"invalid_api_key"}}`,
		"unasked":  `{"error":{"message":"bad thing","type":"invalid_request_error","code":"invalid_value"}}`,
		"too long": `{"error":{"message":"too long","type":"invalid_request_error","code":"context_length_exceeded"}}`,
	},
	backstop.Anthropic: {
		"down":     `{"type":"error","error":{"type":"overloaded_error","message":"down"}}`,
		"failed":   `{"type":"error","error":{"type":"api_error","message":"oops"}}`,
		"limited":  `{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}`,
		"used up":  `{"type":"error","error":{"type":"billing_error","message":"no credit left"}}`,
		"refused":  `{"type":"error","error":{"type":"authentication_error","message":"bad key"}}`,
		"unasked":  `{"type":"error","error":{"type":"invalid_request_error","message":"bad thing"}}`,
		"too long": `{"type":"error","error":{"type":"request_too_large","message":"too long"}}`,
	},
	backstop.Gemini: {
		"down":     `{"error":{"code":503,"message":"down","status":"UNAVAILABLE"}}`,
		"failed":   `{"error":{"code":500,"message":"oops","status":"INTERNAL"}}`,
		"limited":  `{"error":{"code":429,"message":"slow down","status":"RESOURCE_EXHAUSTED"}}`,
		"used up":  `{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details","status":"RESOURCE_EXHAUSTED"}}`,
		"refused":  `{"error":{"code":403,"message":"bad key","status":"PERMISSION_DENIED"}}`,
		"unasked":  `{"error":{"code":400,"message":"bad thing","status":"INVALID_ARGUMENT"}}`,
		"too long": `{"error":{"code":400,"message":"The input token count (9) exceeds the maximum number of tokens allowed (8)","status":"INVALID_ARGUMENT"}}`,
	},
	backstop.Responses: {
		"down":     `{"type":"error","sequence_number":9,"code":"server_is_overloaded","message":"down","param":null}`,
		"failed":   `{"type":"error","sequence_number":9,"code":"server_error","message":"oops","param":null}`,
		"limited":  `{"type":"error","sequence_number":9,"code":"rate_limit_exceeded","message":"slow down","param":null}`,
		"used up":  `{"type":"error","sequence_number":9,"code":"insufficient_quota","message":"no credit left","param":null}`,
		"refused":  `{"type":"error","sequence_number":9,"code":"invalid_api_key","message":"bad key","param":null}`,
		"unasked":  `{"type":"error","sequence_number":9,"code":"invalid_prompt","message":"bad thing","param":null}`,
		"too long": `{"type":"error","sequence_number":9,"code":"context_length_exceeded","message":"too long","param":null}`,
	},
}

// fault is an error event of the dialect, framed.
func (g fixture) fault(name string) string {
	data := faultEvents[g.room.Dialect()][name]
	switch g.room.Dialect() {
	case backstop.Anthropic, backstop.Responses:
		return "event: error\ndata: " + data + "\n\n"
	}
	return "data: " + data + "\n\n"
}

// word is the kind of an error, in the words of a dialect: that, and the number
// beside it, which stands for the status.
func (g fixture) word(t *testing.T, data string) string {
	t.Helper()
	var e struct {
		Error struct {
			Type, Status string
			Code         any
		}
	}
	if err := json.Unmarshal([]byte(data), &e); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	if g.room.Dialect() == backstop.Gemini {
		n, _ := json.Marshal(e.Error.Code)
		return string(n) + " " + e.Error.Status
	}
	return e.Error.Type
}

// lastData is the data of the last event of a stream.
func lastData(stream string) string {
	_, data, _ := strings.Cut(stream[strings.LastIndex(stream, "data: "):], "data: ")
	return strings.TrimSpace(data)
}

func TestAnErrorInAStreamSaysWhatItsStatusWouldHaveSaid(t *testing.T) {
	alone := func(p *backstop.Plan) {
		p.Routes[0].Tiers = p.Routes[0].Tiers[:1]
		p.Upstreams[0].Retry.Max = 0
	}
	everyPair(t, func(t *testing.T, caller, up fixture) {
		for name := range faultEvents[up.room.Dialect()] {
			t.Run(name, func(t *testing.T) {
				var before, after string
				var status int
				in(t, setup{primary: answers(up.fault(name)), change: speak(up, up, alone)}, func(h *house) {
					p, _ := h.ask(caller, question(true))
					before, status = caller.word(t, p.String()), p.status
				})
				in(t, setup{primary: answers(up.begins([]string{"The ", "quick"}, up.fault(name))...), change: speak(up, up, alone)}, func(h *house) {
					p, ev := h.ask(caller, question(true))
					after = caller.word(t, lastData(p.String()))
					if ev.Failure == nil || ev.Failure.Status != status || p.status != 200 {
						t.Errorf("%d before the first token, behind it %+v\n%s", status, ev.Failure, p)
					}
				})
				if before != after {
					t.Errorf("%q before the first token, %q behind it (%d)", before, after, status)
				}
			})
		}
	})
}

func TestARejectionKeepsItsCodeForCallersOfEitherOpenAIForm(t *testing.T) {
	const said = `{"error":{"message":"too long","type":"invalid_request_error","param":"input","code":"context_length_exceeded"}}`
	for _, from := range []backstop.Dialect{backstop.OpenAI, backstop.Responses} {
		for _, to := range []backstop.Dialect{backstop.OpenAI, backstop.Responses} {
			forms(t, func(t *testing.T, stream bool) {
				caller, up := fixtureOf(from), fixtureOf(to)
				in(t, setup{primary: body(400, said), change: speak(up, up, withoutTemplate)}, func(h *house) {
					if p, _ := h.ask(caller, question(stream)); p.status != 400 || p.String() != said {
						t.Errorf("%s caller, %s upstream: %d %s", from, to, p.status, p)
					}
				})
			})
		}
	}
}

func TestAModelThatIsNotThereIsToldTheNextCallerToo(t *testing.T) {
	everyPair(t, func(t *testing.T, caller, up fixture) {
		gone := map[backstop.Dialect]string{
			backstop.Anthropic: `{"type":"error","error":{"type":"not_found_error","message":"model: m"}}`,
			backstop.Gemini:    `{"error":{"code":404,"message":"models/m is not found for API version v1beta","status":"NOT_FOUND"}}`,
		}[up.room.Dialect()]
		if gone == "" {
			gone = `{"error":{"message":"The model m does not exist","type":"invalid_request_error","param":null,"code":"model_not_found"}}`
		}
		in(t, setup{primary: body(404, gone), change: speak(up, up, func(p *backstop.Plan) { p.Routes[0].Tiers = p.Routes[0].Tiers[:1] })}, func(h *house) {
			first, _ := h.ask(caller, question(false))
			again, ev := h.ask(caller, question(true))
			if first.status != 404 || again.status != 404 || h.saw("primary") != 1 || caller.word(t, first.String()) != caller.word(t, again.String()) {
				t.Errorf("%d %s\n%d %s", first.status, first, again.status, again)
			}
			if ev.Failure == nil || ev.Failure.Code != backstop.CodeUpstreamRejected || again.header.Get("Retry-After") != "" || !strings.Contains(again.String(), "no model of that name") {
				t.Errorf("%+v %v\n%s", ev.Failure, again.header, again)
			}
		})
	})
}
