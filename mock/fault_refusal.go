package mock

import "net/http"

// refusal declines: in the model's own words, by a content filter, or as a
// policy error.
func refusalFault(s spec) (player, error) {
	how, err := s.choice("words", "filter", "400")
	return func(x *exchange) {
		switch how {
		case "400":
			x.fail(failure{
				Status: http.StatusBadRequest, Type: "invalid_request_error", Code: "content_policy_violation",
				Message: "The request was declined by the content policy.",
			})
			return
		case "filter":
			x.reply.setText(func(string) (string, string) { return "", "content_filter" })
		default:
			x.reply.setText(func(string) (string, string) { return "I can't help with that.", "stop" })
			for i := range x.reply.choices {
				x.reply.choices[i].refusal = true
			}
		}
		x.answer()
	}, err
}
