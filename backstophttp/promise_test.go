package backstophttp

import (
	"errors"
	"strings"
	"testing"

	"backstop"
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

func TestARoutesSchemaIsAskedThroughValidate(t *testing.T) {
	schema := []byte(`{"type":"object","required":["b"]}`)
	validate := func(s, doc []byte) error {
		if string(s) != string(schema) || !strings.Contains(string(doc), `"b"`) {
			return errors.New("b is missing")
		}
		return nil
	}
	in(t, setup{primary: answers(good(`{"a":1}`)...), backup: answers(good(`{"b":2}`)...), options: Options{Validate: validate},
		change: func(p *backstop.Plan) {
			p.Routes[0].JSON.Always, p.Routes[0].JSON.Schema = true, schema
		}}, func(h *house) {
		p, _ := h.call(unary)
		h.want(p, 200, "backup")
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
