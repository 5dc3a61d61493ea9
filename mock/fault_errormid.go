package mock

// error-mid breaks off with an error event after some tokens.
func errorMidFault(s spec) (player, error) {
	n := s.tokens(3)
	return func(x *exchange) { x.errorAfter(n) }, s.none()
}
