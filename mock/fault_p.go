package mock

import (
	"errors"
	"fmt"
	"strconv"
)

// p plays a fault with some probability. The draws come from the server's
// seed, in the order in which the attempts arrive.
func chanceFault(s spec) (player, error) {
	if len(s.args) < 2 {
		return nil, errors.New("a probability and a fault are wanted")
	}
	p, err := strconv.ParseFloat(s.args[0], 64)
	if err != nil || !(p >= 0 && p <= 1) {
		return nil, fmt.Errorf("%q is no probability from 0 to 1", s.args[0])
	}
	bad, err := s.nested(1, "")
	if err != nil {
		return nil, err
	}
	return func(x *exchange) {
		if x.s.draw() < p {
			bad.play(x)
			return
		}
		x.answer()
	}, nil
}
