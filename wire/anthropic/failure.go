package anthropic

import (
	"github.com/tidwall/gjson"

	"backstop"
	"backstop/wire"
	"backstop/wire/internal/edit"
)

// types maps our codes onto the error types that the SDKs and their users
// know. What is not here is an api_error.
var types = map[backstop.Code]string{
	backstop.CodeUpstreamTimeout: "timeout_error", backstop.CodeDeadlineExceeded: "timeout_error", backstop.CodeStreamStalled: "timeout_error",
	backstop.CodeRateLimited: "rate_limit_error", backstop.CodeQuota: "billing_error",
	backstop.CodeOverloaded: "overloaded_error", backstop.CodeDraining: "overloaded_error", backstop.CodeUpstreamsExhausted: "overloaded_error",
	backstop.CodeUnauthorized: "authentication_error", backstop.CodeForbidden: "permission_error",
	backstop.CodeNotFound: "not_found_error", backstop.CodeInvalidRequest: "invalid_request_error",
	backstop.CodeTooLarge: "request_too_large", backstop.CodeUnsupportedMedia: "invalid_request_error",
	backstop.CodeUpstreamRejected: "invalid_request_error",
}

// byStatus is the type of an upstream's status that is passed on.
var byStatus = map[int]string{
	401: "authentication_error", 402: "billing_error", 403: "permission_error", 404: "not_found_error", 409: "conflict_error",
	413: "request_too_large", 429: "rate_limit_error", 503: "overloaded_error", 504: "timeout_error", 529: "overloaded_error",
}

// Failure makes the body of an error answer:
//
//	{"type":"error","error":{"type":string,"message":string,"code":string},"request_id":string}
//
// code is ours; param is added where one is at fault. An upstream's own error
// is passed on word for word if it already has this shape.
func (Room) Failure(f *backstop.Failure, id string) []byte {
	if f.From == backstop.Anthropic && shaped(f.Body) {
		return f.Body
	}
	kind := types[f.Code]
	if f.Code == backstop.CodeUpstreamRejected || f.Code == backstop.CodeUpstreamUnavailable {
		if word, ok := byStatus[f.Status]; ok {
			kind = word
		}
	}
	if kind == "" {
		kind = "api_error"
	}
	message := f.Message
	if message == "" {
		message = "the request failed"
	}
	b := append([]byte(`{"type":"error","error":{"type":`), edit.Quoted(kind)...)
	b = wire.AppendString(append(b, `,"message":`...), message)
	b = wire.AppendString(append(b, `,"code":`...), string(f.Code))
	if f.Param != "" {
		b = wire.AppendString(append(b, `,"param":`...), f.Param)
	}
	b = append(b, '}')
	if id != "" {
		b = wire.AppendString(append(b, `,"request_id":`...), id)
	}
	return append(b, '}')
}

// shaped reports whether a body is an error that an SDK of this dialect reads.
func shaped(body []byte) bool {
	if !wire.ValidJSON(body) {
		return false
	}
	e := gjson.GetBytes(body, "error")
	return gjson.GetBytes(body, "type").Str == "error" && e.Get("type").Str != "" && e.Get("message").Str != ""
}
