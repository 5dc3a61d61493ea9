package sdk

import (
	"context"
	"net/http"
	"slices"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"google.golang.org/genai"
)

// listsModels asks each SDK for the list and for one of its names.
func listsModels(t *testing.T, stacks map[string]*gateway) {
	want := modelOf("chat", aChat, 0) // each SDK has it
	ctx, via := context.Background(), &http.Client{}
	for name, list := range map[string]func() ([]string, string, error){
		"openai-go": func() (names []string, one string, err error) {
			models := newOpenAI(urlOf(stacks, aChat), callerKey, via).Models
			all := models.ListAutoPaging(ctx)
			for all.Next() {
				names = append(names, all.Current().ID)
			}
			if err = all.Err(); err != nil {
				return nil, "", err
			}
			m, err := models.Get(ctx, want)
			if err != nil {
				return nil, "", err
			}
			return names, m.ID, nil
		},
		"anthropic-sdk-go": func() (names []string, one string, err error) {
			models := newAnthropic(urlOf(stacks, aMessage), callerKey, via).Models
			all := models.ListAutoPaging(ctx, anthropic.ModelListParams{})
			for all.Next() {
				names = append(names, all.Current().ID)
			}
			if err = all.Err(); err != nil {
				return nil, "", err
			}
			m, err := models.Get(ctx, want, anthropic.ModelGetParams{})
			if err != nil {
				return nil, "", err
			}
			return names, m.ID, nil
		},
		"genai": func() (names []string, one string, err error) {
			client, err := newGemini(urlOf(stacks, aGemini), callerKey, via)
			if err != nil {
				return nil, "", err
			}
			for m, err := range client.Models.All(ctx) {
				if err != nil {
					return nil, "", err
				}
				names = append(names, m.Name[len("models/"):])
			}
			m, err := client.Models.Get(ctx, want, nil)
			if err != nil {
				return nil, "", err
			}
			return names, m.Name[len("models/"):], nil
		},
	} {
		names, one, err := list()
		if err != nil || one != want || !slices.Contains(names, want) {
			t.Errorf("%s: %v, %q, %d names", name, err, one, len(names))
		}
	}
}

// countsTokens asks in the two dialects that have a path for it.
func countsTokens(t *testing.T, stacks map[string]*gateway) {
	ctx, via := context.Background(), &http.Client{}
	model := modelOf("chat", aMessage, 0)
	messages := newAnthropic(urlOf(stacks, aMessage), callerKey, via).Messages
	counted, err := messages.CountTokens(ctx, anthropic.MessageCountTokensParams{
		Model: anthropic.Model(model), Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(prompt))},
	})
	if err != nil || counted.InputTokens <= 0 {
		t.Errorf("anthropic-sdk-go: %v, %+v", err, counted)
	}
	client, err := newGemini(urlOf(stacks, aGemini), callerKey, via)
	if err != nil {
		t.Fatal(err)
	}
	total, err := client.Models.CountTokens(ctx, modelOf("chat", aGemini, 0), genai.Text(prompt), nil)
	if err != nil || total.TotalTokens <= 0 {
		t.Errorf("genai: %v, %+v", err, total)
	}
}

// urlOf is the gateway of the SDK that speaks a dialect.
func urlOf(stacks map[string]*gateway, own kind) string {
	for i := range sdks {
		if sdks[i].own == own {
			return stacks[sdks[i].name].url
		}
	}
	return ""
}
