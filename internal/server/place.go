package server

import (
	"net/http"
	"strings"

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
	laterPlace      // a dialect that is not served yet
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
	model   string           // modelPlace
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
	"/v1/models":           {kind: listPlace, methods: reads},
	"/v1beta/models":       {kind: listPlace, dialect: backstop.Gemini, methods: reads},

	"/v1/responses":             {kind: laterPlace, dialect: backstop.OpenAI},
	"/v1/messages":              {kind: laterPlace, dialect: backstop.Anthropic},
	"/v1/messages/count_tokens": {kind: laterPlace, dialect: backstop.Anthropic},
}

// geminiActions end the path of a Gemini call, after the model's name.
var geminiActions = []string{":generateContent", ":streamGenerateContent", ":countTokens", ":embedContent", ":batchEmbedContents"}

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
	case strings.HasPrefix(path, "/api/"):
		return place{dialect: agentDialect}
	}
	return place{}
}

func modelOrAction(model string, dialect backstop.Dialect) place {
	for _, action := range geminiActions {
		if strings.HasSuffix(model, action) {
			return place{kind: laterPlace, dialect: backstop.Gemini}
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
