package wire_test

import (
	"strconv"
	"strings"
	"testing"

	"backstop"
)

// What a caller says inside a message, a part, a call or a result, and what only
// its dialect knows, is named as well. What SDKs send back of an earlier answer
// without saying anything by it is not.
func TestWhatElseIsSaidInTheTalkIsNamed(t *testing.T) {
	const image = `"image/png","data":"aGk="`
	for name, c := range map[string]struct{ from, body, left string }{
		"a mark on a picture":      {"openai", `{"model":"m","messages":[{"role":"user","content":[{"type":"image_url","cache_control":{"type":"ephemeral"},"image_url":{"url":"https://x","format":"image/png"}}]}]}`, "messages[0].content[0].cache_control messages[0].content[0].image_url.format"},
		"a signature of a call":    {"openai", `{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"","tool_calls":[{"index":0,"id":"1","type":"function","extra_content":{"google":{"thought_signature":"s"}},"function":{"name":"f","arguments":"{}","note":"x","blank":""}}]},{"role":"tool","tool_call_id":"1","content":"r"}]}`, "messages[1].tool_calls[0].extra_content messages[1].tool_calls[0].function.note"},
		"a mark on a result":       {"openai", `{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"1","content":"r","is_error":true,"cache_control":{}}]}`, "messages[2].is_error messages[2].cache_control"},
		"more than a user":         {"anthropic", `{"model":"m","max_tokens":9,"metadata":{"session":"s"},"messages":[{"role":"user","content":"a"}]}`, "metadata.session"},
		"of a system block":        {"anthropic", `{"model":"m","max_tokens":9,"system":[{"type":"text","text":"s","citations":[{}]}],"messages":[{"role":"user","content":"a"}]}`, "system[0].citations"},
		"of messages and blocks":   {"anthropic", `{"model":"m","max_tokens":9,"messages":[{"role":"user","pinned":true,"content":[{"type":"text","text":"a","weight":2},{"type":"image","title":"t","source":{"type":"base64","media_type":` + image + `}}]}]}`, "messages[0].pinned messages[0].content[0].weight messages[0].content[1].title"},
		"who called":               {"anthropic", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":{},"caller":{"type":"code_execution"}},{"type":"tool_use","id":"2","name":"f","input":{},"caller":{"type":"direct"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":[{"type":"text","text":"r","cache_control":{}}],"note":"n"},{"type":"tool_result","tool_use_id":"2","content":"r","is_error":false}]}]}`, "messages[1].content[0].caller messages[2].content[0].note cache_control"},
		"of items and their parts": {"responses", `{"model":"m","input":[{"type":"message","role":"user","tag":"x","content":[{"type":"input_text","text":"a","tag":1}]},{"type":"message","id":"msg_1","status":"completed","role":"assistant","phase":"commentary","content":[{"type":"output_text","text":"b","annotations":[],"logprobs":[{}]}]},{"type":"function_call","id":"fc_1","status":"completed","call_id":"1","name":"f","arguments":"{}","namespace":"n"},{"type":"function_call_output","id":"o","status":"completed","call_id":"1","output":"r","tag":1}]}`, "input[0].tag input[0].content[0].tag input[1].phase input[1].content[0].logprobs input[2].namespace input[3].tag"},
		"of Gemini's parts":        {"gemini", `{"systemInstruction":{"role":"user","parts":[{"text":"s","tag":1}]},"contents":[{"role":"user","tag":1,"parts":[{"text":"a","part_metadata":{}},{"inlineData":{"mimeType":` + image + `,"displayName":"d"},"mediaResolution":{"level":"X"}}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{},"tag":1}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{},"scheduling":"SILENT"},"tag":1}]}]}`, "systemInstruction.parts[0].tag contents[0].tag contents[0].parts[0].partMetadata contents[0].parts[1].mediaResolution contents[0].parts[1].inlineData.displayName contents[1].parts[0].functionCall.tag contents[2].parts[0].tag contents[2].parts[0].functionResponse.scheduling"},
		"sealed reasoning":         {"anthropic", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"redacted_thinking","data":"x"},{"type":"text","text":"b"}]},{"role":"user","content":"c"}]}`, "thinking"},
	} {
		for to := range rooms {
			if to == c.from {
				continue
			}
			_, losses := hub(t, c.from, to, []byte(c.body), nil)
			left := map[string]bool{}
			for _, name := range losses.Left {
				left[name] = true
			}
			for _, want := range strings.Fields(c.left) {
				if !left[want] {
					t.Errorf("%s to %s: %q lacks %s", name, to, losses.Left, want)
				}
			}
			if len(losses.Cannot) > 0 || len(losses.Left) != len(strings.Fields(c.left)) {
				t.Errorf("%s to %s: %+v, want %s", name, to, losses, c.left)
			}
		}
	}
}

// A body may hold any number of members that nobody knows: what is told of them
// is bounded, and one that comes again and again hides no other.
func TestWhatIsNamedIsBounded(t *testing.T) {
	const many = 5000
	members, blocks := "", ""
	for i := range many {
		members += `"x` + strconv.Itoa(i) + `":1,`
		blocks += `{"type":"text","text":"a","cache_control":{}},`
	}
	for from, body := range map[string]string{
		"openai":    `{"model":"m","messages":[{` + members + `"role":"user","content":"a"},{"role":"user","content":[{` + members + `"type":"text","text":"a"}]}]}`,
		"anthropic": `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[` + blocks + `{` + members + `"type":"text","text":"a"}]}],"metadata":{"z":1}}`,
		"responses": `{"model":"m","input":[{` + members + `"role":"user","content":[{` + members + `"type":"input_text","text":"a"}]}]}`,
		"gemini":    `{"contents":[{` + members + `"parts":[{` + members + `"text":"a"}]}]}`,
	} {
		r, fail := rooms[from].Read(opOf(from), []byte(body))
		if fail != nil {
			t.Fatal(fail)
		}
		p, fail := rooms[from].ToHub(r)
		if fail != nil {
			t.Fatal(fail)
		}
		if n := len(p.Extras); n > 128 || n < 64 || from == "anthropic" && p.Extras[0].Name != "cache_control" {
			t.Errorf("%s: %d names, from %q", from, n, p.Extras[0].Name)
		}
	}
}

// Thinking that cannot be switched off is named where the model thinks.
func TestThinkingThatStaysOnIsNamed(t *testing.T) {
	for from, c := range map[string]struct{ body, left string }{
		"anthropic": {`{"model":"m","max_tokens":9,"thinking":{"type":"disabled"},"messages":[{"role":"user","content":"a"}]}`, "thinking"},
		"gemini":    {`{"generationConfig":{"thinkingConfig":{"thinkingBudget":0}},"contents":[{"parts":[{"text":"a"}]}]}`, "generationConfig.thinkingConfig"},
	} {
		for model, want := range map[string]string{"gpt-5": c.left, "gpt-4o": ""} {
			_, losses := hub(t, from, "openai", []byte(c.body), &backstop.Step{Model: model})
			if strings.Join(losses.Left, " ") != want {
				t.Errorf("%s to %s: %q, want %q", from, model, losses.Left, want)
			}
		}
	}
}
