package server

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"unicode/utf8"

	"backstop"
)

// jsonLine is the system line that asks for JSON. OpenAI refuses the JSON mode
// when no message says the word.
const jsonLine = "Answer with one JSON object and nothing else."

// ask is the body of POST /api/agent.
type ask struct {
	prompt string
	system string
	model  string
	json   bool
	schema json.RawMessage // a JSON Schema, nil = none
	stream bool
}

// agentFields are the fields of the body; others are ignored.
var agentFields = [...]string{"prompt", "system", "model", "json", "schema", "stream"}

// parseAsk reads the body strictly: one object, no field of ours twice or in
// another case (parsers differ on what that means), no wrong types, nothing
// behind it. null means absent, as JavaScript callers write it.
func parseAsk(body []byte) (ask, *backstop.Failure) {
	var a ask
	if !utf8.Valid(body) {
		return a, badAsk("", "the body is not UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return a, badAsk("", `the body must be a JSON object such as {"prompt": "hello"}`)
	}
	seen := map[string]bool{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return a, badAsk("", "the body is not valid JSON")
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return a, badAsk("", "the body is not valid JSON")
		}
		field := fieldOf(key.(string))
		switch {
		case field == "":
			continue
		case field != key:
			return a, badAsk(field, "write the field "+field+" in lower case")
		case seen[field]:
			return a, badAsk(field, "the field "+field+" is there twice")
		}
		seen[field] = true
		if f := a.set(field, value); f != nil {
			return a, f
		}
	}
	if _, err := dec.Token(); err != nil {
		return a, badAsk("", "the body is not valid JSON")
	}
	if _, err := dec.Token(); err != io.EOF {
		return a, badAsk("", "something follows the JSON object")
	}
	if strings.TrimSpace(a.prompt) == "" {
		return a, badAsk("prompt", "the field prompt is missing or empty")
	}
	return a, nil
}

func fieldOf(key string) string {
	for _, f := range agentFields {
		if strings.EqualFold(f, key) {
			return f
		}
	}
	return ""
}

func (a *ask) set(field string, value json.RawMessage) *backstop.Failure {
	if string(value) == "null" {
		return nil
	}
	var err error
	want := "a string"
	switch field {
	case "prompt":
		err = json.Unmarshal(value, &a.prompt)
	case "system":
		err = json.Unmarshal(value, &a.system)
	case "model":
		err = json.Unmarshal(value, &a.model)
	case "json":
		want, err = "true or false", json.Unmarshal(value, &a.json)
	case "stream":
		want, err = "true or false", json.Unmarshal(value, &a.stream)
	case "schema":
		if value[0] != '{' {
			return badAsk(field, "the field schema takes a JSON Schema object")
		}
		a.schema = value
	}
	if err != nil {
		return badAsk(field, "the field "+field+" takes "+want)
	}
	return nil
}

func badAsk(field, message string) *backstop.Failure {
	f := deny(backstop.CodeInvalidRequest, message)
	f.Param = field
	return f
}

// agentBody makes the chat call of an agent call.
func agentBody(body []byte, p *plane) ([]byte, *backstop.Failure) {
	a, f := parseAsk(body)
	if f != nil {
		return nil, f
	}
	if a.model == "" {
		a.model = p.agent
	}
	if a.model == "" {
		return nil, badAsk("model", "the field model is missing, and neither agent.model nor the first route names one")
	}
	return a.chat(p.Agent.JSON), nil
}

// chat is the OpenAI chat body that asks the same.
func (a *ask) chat(alwaysJSON bool) []byte {
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	type body struct {
		Model    string    `json:"model"`
		Messages []message `json:"messages"`
		Format   any       `json:"response_format,omitempty"`
		Stream   bool      `json:"stream,omitempty"`
	}
	out := body{Model: a.model, Stream: a.stream}
	system := a.system
	wantsJSON := a.json || alwaysJSON
	if wantsJSON {
		system = strings.TrimPrefix(system+"\n\n"+jsonLine, "\n\n")
	}
	if system != "" {
		out.Messages = append(out.Messages, message{"system", system})
	}
	out.Messages = append(out.Messages, message{"user", a.prompt})
	switch {
	case a.schema != nil:
		out.Format = map[string]any{"type": "json_schema", "json_schema": map[string]any{"name": "answer", "schema": a.schema}}
	case wantsJSON:
		out.Format = map[string]any{"type": "json_object"}
	}
	return marshal(out)
}

// agentModel is what agent calls ask for when they name nothing: the
// configured model, else the first route's name, else, when that is a pattern,
// a model of its tiers that it matches.
func agentModel(p *Plane) string {
	if p.Agent.Model != "" || p.Plan == nil || len(p.Plan.Routes) == 0 {
		return p.Agent.Model
	}
	route := &p.Plan.Routes[0]
	if route.Exact() {
		return route.Model
	}
	for i := range route.Tiers {
		if m := route.Tiers[i].Model; m != "" && route.Matches(m) {
			return m
		}
	}
	return ""
}
