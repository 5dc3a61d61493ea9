package backstophttp

import (
	"errors"
	"strings"
	"testing"

	"backstop"
	"backstop/jsonfix"
)

func TestPromisedJSON(t *testing.T) {
	asStream := strings.Replace(asJSON, `{`, `{"stream":true,`, 1)
	for name, c := range map[string]struct {
		text, want, tier, repaired string
	}{
		"valid JSON stays":           {`{"a":1}`, `{"a":1}`, "primary", ""},
		"a fence is taken off":       {"```json\n{\"a\":1}\n```", `{"a":1}`, "primary", "fence"},
		"a bare fence is taken off":  {"```\n{\"a\":1}\n```", `{"a":1}`, "primary", "fence"},
		"prose goes to the backup":   {`Sure! Here it is.`, `{"b":2}`, "backup", ""},
		"an array is no JSON object": {`[1]`, `{"b":2}`, "backup", ""},
	} {
		for form, request := range map[string]string{"unary": asJSON, "stream": asStream} {
			t.Run(name+", "+form, func(t *testing.T) {
				in(t, setup{primary: answers(good(c.text)...), backup: answers(good(`{"b":2}`)...)}, func(h *house) {
					p, ev := h.call(request)
					h.want(p, 200, c.tier)
					if got := strings.ReplaceAll(p.String(), `\"`, `"`); !strings.Contains(got, `"content":"`+c.want+`"`) || strings.Contains(got, "```") {
						t.Errorf("got %s", got)
					}
					if p.header.Get("X-Backstop-Repaired") != c.repaired || strings.Join(ev.Repaired, ",") != c.repaired {
						t.Errorf("repaired %q, event %v", p.header.Get("X-Backstop-Repaired"), ev.Repaired)
					}
					if c.tier == "backup" && (ev.Attempts[0].Outcome.Reason() != "garbled/json" || ev.Attempts[0].Outcome.Counts != backstop.CountsQuality) {
						t.Errorf("outcome %+v", ev.Attempts[0].Outcome)
					}
				})
			})
		}
	}
}

func TestTruncatedJSONIsNeverAskedAgainAtTheSamePlace(t *testing.T) {
	in(t, setup{primary: answers(role, token(`{"name":"Jo`), finish("length"), done), backup: answers(good(`{"b":2}`)...),
		change: func(p *backstop.Plan) { p.Upstreams[0].Retry.Max = 2 }}, func(h *house) {
		p, ev := h.call(asJSON)
		h.want(p, 200, "backup")
		if ev.Attempts[0].Outcome.Reason() != "garbled/truncated" || h.saw("primary") != 1 {
			t.Errorf("event %+v", ev)
		}
	})
}

// mustHave is the smallest schema: an object with one member.
type mustHave string

func (m mustHave) Shape() *jsonfix.Shape {
	s, _ := jsonfix.NewShape([]byte(`{"type":"object"}`))
	return s
}

func (m mustHave) Validate(doc []byte) []jsonfix.Violation {
	if strings.Contains(string(doc), `"`+string(m)+`":`) {
		return nil
	}
	return []jsonfix.Violation{{Path: "/" + string(m), Reason: "required"}}
}

// compiled takes every schema for one that wants the member b.
func compiled([]byte) (jsonfix.Schema, error) { return mustHave("b"), nil }

func alwaysB(p *backstop.Plan) {
	p.Routes[0].JSON.Always, p.Routes[0].JSON.Schema = true, []byte(`{"type":"object","required":["b"]}`)
}

func TestARoutesSchemaIsCheckedAndTheViolationsAreAskedAbout(t *testing.T) {
	in(t, setup{primary: answers(good(`{"a":1}`)...), backup: answers(good(`{"b":2}`)...), options: Options{Schema: compiled}, change: alwaysB}, func(h *house) {
		p, ev := h.call(unary)
		h.want(p, 200, "backup")
		if len(ev.Attempts) != 3 || h.saw("primary") != 2 {
			t.Errorf("%d attempts, the primary saw %d", len(ev.Attempts), h.saw("primary"))
		}
		if again := h.bodies["primary"]; !strings.Contains(again, `\"/b\": required`) || strings.Contains(again, `{\"a\":1}`) {
			t.Errorf("the second question is %s", again)
		}
	})
}

func TestASchemaThatCannotBeUsedIsReportedAndHoldsNothingUp(t *testing.T) {
	broken := func([]byte) (jsonfix.Schema, error) { return nil, errors.New("no") }
	in(t, setup{primary: answers(good(`{"a":1}`)...), options: Options{Schema: broken}, change: alwaysB}, func(h *house) {
		p, _ := h.call(unary)
		h.want(p, 200, "primary")
		if p.header.Get("X-Backstop-Unvalidated") != "schema" {
			t.Errorf("headers %v", p.header)
		}
	})
}

func TestWithoutAPromiseNothingIsTouched(t *testing.T) {
	in(t, setup{primary: answers(good("```json\n{}\n```")...)}, func(h *house) {
		p, _ := h.call(unary)
		h.want(p, 200, "primary")
		if !strings.Contains(p.String(), "```json") {
			t.Errorf("got %s", p)
		}
	})
}

func TestPromisedJSONFromTheTemplate(t *testing.T) {
	in(t, setup{}, func(h *house) {
		p, _ := h.call(asJSON)
		h.want(p, 200, "local")
		if !strings.Contains(p.String(), `{\"busy\":true}`) {
			t.Errorf("got %s", p)
		}
	})
}
