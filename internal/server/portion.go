package server

import (
	"net/http"
	"time"
)

// portion is how much of an answer has to be taken in [writeTime].
const portion = 64 << 10

// portioned writes a body that has to be taken at some speed, not within some
// time: a large one takes its reader longer.
func portioned(w http.ResponseWriter, body []byte) (n int, err error) {
	rc := http.NewResponseController(w)
	for {
		_ = rc.SetWriteDeadline(time.Now().Add(writeTime)) // not every writer has one
		m, err := w.Write(body[n:min(len(body), n+portion)])
		if n += m; err != nil || n >= len(body) {
			return n, err
		}
	}
}
