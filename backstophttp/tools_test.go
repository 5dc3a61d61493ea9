package backstophttp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"backstop"
	"backstop/jsonfix"
)

// withCity offers one tool whose parameters are a city and a number of days.
const withCity = `{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"f","parameters":` +
	`{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}},"required":["city"]}}}]}`

// cityAndDays is the schema of these parameters.
type cityAndDays struct{ source []byte }

func (c cityAndDays) Shape() *jsonfix.Shape {
	s, _ := jsonfix.NewShape(c.source)
	return s
}

func (c cityAndDays) Validate(doc []byte) (list []jsonfix.Violation) {
	var v struct {
		City *string
		Days json.RawMessage
	}
	if json.Unmarshal(doc, &v) != nil || v.City == nil {
		list = append(list, jsonfix.Violation{Path: "/city", Reason: "required"})
	}
	if len(v.Days) > 0 && v.Days[0] == '"' {
		list = append(list, jsonfix.Violation{Path: "/days", Reason: "type"})
	}
	return list
}

func checked() Options {
	return Options{Schema: func(source []byte) (jsonfix.Schema, error) { return cityAndDays{source}, nil }}
}

func TestArgumentsFollowTheParametersOfTheTool(t *testing.T) {
	for name, c := range map[string]struct {
		first, later string // arguments
		want         string
		asked        int
	}{
		"as they should be":              {`{"city":"Oslo"}`, ``, `{"city":"Oslo"}`, 1},
		"a number written as a string":   {`{"city":"Oslo","days":"3"}`, ``, `{"city":"Oslo","days":3}`, 1},
		"a missing member":               {`{"days":3}`, `{"city":"Rome"}`, `{"city":"Rome"}`, 2},
		"a value that no rule turns":     {`{"city":"Oslo","days":"a few"}`, `{"city":"Rome"}`, `{"city":"Rome"}`, 2},
		"none where some are due":        {``, `{"city":"Rome"}`, `{"city":"Rome"}`, 2},
		"broken twice: the next tier":    {`{"days":3}`, `{"days":4}`, `{"city":"Bern"}`, 2},
		"another tool than was offered":  {"g", ``, `{}`, 1},
		"broken, and nobody may mend it": {"off", ``, `{"days":3}`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			first, later := calling("tool_calls", c.first), calling("tool_calls", c.later)
			off := false
			switch c.first {
			case "":
				first = calling("tool_calls")
			case "g":
				first = calling("tool_calls", `{}`)
				first[1] = strings.Replace(first[1], `"name":"f"`, `"name":"g"`, 1)
			case "off":
				first, off = calling("tool_calls", `{"days":3}`), true
			}
			in(t, setup{primary: turns(answers(first...), answers(later...)), backup: answers(calling("tool_calls", `{"city":"Bern"}`)...), options: checked(),
				change: func(p *backstop.Plan) { p.Routes[0].JSON.Repair = !off }}, func(h *house) {
				p, _ := h.call(withCity)
				if !strings.Contains(p.String(), `"arguments":`+quoted(c.want)) || h.saw("primary") != c.asked {
					t.Errorf("%d questions\n%s", h.saw("primary"), p)
				}
			})
		})
	}
}

func TestAStreamedCallFailsForItsSchemaOnlyWhereThatWasToBeKept(t *testing.T) {
	for name, c := range map[string]struct {
		strict string
		fails  bool
	}{"strict": {`"strict":true,`, true}, "not strict": {``, false}} {
		t.Run(name, func(t *testing.T) {
			in(t, setup{primary: answers(calling("tool_calls", `{"days":3}`)...), options: checked()}, func(h *house) {
				request := strings.Replace(strings.Replace(withCity, `"name":"f",`, `"name":"f",`+c.strict, 1), `{"model":"m",`, `{"model":"m","stream":true,`, 1)
				p, ev := h.call(request)
				if got := strings.Contains(p.String(), "json_invalid"); got != c.fails || c.fails != (ev.Failure != nil) {
					t.Errorf("failure %v\n%s", ev.Failure, p)
				}
			})
		})
	}
}

