package mock

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
)

const (
	mostChoices = 128
	mostInputs  = 2048
	mostNumbers = 4096
)

// openAIAsk holds the fields of all OpenAI requests that the mock honours.
type openAIAsk struct {
	Model         string
	Stream        bool
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	N                   *int
	MaxTokens           int `json:"max_tokens"`
	MaxCompletionTokens int `json:"max_completion_tokens"`
	Messages            []struct {
		Role    string
		Content words
	}
	Prompt         words
	Logprobs       any
	TopLogprobs    int `json:"top_logprobs"`
	ResponseFormat struct {
		Type       string
		JSONSchema struct{ Schema json.RawMessage } `json:"json_schema"`
	} `json:"response_format"`
	Tools []struct {
		Function struct {
			Name       string
			Parameters json.RawMessage
		}
	}
	ToolChoice json.RawMessage `json:"tool_choice"`

	Input          json.RawMessage
	Dimensions     *int
	EncodingFormat string `json:"encoding_format"`
}

// words is text that may also be written as a list of texts or of parts.
type words string

// UnmarshalJSON accepts a string, a list of strings or of parts with a text,
// and takes everything else as it is written.
func (t *words) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*t = words(one)
		return nil
	}
	var parts []struct{ Text string }
	if json.Unmarshal(b, &parts) == nil {
		texts := make([]string, 0, len(parts))
		for i := range parts {
			if parts[i].Text != "" { // an image, or the result of a tool
				texts = append(texts, parts[i].Text)
			}
		}
		*t = words(strings.Join(texts, " "))
		return nil
	}
	*t = words(b)
	return nil
}

// decodeAsk reads the fields that a dialect honours.
func decodeAsk(body []byte, into any) *failure {
	err := json.Unmarshal(body, into)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong):
		return badRequest(wrong.Field, wrong.Field+" has the wrong type: "+wrong.Value)
	case err != nil:
		return badRequest("", "the body is not JSON")
	}
	return nil
}

func readOpenAI(body []byte, op string) (*openAIAsk, *ask, *failure) {
	var q openAIAsk
	if bad := decodeAsk(body, &q); bad != nil {
		return nil, nil, bad
	}
	a := &ask{
		op: op, model: q.Model, body: body, stream: q.Stream, usageOn: q.StreamOptions.IncludeUsage,
		pack: dataLines, choices: 1, limit: max(q.MaxCompletionTokens, q.MaxTokens),
	}
	if q.N != nil {
		a.choices = *q.N
	}
	switch {
	case a.model == "":
		return nil, a, badRequest("model", "you must name a model")
	case a.choices < 1 || a.choices > mostChoices:
		return nil, a, badRequest("n", "n must be from 1 to 128")
	case q.MaxTokens < 0 || q.MaxCompletionTokens < 0:
		return nil, a, badRequest("max_tokens", "max_tokens must not be negative")
	}
	return &q, a, nil
}

func badRequest(param, message string) *failure {
	return &failure{Status: http.StatusBadRequest, Type: "invalid_request_error", Param: param, Message: message}
}

func readChat(_ *http.Request, body []byte) (*ask, *failure) {
	q, a, bad := readOpenAI(body, "chat")
	if bad != nil {
		return a, bad
	}
	if len(q.Messages) == 0 {
		return a, badRequest("messages", "messages must have at least one message")
	}
	a.prompt = string(q.Messages[len(q.Messages)-1].Content)
	for i := len(q.Messages) - 1; i >= 0; i-- {
		if q.Messages[i].Role == "user" {
			a.prompt = string(q.Messages[i].Content)
			break
		}
	}
	a.logprobs = q.Logprobs == true
	a.top = min(max(q.TopLogprobs, 0), 20)
	switch q.ResponseFormat.Type {
	case "json_schema":
		a.json, a.schema = true, q.ResponseFormat.JSONSchema.Schema
	case "json_object":
		a.json = true
	}
	a.readTools(q)
	return a, nil
}

func (a *ask) readTools(q *openAIAsk) {
	for _, t := range q.Tools {
		a.tools = append(a.tools, tool{name: t.Function.Name, params: t.Function.Parameters})
	}
	var named struct{ Function struct{ Name string } }
	var mode string
	switch {
	case len(a.tools) == 0 || q.ToolChoice == nil:
	case json.Unmarshal(q.ToolChoice, &mode) == nil:
		a.callTool = mode == "required"
	case json.Unmarshal(q.ToolChoice, &named) == nil:
		for _, t := range a.tools {
			if t.name == named.Function.Name {
				a.callTool, a.tools = true, []tool{t}
				return
			}
		}
	}
}

func readCompletion(_ *http.Request, body []byte) (*ask, *failure) {
	q, a, bad := readOpenAI(body, "completion")
	if bad != nil {
		return a, bad
	}
	a.prompt = string(q.Prompt)
	if n, ok := q.Logprobs.(float64); ok {
		a.logprobs, a.top = true, int(min(max(n, 0), 5))
	}
	return a, nil
}

func readEmbedding(_ *http.Request, body []byte) (*ask, *failure) {
	q, a, bad := readOpenAI(body, "embedding")
	if bad != nil {
		return a, bad
	}
	a.stream, a.base64, a.size = false, q.EncodingFormat == "base64", 64
	if q.Dimensions != nil {
		a.size = *q.Dimensions
	}
	if a.size < 1 || a.size > mostNumbers {
		return a, badRequest("dimensions", "dimensions must be from 1 to 4096")
	}
	var one string
	var many []json.RawMessage
	switch {
	case json.Unmarshal(q.Input, &one) == nil:
		a.inputs = []string{one}
	case json.Unmarshal(q.Input, &many) != nil || len(many) == 0 || len(many) > mostInputs:
		return a, badRequest("input", "input must be a text or a list of 1 to 2048 texts")
	case many[0][0] == '"' || many[0][0] == '[':
		for _, in := range many {
			a.inputs = append(a.inputs, string(in))
		}
	default:
		a.inputs = []string{string(q.Input)} // one list of token numbers
	}
	return a, nil
}
