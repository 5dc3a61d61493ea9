package server

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	// closingTime is how long a connection stays half open behind its last
	// answer: closed at once, its end could overtake the answer.
	closingTime = 500 * time.Millisecond
	// oldNewlines is how many CRs and LFs may stand between two requests: old
	// callers send some behind a body, and net/http would not expect them at the
	// beginning of what it takes for a new connection.
	oldNewlines = 4
)

// hijacked is a caller's connection that was taken over from net/http once the
// request was read, to answer with a stream. A stream lasts for minutes, in
// which net/http would keep three buffers, the request, and a goroutine with the
// stack that reading it took. Here an idle stream keeps a buffer of one byte.
// After the answer the connection waits, and goes back to net/http with the
// first byte of the next request.
//
// It is the http.ResponseWriter of that one answer, also for
// http.ResponseController: what is written goes out when it is flushed. Like
// all of those it is not safe for concurrent use.
type hijacked struct {
	conn   net.Conn
	to     io.Writer // conn, without its check of what comes in
	server *Server
	cancel context.CancelFunc // the caller left

	header http.Header
	status int
	sent   bool    // the head is gone
	sized  bool    // … with the length of the body; else the body comes in chunks
	piece  *[]byte // written and not sent, behind room for the head of a chunk; nil = nothing
	err    error   // of the first write that failed

	mu    sync.Mutex // guards the rest
	over  bool       // the answer is
	read  bool       // watch is
	first []byte     // the first byte of the next request, none = the caller is gone
	last  bool       // no request may follow
}

// hijack takes the connection of a request over, whose body was read to its
// end, and returns it with the context of its answer. It returns nil where that
// cannot be done; then net/http goes on. The answer must be given to its end,
// with [hijacked.finish] or [hijacked.abort].
func (s *Server) hijack(w http.ResponseWriter, r *http.Request) (*hijacked, context.Context) {
	taken, ok := w.(http.Hijacker)
	if !ok || r.ProtoMajor != 1 || r.ProtoMinor < 1 {
		return nil, nil
	}
	h := &hijacked{server: s, header: w.Header()}
	h.last = r.Close || len(h.header["Connection"]) > 0
	s.streams.enter(h)
	conn, buffered, err := taken.Hijack()
	if err != nil {
		s.streams.forget(h)
		return nil, nil
	}
	h.to = conn
	if f, ok := conn.(*framed); ok {
		h.to = f.Conn
	} else {
		h.last = true // it is from a listener that is not ours
	}
	if h.last {
		h.header["Connection"] = []string{"close"}
	}
	ctx, cancel := context.WithCancel(context.Background())
	h.cancel = cancel
	s.streams.took(h, conn)
	if !h.last {
		first, _ := buffered.Reader.Peek(buffered.Reader.Buffered()) // a byte at most: see framed
		h.first = bytes.Clone(bytes.TrimLeft(first, "\r\n"))
	}
	if h.read = len(h.first) > 0; !h.read {
		go h.watch()
	}
	return h, ctx
}

// watch reads the connection for as long as no request is being read from it:
// that is how one learns that the caller leaves.
func (h *hijacked) watch() {
	var b [1]byte
	n := 0
	for range 1 + oldNewlines {
		n, _ = h.conn.Read(b[:])
		if n == 0 || b[0] != '\r' && b[0] != '\n' {
			break
		}
	}
	h.mu.Lock()
	h.first, h.read = append(h.first, b[:n]...), true
	over := h.over
	h.mu.Unlock()
	if n == 0 {
		h.cancel()
	}
	if over {
		h.part()
	}
}

// finish ends the answer. The connection waits for the next request, or closes.
// A caller who left may have closed its own half only: what it was told about
// that gets to it, with its end.
func (h *hijacked) finish() {
	h.mu.Lock()
	gone := h.read && len(h.first) == 0
	h.mu.Unlock()
	if !gone || h.status != 0 {
		h.WriteHeader(http.StatusOK)
		h.send(true)
	}
	h.rest(gone || h.err != nil)
}

// abort cuts the answer off.
func (h *hijacked) abort() { h.rest(true) }

// rest is what follows an answer.
func (h *hijacked) rest(broken bool) {
	wait := idleTime
	h.mu.Lock()
	h.over = true
	h.last = h.server.streams.rest(h) || h.last || broken
	switch {
	case broken:
		_ = h.conn.Close()
	case h.last:
		if half, ok := h.conn.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite()
		}
		wait = closingTime
	}
	_ = h.conn.SetDeadline(time.Now().Add(wait))
	read := h.read
	h.mu.Unlock()
	h.cancel()
	if read {
		h.part()
	}
}

// part gives the connection back to net/http, or closes it. Nobody else has it
// by now.
func (h *hijacked) part() {
	if len(h.first) > 0 && !h.last {
		h.server.streams.forget(h)
		_ = h.conn.SetDeadline(time.Time{})
		h.server.resume(h.conn.(*framed), h.first)
		return
	}
	var b [256]byte
	for n := len(h.first); n > 0; {
		n, _ = h.conn.Read(b[:]) // what is closed unread would be cut at the other end as well
	}
	_ = h.conn.Close()
	h.server.streams.forget(h)
}
