package mock

// nostream refuses streams and answers plain calls.
func noStreamFault(s spec) (player, error) {
	return func(x *exchange) {
		if x.ask.stream {
			x.fail(unsupported("stream", "This model does not support streaming; set stream to false."))
			return
		}
		x.answer()
	}, s.none()
}
