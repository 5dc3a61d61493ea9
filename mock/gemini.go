package mock

import (
	"net/http"
	"strconv"
	"time"
)

// geminiDialect writes generateContent: whole, as events, or as a list that
// grows.
type geminiDialect struct{}

func geminiRooms() []room {
	return []room{{
		paths: []string{"/v1beta/models/{rest...}", "/v1/models/{rest...}", "/models/{rest...}"},
		read:  readGemini, say: geminiDialect{},
	}}
}

// crlfLines is the packing of ?alt=sse: events without a name, and their lines
// end as HTTP's do.
var crlfLines = packing{
	mime: eventStream, warm: []byte(": keep-alive\r\n\r\n"), broken: []byte("data: {\"oops\r\n\r\n"), torn: []byte(`data: {"candidates":`),
}

// growing is the packing without alt=sse: one JSON list, an element a time.
var growing = packing{
	mime: "application/json; charset=UTF-8", warm: []byte("\n"), broken: []byte(",\r\n{\"oops"), torn: []byte(",\r\n{\"candidates\":"),
}

// geminiStatus are the dialect's words for a status.
var geminiStatus = map[int]string{
	http.StatusBadRequest:          "INVALID_ARGUMENT",
	http.StatusUnauthorized:        "UNAUTHENTICATED",
	http.StatusPaymentRequired:     "RESOURCE_EXHAUSTED",
	http.StatusForbidden:           "PERMISSION_DENIED",
	http.StatusNotFound:            "NOT_FOUND",
	http.StatusRequestTimeout:      "DEADLINE_EXCEEDED",
	http.StatusConflict:            "ABORTED",
	http.StatusTooManyRequests:     "RESOURCE_EXHAUSTED",
	http.StatusInternalServerError: "INTERNAL",
	http.StatusNotImplemented:      "UNIMPLEMENTED",
	http.StatusServiceUnavailable:  "UNAVAILABLE",
	http.StatusGatewayTimeout:      "DEADLINE_EXCEEDED",
	529:                            "UNAVAILABLE",
}

// failure is an error object. The time to wait stands in it and in no header.
func (geminiDialect) failure(f *failure, inBand bool) []byte {
	code, message := f.Status, f.Message
	if code == http.StatusOK { // an error that came too late for its status
		code = http.StatusServiceUnavailable
	}
	status := geminiStatus[code]
	if status == "" {
		status = map[bool]string{true: "INTERNAL", false: "INVALID_ARGUMENT"}[code >= 500]
	}
	if n, err := strconv.Atoi(f.Code); f.CodeAsked && err == nil {
		code = n
	} else if f.CodeAsked {
		status = f.Code
	}
	if f.TypeAsked {
		status = f.Type
	}
	if f.Code == "context_length_exceeded" {
		message = "The input token count (9) exceeds the maximum number of tokens allowed (8)."
	}
	err := map[string]any{"code": code, "message": message, "status": status}
	if details := f.geminiDetails(); details != nil {
		err["details"] = details
	}
	body := mustJSON(map[string]any{"error": err})
	switch {
	case inBand && f.Listed:
		return listed(f.Seq, append(body, "\r\n]"...))
	case inBand:
		return crlfEvent(body)
	}
	return body
}

const googleTypes = "type.googleapis.com/google.rpc."

func (f *failure) geminiDetails() (list []any) {
	if f.Status == http.StatusTooManyRequests {
		span := "PerMinute"
		if f.Quota {
			span = "PerDay"
		}
		list = append(list, map[string]any{"@type": googleTypes + "QuotaFailure", "violations": []any{map[string]any{
			"quotaMetric": "generativelanguage.googleapis.com/generate_content_requests",
			"quotaId":     "GenerateRequests" + span + "PerProjectPerModel",
		}}})
	}
	if d := f.delay(); d != "" {
		list = append(list, map[string]any{"@type": googleTypes + "RetryInfo", "retryDelay": d})
	}
	return list
}

// delay is the time to wait as Google writes it; nonsense stays nonsense.
func (f *failure) delay() string {
	ms, err := strconv.ParseFloat(f.RetryAfterMS, 64)
	switch {
	case f.Wait > 0:
		return strconv.FormatFloat(f.Wait.Round(time.Millisecond).Seconds(), 'f', -1, 64) + "s"
	case f.RetryAfterMS != "" && err == nil:
		return strconv.FormatFloat(ms/1000, 'f', -1, 64) + "s"
	case f.RetryAfter != "":
		return f.RetryAfter + "s"
	}
	return ""
}

func crlfEvent(data []byte) []byte {
	out := make([]byte, 0, len(data)+10)
	return append(append(append(out, "data: "...), data...), "\r\n\r\n"...)
}

// listed is the i-th element of a list that grows.
func listed(i int, data []byte) []byte {
	if i == 0 {
		return append([]byte("["), data...)
	}
	return append([]byte(",\r\n"), data...)
}
