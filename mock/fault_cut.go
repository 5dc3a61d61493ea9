package mock

// cut sends some tokens and closes the connection without an end.
func cutFault(s spec) (player, error) {
	n := s.tokens(5)
	return func(x *exchange) {
		if x.until(n) {
			x.cut()
		}
	}, s.none()
}
