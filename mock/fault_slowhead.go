package mock

import "time"

// slowhead is late with the response header, then healthy.
func slowHeadFault(s spec) (player, error) {
	d, err := s.duration(2 * time.Second)
	return func(x *exchange) {
		if x.wait(d) {
			x.answer()
		}
	}, err
}
