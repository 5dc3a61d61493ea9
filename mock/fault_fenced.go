package mock

// fenced wraps the JSON of an answer in a Markdown fence.
func fencedFault(s spec) (player, error) {
	return func(x *exchange) {
		x.asJSON()
		x.reply.setText(func(text string) (string, string) { return "```json\n" + text + "\n```", "stop" })
		x.answer()
	}, s.none()
}

// asJSON turns the reply into the JSON that the call was promised, or into a
// small object if it was not promised any.
func (x *exchange) asJSON() {
	if x.ask.json {
		return
	}
	x.reply.setText(func(string) (string, string) { return minimalJSON(nil, uint64(x.reply.created)), "stop" })
}
