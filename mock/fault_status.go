package mock

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// status answers with an error status at once.
func statusFault(s spec) (player, error) {
	word, opts := s.word, s.args
	if word == "status" {
		if len(opts) == 0 {
			return nil, errors.New("a status is wanted")
		}
		word, opts = opts[0], opts[1:]
	}
	code := statusCode(word)
	if code == 0 {
		return nil, fmt.Errorf("%q is no status from 400 to 599", word)
	}
	f, after := failureFor(code), time.Duration(0)
	for _, opt := range opts {
		key, value, _ := strings.Cut(opt, "=")
		if key == "retry-after-date" {
			d, err := positive(value)
			if err != nil {
				return nil, err
			}
			after = d
		} else if err := f.option(key, value); err != nil {
			return nil, err
		}
	}
	return func(x *exchange) {
		f := f
		if after > 0 {
			f.Wait, f.RetryAfter = after, time.Now().Add(after).UTC().Format(http.TimeFormat)
		}
		x.fail(f)
	}, nil
}

// option changes a failure. Header values are taken as they are, nonsense
// included: callers must survive it.
func (f *failure) option(key, value string) error {
	switch key {
	case "retry-after":
		f.RetryAfter = value
	case "retry-after-ms":
		f.RetryAfterMS = value
	case "code":
		f.Code, f.CodeAsked = value, true
	case "type":
		f.Type, f.TypeAsked = value, true
	case "param":
		f.Param = value
	case "message":
		f.Message = value
	case "quota":
		f.Quota, f.Type, f.Code = true, "insufficient_quota", "insufficient_quota"
		f.Message = "The quota of this account is used up; add credit to go on."
	default:
		return fmt.Errorf("unknown option %q, known are retry-after= retry-after-ms= retry-after-date= code= type= param= message= quota", key)
	}
	return nil
}

// statusCode reads three digits from 400 to 599, 0 for anything else.
func statusCode(word string) int {
	if len(word) != 3 {
		return 0
	}
	n, err := strconv.Atoi(word)
	if err != nil || n < 400 || n > 599 {
		return 0
	}
	return n
}

// failureFor is what a vendor typically says with a status.
func failureFor(code int) failure {
	f := failure{Status: code, Type: "invalid_request_error", Message: "The request is not valid."}
	switch code {
	case http.StatusUnauthorized:
		f.Code, f.Message = "invalid_api_key", "The API key is not correct."
	case http.StatusPaymentRequired:
		f.Type, f.Code, f.Message = "insufficient_balance", "insufficient_balance", "The balance of this account is not enough."
	case http.StatusForbidden:
		f.Type, f.Code, f.Message = "permission_error", "permission_denied", "This key may not use this model."
	case http.StatusNotFound:
		f.Code, f.Message, f.Param = "model_not_found", "The model does not exist, or this key may not use it.", "model"
	case http.StatusRequestTimeout:
		f.Type, f.Message = "timeout_error", "The request took too long."
	case http.StatusRequestEntityTooLarge:
		f.Code, f.Message = "request_too_large", "The request body is too large."
	case http.StatusTooManyRequests:
		f.Type, f.Code, f.Message = "rate_limit_error", "rate_limit_exceeded", "Too many requests, slow down."
	case 529:
		f.Type, f.Code, f.Message = "overloaded_error", "overloaded", "The service is overloaded."
	default:
		if code >= 500 {
			f.Type, f.Message = "server_error", "The server had an error while it worked on the request."
		}
	}
	return f
}
