package mock

// blank is a complete answer that says nothing.
func blankFault(s spec) (player, error) {
	return func(x *exchange) {
		x.reply.setText(func(string) (string, string) { return "", "stop" })
		x.answer()
	}, s.none()
}
