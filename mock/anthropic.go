package mock

import (
	"net/http"
	"strconv"
)

// anthropicDialect writes messages, and counts of tokens.
type anthropicDialect struct{}

func anthropicRooms() []room {
	return []room{
		{paths: both("/messages"), read: readMessages, say: anthropicDialect{}},
		{paths: both("/messages/count_tokens"), read: readCount, say: anthropicDialect{}},
	}
}

// namedPings is the packing of Anthropic's streams: events have names, and a
// sign of life is an event.
var namedPings = packing{
	mime: eventStream, warm: named("ping", []byte(`{"type":"ping"}`)),
	broken: []byte("event: content_block_delta\ndata: {\"oops\n\n"),
	torn:   []byte("event: content_block_delta\ndata: {\"type\":"),
}

// anthropicTypes are the dialect's words for a status.
var anthropicTypes = map[int]string{
	http.StatusOK:                    "overloaded_error", // an error that came too late for its status
	http.StatusBadRequest:            "invalid_request_error",
	http.StatusUnauthorized:          "authentication_error",
	http.StatusPaymentRequired:       "billing_error",
	http.StatusForbidden:             "permission_error",
	http.StatusNotFound:              "not_found_error",
	http.StatusConflict:              "conflict_error",
	http.StatusRequestEntityTooLarge: "request_too_large",
	http.StatusTooManyRequests:       "rate_limit_error",
	http.StatusGatewayTimeout:        "timeout_error",
	529:                              "overloaded_error",
}

func (anthropicDialect) failure(f *failure, inBand bool) []byte {
	kind, message := anthropicTypes[f.Status], f.Message
	switch {
	case f.TypeAsked:
		kind = f.Type
	case f.CodeAsked:
		kind = f.Code // as vendors do that have numbers of their own
	case kind == "" && f.Status >= 500:
		kind = "api_error"
	case kind == "":
		kind = "invalid_request_error"
	}
	if f.Code == "context_length_exceeded" {
		message = "prompt is too long: 9 tokens > 8 maximum"
	}
	err := map[string]any{"type": kind, "message": message}
	if f.Quota && !f.TypeAsked {
		err["details"] = map[string]any{"error_code": "enforced_spend_limit_reached"}
	}
	body := mustJSON(map[string]any{"type": "error", "error": err, "request_id": orNull(f.ID)})
	if inBand {
		return named("error", body)
	}
	return body
}

// anthropicStop is the dialect's word for a finish reason, nil for none.
func (c *choice) anthropicStop() any {
	switch {
	case c.refusal || c.finish == "content_filter":
		return "refusal"
	case c.finish == "length":
		return "max_tokens"
	case c.finish == "tool_calls":
		return "tool_use"
	case c.finish == "":
		return nil
	}
	return "end_turn"
}

func (r *reply) anthropicUsage(out int) map[string]any {
	return map[string]any{
		"input_tokens": r.in, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": out,
	}
}

// signature is what vouches for a thought; nobody checks ours.
func (r *reply) signature() string {
	return "bW9jay1zaWduYXR1cmUt" + strconv.FormatInt(r.created, 10) + "=="
}
