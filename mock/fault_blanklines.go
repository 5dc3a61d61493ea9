package mock

import "time"

// blanklines is a queue as DeepSeek has it: blank lines (in a stream:
// comments) while the call waits for its turn, then a healthy answer.
func blankLinesFault(s spec) (player, error) {
	d, err := s.duration(10 * time.Second)
	every := min(max(d/10, time.Millisecond), time.Second)
	return func(x *exchange) {
		for waited := time.Duration(0); waited < d; waited += every {
			if !x.warm() || !x.wait(min(every, d-waited)) {
				return
			}
		}
		x.answer()
	}, err
}
