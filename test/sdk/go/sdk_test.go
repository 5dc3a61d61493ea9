package sdk

import (
	"context"
	"net/http"
)

// talker is an SDK, reduced to what the scenarios need of it.
type talker interface {
	// plain and stream put a question. An error is the SDK's; what a stream
	// had said before it is in the answer.
	plain(ctx context.Context, q question) (answer, error)
	stream(ctx context.Context, q question) (answer, error)
	// typed reports whether an error is of the SDK's own type and what it says.
	typed(err error) (failure, bool)
}

// sdk is an SDK and what its users know about answers in its words.
type sdk struct {
	name   string
	module string // as in go.mod
	own    kind   // what an upstream of its own dialect speaks
	others []kind // the rest
	open   func(url, key string, via *http.Client) (talker, error)
	finish map[string]string // what an answer ends with: text, tool, length, filter
	codes  map[string]string // what a failure is called: dead, limited, cut, key, model
}

// question is one turn of a conversation.
type question struct {
	model, prompt string
	tool          bool // weather is offered
	city          bool // an answer of the form of cityForm is promised
	// before is the answer that called the tool, and result what it gave.
	before *answer
	result string
}

// answer is what the SDK's user gets.
type answer struct {
	text, finish, model string
	calls               []toolCall
	in, out             int64 // tokens
	pieces              int   // of text, in a stream
	raw                 any   // as the SDK takes it back as history
}

type toolCall struct{ id, name, arguments string }

// failure is what the SDK's user learns from an error. Inside a stream there is
// no status.
type failure struct {
	status             int
	code, message, tag string // tag: the id of the call, where the SDK shows it
}

const toolName = "weather"

// weatherForm and cityForm are the JSON Schemas of the tool's arguments and of
// the promised answer.
func weatherForm() map[string]any {
	return map[string]any{
		"type": "object", "required": []string{"city"}, "additionalProperties": false,
		"properties": map[string]any{"city": map[string]any{"type": "string"}},
	}
}

func cityForm() map[string]any {
	return map[string]any{
		"type": "object", "required": []string{"city", "people", "tags"}, "additionalProperties": false,
		"properties": map[string]any{
			"city":   map[string]any{"type": "string"},
			"people": map[string]any{"type": "integer"},
			"tags":   map[string]any{"type": "array", "items": map[string]any{"type": "string"}},
		},
	}
}

// city is what cityForm describes.
type city struct {
	City   string   `json:"city"`
	People *int     `json:"people"`
	Tags   []string `json:"tags"`
}
