package backstophttp

import (
	"strings"
	"testing"

	"backstop"
)

// An answer that only breaks a schema which its call brought is told from one
// that breaks the route's, or is no JSON.
func TestASchemaOfTheCallsOwnIsToldFromTheRoutes(t *testing.T) {
	own := strings.Replace(unary, `{`, `{"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"type":"object","required":["b"]}}},`, 1)
	streamed := func(body string) string { return strings.Replace(body, `{`, `{"stream":true,`, 1) }
	for name, c := range map[string]struct {
		body, text string
		route, own bool
	}{
		"the call's":                   {own, `{"a":1}`, false, true},
		"the call's, in a stream":      {streamed(own), `{"a":1}`, false, true},
		"the route's":                  {unary, `{"a":1}`, true, false},
		"the route's, in a stream":     {streamed(unary), `{"a":1}`, true, false},
		"no JSON":                      {own, `I cannot.`, false, false},
		"no JSON, in a stream":         {streamed(own), `I cannot.`, false, false},
		"two documents, in a stream":   {streamed(own), `{"a":1} {"c":2}`, false, false},
		"no object where one is asked": {asJSON, `[1]`, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := setup{primary: answers(voiceP.tells(c.text)...), backup: answers(voiceB.tells(`{"b":2}`)...), options: Options{Schema: compiled}}
			if c.route {
				s.change = alwaysB
			}
			in(t, s, func(h *house) {
				_, ev := h.call(c.body)
				o := &ev.Attempts[0].Outcome
				if o.Counts != backstop.CountsQuality || o.OwnSchema != c.own {
					t.Errorf("outcome %+v", o)
				}
			})
		})
	}
}
