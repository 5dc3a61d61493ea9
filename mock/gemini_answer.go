package mock

import (
	"encoding/json"
	"strings"
)

func (geminiDialect) body(r *reply) []byte {
	if r.ask.op == "count" {
		return mustJSON(map[string]any{"totalTokens": r.in})
	}
	list := make([]any, len(r.choices))
	for i := range r.choices {
		c := &r.choices[i]
		list[i] = c.candidate(i, c.parts(r), c.geminiFinish())
	}
	return mustJSON(r.generated(list, true))
}

// generated is one whole answer, or one chunk of it.
func (r *reply) generated(candidates []any, last bool) map[string]any {
	out := map[string]any{"candidates": candidates, "modelVersion": r.ask.model, "responseId": r.id}
	if !last || r.noUsage {
		return out
	}
	usage := map[string]any{
		"promptTokenCount": r.in, "candidatesTokenCount": r.out - r.thoughts(), "totalTokenCount": r.in + r.out,
		"promptTokensDetails": []any{map[string]any{"modality": "TEXT", "tokenCount": r.in}},
	}
	if n := r.thoughts(); n > 0 {
		usage["thoughtsTokenCount"] = n
	}
	out["usageMetadata"] = usage
	return out
}

// candidate is one of the answers; without parts it has no content at all,
// which is how the dialect says nothing.
func (c *choice) candidate(i int, parts []any, finish string) map[string]any {
	out := map[string]any{"index": i}
	if len(parts) > 0 {
		out["content"] = map[string]any{"role": "model", "parts": parts}
	}
	if finish != "" {
		out["finishReason"] = finish
	}
	if finish == "MALFORMED_FUNCTION_CALL" {
		out["finishMessage"] = "Malformed function call: " + c.call.name
	}
	return out
}

// parts are the thoughts and the text of a whole candidate, or its call.
func (c *choice) parts(r *reply) []any {
	out := []any{}
	if len(c.thought) > 0 {
		out = append(out, thoughtPart(strings.Join(c.thought, "")))
	}
	switch text := strings.Join(c.pieces, ""); {
	case c.call != nil && c.brokenCall():
	case c.call != nil:
		out = append(out, c.callPart(r))
	case text != "":
		out = append(out, map[string]any{"text": text})
	}
	return out
}

func thoughtPart(text string) map[string]any { return map[string]any{"text": text, "thought": true} }

// callPart is a function call, which is never sent in pieces.
func (c *choice) callPart(r *reply) map[string]any {
	part := map[string]any{"functionCall": map[string]any{
		"name": c.call.name, "args": json.RawMessage(strings.Join(c.pieces, "")),
	}}
	if len(c.thought) > 0 {
		part["thoughtSignature"] = r.signature()
	}
	return part
}

// brokenCall reports whether the arguments are no object: the dialect has a
// finish reason for that, and no form for the pieces.
func (c *choice) brokenCall() bool { return !json.Valid([]byte(strings.Join(c.pieces, ""))) }

// geminiFinish is the dialect's word for a finish reason, "" for none.
func (c *choice) geminiFinish() string {
	switch {
	case c.call != nil && c.finish != "" && c.brokenCall():
		return "MALFORMED_FUNCTION_CALL"
	case c.refusal:
		return "PROHIBITED_CONTENT"
	case c.finish == "content_filter":
		return "SAFETY"
	case c.finish == "length":
		return "MAX_TOKENS"
	case c.finish == "":
		return ""
	}
	return "STOP"
}

func (geminiDialect) events(r *reply) []frame {
	var out []frame
	add := func(kind frameKind, chunk map[string]any) {
		data := mustJSON(chunk)
		if r.ask.pack.mime == growing.mime {
			out = append(out, frame{kind, listed(len(out), data)})
			return
		}
		out = append(out, frame{kind, crlfEvent(data)})
	}
	for step := 0; ; step++ {
		more := false
		for i := range r.choices {
			c := &r.choices[i]
			if part := c.geminiPart(r, step); part != nil {
				more = true
				add(content, r.generated([]any{c.candidate(i, []any{part}, "")}, false))
			}
		}
		if !more {
			break
		}
	}
	for i := range r.choices {
		c := &r.choices[i]
		parts := []any{map[string]any{"text": ""}}
		if c.call != nil || len(c.pieces) == 0 {
			parts = nil
		}
		add(finish, r.generated([]any{c.candidate(i, parts, c.geminiFinish())}, i == len(r.choices)-1))
	}
	if r.ask.pack.mime == growing.mime {
		out = append(out, frame{terminal, []byte("\r\n]\r\n")})
	}
	return out
}

// geminiPart is what a candidate says in one step, nil when it has no more to
// say.
func (c *choice) geminiPart(r *reply, step int) map[string]any {
	if step < len(c.thought) {
		return thoughtPart(c.thought[step])
	}
	step -= len(c.thought)
	switch {
	case c.call != nil && (step > 0 || c.brokenCall()), step >= len(c.pieces):
		return nil
	case c.call != nil:
		return c.callPart(r)
	}
	return map[string]any{"text": c.pieces[step]}
}
