//go:build linux

package generate

import "bytes"

// events are those of one streamed answer.
type events struct {
	n    int
	done bool   // [DONE] was there
	line []byte // a line that is not complete
}

// data reads decoded bytes of the body.
func (c *conn) data(b []byte, now int64) {
	if !c.load.Stream {
		return
	}
	for len(b) > 0 {
		line, rest, found := bytes.Cut(b, []byte("\n"))
		if !found {
			c.events.line = append(c.events.line, line...)
			return
		}
		if len(c.events.line) > 0 {
			c.events.line = append(c.events.line, line...)
			line = c.events.line
		}
		if event, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			c.event(event, now)
		}
		c.events.line = c.events.line[:0]
		b = rest
	}
}

// event times one chunk by the stamp in it.
func (c *conn) event(b []byte, now int64) {
	if len(b) < 10 && bytes.Contains(b, []byte("[DONE]")) {
		c.events.done = true
		return
	}
	l := c.load
	c.events.n++
	if !l.counts(c.sent, now) {
		return
	}
	if c.events.n == 1 {
		l.first.Add(now - c.sent)
	}
	l.result.Chunks++
	if stamp := stampOf(b); stamp > 0 {
		l.chunk.Add(now - stamp)
	}
}

// stampOf is the number after the first "@", 0 = none.
func stampOf(b []byte) (ns int64) {
	at := bytes.IndexByte(b, '@')
	if at < 0 {
		return 0
	}
	for _, d := range b[at+1:] {
		if d < '0' || d > '9' {
			break
		}
		ns = ns*10 + int64(d-'0')
	}
	return ns
}