func TestACallThatNobodyMakesRightIsItsCallersToJudgeUnlessTheToolIsStrict(t *testing.T) {
	broken := answers(calling("tool_calls", `{"days":3}`)...)
	for name, c := range map[string]struct{ ask, want string }{
		"not strict": {withCity, `"arguments":` + quoted(`{"days":3}`)},
		"strict":     {strings.Replace(withCity, `"parameters"`, `"strict":true,"parameters"`, 1), `backstop-template`},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, setup{primary: broken, backup: broken, options: checked()}, func(h *house) {
				p, ev := h.call(c.ask)
				if p.status != 200 || !strings.Contains(p.String(), c.want) || ev.Calls() > 4 {
					t.Errorf("%d attempts\n%s", ev.Calls(), p)
				}
			})
		})
	}
}

func TestASchemaOnWhichTheCompilerFailsIsNone(t *testing.T) {
	fails := Options{Schema: func([]byte) (jsonfix.Schema, error) { panic("not ours") }}
	for name, request := range map[string]string{"unary": withCity, "stream": strings.Replace(withCity, `{`, `{"stream":true,`, 1)} {
		in(t, setup{primary: answers(calling("tool_calls", `{"days":3}`)...), options: fails}, func(h *house) {
			p, ev := h.call(request)
			if !strings.Contains(p.String(), `{\"days\":3}`) || ev.Calls() != 1 || ev.Tier != "primary" {
				t.Errorf("%s: %d questions\n%s", name, ev.Calls(), p)
			}
		})
	}
}

// Of several answers in one stream each may call a tool, and any of them may be
// the one that was cut.
func TestTheToolCallsOfSeveralAnswersAreMendedEach(t *testing.T) {
	say := func(choice int, delta, finish string) string {
		return voiceP.chunk(fmt.Sprintf(`[{"index":%d,"delta":%s,"finish_reason":%s}]`, choice, delta, finish), "")
	}
	call := func(choice int, arguments string) string {
		return say(choice, `{"tool_calls":[{"index":0,"id":"t","type":"function","function":{"name":"f","arguments":`+quoted(arguments)+`}}]}`, "null")
	}
	whole := call(0, `{"a":1}`)
	for name, c := range map[string]struct {
		other     string // what the second answer calls
		becomes   string // "" = the backup's
		finish    string
		truncated bool
	}{
		"valid":    {`{"a": 2}`, `{"a": 2}`, "tool_calls", false},
		"damaged":  {`{'a':2}`, `{"a":2}`, "tool_calls", false},
		"cut":      {`{"a":"x`, `{"a":"x"}`, "length", true},
		"hopeless": {`{"a":now()}`, "", "", false},
	} {
		forms(t, func(t *testing.T, stream bool) {
			request := strings.Replace(withTools, "{", fmt.Sprintf(`{"n":2,"stream":%v,`, stream), 1)
			script := []string{whole, call(1, c.other), say(0, "{}", `"tool_calls"`), say(1, "{}", `"tool_calls"`), done}
			mark := func(p *backstop.Plan) { p.Routes[0].JSON.Truncated, p.Routes[0].JSON.Invalid = "mark", "next" }
			in(t, setup{primary: answers(script...), backup: answers(good("B")...), change: mark}, func(h *house) {
				p, ev := h.call(request)
				got := p.String()
				if stream {
					got = string(fixtureOf(backstop.OpenAI).sum(got))
				}
				if c.becomes == "" {
					h.want(p, 200, "backup")
					return
				}
				h.want(p, 200, "primary")
				_, second, _ := strings.Cut(got, `"index":1`)
				if !strings.Contains(second, quoted(c.becomes)) || !strings.Contains(second, `"finish_reason":"`+c.finish+`"`) || ev.Truncated != c.truncated || strings.Contains(p.String(), `"truncated":true`) != c.truncated {
					t.Errorf("%s: truncated %v\n%s", name, ev.Truncated, p)
				}
			})
		})
	}
}
