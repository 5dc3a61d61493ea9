package mock

// hang reads the request and says nothing, not even a header, until the peer
// leaves.
func hangFault(s spec) (player, error) {
	return func(x *exchange) { x.silence() }, s.none()
}
