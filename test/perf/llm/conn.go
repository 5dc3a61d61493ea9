//go:build linux

package llm

import (
	"bytes"
	"container/heap"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"backstop/test/perf/epoll"
)

// conn is one connection from a gateway.
type conn struct {
	server *server
	fd     int
	in     []byte // bytes of a request that is not complete
	out    []byte // bytes that the socket did not take yet
	busy   bool   // an answer is under way
	gone   bool
	deep   bool // requests is at work further up the stack

	pace  pace
	sent  int   // chunks of this answer
	at    int64 // time of the next chunk
	place int   // in the server's timers, -1 = none
}

func (c *conn) serve(events uint32, buf []byte) {
	if events&unix.EPOLLOUT != 0 {
		c.flush()
	}
	if c.gone || events&^unix.EPOLLOUT == 0 {
		return
	}
	n, later, err := epoll.Read(c.fd, buf)
	switch {
	case later:
	case err != nil || n == 0:
		c.drop()
	case len(c.in) == 0 && !c.busy: // the usual case copies nothing
		c.in = append(c.in, buf[c.requests(buf[:n]):n]...)
	default:
		c.in = append(c.in, buf[:n]...)
		if !c.busy {
			c.in = slices.Delete(c.in, 0, c.requests(c.in))
		}
	}
}

// requests answers what is complete in b and tells how many bytes that was.
func (c *conn) requests(b []byte) (used int) {
	c.deep = true
	defer func() { c.deep = false }()
	for !c.gone && !c.busy && used < len(b) {
		n := c.request(b[used:])
		if n == 0 {
			break
		}
		used += n
	}
	return used
}

var (
	headEnd  = []byte("\r\n\r\n")
	lengthIs = []byte("content-length:")
)

// request answers one request and tells its length, 0 = not complete.
func (c *conn) request(b []byte) int {
	end := bytes.Index(b, headEnd)
	if end < 0 {
		return 0
	}
	body := b[end+len(headEnd):]
	length := 0
	for line := range bytes.Lines(b[:end+2]) {
		if len(line) > len(lengthIs) && bytes.EqualFold(line[:len(lengthIs)], lengthIs) {
			length, _ = strconv.Atoi(string(bytes.TrimSpace(line[len(lengthIs):])))
		}
	}
	if len(body) < length {
		return 0
	}
	c.answer(body[:length])
	return end + len(headEnd) + length
}

func (c *conn) answer(body []byte) {
	if !bytes.Contains(body, []byte(`"stream":true`)) && !bytes.Contains(body, []byte(`"stream": true`)) {
		c.write(c.server.whole)
		return
	}
	c.busy, c.pace, c.sent, c.at = true, c.server.paceOf(body), 0, epoll.Now()
	c.chunk(c.at)
}

// chunk sends the next chunk, or all of them when there is no time between.
func (c *conn) chunk(now int64) {
	for !c.gone {
		if c.sent == c.pace.chunks {
			c.busy = false
			c.write(streamEnd)
			if !c.gone && !c.deep && len(c.in) > 0 {
				c.in = slices.Delete(c.in, 0, c.requests(c.in))
			}
			return
		}
		c.sent++
		c.write(appendChunk(nil, c.sent == 1, now))
		if c.pace.every > 0 {
			c.at = max(c.at, now-c.pace.every) + c.pace.every // steady, however late this one was
			heap.Push(&c.server.due, c)
			return
		}
		now = epoll.Now()
	}
}

func (c *conn) write(b []byte) {
	if len(c.out) == 0 {
		n, err := epoll.Write(c.fd, b)
		if err != nil {
			c.drop()
			return
		}
		b = b[n:]
	}
	if len(b) > 0 {
		c.out = append(c.out, b...)
		c.server.loop.Change(c.fd, unix.EPOLLIN|unix.EPOLLOUT|unix.EPOLLRDHUP)
	}
}

func (c *conn) flush() {
	n, err := epoll.Write(c.fd, c.out)
	if err != nil {
		c.drop()
		return
	}
	if c.out = slices.Delete(c.out, 0, n); len(c.out) == 0 {
		c.server.loop.Change(c.fd, unix.EPOLLIN|unix.EPOLLRDHUP)
	}
}

func (c *conn) drop() {
	if c.gone {
		return
	}
	c.gone = true
	if c.place >= 0 {
		heap.Remove(&c.server.due, c.place)
	}
	delete(c.server.conns, c.fd)
	epoll.Close(c.fd)
}
