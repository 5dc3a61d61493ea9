package mock

// truncated stops inside a JSON string, with or without saying so.
func truncatedFault(s spec) (player, error) {
	finish, err := s.choice("length", "stop")
	return func(x *exchange) {
		x.asJSON()
		x.reply.setText(func(text string) (string, string) { return head(text, len(text)*2/3), finish })
		x.answer()
	}, err
}
