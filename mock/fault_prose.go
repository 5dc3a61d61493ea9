package mock

// prose talks around the JSON of an answer.
func proseFault(s spec) (player, error) {
	return func(x *exchange) {
		x.asJSON()
		x.reply.setText(func(text string) (string, string) {
			return "Sure, here is the JSON:\n\n" + text + "\n\nTell me if anything is missing.", "stop"
		})
		x.answer()
	}, s.none()
}
