package mock

import (
	"io"
	"time"
)

// halfclose answers as if the connection would live on, then closes its
// sending side and keeps reading: a pool that does not look puts a dead
// connection back.
func halfCloseFault(s spec) (player, error) {
	d, err := s.duration(10 * time.Second)
	return func(x *exchange) {
		if !x.answer() {
			return
		}
		x.flush()
		conn := x.hijack()
		if conn == nil {
			return
		}
		defer x.closing(conn)()
		_ = conn.SetDeadline(time.Now().Add(d))
		if x.ask.stream && x.r.ProtoAtLeast(1, 1) {
			_, _ = conn.Write([]byte("0\r\n\r\n")) // the end that the server would have written
		}
		if half, ok := conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
			_, _ = io.Copy(io.Discard, conn)
		}
	}, err
}
