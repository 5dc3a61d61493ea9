package mock

// reset kills the connection with a RST, before any header or after some
// tokens.
func resetFault(s spec) (player, error) {
	return func(x *exchange) {
		if !s.hasAt || x.until(s.at) {
			x.flush()
			x.reset()
		}
	}, s.none()
}
