package mock

// role-only sends what comes before the first token, then silence.
func roleOnlyFault(s spec) (player, error) {
	return func(x *exchange) {
		if x.openings() {
			x.silence()
		}
	}, s.none()
}
