package mock

// ok answers as a healthy model.
func okFault(s spec) (player, error) {
	return func(x *exchange) { x.answer() }, s.none()
}
