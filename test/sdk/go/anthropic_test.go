package sdk

import (
	"context"
	"errors"
	"net/http"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
)

// messagesSDK is anthropic-sdk-go.
type messagesSDK struct{ client anthropic.Client }

func openMessages(url, key string, via *http.Client) (talker, error) {
	return &messagesSDK{client: newAnthropic(url, key, via)}, nil
}

func newAnthropic(url, key string, via *http.Client) anthropic.Client {
	return anthropic.NewClient(option.WithBaseURL(url), option.WithAPIKey(key), option.WithHTTPClient(via))
}

func (s *messagesSDK) plain(ctx context.Context, q question) (answer, error) {
	got, err := s.client.Messages.New(ctx, s.params(q))
	if err != nil {
		return answer{}, err
	}
	return s.answer(got), nil
}

func (s *messagesSDK) stream(ctx context.Context, q question) (answer, error) {
	events := s.client.Messages.NewStreaming(ctx, s.params(q))
	defer events.Close()
	var whole anthropic.Message
	pieces, stopped := 0, false
	for events.Next() {
		event := events.Current()
		if err := whole.Accumulate(event); err != nil {
			return answer{}, err
		}
		if event.Type == "content_block_delta" && event.Delta.Type == "text_delta" {
			pieces++
		}
		stopped = event.Type == "message_stop"
	}
	a := s.answer(&whole)
	a.pieces = pieces
	if err := events.Err(); err != nil || stopped {
		return a, err
	}
	return a, errors.New("the stream ended without message_stop")
}

func (s *messagesSDK) params(q question) anthropic.MessageNewParams {
	p := anthropic.MessageNewParams{
		Model: anthropic.Model(q.model), MaxTokens: 1024,
		System:   []anthropic.TextBlockParam{{Text: "You are brief."}},
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(q.prompt))},
	}
	if q.before != nil {
		result := anthropic.NewToolResultBlock(q.before.calls[0].id, q.result, false)
		p.Messages = append(p.Messages, q.before.raw.(anthropic.MessageParam), anthropic.NewUserMessage(result))
	}
	if q.tool {
		form := weatherForm()
		p.Tools = []anthropic.ToolUnionParam{anthropic.ToolUnionParamOfTool(
			anthropic.ToolInputSchemaParam{Properties: form["properties"], Required: form["required"].([]string)}, toolName)}
	}
	if q.city {
		p.OutputConfig.Format.Schema = cityForm()
	}
	return p
}

func (s *messagesSDK) answer(got *anthropic.Message) answer {
	a := answer{finish: string(got.StopReason), model: string(got.Model), in: got.Usage.InputTokens, out: got.Usage.OutputTokens, raw: got.ToParam()}
	for _, block := range got.Content {
		a.text += block.Text
		if block.Type == "tool_use" {
			a.calls = append(a.calls, toolCall{id: block.ID, name: block.Name, arguments: string(block.Input)})
		}
	}
	return a
}

// typed reads an error. The SDK gives one inside a stream the status of the
// stream, which says nothing.
func (s *messagesSDK) typed(err error) (failure, bool) {
	var e *anthropic.Error
	if !errors.As(err, &e) {
		return failure{}, false
	}
	f := failure{status: e.StatusCode, code: string(e.Type()), message: e.Message, tag: e.RequestID}
	if f.status == http.StatusOK {
		f.status = 0
	}
	return f, true
}
