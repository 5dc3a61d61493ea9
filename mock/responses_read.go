package mock

import (
	"encoding/json"
	"net/http"
)

// responsesAsk holds the fields of a Responses request that the mock honours.
type responsesAsk struct {
	Model           string
	Stream          bool
	Input           json.RawMessage
	MaxOutputTokens *int `json:"max_output_tokens"`
	Text            struct{ Format promised }
	Tools           []struct {
		Type, Name string
		Parameters json.RawMessage
	}
	ToolChoice json.RawMessage `json:"tool_choice"`
}

func readResponses(_ *http.Request, body []byte) (*ask, *failure) {
	var q responsesAsk
	if bad := decodeAsk(body, &q); bad != nil {
		return nil, bad
	}
	a := &ask{op: "chat", model: q.Model, body: body, stream: q.Stream, pack: namedEvents, choices: 1}
	if q.MaxOutputTokens != nil {
		a.limit = *q.MaxOutputTokens
	}
	var text string
	var turns []turn
	switch {
	case a.model == "":
		return a, badRequest("model", "you must name a model")
	case a.limit < 0 || q.MaxOutputTokens != nil && a.limit == 0:
		return a, badRequest("max_output_tokens", "max_output_tokens must be above zero")
	case json.Unmarshal(q.Input, &text) == nil && q.Input[0] == '"':
		a.prompt = text
	case json.Unmarshal(q.Input, &turns) == nil && len(turns) > 0:
		a.prompt = lastAsked(turns)
	default:
		return a, badRequest("input", "input must be a text or a list of items")
	}
	a.promise(q.Text.Format.Type, q.Text.Format.Schema)
	for _, t := range q.Tools {
		if t.Type == "function" {
			a.tools = append(a.tools, tool{name: t.Name, params: t.Parameters})
		}
	}
	var mode string
	var one struct{ Name string }
	switch {
	case len(a.tools) == 0 || q.ToolChoice == nil:
	case json.Unmarshal(q.ToolChoice, &mode) == nil:
		if mode == "required" {
			a.forceTool("")
		}
	case json.Unmarshal(q.ToolChoice, &one) == nil && one.Name != "":
		a.forceTool(one.Name)
	}
	return a, nil
}
