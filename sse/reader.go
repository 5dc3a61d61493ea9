package sse

import (
	"bytes"
	"errors"
	"io"
)

// DefaultLimit is the most bytes of one event unless [NewReader] is told
// otherwise: 16 MiB.
const DefaultLimit = 16 << 20

// The ways a stream ends other than cleanly. They may come wrapped together
// with the error of the source; ask with errors.Is.
var (
	// ErrTooLarge: an event is longer than the limit. Nothing more can be
	// read, for the place of the next event is unknown.
	ErrTooLarge = errors.New("sse: event exceeds the size limit; raise the limit or drop the stream")
	// ErrTruncated: the stream ended inside an event. What was there of it
	// comes with the error.
	ErrTruncated = errors.New("sse: stream ended inside an event")
)

var errReadCount = errors.New("sse: the source returned an impossible count; it is no valid io.Reader")

// A stream begins with a buffer of the first size, which holds an ordinary
// event, and gives back what is larger than small when it is idle.
const (
	first = 512
	small = 2 << 10
)

// maxEmptyReads is how often a source may return nothing and no error in a row.
const maxEmptyReads = 100

// Reader cuts a byte stream into events. It is not safe for concurrent use.
//
// Its cost is linear in the bytes read, however they are portioned, and what
// it returns does not depend on the portions. While it waits between events it
// keeps less than 4 KiB; within one, at most about twice the event's size.
type Reader struct {
	src   io.Reader
	limit int

	// buf[start:end] has been read and not been returned. The current event
	// begins at start, its current line at pos.
	buf             []byte
	start, pos, end int
	lf, cr          int // the first LF and CR at or after pos; end = none so far

	block  block
	begun  bool // a line was read: no byte-order mark any more
	soloCR bool // the last line ended with CR alone
	owedLF bool // an event ended with that CR: an LF next is its other half

	err    error // sticky: of the source, or ErrTooLarge
	event  Event
	joined []byte // data of an event with several data lines
	names  *[16]string
}

// NewReader reads events from r. limit is the most bytes one event may have,
// line ends included; 0 or less means [DefaultLimit].
func NewReader(r io.Reader, limit int) *Reader {
	if limit <= 0 {
		limit = DefaultLimit
	}
	return &Reader{src: r, limit: limit}
}

// Next returns the next event. The event and its slices are valid until the
// next call, and may be read but not written.
//
// An event is returned as soon as its last byte is here; Next never waits for
// bytes of the following one. The one exception is a CR where CRLF is to be
// expected, because the event is not whole without its LF.
//
// At a clean end the error is io.EOF. When the stream ends inside an event,
// the event comes together with an error that is [ErrTruncated]; its Data
// includes the line that was cut. When the source fails, the error is the
// source's, together with ErrTruncated and an event if it failed inside one.
// An event over the limit gives [ErrTooLarge]. After an error every further
// call returns no event and the same error, io.EOF in place of ErrTruncated.
func (r *Reader) Next() (*Event, error) {
	for {
		if ended, size := r.scan(); ended {
			if size > r.limit {
				return nil, r.tooLarge()
			}
			return r.take(size), nil
		}
		if r.end-r.start > r.limit {
			return nil, r.tooLarge()
		}
		if r.err != nil {
			return r.last()
		}
		r.err = r.fill()
	}
}

func (r *Reader) tooLarge() error {
	r.err = ErrTooLarge
	r.buf, r.start, r.pos, r.end, r.lf, r.cr = nil, 0, 0, 0, 0, 0
	return r.err
}

// scan reads whole lines from the buffer and reports whether one of them was
// the blank line that ends the event, and the event's size. If not, all whole
// lines are noted in r.block and pos is where the next one begins.
func (r *Reader) scan() (ended bool, size int) {
	if r.owedLF && r.pos < r.end {
		r.owedLF = false
		if r.buf[r.pos] == '\n' {
			r.pos++
			r.soloCR = false
		}
	}
	for {
		stop, width := r.lineEnd()
		if width == 0 {
			return false, 0
		}
		line := r.pos
		r.pos = stop + width
		if stop == line {
			return true, r.pos - r.start
		}
		r.note(r.buf[line:stop], line)
	}
}

