package mock

import "strings"

// items are the parts of a whole response.
func (c *choice) items(r *reply) []any {
	status, _ := c.responseStatus()
	out := []any{}
	if len(c.thought) > 0 {
		out = append(out, c.reasoningItem(r, "completed"))
	}
	if c.call != nil {
		return append(out, c.callItem(strings.Join(c.pieces, ""), status))
	}
	if len(c.pieces) == 0 && c.finish == "content_filter" {
		return out
	}
	return append(out, r.messageItem(status, []any{c.part(strings.Join(c.pieces, ""))}))
}

func (c *choice) reasoningItem(r *reply, status string) map[string]any {
	summary := []any{}
	if status == "completed" {
		summary = append(summary, map[string]any{"type": "summary_text", "text": strings.Join(c.thought, "")})
	}
	return map[string]any{"id": "rs_" + r.id, "type": "reasoning", "summary": summary}
}

func (c *choice) callItem(args, status string) map[string]any {
	return map[string]any{
		"id": "fc_" + c.call.id, "type": "function_call", "status": status, "call_id": "call_" + c.call.id,
		"name": c.call.name, "arguments": args,
	}
}

func (r *reply) messageItem(status string, parts []any) map[string]any {
	return map[string]any{"id": "msg_" + r.id, "type": "message", "status": status, "role": "assistant", "content": parts}
}

// part is text, or the words of a refusal.
func (c *choice) part(text string) map[string]any {
	if c.refusal {
		return map[string]any{"type": "refusal", "refusal": text}
	}
	return map[string]any{"type": "output_text", "text": text, "annotations": []any{}, "logprobs": []any{}}
}
