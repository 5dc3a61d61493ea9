package mock

// streamonly refuses plain calls and answers streams.
func streamOnlyFault(s spec) (player, error) {
	return func(x *exchange) {
		if !x.ask.stream && x.ask.op != "embedding" && x.ask.op != "count" {
			x.fail(unsupported("stream", "This model only supports stream mode; set stream to true."))
			return
		}
		x.answer()
	}, s.none()
}
