package server

import (
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"backstop"
	"backstop/wire"
)

// kind is what a path leads to.
type kind uint8

const (
	nowhere    kind = iota
	alive           // the process lives
	ready           // it has a plan and is not on its way down
	callPlace       // one call in a dialect
	agentPlace      // the article's endpoint
	listPlace       // the list of models
	modelPlace      // one model
)

// agentDialect is the shape of errors on /api/agent; no upstream speaks it.
const agentDialect backstop.Dialect = "agent"

// place is where a path leads. Paths are compared as they are: no cleaning, no
// redirects, and nothing about a path decides whether a caller is checked,
// save that health needs no key.
type place struct {
	kind    kind
	op      wire.Op
	dialect backstop.Dialect // "" = by the headers
	model   string           // modelPlace, and calls whose path names the model
	stream  bool             // calls whose path asks for a stream
	methods string           // as the Allow header names them
}

const (
	reads  = "GET, HEAD, OPTIONS"
	writes = "POST, OPTIONS"
)

var places = map[string]place{
	"/healthz": {kind: alive, methods: reads},
	"/livez":   {kind: alive, methods: reads},
	"/health":  {kind: alive, methods: reads},
	"/readyz":  {kind: ready, methods: reads},

	"/api/agent": {kind: agentPlace, op: wire.Chat, dialect: agentDialect, methods: writes},

	"/v1/chat/completions": {kind: callPlace, op: wire.Chat, dialect: backstop.OpenAI, methods: writes},
	"/v1/completions":      {kind: callPlace, op: wire.Completion, dialect: backstop.OpenAI, methods: writes},
	"/v1/embeddings":       {kind: callPlace, op: wire.Embedding, dialect: backstop.OpenAI, methods: writes},
	"/v1/responses":        {kind: callPlace, op: wire.Responses, dialect: backstop.Responses, methods: writes},

	"/v1/messages":              {kind: callPlace, op: wire.Chat, dialect: backstop.Anthropic, methods: writes},
	"/v1/messages/count_tokens": {kind: callPlace, op: wire.CountTokens, dialect: backstop.Anthropic, methods: writes},

	"/v1/models":     {kind: listPlace, methods: reads},
	"/v1beta/models": {kind: listPlace, dialect: backstop.Gemini, methods: reads},
}

// geminiActions end the path of a Gemini call, behind the model's name. The
// path says what other dialects say in the body: the model and the stream.
var geminiActions = []struct {
	name  string
	place place
}{
	{":generateContent", place{kind: callPlace, op: wire.Chat, dialect: backstop.Gemini, methods: writes}},
	{":streamGenerateContent", place{kind: callPlace, op: wire.Chat, dialect: backstop.Gemini, stream: true, methods: writes}},
	{":countTokens", place{kind: callPlace, op: wire.CountTokens, dialect: backstop.Gemini, methods: writes}},
	{":embedContent", place{dialect: backstop.Gemini}},
	{":batchEmbedContents", place{dialect: backstop.Gemini}},
}

// locate finds the place of a path; OpenAI's and Anthropic's are also served
// without /v1, for people paste both.
func locate(path string) place {
	if at, ok := places[path]; ok {
		return at
	}
	if at, ok := places["/v1"+path]; ok {
		return at
	}
	if model, ok := strings.CutPrefix(path, "/v1beta/models/"); ok {
		return modelOrAction(model, backstop.Gemini)
	}
	for _, prefix := range [...]string{"/v1/models/", "/models/"} {
		if model, ok := strings.CutPrefix(path, prefix); ok {
			return modelOrAction(model, "")
		}
	}
	switch {
	case strings.HasPrefix(path, "/v1beta/"):
		return place{dialect: backstop.Gemini}
	case strings.HasPrefix(path, "/v1/messages/"), strings.HasPrefix(path, "/messages/"):
		return place{dialect: backstop.Anthropic}
	case strings.HasPrefix(path, "/v1/responses/"), strings.HasPrefix(path, "/responses/"):
		return place{dialect: backstop.Responses}
	case strings.HasPrefix(path, "/api/"):
		return place{dialect: agentDialect}
	}
	return place{}
}

func modelOrAction(model string, dialect backstop.Dialect) place {
	for _, action := range geminiActions {
		if name, ok := strings.CutSuffix(model, action.name); ok {
			at := action.place
			if at.model = name; name == "" {
				at.kind = nowhere
			}
			return at
		}
	}
	if model == "" {
		return place{dialect: dialect}
	}
	return place{kind: modelPlace, dialect: dialect, model: model, methods: reads}
}

// takes reports whether a method is one of the place's.
func (at *place) takes(method string) bool {
	for m := range strings.SplitSeq(at.methods, ", ") {
		if m == method {
			return true
		}
	}
	return false
}

// elsewhere reports whether a request is for something that is none of ours:
// vendors have more behind paths like ours, under another method or for another
// action on a model.
func (at *place) elsewhere(method string) bool {
	return at.kind == nowhere || (at.kind == callPlace || at.kind == modelPlace) && !at.takes(method)
}

// speaks is the dialect of answers at a place that several dialects share.
func (at *place) speaks(h http.Header) backstop.Dialect {
	switch {
	case at.dialect != "":
		return at.dialect
	case len(h["Anthropic-Version"]) > 0:
		return backstop.Anthropic
	case len(h["X-Goog-Api-Key"]) > 0:
		return backstop.Gemini
	}
	return backstop.OpenAI
}

// spoken is the dialect that a call's body is in.
func (at *place) spoken() backstop.Dialect {
	if at.kind == agentPlace {
		return backstop.OpenAI
	}
	return at.dialect
}

// asEvents reports whether the query of a Gemini call asks for its stream as
// events, which all SDKs do. Without that the API answers with one array.
func asEvents(query string) bool {
	values, _ := url.ParseQuery(query)
	return values.Get("alt") == "sse" || values.Get("$alt") == "sse"
}

// maxModel bounds a model name in a path, as the dialects do in their bodies.
const maxModel = 512

// complete adds what the path says to a request. A name may come with the
// collection that it is in, as the SDKs write it.
func (at *place) complete(r *wire.Request) *backstop.Failure {
	name := strings.TrimPrefix(at.model, "models/")
	if name == "" || len(name) > maxModel || !utf8.ValidString(name) {
		return deny(backstop.CodeInvalidRequest, "the path must name a model of at most 512 bytes of UTF-8")
	}
	r.Model, r.Stream = name, at.stream
	return nil
}

// endpoints tells a caller of a dialect where to go instead.
func endpoints(d backstop.Dialect) string {
	switch d {
	case backstop.Anthropic:
		return "the endpoints are /v1/messages, /v1/messages/count_tokens and /v1/models"
	case backstop.Gemini:
		return "the endpoints are /v1beta/models/{model}:generateContent, /v1beta/models/{model}:streamGenerateContent and /v1beta/models"
	}
	return "the endpoints are /v1/chat/completions, /v1/responses, /v1/messages, /v1/completions, /v1/embeddings, /v1/models and /api/agent"
}
