package mock

import "net/http"

// context refuses the prompt as too long for the model.
func contextFault(s spec) (player, error) {
	return func(x *exchange) {
		x.fail(failure{
			Status: http.StatusBadRequest, Type: "invalid_request_error", Code: "context_length_exceeded", Param: "messages",
			Message: "The maximum context length of this model is 8 tokens; shorten the messages.",
		})
	}, s.none()
}
