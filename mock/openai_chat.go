package mock

import (
	"fmt"
	"strconv"
	"strings"
)

// chatDialect writes chat completions.
type chatDialect struct{ openAIDialect }

func (chatDialect) body(r *reply) []byte {
	choices := make([]any, len(r.choices))
	for i := range r.choices {
		c := &r.choices[i]
		choices[i] = map[string]any{
			"index": i, "message": c.message(), "logprobs": r.logprobs(c.pieces), "finish_reason": orNull(c.finish),
		}
	}
	out := map[string]any{
		"id": "chatcmpl-" + r.id, "object": "chat.completion", "created": r.created, "model": r.ask.model,
		"system_fingerprint": r.mark, "choices": choices,
	}
	if !r.noUsage {
		out["usage"] = r.usage()
	}
	return mustJSON(out)
}

func (c *choice) message() map[string]any {
	text := strings.Join(c.pieces, "")
	m := map[string]any{"role": "assistant", "content": text, "refusal": nil}
	switch {
	case c.call != nil:
		m["content"] = nil
		m["tool_calls"] = []any{map[string]any{
			"id": "call_" + c.call.id, "type": "function", "function": map[string]any{"name": c.call.name, "arguments": text},
		}}
	case c.refusal:
		m["content"], m["refusal"] = nil, text
	}
	if len(c.thought) > 0 {
		m["reasoning_content"] = strings.Join(c.thought, "")
	}
	return m
}

func (r *reply) usage() map[string]any {
	u := map[string]any{"prompt_tokens": r.in, "completion_tokens": r.out, "total_tokens": r.in + r.out}
	if n := r.thoughts(); n > 0 {
		u["completion_tokens_details"] = map[string]any{"reasoning_tokens": n}
	}
	return u
}

// logprobs makes up one entry a token, nil unless they were asked for.
func (r *reply) logprobs(pieces []string) any {
	if !r.ask.logprobs {
		return nil
	}
	list := make([]any, len(pieces))
	for i, p := range pieces {
		e := tokenLogprob(p, 0)
		top := make([]any, r.ask.top)
		for j := range top {
			top[j] = tokenLogprob(p, j)
		}
		e["top_logprobs"] = top
		list[i] = e
	}
	return map[string]any{"content": list, "refusal": nil}
}

// tokenLogprob is the rank-th guess at a token: the token itself, then others.
func tokenLogprob(piece string, rank int) map[string]any {
	if rank > 0 {
		piece = " " + vocabulary[rank%len(vocabulary)]
	}
	bytes := make([]int, len(piece))
	for i := range len(piece) {
		bytes[i] = int(piece[i])
	}
	return map[string]any{"token": piece, "logprob": -0.25 * float64(rank+1), "bytes": bytes}
}

func (d chatDialect) events(r *reply) []frame {
	line := chunkLine(r, "chatcmpl-", "chat.completion.chunk")
	var out []frame
	for i := range r.choices {
		delta := map[string]any{"role": "assistant", "content": "", "refusal": nil}
		if c := r.choices[i].call; c != nil {
			delta["content"] = nil
			delta["tool_calls"] = []any{map[string]any{
				"index": 0, "id": "call_" + c.id, "type": "function", "function": map[string]any{"name": c.name, "arguments": ""},
			}}
		}
		out = append(out, frame{opening, line(chatChoice(i, delta, nil, nil), false)})
	}
	for step := 0; ; step++ {
		any := false
		for i := range r.choices {
			c := &r.choices[i]
			if step >= len(c.thought)+len(c.pieces) {
				continue
			}
			any = true
			out = append(out, frame{content, line(r.contentChoice(i, step), false)})
		}
		if !any {
			break
		}
	}
	for i := range r.choices {
		if r.choices[i].finish != "" {
			out = append(out, frame{finish, line(chatChoice(i, map[string]any{}, nil, r.choices[i].finish), false)})
		}
	}
	return closing(r, out, line)
}

// contentChoice is the i-th choice with its next piece. Plain text without
// logprobs, which is all that a load test asks for, takes the short way.
func (r *reply) contentChoice(i, step int) []byte {
	c := &r.choices[i]
	if step < len(c.thought) {
		return chatChoice(i, map[string]any{"reasoning_content": c.thought[step]}, nil, nil)
	}
	step -= len(c.thought)
	if c.call != nil || c.refusal || r.ask.logprobs {
		return chatChoice(i, c.delta(step), r.logprobs(c.pieces[step:step+1]), nil)
	}
	out := make([]byte, 0, 96+len(c.pieces[step]))
	out = append(out, `[{"delta":{"content":`...)
	out = append(out, mustJSON(c.pieces[step])...)
	out = append(out, `},"finish_reason":null,"index":`...)
	return append(strconv.AppendInt(out, int64(i), 10), `,"logprobs":null}]`...)
}

func (c *choice) delta(step int) map[string]any {
	piece := c.pieces[step]
	switch {
	case c.call != nil:
		return map[string]any{"tool_calls": []any{map[string]any{"index": 0, "function": map[string]any{"arguments": piece}}}}
	case c.refusal:
		return map[string]any{"refusal": piece}
	}
	return map[string]any{"content": piece}
}

func chatChoice(i int, delta map[string]any, logprobs, finish any) []byte {
	return mustJSON([]any{map[string]any{"index": i, "delta": delta, "logprobs": logprobs, "finish_reason": finish}})
}

// chunkLine returns a function that makes whole events from their choices;
// withUsage puts the numbers in, otherwise usage is null where it was asked for.
func chunkLine(r *reply, prefix, object string) func(choices []byte, withUsage bool) []byte {
	top := fmt.Sprintf(`data: {"id":"%s%s","object":"%s","created":%d,"model":%s,"system_fingerprint":%s,"choices":`,
		prefix, r.id, object, r.created, mustJSON(r.ask.model), mustJSON(r.mark))
	usageOn := r.ask.usageOn && !r.noUsage
	return func(choices []byte, withUsage bool) []byte {
		out := make([]byte, 0, len(top)+len(choices)+80)
		out = append(append(out, top...), choices...)
		switch {
		case usageOn && withUsage:
			out = append(append(out, `,"usage":`...), mustJSON(r.usage())...)
		case usageOn:
			out = append(out, `,"usage":null`...)
		}
		return append(out, "}\n\n"...)
	}
}

// closing adds usage, where it was asked for, and the end mark.
func closing(r *reply, out []frame, line func([]byte, bool) []byte) []frame {
	if r.ask.usageOn && !r.noUsage {
		out = append(out, frame{trailer, line([]byte("[]"), true)})
	}
	return append(out, frame{terminal, []byte("data: [DONE]\n\n")})
}
