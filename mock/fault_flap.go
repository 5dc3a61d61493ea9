package mock

import (
	"errors"
	"time"
)

// flap is good for a while, then bad for as long, and so on. Its clock starts
// when the fault was set, or with the server if a model name picked it.
func flapFault(s spec) (player, error) {
	if len(s.args) == 0 {
		return nil, errors.New("a duration is wanted")
	}
	period, err := positive(s.args[0])
	if err != nil {
		return nil, err
	}
	bad, err := s.nested(1, "status:503")
	if err != nil {
		return nil, err
	}
	return func(x *exchange) {
		if time.Since(x.since)/period%2 == 0 {
			x.answer()
			return
		}
		bad.play(x)
	}, nil
}
