package mock_test

import (
	"encoding/json"
	"fmt"
	"strings"
)

// fixture asks in one dialect and reads its answers.
type fixture struct {
	name  string
	path  func(model string, stream bool) string
	body  func(model string, stream, asJSON bool) string
	event func(s *said, e map[string]any, name string)
}

const question = "what is a lighthouse for"

var fixtures = []fixture{
	{"chat", fixed("/v1/chat/completions"), chatAsks, chatEvent},
	{"messages", fixed("/v1/messages"), messageAsks, messageEvent},
	{"responses", fixed("/v1/responses"), responseAsks, responseEvent},
	{"gemini", geminiPath("?alt=sse"), geminiAsks, geminiEvent},
	{"gemini list", geminiPath(""), geminiAsks, geminiEvent},
}

func fixed(path string) func(string, bool) string {
	return func(string, bool) string { return path }
}

func geminiPath(query string) func(string, bool) string {
	return func(model string, stream bool) string {
		if stream {
			return "/v1beta/models/" + model + ":streamGenerateContent" + query
		}
		return "/v1beta/models/" + model + ":generateContent"
	}
}

func chatAsks(model string, stream, asJSON bool) string {
	extra := `,"top_k":1`
	if asJSON {
		extra += jsonAsked
	}
	return chatBody(model, stream, extra)
}

func messageAsks(model string, stream, asJSON bool) string {
	extra := ""
	if asJSON {
		extra = `,"output_format":{"type":"json_schema","schema":{"type":"object","required":["answer"],"properties":{"answer":{"type":"string"}}}}`
	}
	return fmt.Sprintf(`{"model":%q,"stream":%v,"max_tokens":1000,"top_k":1,"messages":[{"role":"user","content":[{"type":"text","text":%q}]},
		{"role":"assistant","content":"…"},{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":"1"}]}]%s}`, model, stream, question, extra)
}

func responseAsks(model string, stream, asJSON bool) string {
	extra := ""
	if asJSON {
		extra = `,"text":{"format":{"type":"json_object"}}`
	}
	return fmt.Sprintf(`{"model":%q,"stream":%v,"top_k":1,"input":[{"role":"user","content":[{"type":"input_text","text":%q}]},
		{"type":"function_call_output","call_id":"x","output":"1"}]%s}`, model, stream, question, extra)
}

func geminiAsks(_ string, _, asJSON bool) string {
	extra := ""
	if asJSON {
		extra = `,"responseMimeType":"application/json"`
	}
	return fmt.Sprintf(`{"top_k":1,"contents":[{"parts":[{"text":%q}]}],"generationConfig":{"temperature":1%s}}`, question, extra)
}

// read reads a whole body or a stream, and counts what it cannot read.
func (l fixture) read(body string, stream bool) said {
	var s said
	body = strings.TrimSpace(body)
	switch {
	case body == "":
	case l.name == "gemini list" && stream && body[0] == '[':
		s.done = strings.HasSuffix(body, "]")
		for element := range strings.SplitSeq(strings.Trim(body, "[]"), ",\r\n") {
			l.data(&s, strings.TrimSpace(element), "")
		}
	case strings.HasPrefix(body, "data:"), strings.HasPrefix(body, "event:"), strings.HasPrefix(body, ":"):
		name := ""
		for line := range strings.SplitSeq(strings.ReplaceAll(body, "\r\n", "\n"), "\n") {
			if event, ok := strings.CutPrefix(line, "event: "); ok {
				name = event
			}
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				l.data(&s, data, name)
			}
		}
	default:
		l.data(&s, body, "")
	}
	return s
}

func (l fixture) data(s *said, data, name string) {
	s.events++
	if data == "[DONE]" {
		s.done = true
		return
	}
	var e map[string]any
	if json.Unmarshal([]byte(data), &e) != nil {
		s.broken++
		return
	}
	was := len(s.text) + len(s.args) + len(s.refusal) + len(s.thought)
	if e["type"] != nil && name != "" && e["type"] != name {
		s.broken++
	}
	l.event(s, e, name)
	if len(s.text)+len(s.args)+len(s.refusal)+len(s.thought) > was {
		s.tokens++
	}
}

// at walks into an answer; numbers are places in a list.
func at(v any, path ...any) any {
	for _, step := range path {
		switch key := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[key]
		case int:
			list, _ := v.([]any)
			if key >= len(list) {
				return nil
			}
			v = list[key]
		}
	}
	return v
}

