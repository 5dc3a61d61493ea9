package wire_test

import (
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// What an asker says between two results of tools comes behind both: all
// dialects but Responses refuse another order.
func TestResultsOfToolsComeBeforeOtherWords(t *testing.T) {
	for name, c := range map[string]struct{ from, body string }{
		"one content of Gemini": {"gemini", `{"contents":[{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"functionCall":{"id":"a","name":"f","args":{}}},{"functionCall":{"id":"b","name":"g","args":{}}}]},
			{"role":"user","parts":[{"functionResponse":{"id":"a","name":"f","response":{"output":"first"}}},{"text":"said between"},{"functionResponse":{"id":"b","name":"g","response":{"output":"second"}}},{"text":"said behind"}]}]}`},
		"contents of Gemini, and words before": {"gemini", `{"contents":[{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"functionCall":{"id":"a","name":"f","args":{}}},{"functionCall":{"id":"b","name":"g","args":{}}}]},
			{"role":"user","parts":[{"text":"said between"},{"functionResponse":{"id":"a","name":"f","response":{"output":"first"}}}]},{"role":"user","parts":[{"text":"said behind"},{"functionResponse":{"id":"b","name":"g","response":{"output":"second"}}}]}]}`},
		"Anthropic": {"anthropic", `{"max_tokens":9,"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}},{"type":"tool_use","id":"b","name":"g","input":{}}]},
			{"role":"user","content":[{"type":"text","text":"said between"},{"type":"tool_result","tool_use_id":"a","content":"first"},{"type":"text","text":"said behind"},{"type":"tool_result","tool_use_id":"b","content":"second"}]}]}`},
		"items of Responses": {"responses", `{"input":[{"role":"user","content":"go"},{"type":"function_call","call_id":"a","name":"f","arguments":"{}"},{"type":"function_call","call_id":"b","name":"g","arguments":"{}"},
			{"type":"function_call_output","call_id":"a","output":"first"},{"role":"user","content":"said between"},{"type":"function_call_output","call_id":"b","output":"second"},{"role":"developer","content":"said behind"}]}`},
	} {
		for to := range rooms {
			if to == c.from || to == "responses" {
				continue
			}
			body := c.body
			if c.from != "gemini" {
				body = `{"model":"m",` + body[1:]
			}
			out, losses := hub(t, c.from, to, []byte(body), nil)
			text := string(out.Body)
			last := -1
			for _, word := range []string{"go", "first", "second", "said between", "said behind"} {
				at := strings.Index(text, word+`"`)
				if len(losses.Cannot) > 0 || at < last {
					t.Errorf("%s to %s: %v %s", name, to, losses, text)
					break
				}
				last = at
			}
			if to == "anthropic" {
				if n := gjson.Get(text, `messages.2.content.#(type=="tool_result")#`).Array(); len(n) != 2 {
					t.Errorf("%s: results of one step are in several messages: %s", name, text)
				}
			}
		}
	}
}

// A talk in the middle of a tool's use has no thinking that the API would
// take: none is asked for, whatever stands behind the results.
func TestThinkingIsNotAskedForBehindCallsWithoutIt(t *testing.T) {
	for name, c := range map[string]struct {
		behind string
		thinks bool
	}{
		"results alone":         {``, false},
		"words behind":          {`,{"role":"user","content":"go on"}`, false},
		"an answer, and words":  {`,{"role":"assistant","content":"done"},{"role":"user","content":"go on"}`, true},
		"an instruction behind": {`,{"role":"developer","content":"be quick"}`, false},
	} {
		body := `{"model":"m","reasoning_effort":"high","messages":[{"role":"user","content":"go"},{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"1","content":"x"}` + c.behind + `]}`
		out, losses := hub(t, "openai", "anthropic", []byte(body), nil)
		if got := gjson.GetBytes(out.Body, "thinking.type").Str == "enabled"; got != c.thinks || !got && !strings.Contains(strings.Join(losses.Left, " "), "reasoning_effort") {
			t.Errorf("%s: %v %s", name, losses, out.Body)
		}
	}
}
