package mock

import "net/http"

// busy is a local server without a free slot: 503 whose error is a string
// and no object.
func busyFault(s spec) (player, error) {
	return func(x *exchange) {
		x.fail(failure{Status: http.StatusServiceUnavailable, Verbatim: []byte(`{"error":"server busy"}`)})
	}, s.none()
}
