package mock

// nofinish sends some tokens and ends cleanly, without a finish reason: the
// truncation that looks like success. A plain body has that many tokens and
// a null finish reason.
func noFinishFault(s spec) (player, error) {
	n := s.tokens(5)
	return func(x *exchange) {
		if x.ask.stream {
			x.until(n)
			return
		}
		for i := range x.reply.choices {
			c := &x.reply.choices[i]
			c.pieces, c.finish = c.pieces[:min(n, len(c.pieces))], ""
		}
		x.reply.count()
		x.answer()
	}, s.none()
}
