package backstophttp

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

var errPassed = errors.New("the passage is over")

// noticed is a body whose reads are noticed, up to the end of its passage. An
// upstream may answer before it has all of a body, and net/http's transport
// then goes on reading for a while; but with the end of the passage the body's
// connection and buffers belong to the caller's next request, or to somebody
// else's.
type noticed struct {
	from    io.Reader
	alive   func()
	reading sync.Mutex // held while somebody reads
	over    atomic.Bool
	whole   atomic.Bool // its end was read
	broken  atomic.Pointer[error]

	ending sync.Mutex
	ended  bool
}

func (n *noticed) Read(p []byte) (int, error) {
	n.reading.Lock()
	defer n.reading.Unlock()
	if n.over.Load() {
		return 0, errPassed
	}
	k, err := n.from.Read(p)
	switch {
	case err == io.EOF:
		n.whole.Store(true)
	case err != nil && !n.over.Load(): // else it was us who ended it
		n.broken.Store(&err)
	}
	n.alive()
	return k, err
}

// fault is why the body did not come to its end, nil = not through its sender.
func (n *noticed) fault() error {
	if n == nil {
		return nil
	}
	if err := n.broken.Load(); err != nil {
		return *err
	}
	return nil
}

// end lets nobody read any more, and waits for who does. A read that waits for
// bytes of the caller is ended by the read deadline of w's connection; one that
// comes from elsewhere is on its own.
func (n *noticed) end(w http.ResponseWriter) {
	n.ending.Lock()
	defer n.ending.Unlock()
	if n.ended {
		return
	}
	n.ended = true
	n.over.Store(true)
	if !n.whole.Load() && http.NewResponseController(w).SetReadDeadline(time.Now()) == nil {
		n.reading.Lock()
		defer n.reading.Unlock()
	}
}
