package wire_test

import (
	"encoding/json"
	"strings"
	"testing"

	"backstop"
)

// What an answer in JSON is for is told to the model in every dialect, also
// where the schema has no place of its own for it.
func TestWhatAnAnswerIsForIsTold(t *testing.T) {
	const about = `a city and its \"mayor\"`
	for name, schema := range map[string]string{
		"a schema":               `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`,
		"one that says more":     `{"description":"own words","type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`,
		"one that nobody builds": `{"type":"object","properties":{"a":{"type":"string","pattern":"^x","minLength":2}},"patternProperties":{"b":{}}}`,
		"an empty one":           ` { }`,
	} {
		for from, body := range map[string]string{
			"openai":    `{"model":"m","messages":[{"role":"user","content":"hi"}],"response_format":{"type":"json_schema","more":1,"json_schema":{"name":"n","description":"` + about + `","schema":` + schema + `,"more":1}}}`,
			"responses": `{"model":"m","input":"hi","text":{"format":{"type":"json_schema","name":"n","description":"` + about + `","schema":` + schema + `,"more":1}}}`,
		} {
			for to := range rooms {
				if to == from {
					continue
				}
				for _, model := range []string{"", "claude-3-5-haiku", "gemini-1.5-pro"} {
					var s *backstop.Step
					if model != "" {
						s = &backstop.Step{Model: model}
					}
					out, losses := hub(t, from, to, []byte(body), s)
					plain := strings.ReplaceAll(string(out.Body), `\`, "")
					if len(losses.Cannot) > 0 || !json.Valid(out.Body) || !strings.Contains(plain, `a city and its "mayor"`) || strings.Contains(schema, "own words") && !strings.Contains(plain, "own words") {
						t.Errorf("%s, %s to %s %s: %+v %s", name, from, to, model, losses, out.Body)
					}
					if want := map[string]string{"openai": "response_format.more response_format.json_schema.more", "responses": "text.format.more"}[from]; !strings.HasPrefix(strings.Join(losses.Left, " "), want) {
						t.Errorf("%s, %s to %s: %q, want %q", name, from, to, losses.Left, want)
					}
				}
			}
		}
	}
}
