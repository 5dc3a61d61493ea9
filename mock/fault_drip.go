package mock

import "time"

// drip sends one token a time; a plain body in as many parts as it has
// tokens.
func dripFault(s spec) (player, error) {
	every, err := s.duration(2 * time.Second)
	return func(x *exchange) {
		x.gap += every
		if x.ask.stream {
			x.answer()
			return
		}
		x.dripBody()
	}, err
}

func (x *exchange) dripBody() {
	x.begin()
	parts := max(1, x.reply.tokens())
	x.open(jsonBody, len(x.plain))
	for i := range parts {
		pause := x.gap
		if i == 0 {
			pause = x.delay
		}
		from, to := len(x.plain)*i/parts, len(x.plain)*(i+1)/parts
		if !x.wait(pause) || !x.emit(x.plain[from:to]) {
			return
		}
	}
}
