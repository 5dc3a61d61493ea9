package mock

import "time"

// slow is late with the first token. A stream looks alive all the while: its
// header and its role event come at once.
func slowFault(s spec) (player, error) {
	d, err := s.duration(20 * time.Second)
	return func(x *exchange) {
		x.delay += d
		x.answer()
	}, err
}
