package sim

import (
	"encoding/json"
	"net/http"

	"backstop"
	"backstop/wire"
)

// judge turns an error answer into the outcome that live traffic would give
// it, with the same code.
type judge struct {
	vendor  string
	dialect backstop.Dialect
}

// errorAnswer is what an upstream says with a status.
type errorAnswer struct {
	status  int
	surface wire.Surface
	header  http.Header
	kind    string
	code    string
	message string
	param   string
	body    []byte // in place of an error object
}

func (j judge) outcome(e *errorAnswer) backstop.Outcome {
	body := e.body
	if body == nil {
		object := map[string]any{"message": e.message, "type": e.kind, "code": e.code}
		if e.param != "" {
			object["param"] = e.param
		}
		body, _ = json.Marshal(map[string]any{"error": object}) // strings only: cannot fail
	}
	if e.header == nil {
		e.header = http.Header{}
	}
	dialect := j.dialect
	if dialect == "" {
		dialect = backstop.OpenAI
	}
	o := wire.Judge(&wire.Reply{Vendor: j.vendor, Dialect: dialect, Caller: backstop.OpenAI,
		Surface: e.surface, Status: e.status, Header: e.header, Body: body})
	o.Body, o.Message = nil, ""
	return o
}

// answerFor is what a vendor typically says with a status.
func answerFor(status int) *errorAnswer {
	e := &errorAnswer{status: status, surface: wire.SurfaceHTTP, kind: "invalid_request_error", message: "The request is not valid."}
	switch status {
	case 401:
		e.code, e.message = "invalid_api_key", "The API key is not correct."
	case 402:
		e.kind, e.code, e.message = "insufficient_balance", "insufficient_balance", "The balance of this account is not enough."
	case 403:
		e.kind, e.code, e.message = "permission_error", "permission_denied", "This key may not use this model."
	case 404:
		e.code, e.message, e.param = "model_not_found", "The model does not exist, or this key may not use it.", "model"
	case 408:
		e.kind, e.message = "timeout_error", "The request took too long."
	case 413:
		e.code, e.message = "request_too_large", "The request body is too large."
	case 429:
		e.kind, e.code, e.message = "rate_limit_error", "rate_limit_exceeded", "Too many requests, slow down."
	case 529:
		e.kind, e.code, e.message = "overloaded_error", "overloaded", "The service is overloaded."
	default:
		if status >= 500 {
			e.kind, e.message = "server_error", "The server had an error while it worked on the request."
		}
	}
	return e
}
