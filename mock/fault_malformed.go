package mock

// malformed slips an event of broken JSON into a stream. A plain body is cut
// short there, under a Content-Length that agrees with it.
func malformedFault(s spec) (player, error) {
	n := s.tokens(10)
	mode, err := s.choice("one", "all")
	return func(x *exchange) {
		if !x.ask.stream {
			x.begin()
			x.plain = x.plain[:len(x.plain)*min(n, x.reply.tokens())/(x.reply.tokens()+1)+1]
			x.answer()
			return
		}
		if !x.until(n) || !x.emit(x.ask.pack.broken) {
			return
		}
		if mode == "all" {
			for i := x.next; i < len(x.frames); i++ {
				x.frames[i].raw = x.ask.pack.broken
			}
		}
		x.answer()
	}, err
}