func str(v any, path ...any) string {
	s, _ := at(v, path...).(string)
	return s
}

func words(list ...string) string { return strings.TrimSpace(strings.Join(list, " ")) }

func chatEvent(s *said, e map[string]any, _ string) {
	for _, part := range []string{"message", "delta"} {
		m := at(e, "choices", 0, part)
		s.text += str(m, "content")
		s.refusal += str(m, "refusal")
		s.thought += str(m, "reasoning_content")
		s.args += str(m, "tool_calls", 0, "function", "arguments")
	}
	if f := str(e, "choices", 0, "finish_reason"); f != "" {
		s.finish = f
	}
	if u, ok := e["usage"].(map[string]any); ok {
		s.usage = u
	}
	s.errorCode += words(str(e, "error", "type"), str(e, "error", "code"))
	if _, ok := e["error"].(string); ok {
		s.errorCode = "a string"
	}
}

func messageEvent(s *said, e map[string]any, name string) {
	content, _ := e["content"].([]any)
	for _, block := range content {
		s.text += str(block, "text")
		s.thought += str(block, "thinking")
		if input := at(block, "input"); input != nil {
			args, _ := json.Marshal(input)
			s.args += string(args)
		}
	}
	s.text += str(e, "delta", "text")
	s.thought += str(e, "delta", "thinking")
	s.args += str(e, "delta", "partial_json")
	if stop := str(e, "stop_reason") + str(e, "delta", "stop_reason"); stop != "" {
		s.finish = stop
	}
	for _, u := range []any{e["usage"], at(e, "message", "usage")} {
		if u, ok := u.(map[string]any); ok {
			s.usage = u
		}
	}
	s.done = s.done || name == "message_stop"
	if name == "ping" {
		s.pings++
	}
	s.errorCode += str(e, "error", "type")
	if _, ok := e["error"].(string); ok {
		s.errorCode = "a string"
	}
}

func responseEvent(s *said, e map[string]any, name string) {
	switch {
	case name == "" && e["object"] == "response":
		items, _ := e["output"].([]any)
		for _, item := range items {
			s.text += str(item, "content", 0, "text")
			s.refusal += str(item, "content", 0, "refusal")
			s.thought += str(item, "summary", 0, "text")
			s.args += str(item, "arguments")
		}
		s.closes(e)
	case strings.HasSuffix(name, "reasoning_summary_text.delta"):
		s.thought += str(e, "delta")
	case strings.HasSuffix(name, "arguments.delta"):
		s.args += str(e, "delta")
	case strings.HasSuffix(name, "refusal.delta"):
		s.refusal += str(e, "delta")
	case strings.HasSuffix(name, "text.delta"):
		s.text += str(e, "delta")
	case name == "response.completed" || name == "response.incomplete":
		s.done = true
		response, _ := e["response"].(map[string]any)
		s.closes(response)
	case name == "error":
		s.errorCode += str(e, "code")
	}
	if name != "" && e["sequence_number"] != float64(s.events-1) {
		s.gaps++
	}
	if name == "" {
		s.errorCode += words(str(e, "error", "type"), str(e, "error", "code"))
	}
	if _, ok := e["error"].(string); ok {
		s.errorCode = "a string"
	}
}

// closes reads the state of a whole response.
func (s *said) closes(response map[string]any) {
	s.finish = words(str(response, "status"), str(response, "incomplete_details", "reason"))
	if u, ok := response["usage"].(map[string]any); ok {
		s.usage = u
	}
}

func geminiEvent(s *said, e map[string]any, _ string) {
	parts, _ := at(e, "candidates", 0, "content", "parts").([]any)
	for _, part := range parts {
		if at(part, "thought") == true {
			s.thought += str(part, "text")
			continue
		}
		s.text += str(part, "text")
		if args := at(part, "functionCall", "args"); args != nil {
			b, _ := json.Marshal(args)
			s.args += string(b)
		}
	}
	if f := str(e, "candidates", 0, "finishReason"); f != "" {
		s.finish = f
	}
	if u, ok := e["usageMetadata"].(map[string]any); ok {
		s.usage = u
	}
	s.errorCode += str(e, "error", "status")
	if _, ok := e["error"].(string); ok {
		s.errorCode = "a string"
	}
}
