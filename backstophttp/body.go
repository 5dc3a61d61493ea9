package backstophttp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"backstop"
	"backstop/internal/upstream"
	"backstop/wire"
)

// firstRead is how much is set aside for a body before any of it is here,
// whatever its announced length.
const firstRead = 64 << 10

// gather reads an answer that is one body, and judges it.
func (r *run) gather(a *attempt, src io.Reader, length int64) backstop.Outcome {
	body, err := read(src, length, maxAnswer, func() {
		r.mark(a, backstop.Mark{Kind: backstop.Progress})
	})
	switch {
	case errors.Is(err, errTooLarge):
		o := garbled(backstop.KindTooLarge)
		o.Counts = backstop.CountsNone
		return o
	case err != nil:
		return upstream.Classify(err, true)
	}
	a.reply.Surface, a.reply.Body = wire.SurfaceBody, body
	o := a.room.JudgeBody(r.seen(a), &a.reply)
	a.whole = body
	r.issued(a, body)
	answers := o.Class == backstop.OK || o.Class == backstop.Refused && o.Status == http.StatusOK
	if answers && !o.Passthrough && a.reply.Caller == a.reply.Dialect {
		a.whole = r.respelled(a, body)
	}
	return r.keepPromise(a, o)
}

// respelled gives a body that has a vendor's own words in it the dialect's:
// taking an answer apart and putting it together again does that.
func (r *run) respelled(a *attempt, body []byte) []byte {
	with := *r.whole
	with.UsageOn = true
	events := a.room.Explode(&with, body)
	if len(events) == 0 {
		return body
	}
	sum := a.room.Aggregator(&with)
	for _, data := range events {
		sum.Add(data)
	}
	return sum.Body()
}

// read reads a body of at most limit bytes. A known length is read into one
// buffer of its size. begun is called once when the first byte that is not
// blank is here: some upstreams send blank lines while a call queues.
// With errTooLarge the first limit bytes are returned.
func read(src io.Reader, length int64, limit int, begun func()) ([]byte, error) {
	if length > int64(limit) && begun != nil {
		return nil, errTooLarge
	}
	size := 4 << 10
	if length >= 0 {
		size = int(min(length+1, firstRead)) // one more shows the end without another allocation
	}
	buf := make([]byte, 0, size)
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := src.Read(buf[len(buf):cap(buf)])
		fresh := buf[len(buf) : len(buf)+n]
		buf = buf[:len(buf)+n]
		if begun != nil && n > 0 && len(bytes.TrimLeft(fresh, blanks)) > 0 {
			begun()
			begun = nil
		}
		switch {
		case len(buf) > limit:
			return buf[:limit], errTooLarge
		case err == io.EOF:
			return buf, nil
		case err != nil:
			return buf, err
		}
	}
}

const blanks = " \t\r\n"

// maxBlanks is how many blanks may come in front of an answer. Vendors who send
// them while a call queues send a few a second.
const maxBlanks = 1 << 20

var errBlanks = fmt.Errorf("answer begins with more than %d blanks", maxBlanks)

// sniffer looks at the first byte of an answer that was asked as a stream, and
// gives it back: content types are not to be relied on.
type sniffer struct {
	src  io.Reader
	head [64]byte
	have []byte
	err  error
}

// events reports whether the answer is an event stream. It waits for the first
// byte that is not blank; blank lines mean nothing in either form.
func (s *sniffer) events(contentType string) (bool, error) {
	for seen := 0; len(s.have) == 0 && s.err == nil; {
		var n int
		n, s.err = s.src.Read(s.head[:])
		s.have = bytes.TrimLeft(s.head[:n], blanks)
		if seen += n; seen > maxBlanks && len(s.have) == 0 {
			return false, errBlanks
		}
	}
	if len(s.have) == 0 {
		if s.err != io.EOF {
			return false, s.err
		}
		return isEventStream(contentType), nil
	}
	switch s.have[0] {
	case '{', '[', '<', '"':
		return false, nil
	}
	return isEventStream(contentType) || fieldLine(s.have), nil
}

func isEventStream(contentType string) bool {
	return strings.HasPrefix(strings.ToLower(contentType), "text/event-stream")
}

// fieldLine reports whether bytes look like the first line of an event.
func fieldLine(b []byte) bool {
	for _, field := range [...]string{"data:", "event:", "id:", "retry:", ":"} {
		if bytes.HasPrefix(b, []byte(field)) {
			return true
		}
	}
	return false
}

// rest is what is to be read on, without the sniffer if it has nothing left.
func (s *sniffer) rest() io.Reader {
	if len(s.have) > 0 || s.err != nil {
		return s
	}
	return s.src
}

func (s *sniffer) Read(p []byte) (int, error) {
	if len(s.have) > 0 {
		n := copy(p, s.have)
		s.have = s.have[n:]
		return n, nil
	}
	if s.err != nil {
		return 0, s.err
	}
	return s.src.Read(p)
}
