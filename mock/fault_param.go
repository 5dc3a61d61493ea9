package mock

import (
	"encoding/json"
	"errors"
	"net/http"
)

// param refuses a request that has one named parameter, and is healthy
// without it.
func paramFault(s spec) (player, error) {
	if len(s.args) != 1 {
		return nil, errors.New("the name of one parameter is wanted")
	}
	name := s.args[0]
	return func(x *exchange) {
		var top map[string]json.RawMessage
		if json.Unmarshal(x.ask.body, &top) == nil && top[name] != nil {
			x.fail(unsupported(name, "The parameter "+name+" is not supported by this model."))
			return
		}
		x.answer()
	}, nil
}

func unsupported(param, message string) failure {
	return failure{
		Status: http.StatusBadRequest, Type: "invalid_request_error", Code: "unsupported_parameter",
		Param: param, Message: message,
	}
}
