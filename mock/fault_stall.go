package mock

// stall sends some tokens, then nothing, with the connection open. A plain
// body stops at the same share of its bytes.
func stallFault(s spec) (player, error) {
	n := s.tokens(5)
	return func(x *exchange) {
		if x.until(n) {
			x.silence()
		}
	}, s.none()
}
