package backstophttp

import (
	"net/url"
	"strings"

	"backstop"
	"backstop/wire"
)

// called is what the path of a call says.
type called struct {
	op      wire.Op
	dialect backstop.Dialect
	model   string // "" = the body names it
	stream  bool   // with model
}

// endings are the ends of the paths of calls, the longer before the shorter.
var endings = []struct {
	path string
	called
}{
	{"/chat/completions", called{op: wire.Chat, dialect: backstop.OpenAI}},
	{"/completions", called{op: wire.Completion, dialect: backstop.OpenAI}},
	{"/embeddings", called{op: wire.Embedding, dialect: backstop.OpenAI}},
	{"/responses", called{op: wire.Responses, dialect: backstop.Responses}},
	{"/messages/count_tokens", called{op: wire.CountTokens, dialect: backstop.Anthropic}},
	{"/messages", called{op: wire.Chat, dialect: backstop.Anthropic}},
}

// actions end the paths of Gemini calls, behind the model's name.
var actions = []struct {
	path string
	called
}{
	{":generateContent", called{op: wire.Chat, dialect: backstop.Gemini}},
	{":streamGenerateContent", called{op: wire.Chat, dialect: backstop.Gemini, stream: true}},
	{":countTokens", called{op: wire.CountTokens, dialect: backstop.Gemini}},
}

// saysEvents reports whether the query of a Gemini call asks for its stream as
// events, which all SDKs do. Without that the API answers with an array.
func saysEvents(query string) bool {
	values, _ := url.ParseQuery(query)
	return values.Get("alt") == "sse" || values.Get("$alt") == "sse"
}

// operation reads a path's end.
func operation(path string) (called, bool) {
	for i := range endings {
		if strings.HasSuffix(path, endings[i].path) {
			return endings[i].called, true
		}
	}
	for i := range actions {
		rest, ok := strings.CutSuffix(path, actions[i].path)
		if _, model, named := strings.Cut(rest, "/models/"); ok && named && model != "" {
			at := actions[i].called
			at.model = model
			return at, true
		}
	}
	return called{}, false
}
