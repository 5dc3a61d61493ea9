package mock

// thinking says some tokens of reasoning before a healthy answer.
func thinkingFault(s spec) (player, error) {
	n := s.tokens(8)
	return func(x *exchange) {
		for i := range x.reply.choices {
			h := uint64(x.reply.created) + uint64(i)
			for range n {
				h = stir(h + 0x9e3779b97f4a7c15)
				x.reply.choices[i].thought = append(x.reply.choices[i].thought, word(h)+" ")
			}
		}
		x.reply.count()
		x.answer()
	}, s.none()
}
