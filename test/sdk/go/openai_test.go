package sdk

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/shared"
)

// chatSDK is openai-go's chat.
type chatSDK struct {
	openAI
	client openai.Client
}

func openChat(url, key string, via *http.Client) (talker, error) {
	return &chatSDK{client: newOpenAI(url, key, via)}, nil
}

func newOpenAI(url, key string, via *http.Client) openai.Client {
	return openai.NewClient(option.WithBaseURL(url+"/v1"), option.WithAPIKey(key), option.WithHTTPClient(via))
}

func (s *chatSDK) plain(ctx context.Context, q question) (answer, error) {
	got, err := s.client.Chat.Completions.New(ctx, s.params(q))
	if err != nil {
		return answer{}, err
	}
	return s.answer(got), nil
}

func (s *chatSDK) stream(ctx context.Context, q question) (answer, error) {
	params := s.params(q)
	params.StreamOptions.IncludeUsage = openai.Bool(true)
	events := s.client.Chat.Completions.NewStreaming(ctx, params)
	defer events.Close()
	var whole openai.ChatCompletionAccumulator
	pieces := 0
	for events.Next() {
		chunk := events.Current()
		if !whole.AddChunk(chunk) {
			return answer{}, errors.New("the accumulator takes the chunk for no part of the answer: " + chunk.RawJSON())
		}
		if len(chunk.Choices) > 0 && chunk.Choices[0].Delta.Content != "" {
			pieces++
		}
	}
	a := s.answer(&whole.ChatCompletion)
	a.pieces = pieces
	return a, events.Err()
}

func (s *chatSDK) params(q question) openai.ChatCompletionNewParams {
	p := openai.ChatCompletionNewParams{
		Model: q.model,
		Messages: []openai.ChatCompletionMessageParamUnion{
			openai.SystemMessage("You are brief."), openai.UserMessage(q.prompt),
		},
	}
	if q.before != nil {
		p.Messages = append(p.Messages, q.before.raw.(openai.ChatCompletionMessageParamUnion), openai.ToolMessage(q.result, q.before.calls[0].id))
	}
	if q.tool {
		p.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: toolName, Description: openai.String("The weather of a city."), Parameters: weatherForm(),
		})}
	}
	if q.city {
		p.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{
			JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: "city", Schema: cityForm(), Strict: openai.Bool(true)},
		}
	}
	return p
}

func (s *chatSDK) answer(got *openai.ChatCompletion) answer {
	a := answer{model: got.Model, in: got.Usage.PromptTokens, out: got.Usage.CompletionTokens}
	if len(got.Choices) == 0 {
		return a
	}
	said := got.Choices[0].Message
	a.text, a.finish, a.raw = said.Content, got.Choices[0].FinishReason, said.ToParam()
	for _, c := range said.ToolCalls {
		a.calls = append(a.calls, toolCall{id: c.ID, name: c.Function.Name, arguments: c.Function.Arguments})
	}
	return a
}

// openAI reads the errors of openai-go.
type openAI struct{}

func (openAI) typed(err error) (failure, bool) {
	var whole *openai.Error
	if errors.As(err, &whole) {
		return failure{status: whole.StatusCode, code: whole.Code, message: whole.Message, tag: whole.Response.Header.Get("x-request-id")}, true
	}
	var inStream *ssestream.StreamError
	if !errors.As(err, &inStream) {
		return failure{}, false
	}
	var frame struct {
		Error struct{ Code, Message string }
	}
	if json.Unmarshal(inStream.Event.Data, &frame) != nil {
		return failure{}, false
	}
	return failure{code: frame.Error.Code, message: frame.Error.Message}, true
}
