package mock

import "time"

// keepalive keeps the connection warm for ever and never sends a token.
func keepaliveFault(s spec) (player, error) {
	every, err := s.duration(time.Second)
	return func(x *exchange) {
		for x.warm() && x.wait(every) {
		}
	}, err
}

// warm sends a sign of life that is no progress: in a stream a comment, or
// what the dialect has in its place, and a blank line before a plain body.
func (x *exchange) warm() bool {
	if x.ask.stream {
		x.open(x.ask.pack.mime, -1)
		return x.emit(x.ask.pack.warm)
	}
	x.open(jsonBody, -1)
	return x.emit([]byte("\n"))
}
