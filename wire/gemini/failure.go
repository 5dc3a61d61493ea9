package gemini

import (
	"strconv"
	"time"

	"github.com/tidwall/gjson"

	"backstop"
	"backstop/wire"
)

// words are the canonical names that the API gives to statuses.
var words = map[int]string{
	400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 402: "RESOURCE_EXHAUSTED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 409: "ABORTED",
	413: "INVALID_ARGUMENT", 415: "INVALID_ARGUMENT", 422: "INVALID_ARGUMENT", 429: "RESOURCE_EXHAUSTED", 499: "CANCELLED",
	500: "INTERNAL", 501: "UNIMPLEMENTED", 502: "UNAVAILABLE", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED", 529: "UNAVAILABLE",
}

// domain is who the details of an error are from.
const domain = "backstop"

// maxRetry bounds a delay that callers are told.
const maxRetry = 10 * time.Second

// Failure makes the body of an error answer, and of an error in a stream:
//
//	{"error":{"code":int,"message":string,"status":string,"details":[
//	  {"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":string,"domain":"backstop","metadata":{"request_id":string,"param":string}}]}}
//
// code is the HTTP status, reason our own code; a RetryInfo follows where a
// time is known. An upstream's own error is passed on word for word if it
// already has this shape.
func (Room) Failure(f *backstop.Failure, id string) []byte {
	if f.From == backstop.Gemini && shaped(f.Body) {
		return f.Body
	}
	status := f.Status
	if status < 400 || status > 599 {
		status = f.Code.Status()
	}
	message := f.Message
	if message == "" {
		message = "the request failed"
	}
	b := strconv.AppendInt([]byte(`{"error":{"code":`), int64(status), 10)
	b = wire.AppendString(append(b, `,"message":`...), message)
	b = append(append(append(b, `,"status":"`...), word(status)...), `","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":`...)
	b = append(wire.AppendString(b, string(f.Code)), `,"domain":"`+domain+`","metadata":{`...)
	if id != "" {
		b = wire.AppendString(append(b, `"request_id":`...), id)
	}
	if f.Param != "" {
		if id != "" {
			b = append(b, ',')
		}
		b = wire.AppendString(append(b, `"param":`...), f.Param)
	}
	b = append(b, '}', '}')
	if d := min(f.RetryAfter, maxRetry); d > 0 {
		b = append(b, `,{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"`...)
		b = append(strconv.AppendFloat(b, d.Seconds(), 'f', -1, 64), `s"}`...)
	}
	return append(b, `]}}`...)
}

func word(status int) string {
	if w, ok := words[status]; ok {
		return w
	}
	if status >= 500 {
		return "INTERNAL"
	}
	return "FAILED_PRECONDITION"
}

// shaped reports whether a body is an error that an SDK of this dialect reads.
func shaped(body []byte) bool {
	if !wire.ValidJSON(body) {
		return false
	}
	e := gjson.GetBytes(body, "error")
	return e.Get("code").Type == gjson.Number && e.Get("status").Str != "" && e.Get("message").Type == gjson.String
}
