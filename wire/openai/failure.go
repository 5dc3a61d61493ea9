package openai

import "backstop"

// types maps our codes onto the error types that the SDKs and their users
// know. What is not here is a server_error.
var types = map[backstop.Code]string{
	backstop.CodeUpstreamTimeout: "timeout_error", backstop.CodeDeadlineExceeded: "timeout_error", backstop.CodeStreamStalled: "timeout_error",
	backstop.CodeRateLimited: "rate_limit_error", backstop.CodeQuota: "insufficient_quota",
	backstop.CodeOverloaded: "overloaded_error", backstop.CodeDraining: "overloaded_error",
	backstop.CodeUnauthorized: "authentication_error", backstop.CodeForbidden: "permission_error",
	backstop.CodeNotFound: "not_found_error", backstop.CodeInvalidRequest: "invalid_request_error",
	backstop.CodeTooLarge: "invalid_request_error", backstop.CodeUnsupportedMedia: "invalid_request_error",
	backstop.CodeUpstreamRejected: "invalid_request_error",
}

// Failure makes the body of an error answer:
//
//	{"error":{"message":string,"type":string,"param":null|string,"code":string}}
//
// An upstream's own error is passed on word for word if it already has this
// shape (type and code may be null). The request id travels in headers.
func (Room) Failure(f *backstop.Failure, _ string) []byte {
	if f.From == backstop.OpenAI && shaped(f.Body) {
		return f.Body
	}
	kind, ok := types[f.Code]
	if !ok {
		kind = "server_error"
	}
	o := builder{b: []byte(`{"error":`)}
	message := f.Message
	if message == "" {
		message = "the request failed"
	}
	o.raw("message", appendString(nil, message))
	o.raw("type", appendString(nil, kind))
	if f.Param != "" {
		o.raw("param", appendString(nil, f.Param))
	} else {
		o.raw("param", []byte("null"))
	}
	o.raw("code", appendString(nil, string(f.Code)))
	o.end()
	return append(o.b, '}')
}

// shaped reports whether a body is an error that an SDK of this dialect reads:
// an error object with a text message, type and code text or null.
func shaped(body []byte) bool {
	whole, ok := root(body)
	if !ok {
		return false
	}
	e := member(body, whole, "error")
	if !e.is(body, '{') || !member(body, e, "message").filled(body) {
		return false
	}
	for _, name := range [...]string{"type", "code"} {
		if s := member(body, e, name); !s.null(body) && !s.is(body, '"') {
			return false
		}
	}
	return true
}
