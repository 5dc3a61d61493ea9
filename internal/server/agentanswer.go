package server

import (
	"encoding/json"

	"github.com/tidwall/gjson"

	"backstop"
)

// answer is what POST /api/agent says, whole or at the end of a stream.
type answer struct {
	ID        string          `json:"id"`
	Output    string          `json:"output"`
	JSON      json.RawMessage `json:"json,omitempty"`
	Choices   [1]answerChoice `json:"choices"`
	Tier      string          `json:"tier"`
	Upstream  string          `json:"upstream"`
	Model     string          `json:"model"`
	Fallback  bool            `json:"fallback"`
	Reason    string          `json:"reason,omitempty"`
	Repaired  []string        `json:"repaired,omitempty"`
	Dropped   []string        `json:"dropped,omitempty"`
	Truncated bool            `json:"truncated"`
	Attempts  int             `json:"attempts"`
}

// answerChoice is where the article's caller reads the text.
type answerChoice struct {
	Index  int    `json:"index"`
	Text   string `json:"text"`
	Finish string `json:"finish_reason"`
}

// newAnswer tells the end of a call in the agent's words. The value of json is
// there if JSON was promised and the text is some.
func newAnswer(e *backstop.Event, text, finish string, promised bool) *answer {
	if finish == "" {
		finish = "stop"
	}
	a := &answer{
		ID: e.ID, Output: text, Choices: [1]answerChoice{{Text: text, Finish: finish}},
		Tier: e.Tier, Upstream: e.Upstream, Model: e.Model, Fallback: e.Tier != "primary",
		Reason: e.Reason, Repaired: e.Repaired, Dropped: e.Dropped, Truncated: e.Truncated, Attempts: e.Calls(),
	}
	if promised && json.Valid([]byte(text)) {
		a.JSON = json.RawMessage(text)
	}
	return a
}

// agentError is an error in the agent's shape.
func agentError(code, message, id string) []byte {
	type body struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		ID      string `json:"request_id"`
	}
	return marshal(map[string]body{"error": {code, message, id}})
}

// retold turns an OpenAI error body into the agent's. What the body does not
// say, the event's failure does.
func retold(body []byte, e *backstop.Event, id string) []byte {
	code, message := string(backstop.CodeUpstreamsExhausted), "no tier answered"
	if e != nil && e.Failure != nil {
		code, message = string(e.Failure.Code), e.Failure.Message
	}
	if inner := gjson.GetBytes(body, "error"); inner.IsObject() {
		if c := inner.Get("code"); c.Type == gjson.String && c.Str != "" {
			code = c.Str
		}
		if m := inner.Get("message"); m.Type == gjson.String && m.Str != "" {
			message = m.Str
		}
	}
	return agentError(code, message, id)
}
