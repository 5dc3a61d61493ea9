package responses

import (
	"strconv"

	"github.com/tidwall/gjson"

	"backstop"
	"backstop/wire"
	"backstop/wire/internal/intake"
)

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

// Failure makes the body of an error answer, which has the form of the chat's:
//
//	{"error":{"message":string,"type":string,"param":null|string,"code":string}}
//
// An upstream's own error is passed on word for word if it already has this
// shape (type and code may be null). The request id travels in headers.
func (Room) Failure(f *backstop.Failure, _ string) []byte {
	if (f.From == backstop.Responses || f.From == backstop.OpenAI) && shaped(f.Body) {
		return f.Body
	}
	return append(appendError([]byte(`{"error":`), f), '}')
}

func appendError(b []byte, f *backstop.Failure) []byte {
	kind, ok := types[f.Code]
	if !ok {
		kind = "server_error"
	}
	b = wire.AppendString(append(b, `{"message":`...), said(f))
	b = wire.AppendString(append(b, `,"type":`...), kind)
	b = appendParam(append(b, `,"param":`...), f.Param)
	return append(wire.AppendString(append(b, `,"code":`...), string(f.Code)), '}')
}

func said(f *backstop.Failure) string {
	if f.Message == "" {
		return "the request failed"
	}
	return f.Message
}

func appendParam(b []byte, param string) []byte {
	if param == "" {
		return append(b, "null"...)
	}
	return wire.AppendString(b, param)
}

// appendErrorEvent makes the event that a stream breaks off with:
//
//	{"type":"error","sequence_number":int,"code":string,"message":string,"param":null|string,"error":{…}}
//
// Code, message and param stand in it as the API documents them, and again in
// an error object, which is what SDKs look at to raise an error: without it
// some of them take the event for one more, and the end after it for a clean
// one.
func appendErrorEvent(b []byte, f *backstop.Failure, number int) []byte {
	b = strconv.AppendInt(append(b, `{"type":"error","sequence_number":`...), int64(number), 10)
	b = wire.AppendString(append(b, `,"code":`...), string(f.Code))
	b = wire.AppendString(append(b, `,"message":`...), said(f))
	b = appendParam(append(b, `,"param":`...), f.Param)
	return append(appendError(append(b, `,"error":`...), f), '}')
}

// shaped reports whether a body is an error that an SDK of this dialect reads:
// an error object with a text message, type and code text or null.
func shaped(body []byte) bool {
	if !wire.ValidJSON(body) {
		return false
	}
	e := gjson.GetBytes(body, "error")
	if !e.IsObject() || e.Get("message").Str == "" {
		return false
	}
	for _, name := range [...]string{"type", "code"} {
		if v := e.Get(name); intake.Filled(v) && v.Type != gjson.String {
			return false
		}
	}
	return true
}
