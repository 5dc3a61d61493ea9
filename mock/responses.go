package mock

import (
	"net/http"
	"slices"
)

// responsesDialect writes OpenAI's Responses.
type responsesDialect struct{ openAIDialect }

func responsesRooms() []room {
	return []room{{paths: both("/responses"), read: readResponses, say: responsesDialect{}}}
}

// namedEvents is the packing of Responses: each event has the name of its type.
var namedEvents = packing{
	mime: eventStream, warm: []byte(": keep-alive\n\n"),
	broken: []byte("event: response.output_text.delta\ndata: {\"oops\n\n"),
	torn:   []byte("event: response.output_text.delta\ndata: {\"type\":"),
}

// failure is an error in the form of the whole dialect. Where the status says
// 200 it is a response that failed, and in a stream an error event with the
// failed response after it.
func (d responsesDialect) failure(f *failure, inBand bool) []byte {
	if f.Status != http.StatusOK {
		return d.openAIDialect.failure(f, false)
	}
	failed := map[string]any{
		"id": "resp_" + f.ReplyID, "object": "response", "created_at": firstCreated, "status": "failed", "model": f.Model, "output": []any{},
		"error": map[string]any{"code": f.Code, "message": f.Message}, "incomplete_details": nil, "usage": nil,
	}
	if !inBand {
		return mustJSON(failed)
	}
	return slices.Concat(
		named("error", mustJSON(map[string]any{
			"type": "error", "code": f.Code, "message": f.Message, "param": orNull(f.Param), "sequence_number": f.Seq,
		})),
		named("response.failed", mustJSON(map[string]any{
			"type": "response.failed", "response": failed, "sequence_number": f.Seq + 1,
		})),
	)
}

// body is the whole response.
func (responsesDialect) body(r *reply) []byte {
	c := &r.choices[0]
	status, _ := c.responseStatus()
	return mustJSON(r.response(status, c.items(r)))
}

// responseStatus is the dialect's word for a finish reason, and why an answer
// is incomplete.
func (c *choice) responseStatus() (status string, why any) {
	switch c.finish {
	case "length":
		return "incomplete", map[string]any{"reason": "max_output_tokens"}
	case "content_filter":
		return "incomplete", map[string]any{"reason": "content_filter"}
	case "":
		return "in_progress", nil
	}
	return "completed", nil
}

// response is the object around the items of an answer.
func (r *reply) response(status string, items []any) map[string]any {
	done := status == "completed" || status == "incomplete"
	out := map[string]any{
		"id": "resp_" + r.id, "object": "response", "created_at": r.created, "status": status, "background": false,
		"error": nil, "incomplete_details": nil, "instructions": nil, "max_output_tokens": nil, "metadata": map[string]any{"mock": r.mark},
		"model": r.ask.model, "output": items, "parallel_tool_calls": true, "previous_response_id": nil,
		"reasoning": map[string]any{"effort": nil, "summary": nil}, "store": false, "temperature": 1, "top_p": 1,
		"text": map[string]any{"format": r.textForm()}, "tool_choice": "auto", "tools": []any{}, "truncation": "disabled",
	}
	if r.ask.limit > 0 {
		out["max_output_tokens"] = r.ask.limit
	}
	if done {
		_, out["incomplete_details"] = r.choices[0].responseStatus()
		if !r.noUsage {
			out["usage"] = map[string]any{
				"input_tokens": r.in, "input_tokens_details": map[string]any{"cached_tokens": 0},
				"output_tokens": r.out, "output_tokens_details": map[string]any{"reasoning_tokens": r.thoughts()},
				"total_tokens": r.in + r.out,
			}
		}
	}
	return out
}

// textForm repeats what form of text was asked for.
func (r *reply) textForm() map[string]any {
	switch {
	case r.ask.json && r.ask.schema != nil:
		return map[string]any{"type": "json_schema", "name": "answer", "schema": r.ask.schema, "strict": true}
	case r.ask.json:
		return map[string]any{"type": "json_object"}
	}
	return map[string]any{"type": "text"}
}
