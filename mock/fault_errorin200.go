package mock

import (
	"errors"
	"net/http"
)

// error-in-200 says 200 and means an error: the body is an error object,
// also where a stream was asked for.
func errorIn200Fault(s spec) (player, error) {
	if len(s.args) > 1 {
		return nil, errors.New("one error code is wanted")
	}
	f := overloaded()
	if len(s.args) == 1 {
		f.Code, f.CodeAsked = s.args[0], true
	}
	return func(x *exchange) { x.fail(f) }, nil
}

func overloaded() failure {
	return failure{
		Status: http.StatusOK, Type: "server_error", Code: "server_is_overloaded",
		Message: "The model is overloaded, try again later.",
	}
}
