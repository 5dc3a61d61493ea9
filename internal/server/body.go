package server

import (
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"backstop"
)

// A body may take bodyGrace, and beyond that must come at bodyRate or faster.
const (
	bodyGrace = 10 * time.Second
	bodyRate  = 8 << 10 // bytes per second
)

// smallBody is what every request may hold without asking the budget.
const smallBody = 64 << 10

// A compressed body may inflate freeInflation bytes whatever its size, and
// beyond that to maxRatio times what was received.
const (
	freeInflation = 1 << 20
	maxRatio      = 100
)

// budget bounds the memory of all large bodies together.
type budget struct{ left atomic.Int64 }

func (b *budget) take(n int64) bool {
	if b.left.Add(-n) >= 0 {
		return true
	}
	b.left.Add(n)
	return false
}

func (b *budget) give(n int64) { b.left.Add(n) }

// intake is one body on its way in.
type intake struct {
	source *paced
	max    int64
	budget *budget
	held   int64 // taken from the budget
	body   []byte
	gz     bool
}

// release gives the memory back to the budget, when the call is over.
func (in *intake) release() {
	in.budget.give(in.held)
	in.held = 0
}

// read takes a whole body in under all bounds. The clock on the connection is
// off again afterwards, so that it goes on telling when the caller leaves.
func (in *intake) read(r *http.Request) *backstop.Failure {
	switch strings.ToLower(strings.TrimSpace(strings.Join(r.Header["Content-Encoding"], ","))) {
	case "", "identity":
	case "gzip", "x-gzip":
		in.gz = true
	default:
		return deny(backstop.CodeUnsupportedMedia, "this content-encoding is not accepted; send the body plain or as gzip")
	}
	if r.ContentLength > in.max {
		return in.tooLarge()
	}
	defer in.source.free()
	if !in.gz {
		return in.fill(in.source, r.ContentLength)
	}
	z, err := gzip.NewReader(in.source)
	if err != nil {
		return in.judge(err)
	}
	return in.fill(z, 0)
}

// fill reads to the end. The announced size only shapes the first buffer: it
// costs nothing to announce a lot.
func (in *intake) fill(from io.Reader, announced int64) *backstop.Failure {
	in.body = make([]byte, 0, max(512, min(announced+1, smallBody)))
	for {
		if len(in.body) == cap(in.body) {
			if f := in.grow(announced); f != nil {
				return f
			}
		}
		n, err := from.Read(in.body[len(in.body):cap(in.body)])
		in.body = in.body[:len(in.body)+n]
		switch size := int64(len(in.body)); {
		case size > in.max:
			return in.tooLarge()
		case in.gz && size > freeInflation && size > maxRatio*in.source.read:
			return deny(backstop.CodeTooLarge, "the body inflates to more than 100 times its size; send it plain")
		case err == io.EOF:
			return nil
		case err != nil:
			return in.judge(err)
		}
	}
}

// grow doubles the buffer, but not past what was announced, and asks the
// budget for what goes beyond a small body.
func (in *intake) grow(announced int64) *backstop.Failure {
	size := 2 * int64(cap(in.body))
	if announced >= int64(len(in.body)) && announced < size {
		size = announced + 1
	}
	size = min(size, in.max+1)
	if size > smallBody {
		if !in.budget.take(size - in.held) {
			f := deny(backstop.CodeOverloaded, "too many large requests at the same time; try again in a second")
			f.RetryAfter = time.Second
			return f
		}
		in.held = size
	}
	in.body = append(make([]byte, 0, size), in.body...)
	return nil
}

func (in *intake) tooLarge() *backstop.Failure {
	return deny(backstop.CodeTooLarge, "the body is larger than this gateway takes ("+bytesText(in.max)+")")
}

func (in *intake) judge(err error) *backstop.Failure {
	var f *backstop.Failure
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		f = deny(backstop.CodeInvalidRequest, "the body came too slowly; send at least 8 KiB per second")
		f.Status = http.StatusRequestTimeout
	case in.gz && !errors.Is(err, io.ErrUnexpectedEOF):
		f = deny(backstop.CodeInvalidRequest, "the body is not the gzip it claims to be")
	default:
		f = deny(backstop.CodeInvalidRequest, "the body broke off")
	}
	return f
}

// paced reads a body under its deadline and counts the bytes received. At the
// end the deadline is off, for good: from then on net/http listens whether the
// caller leaves.
type paced struct {
	from  io.Reader
	rc    *http.ResponseController
	start time.Time
	read  int64
	armed bool
	ended atomic.Bool // asked by others than its reader

	clock sync.Mutex // held while the deadline is set
	cut   bool       // nobody is to read any more
}

func (p *paced) Read(b []byte) (int, error) {
	if p.ended.Load() {
		return 0, io.EOF
	}
	if !p.arm() {
		return 0, os.ErrDeadlineExceeded
	}
	n, err := p.from.Read(b)
	p.read += int64(n)
	if err == io.EOF {
		p.ended.Store(true)
		p.free()
	}
	return n, err
}

// arm sets the deadline of the next read, unless there is to be none.
func (p *paced) arm() bool {
	p.clock.Lock()
	defer p.clock.Unlock()
	if p.cut {
		return false
	}
	allowed := bodyGrace + time.Duration(p.read)*time.Second/bodyRate
	// Connections without deadlines exist in tests only.
	p.armed = p.rc.SetReadDeadline(p.start.Add(allowed)) == nil
	return true
}

// stop ends a read that waits, and lets no other one begin: a reader that was
// about to would else put its own deadline in the place of this one.
func (p *paced) stop(at time.Time) error {
	p.clock.Lock()
	defer p.clock.Unlock()
	p.cut = true
	if p.ended.Load() {
		return nil
	}
	return p.rc.SetReadDeadline(at)
}

func (p *paced) free() {
	if p.armed {
		_ = p.rc.SetReadDeadline(time.Time{})
	}
}
