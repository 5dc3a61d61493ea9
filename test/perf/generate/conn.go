//go:build linux

package generate

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"backstop/test/perf/epoll"
)

// conn is one connection of the load.
type conn struct {
	load *load
	fd   int
	busy bool // a request is under way
	sent int64
	out  []byte // what the socket did not take yet

	head   []byte // of the answer, while it is not complete
	inBody bool
	status string
	left   int64 // bytes of the body to come; chunked if negative
	chunks chunked
	events events
}

func (c *conn) send(now int64) {
	c.busy, c.sent, c.inBody, c.head = true, now, false, c.head[:0]
	c.events = events{line: c.events.line[:0]}
	if c.fd < 0 {
		fd, err := epoll.Dial(c.load.To)
		if err == nil {
			err = c.load.loop.Add(fd, watched|unix.EPOLLOUT)
		}
		if err != nil {
			c.fail("dial", now)
			return
		}
		c.fd, c.out = fd, append(c.out[:0], c.load.bytes...)
		c.load.byFD[fd] = c
		return
	}
	n, err := epoll.Write(c.fd, c.load.bytes)
	if err != nil {
		c.fail("write", now)
		return
	}
	if n < len(c.load.bytes) {
		c.out = append(c.out[:0], c.load.bytes[n:]...)
		c.load.loop.Change(c.fd, watched|unix.EPOLLOUT)
	}
}

func (c *conn) ready(events uint32, buf []byte) {
	fd := c.fd
	if events&unix.EPOLLOUT != 0 && events&(unix.EPOLLERR|unix.EPOLLHUP) == 0 {
		n, err := epoll.Write(c.fd, c.out)
		if err != nil {
			c.fail("write", epoll.Now())
			return
		}
		if c.out = slices.Delete(c.out, 0, n); len(c.out) == 0 {
			c.load.loop.Change(c.fd, watched)
		}
	}
	if c.fd == fd && events&^unix.EPOLLOUT != 0 {
		c.read(buf)
	}
}

func (c *conn) read(buf []byte) {
	n, later, err := epoll.Read(c.fd, buf)
	if later {
		return
	}
	now := epoll.Now()
	switch {
	case (err != nil || n == 0) && c.busy:
		c.fail("closed", now)
	case err != nil || n == 0:
		c.close()
	case !c.busy:
		c.close() // bytes after the answer
	default:
		c.take(buf[:n], now)
	}
}

// take reads bytes of the answer.
func (c *conn) take(b []byte, now int64) {
	if !c.inBody {
		c.head = append(c.head, b...)
		end := bytes.Index(c.head, []byte("\r\n\r\n"))
		if end < 0 {
			return
		}
		b = b[len(b)-(len(c.head)-end-4):]
		var ok bool
		if c.status, c.left, ok = readHead(c.head[:end+2]); !ok {
			c.fail("no length", now)
			return
		}
		c.inBody, c.chunks = true, chunked{size: c.chunks.size[:0]}
	}
	if c.left >= 0 {
		c.left -= int64(len(b))
		if c.left <= 0 {
			c.end(now)
		}
		return
	}
	ended, ok := c.chunks.feed(b, func(part []byte) { c.data(part, now) })
	if !ok {
		c.fail("chunk", now)
	} else if ended {
		c.end(now)
	}
}

// readHead finds the status and the length of an answer, -1 = chunked.
func readHead(h []byte) (status string, length int64, ok bool) {
	line, rest, _ := bytes.Cut(h, []byte("\r\n"))
	if len(line) < 12 {
		return "", 0, false
	}
	status = "200"
	if s := line[9:12]; string(s) != status {
		status = string(s)
	}
	for line := range bytes.Lines(rest) {
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch {
		case len(name) == len("content-length") && bytes.EqualFold(name, []byte("content-length")):
			n, err := strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64)
			return status, n, err == nil && n >= 0
		case len(name) == len("transfer-encoding") && bytes.EqualFold(name, []byte("transfer-encoding")):
			return status, -1, bytes.Contains(value, []byte("chunked"))
		}
	}
	return status, 0, false
}

// end counts a complete answer.
func (c *conn) end(now int64) {
	l := c.load
	fault := ""
	switch {
	case c.status != "200":
		fault = "status " + c.status
	case l.Stream && !c.events.done:
		fault = "stream not complete"
	}
	l.result.All++
	l.result.AllChunks += c.events.n
	if l.counts(c.sent, now) {
		l.answer.Add(now - c.sent)
		if fault == "" {
			l.result.Good++
		}
	}
	if fault != "" {
		l.result.Bad++
		l.result.Faults[fault]++
	}
	c.busy = false
	l.free(c, now)
}

// fail counts a request without a complete answer.
func (c *conn) fail(what string, now int64) {
	l := c.load
	l.result.Bad++
	l.result.Faults[what]++
	if l.result.Bad > 1000 && l.Rate == 0 {
		l.stop = min(l.stop, now) // nobody is there
		l.result.Faults[fmt.Sprintf("gave up after %d faults", l.result.Bad)] = 1
	}
	c.close()
	c.busy = false
	if l.Rate == 0 {
		time.Sleep(time.Millisecond) // no busy loop against a dead server
	}
	l.free(c, now)
}

func (c *conn) close() {
	if c.fd >= 0 {
		delete(c.load.byFD, c.fd)
		epoll.Close(c.fd)
		c.fd = -1
	}
}
