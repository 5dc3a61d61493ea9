package sdk

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"google.golang.org/genai"
)

// geminiSDK is google.golang.org/genai.
type geminiSDK struct{ client *genai.Client }

func openGemini(url, key string, via *http.Client) (talker, error) {
	client, err := newGemini(url, key, via)
	return &geminiSDK{client: client}, err
}

func newGemini(url, key string, via *http.Client) (*genai.Client, error) {
	return genai.NewClient(context.Background(), &genai.ClientConfig{
		Backend: genai.BackendGeminiAPI, APIKey: key, HTTPClient: via, HTTPOptions: genai.HTTPOptions{BaseURL: url},
	})
}

func (s *geminiSDK) plain(ctx context.Context, q question) (answer, error) {
	contents, config := s.params(q)
	got, err := s.client.Models.GenerateContent(ctx, q.model, contents, config)
	if err != nil {
		return answer{}, err
	}
	var a answer
	err = s.add(&a, got)
	return a, err
}

func (s *geminiSDK) stream(ctx context.Context, q question) (answer, error) {
	contents, config := s.params(q)
	var a answer
	for got, err := range s.client.Models.GenerateContentStream(ctx, q.model, contents, config) {
		if err != nil {
			return a, err
		}
		said := len(a.text)
		if err := s.add(&a, got); err != nil {
			return a, err
		}
		if len(a.text) > said {
			a.pieces++
		}
	}
	if a.finish == "" {
		return a, errors.New("the stream ended without a finish reason")
	}
	return a, nil
}

func (s *geminiSDK) params(q question) ([]*genai.Content, *genai.GenerateContentConfig) {
	config := &genai.GenerateContentConfig{SystemInstruction: genai.NewContentFromText("You are brief.", genai.RoleUser)}
	contents := []*genai.Content{genai.NewContentFromText(q.prompt, genai.RoleUser)}
	if q.before != nil {
		result := genai.NewPartFromFunctionResponse(q.before.calls[0].name, map[string]any{"output": q.result})
		result.FunctionResponse.ID = q.before.calls[0].id
		contents = append(contents, q.before.raw.(*genai.Content), genai.NewContentFromParts([]*genai.Part{result}, genai.RoleUser))
	}
	if q.tool {
		config.Tools = []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{
			Name: toolName, Description: "The weather of a city.",
			Parameters: &genai.Schema{Type: genai.TypeObject, Required: []string{"city"}, Properties: map[string]*genai.Schema{"city": {Type: genai.TypeString}}},
		}}}}
	}
	if q.city {
		config.ResponseMIMEType, config.ResponseJsonSchema = "application/json", cityForm()
	}
	return contents, config
}

// add puts one answer, or the next piece of one, to what there is.
func (s *geminiSDK) add(a *answer, got *genai.GenerateContentResponse) error {
	if got.ModelVersion != "" {
		a.model = got.ModelVersion
	}
	if u := got.UsageMetadata; u != nil {
		a.in, a.out = int64(u.PromptTokenCount), int64(u.CandidatesTokenCount)
	}
	for _, c := range got.FunctionCalls() {
		arguments, err := json.Marshal(c.Args)
		if err != nil {
			return err
		}
		a.calls = append(a.calls, toolCall{id: c.ID, name: c.Name, arguments: string(arguments)})
	}
	for _, c := range got.Candidates {
		if c.FinishReason != "" {
			a.finish = string(c.FinishReason)
		}
		if c.Content != nil {
			history, _ := a.raw.(*genai.Content)
			if history == nil {
				history = &genai.Content{Role: genai.RoleModel}
			}
			history.Parts = append(history.Parts, c.Content.Parts...)
			a.raw = history
			for _, part := range c.Content.Parts { // as the SDK's Text, which logs a warning for each call of a tool
				if !part.Thought {
					a.text += part.Text
				}
			}
		}
	}
	return nil
}

func (s *geminiSDK) typed(err error) (failure, bool) {
	var e genai.APIError
	if !errors.As(err, &e) {
		return failure{}, false
	}
	return failure{status: e.Code, code: e.Status, message: e.Message}, true
}
