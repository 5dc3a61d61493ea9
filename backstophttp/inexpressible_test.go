package backstophttp

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"backstop"
	"backstop/wire"
)

func TestACallThatNoUpstreamCanTakeIsToldSoWhateverStateTheyAreIn(t *testing.T) {
	oa, an := fixtureOf(backstop.OpenAI), fixtureOf(backstop.Anthropic)
	calls := map[string]struct {
		up     fixture
		from   backstop.Dialect
		op     wire.Op
		body   string
		status int
		want   string
	}{
		"tokens that nobody counts":        {oa, backstop.Anthropic, wire.CountTokens, counting, 404, `"not_found_error"`},
		"a call that nobody has words for": {an, backstop.OpenAI, wire.Chat, threeChoices, 400, `"param":"n"`},
	}
	states := map[string]func(h *house){
		"both closed": func(*house) {},
		"both open": func(h *house) {
			for _, name := range []string{"primary", "backup"} {
				_ = h.d.Engine().Force(time.Now(), name, "open", time.Hour)
			}
		},
		"the primary open":  func(h *house) { _ = h.d.Engine().Force(time.Now(), "primary", "open", time.Hour) },
		"the backup open":   func(h *house) { _ = h.d.Engine().Force(time.Now(), "backup", "open", time.Hour) },
		"both parked":       func(h *house) { h.call(unary) },
		"both over a limit": func(h *house) { h.call(unary); h.call(unary) },
	}
	for name, c := range calls {
		for state, reach := range states {
			t.Run(name+", "+state, func(t *testing.T) {
				status, change := 200, func(*backstop.Plan) {}
				switch state {
				case "both parked":
					status = 429
				case "both over a limit":
					change = func(p *backstop.Plan) {
						for i := range p.Upstreams {
							p.Upstreams[i].Limits.Rate, p.Upstreams[i].Limits.Burst = 0.001, 1
						}
					}
				}
				up := body(status, c.up.plain(c.up.tells("hello")), "Retry-After", "60")
				in(t, setup{primary: up, backup: up, change: speak(c.up, c.up, change)}, func(h *house) {
					reach(h)
					before := h.saw("primary") + h.saw("backup")
					p, ev := h.take(c.from, c.op, c.body)
					if p.status != c.status || !strings.Contains(p.String(), c.want) || p.header.Get("Retry-After") != "" {
						t.Errorf("%d %v\n%s", p.status, p.header, p)
					}
					if h.saw("primary")+h.saw("backup") != before || ev.Calls() != 0 {
						t.Errorf("it was asked: %+v", ev)
					}
				})
			})
		}
	}
}

func TestACallThatAnOpenUpstreamCouldTakeIsNotItsCallersMistake(t *testing.T) {
	oa, an := fixtureOf(backstop.OpenAI), fixtureOf(backstop.Anthropic)
	in(t, setup{primary: body(200, plainBody("x")), backup: answers(an.tells("no")...), change: speak(oa, an)}, func(h *house) {
		_ = h.d.Engine().Force(time.Now(), "primary", "open", time.Hour)
		p, _ := h.take(backstop.OpenAI, wire.Chat, threeChoices)
		h.want(p, 200, "local")
	})
}

// namesParam is a refusal that names a parameter.
func namesParam(d backstop.Dialect, param string) string {
	switch d {
	case backstop.Anthropic:
		return `{"type":"error","error":{"type":"invalid_request_error","message":"` + param + `: Extra inputs are not permitted"}}`
	case backstop.Gemini:
		return `{"error":{"code":400,"message":"Invalid JSON payload received. Unknown name \"` + param + `\": Cannot find field.","status":"INVALID_ARGUMENT"}}`
	}
	return `{"error":{"message":"Unsupported parameter: '` + param + `'","type":"invalid_request_error","param":"` + param + `","code":"unsupported_parameter"}}`
}

func TestAParameterThatWasNotSentIsNotTakenOffASecondTime(t *testing.T) {
	everyPair(t, func(t *testing.T, caller, up fixture) {
		forms(t, func(t *testing.T, stream bool) {
			for param, asked := range map[string]int{"frobnicate": 1, "stream_options": 1, "top_p": 2, "topP": 2} {
				if param == "topP" != (up.room.Dialect() == backstop.Gemini) && param != "frobnicate" && param != "stream_options" {
					continue
				}
				refuse := func(w http.ResponseWriter, r *http.Request) {
					body(400, namesParam(up.room.Dialect(), param))(w, r)
				}
				t.Run(param, func(t *testing.T) {
					var sent []string
					in(t, setup{primary: refuse, change: speak(up, up, withoutTemplate)}, func(h *house) {
						q := question(stream)
						q.TopP = "0.5"
						p, ev := h.ask(caller, q)
						sent = append(sent, h.bodies["primary"])
						if param == "stream_options" && up.room.Dialect() == backstop.OpenAI {
							return // it was sent, or not, as the upstream is asked for a stream
						}
						if p.status != 400 || h.saw("primary") != asked || ev.Calls() != asked {
							t.Errorf("%d, asked %d times\n%s\n%s", p.status, h.saw("primary"), p, sent)
						}
					})
				})
			}
		})
	})
}
