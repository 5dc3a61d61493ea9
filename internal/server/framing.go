package server

import (
	"bytes"
	"io"
	"net"
	"sync"
)

// framingHeader marks a message whose framing was refused. net/http drops the
// evidence before a handler sees it (it deletes a Content-Length beside a
// Transfer-Encoding), so the connection looks at each head first.
const framingHeader = "X-Backstop-Framing"

var refusedHead = []byte(framingHeader + ": refused\r\n\r\n")

// framed is a connection whose message heads are checked on their way to
// net/http. One Read never crosses the end of a message, so what is scanned as
// a head is what net/http parses as a head. Messages of unknown length (any
// Transfer-Encoding) are the last of their connection: the handler closes it.
type framed struct {
	net.Conn
	scan    framing
	rest    []byte // read already, of the next message
	first   []byte // scanned already: its beginning, read while a stream was answered
	refusal []byte // what is still to be handed out in place of a refused head
	refused bool

	closed sync.Once
	gone   func()
}

func (c *framed) Read(p []byte) (int, error) {
	switch {
	case len(p) == 0:
		return 0, nil
	case len(c.first) > 0:
		n := copy(p, c.first)
		c.first = c.first[n:]
		return n, nil
	case c.refused && len(c.refusal) == 0:
		return 0, io.EOF
	case c.refused:
		n := copy(p, c.refusal)
		c.refusal = c.refusal[n:]
		return n, nil
	}
	n, err := c.next(p)
	used, fault := c.scan.pass(p[:n])
	if fault != sound {
		c.refused, c.refusal = true, refusedHead
		if fault == torn {
			c.refusal = append([]byte("\r\n"), refusedHead...)
		}
		if used == 0 {
			return c.Read(p)
		}
		return used, nil
	}
	if used < n {
		c.rest = append(bytes.Clone(p[used:n]), c.rest...)
	}
	return used, err
}

func (c *framed) next(p []byte) (int, error) {
	if len(c.rest) == 0 {
		return c.Conn.Read(p)
	}
	n := copy(p, c.rest)
	if c.rest = c.rest[n:]; len(c.rest) == 0 {
		c.rest = nil
	}
	return n, nil
}

// CloseWrite lets net/http finish an answer before it drops a connection whose
// caller is still sending.
func (c *framed) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

func (c *framed) Close() error {
	c.closed.Do(c.gone)
	return c.Conn.Close()
}

// fault is the scanner's verdict on a piece of a connection.
type fault uint8

const (
	sound   fault = iota
	refused       // the line after the used bytes is refused
	torn          // so is a line of which net/http has the beginning
)

// spot is where in a connection the scanner stands.
type spot uint8

const (
	between spot = iota // before a request line
	inHead
	inBody
	toTheEnd // after the last head
)

// framing follows the heads of one connection. It knows lines, two header
// names and a length; everything else is net/http's.
type framing struct {
	at      spot
	headers bool // the request line is over
	length  int  // bytes of the current line so far
	kept    int  // … of which these are in line
	line    [48]byte

	sized   bool // a Content-Length was seen
	coded   bool // a Transfer-Encoding was seen
	pending int64
}

// pass scans p and returns how much of it may be handed on: all, up to the end
// of the message, or up to a line that is refused.
func (f *framing) pass(p []byte) (used int, _ fault) {
	for used < len(p) {
		switch f.at {
		case between:
			// Old callers send an empty line after a body; net/http skips it too.
			if p[used] == '\r' || p[used] == '\n' {
				used++
				continue
			}
			*f = framing{at: inHead}
		case inHead:
			n, verdict := f.headLine(p[used:])
			if verdict != sound {
				return used, verdict
			}
			if used += n; f.at == between {
				return used, sound
			}
		case inBody:
			n := min(f.pending, int64(len(p)-used))
			used += int(n)
			if f.pending -= n; f.pending == 0 {
				f.at = between
				return used, sound
			}
		case toTheEnd:
			return len(p), sound
		}
	}
	return used, sound
}

// headLine takes the rest of one line, or as much of it as there is.
func (f *framing) headLine(p []byte) (int, fault) {
	begun := f.length > 0
	if !begun && f.headers && (p[0] == ' ' || p[0] == '\t') {
		return 0, refused // a folded header: parsers differ on what it means
	}
	end := bytes.IndexByte(p, '\n')
	part := p
	if end >= 0 {
		part = p[:end]
	}
	f.kept += copy(f.line[f.kept:], part)
	f.length += len(part)
	if end < 0 {
		return len(p), sound
	}
	if !f.endLine() {
		if begun {
			return 0, torn
		}
		return 0, refused
	}
	f.length, f.kept = 0, 0
	return end + 1, sound
}

// endLine judges a whole line and reports whether it may pass.
func (f *framing) endLine() bool {
	line := bytes.TrimSuffix(f.line[:f.kept], []byte("\r"))
	if !f.headers {
		f.headers = true
		return true
	}
	if len(line) == 0 {
		f.endHead()
		return true
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	switch {
	case bytes.EqualFold(name, []byte("transfer-encoding")):
		f.coded = true
	case bytes.EqualFold(name, []byte("content-length")):
		if f.sized || f.length > len(f.line) || !f.size(bytes.Trim(value, " \t")) {
			return false
		}
		f.sized = true
	}
	return !f.sized || !f.coded
}

// size reads a Content-Length: one to eighteen digits and nothing else.
func (f *framing) size(digits []byte) bool {
	if len(digits) == 0 || len(digits) > 18 {
		return false
	}
	f.pending = 0
	for _, d := range digits {
		if d < '0' || d > '9' {
			return false
		}
		f.pending = f.pending*10 + int64(d-'0')
	}
	return true
}

func (f *framing) endHead() {
	switch {
	case f.coded:
		f.at = toTheEnd
	case f.pending > 0:
		f.at = inBody
	default:
		f.at = between
	}
}
