package backstop

import "time"

// Code is a typed error that callers see in their own dialect.
type Code string

// The codes of an answer that no tier gave, and of refusals at the door.
const (
	CodeUpstreamTimeout     Code = "upstream_timeout"
	CodeDeadlineExceeded    Code = "deadline_exceeded"
	CodeUpstreamUnavailable Code = "upstream_unavailable"
	CodeUpstreamEmpty       Code = "upstream_empty"
	CodeStreamIncomplete    Code = "stream_incomplete"
	CodeStreamStalled       Code = "stream_stalled"
	CodeEventTooLarge       Code = "event_too_large"
	CodeJSONTruncated       Code = "json_truncated"
	CodeJSONInvalid         Code = "json_invalid"
	CodeUpstreamsExhausted  Code = "upstreams_exhausted"
	CodeOverloaded          Code = "overloaded"
	CodeDraining            Code = "draining"
	CodeConfigError         Code = "config_error"
	CodeRateLimited         Code = "rate_limited"
	CodeQuota               Code = "quota_exceeded"    // an account wall of an upstream
	CodeUpstreamAuth        Code = "upstream_auth"     // an upstream refused our credential
	CodeUpstreamRejected    Code = "upstream_rejected" // an upstream's 4xx that is the caller's business
	CodeInvalidRequest      Code = "invalid_request"
	CodeUnauthorized        Code = "unauthorized"
	CodeForbidden           Code = "forbidden"
	CodeNotFound            Code = "not_found"
	CodeTooLarge            Code = "too_large"
	CodeUnsupportedMedia    Code = "unsupported_media"
	CodeCanceled            Code = "canceled" // the caller left; nobody reads this
)

var codeStatus = map[Code]int{
	CodeUpstreamTimeout: 504, CodeDeadlineExceeded: 504,
	CodeUpstreamUnavailable: 502, CodeUpstreamEmpty: 502, CodeStreamIncomplete: 502, CodeStreamStalled: 502,
	CodeEventTooLarge: 502, CodeJSONTruncated: 502, CodeJSONInvalid: 502,
	CodeUpstreamsExhausted: 503, CodeOverloaded: 503, CodeDraining: 503, CodeConfigError: 503,
	CodeRateLimited: 429, CodeQuota: 429, CodeUpstreamAuth: 502, CodeUpstreamRejected: 400,
	CodeInvalidRequest: 400, CodeUnauthorized: 401, CodeForbidden: 403, CodeNotFound: 404,
	CodeTooLarge: 413, CodeUnsupportedMedia: 415, CodeCanceled: 499,
}

// Status is the HTTP status that belongs to a code unless an upstream's own
// status is kept.
func (c Code) Status() int {
	if s, ok := codeStatus[c]; ok {
		return s
	}
	return 500
}

// Failure is the end of a call that no tier answered, or that broke off after
// its first byte. Message names the cause chain in config names and outcome
// words only: never a key, host, path or Go error text.
type Failure struct {
	Code       Code
	Status     int
	Message    string
	Param      string        // the parameter at fault, "" = none
	RetryAfter time.Duration // 0 = unknown; clamped to 10 s by whoever writes it
	Retryable  bool          // the caller may try again (its own limit, not ours)

	// Body is an upstream's error that is passed on word for word, in the
	// dialect of From.
	Body []byte
	From Dialect
}

func (f *Failure) Error() string { return string(f.Code) + ": " + f.Message }
