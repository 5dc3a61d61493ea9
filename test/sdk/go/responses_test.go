package sdk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
)

// responsesSDK is openai-go's Responses.
type responsesSDK struct {
	openAI
	client openai.Client
}

// errorEvent is the error event of a Responses stream. The SDK hands it out as
// one of the events.
type errorEvent struct{ responses.ResponseErrorEvent }

func (e *errorEvent) Error() string { return e.Code + ": " + e.Message }

func openResponses(url, key string, via *http.Client) (talker, error) {
	return &responsesSDK{client: newOpenAI(url, key, via)}, nil
}

func (s *responsesSDK) plain(ctx context.Context, q question) (answer, error) {
	got, err := s.client.Responses.New(ctx, s.params(q))
	if err != nil {
		return answer{}, err
	}
	return s.answer(got), nil
}

// stream also checks that events are numbered without a gap and that one that
// ends the answer comes last.
func (s *responsesSDK) stream(ctx context.Context, q question) (answer, error) {
	events := s.client.Responses.NewStreaming(ctx, s.params(q))
	defer events.Close()
	var a answer
	var text string
	var number int64
	for pieces := 0; events.Next(); number++ {
		event := events.Current()
		if event.SequenceNumber != number {
			return a, fmt.Errorf("event %d has the number %d: %s", number, event.SequenceNumber, event.RawJSON())
		}
		switch event.Type {
		case "response.output_text.delta":
			text += event.Delta
			pieces++
		case "error":
			return answer{text: text}, &errorEvent{event.AsError()}
		case "response.completed", "response.incomplete":
			a = s.answer(&event.Response)
			if a.pieces = pieces; a.text != text {
				return a, fmt.Errorf("the pieces are %q, the whole is %q", text, a.text)
			}
			if events.Next() {
				return a, errors.New("an event after the last one: " + events.Current().RawJSON())
			}
		}
	}
	a.text = text
	return a, events.Err()
}

func (s *responsesSDK) params(q question) responses.ResponseNewParams {
	p := responses.ResponseNewParams{Model: q.model, Instructions: openai.String("You are brief.")}
	p.Input.OfInputItemList = responses.ResponseInputParam{responses.ResponseInputItemParamOfMessage(q.prompt, responses.EasyInputMessageRoleUser)}
	if q.before != nil {
		for _, item := range q.before.raw.([]responses.ResponseOutputItemUnion) {
			as := param.Override[responses.ResponseInputItemUnionParam](json.RawMessage(item.RawJSON()))
			p.Input.OfInputItemList = append(p.Input.OfInputItemList, as)
		}
		result := responses.ResponseInputItemParamOfFunctionCallOutput(q.result)
		result.OfFunctionCallOutput.CallID = openai.String(q.before.calls[0].id)
		p.Input.OfInputItemList = append(p.Input.OfInputItemList, result)
	}
	if q.tool {
		p.Tools = []responses.ToolUnionParam{responses.ToolParamOfFunction(toolName, weatherForm(), true)}
	}
	if q.city {
		p.Text.Format = responses.ResponseFormatTextConfigParamOfJSONSchema("city", cityForm())
	}
	return p
}

func (s *responsesSDK) answer(got *responses.Response) answer {
	a := answer{text: got.OutputText(), finish: string(got.Status), model: got.Model, raw: got.Output, in: got.Usage.InputTokens, out: got.Usage.OutputTokens}
	for _, item := range got.Output {
		if item.Type == "function_call" {
			a.calls = append(a.calls, toolCall{id: item.CallID, name: item.Name, arguments: item.Arguments.OfString})
		}
	}
	return a
}

func (s *responsesSDK) typed(err error) (failure, bool) {
	var inStream *errorEvent
	if errors.As(err, &inStream) {
		return failure{code: inStream.Code, message: inStream.Message}, true
	}
	return s.openAI.typed(err)
}
