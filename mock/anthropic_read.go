package mock

import (
	"encoding/json"
	"net/http"
)

// anthropicAsk holds the fields of a message request that the mock honours.
type anthropicAsk struct {
	Model     string
	Stream    bool
	MaxTokens *int `json:"max_tokens"`
	Messages  []turn
	Tools     []struct {
		Name        string
		InputSchema json.RawMessage `json:"input_schema"`
	}
	ToolChoice   struct{ Type, Name string } `json:"tool_choice"`
	Output       promised                    `json:"output_format"` // as it was in the beta
	OutputConfig struct{ Format promised }   `json:"output_config"`
}

// promised is a promise to answer in JSON.
type promised struct {
	Type   string
	Schema json.RawMessage
}

// turn is one message of a conversation.
type turn struct {
	Role    string
	Content words
}

// lastAsked is the last text of the person asking. Where results of tools
// travel in the same role, they are not what was asked.
func lastAsked(turns []turn) string {
	for i := len(turns) - 1; i >= 0; i-- {
		if turns[i].Role == "user" && turns[i].Content != "" {
			return string(turns[i].Content)
		}
	}
	if len(turns) == 0 {
		return ""
	}
	return string(turns[len(turns)-1].Content)
}

func readMessages(r *http.Request, body []byte) (*ask, *failure) {
	q, a, bad := readAnthropic(r, body)
	if bad != nil {
		return a, bad
	}
	if q.MaxTokens == nil || *q.MaxTokens < 1 {
		return a, badRequest("max_tokens", "max_tokens: a number above zero is required")
	}
	a.limit, a.stream = *q.MaxTokens, q.Stream
	return a, nil
}

// readCount reads a request that wants to know how long it is.
func readCount(r *http.Request, body []byte) (*ask, *failure) {
	_, a, bad := readAnthropic(r, body)
	if a != nil {
		a.op = "count"
	}
	return a, bad
}

func readAnthropic(r *http.Request, body []byte) (*anthropicAsk, *ask, *failure) {
	var q anthropicAsk
	if bad := decodeAsk(body, &q); bad != nil {
		return nil, nil, bad
	}
	a := &ask{op: "chat", model: q.Model, body: body, pack: namedPings, choices: 1, prompt: lastAsked(q.Messages)}
	switch {
	case r.Header.Get("Anthropic-Version") == "":
		return nil, a, badRequest("", "anthropic-version: header is required")
	case a.model == "":
		return nil, a, badRequest("model", "model: field required")
	case len(q.Messages) == 0:
		return nil, a, badRequest("messages", "messages: at least one message is required")
	}
	a.promise(q.Output.Type, q.Output.Schema)
	a.promise(q.OutputConfig.Format.Type, q.OutputConfig.Format.Schema)
	for _, t := range q.Tools {
		a.tools = append(a.tools, tool{name: t.Name, params: t.InputSchema})
	}
	switch q.ToolChoice.Type {
	case "any":
		a.forceTool("")
	case "tool":
		a.forceTool(q.ToolChoice.Name)
	}
	return &q, a, nil
}

// promise notes that the answer must be JSON.
func (a *ask) promise(kind string, schema json.RawMessage) {
	switch kind {
	case "json_schema":
		a.json, a.schema = true, schema
	case "json_object":
		a.json = true
	}
}

// forceTool makes the answer a call of the named tool, or of the first one
// if the name is empty. A tool that was not offered forces nothing.
func (a *ask) forceTool(name string) {
	for _, t := range a.tools {
		if name == "" || t.name == name {
			a.callTool, a.tools = true, []tool{t}
			return
		}
	}
}
