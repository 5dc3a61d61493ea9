package mock

// empty is a success with nothing in it: no byte, no event.
func emptyFault(s spec) (player, error) {
	return func(x *exchange) {
		if x.ask.stream {
			x.open(x.ask.pack.mime, -1)
			return
		}
		x.open(jsonBody, 0)
	}, s.none()
}