// lineEnd finds the end of the current line: where its content stops and the
// width of its line ending, 0 if more bytes are needed to tell.
func (r *Reader) lineEnd() (stop, width int) {
	r.lf = r.find('\n', r.lf)
	r.cr = r.find('\r', r.cr)
	switch {
	case r.lf < r.cr:
		r.soloCR = false
		return r.lf, 1
	case r.cr == r.end:
		return 0, 0
	case r.cr == r.pos && r.soloCR:
		// A blank line, and CR alone ended the line before: lines of this
		// stream end with CR, so the event is complete without a look at
		// the next byte, which may be long in coming.
		r.owedLF = true
		return r.cr, 1
	case r.cr+1 == r.end:
		if r.err == nil {
			return 0, 0
		}
		return r.cr, 1 // no next byte will come
	}
	r.soloCR = r.buf[r.cr+1] != '\n'
	if r.soloCR {
		return r.cr, 1
	}
	return r.cr, 2
}

// find returns the index of c at or after pos, end if there is none. known is
// an earlier answer, before which there is none: each byte is searched once.
func (r *Reader) find(c byte, known int) int {
	known = max(known, r.pos)
	if known >= r.end || r.buf[known] == c {
		return known
	}
	if i := bytes.IndexByte(r.buf[known:r.end], c); i >= 0 {
		return known + i
	}
	return r.end
}

// take hands out the event of the given size and begins the next one.
func (r *Reader) take(size int) *Event {
	raw := r.buf[r.start : r.start+size : r.start+size]
	r.fillEvent(raw)
	r.start += size
	r.block = block{}
	return &r.event
}

// last hands out what is left when the source has ended.
func (r *Reader) last() (*Event, error) {
	if r.start == r.end {
		r.buf = nil
		return nil, r.err
	}
	cut := r.pos < r.end
	if cut {
		r.note(r.buf[r.pos:r.end], r.pos)
		r.pos = r.end
	}
	// Whole comment lines lose nothing by the missing blank line.
	cut = cut || r.block.fields
	ev := r.take(r.end - r.start)
	switch {
	case !cut:
		return ev, nil // how the source ended follows with the next call
	case r.err == io.EOF:
		return ev, ErrTruncated
	default:
		return ev, errors.Join(ErrTruncated, r.err)
	}
}

// fill reads once from the source into a buffer that fits what is there.
func (r *Reader) fill() error {
	r.makeRoom()
	for range maxEmptyReads {
		n, err := r.src.Read(r.buf[r.end:])
		if n < 0 || n > len(r.buf)-r.end {
			return errReadCount
		}
		r.end += n
		if n > 0 || err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}

// makeRoom sees to free space behind end. A buffer that a large event left
// behind is given back here, where a stream waits for its next bytes.
func (r *Reader) makeRoom() {
	if cap(r.joined) > small/2 {
		r.joined = nil
	}
	live, size := r.end-r.start, len(r.buf)
	switch {
	case size == 0:
		r.move(make([]byte, first))
	case live <= small/2 && size > small:
		r.move(make([]byte, small))
	case live > 0 && r.end < size:
		// Room is left; what lies before start is used again when it is not.
	case live < size:
		r.move(r.buf)
	default:
		r.move(make([]byte, min(2*size, r.limit+1)))
	}
}

// move brings the current event to the front of a buffer, the same or another.
func (r *Reader) move(to []byte) {
	by := r.start
	copy(to, r.buf[r.start:r.end])
	r.buf = to
	r.start, r.pos, r.end = 0, r.pos-by, r.end-by
	r.lf, r.cr = max(r.lf-by, 0), max(r.cr-by, 0)
	r.block.first -= by
}
