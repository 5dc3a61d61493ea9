package server

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

const (
	// keptPiece is the largest buffer that is used again.
	keptPiece = 16 << 10
	// largestPiece is up to where an answer waits for its flush.
	largestPiece = 64 << 10
	// chunkHead is the room for the head of a chunk: eight hex digits, CR, LF.
	chunkHead = 8 + 2
)

// Header implements http.ResponseWriter.
func (h *hijacked) Header() http.Header {
	if h.header == nil {
		h.header = http.Header{} // of what can change nothing any more
	}
	return h.header
}

// WriteHeader implements http.ResponseWriter; the first status counts.
func (h *hijacked) WriteHeader(status int) {
	if h.status == 0 {
		h.status = status
	}
}

// Write implements http.ResponseWriter.
func (h *hijacked) Write(b []byte) (int, error) {
	h.WriteHeader(http.StatusOK)
	if h.err != nil {
		return 0, h.err
	}
	if h.piece == nil {
		h.piece = h.server.streams.piece()
	}
	if *h.piece = append(*h.piece, b...); len(*h.piece) > largestPiece {
		h.send(false)
	}
	return len(b), h.err
}

// FlushError sends what was written. See http.ResponseController.
func (h *hijacked) FlushError() error {
	h.WriteHeader(http.StatusOK)
	h.send(false)
	return h.err
}

// SetWriteDeadline is how long writes to the caller may take. See
// http.ResponseController.
func (h *hijacked) SetWriteDeadline(at time.Time) error { return h.conn.SetWriteDeadline(at) }

// send writes what there is to the connection: the head before the first piece,
// and after the last one the end of the chunks.
func (h *hijacked) send(end bool) {
	piece := h.piece
	if piece == nil {
		if h.sent && (!end || h.sized) || h.err != nil {
			return
		}
		piece = h.server.streams.piece()
	}
	h.piece = nil
	b := *piece
	var head []byte
	if !h.sent {
		h.sent = true
		head = h.head(end, len(b)-chunkHead)
	}
	from := chunkHead
	if size := len(b) - chunkHead; !h.sized {
		if size > 0 {
			b = append(b, "\r\n"...)
			from = chunkHead - copyChunkHead(b[:chunkHead], size)
		}
		if end {
			b = append(b, "0\r\n\r\n"...)
		}
	}
	out := b[from:]
	if head != nil {
		out = append(head, out...)
	}
	if h.err == nil && len(out) > 0 {
		if _, h.err = h.to.Write(out); h.err != nil {
			h.cancel()
		}
	}
	*piece = b
	h.server.streams.spare(piece)
}

// piece is an empty buffer with room for the head of a chunk.
func (s *streams) piece() *[]byte {
	p, ok := s.pieces.Get().(*[]byte)
	if !ok {
		b := make([]byte, 1<<10)
		p = &b
	}
	*p = (*p)[:chunkHead]
	return p
}

// spare takes a buffer back.
func (s *streams) spare(p *[]byte) {
	if cap(*p) <= keptPiece {
		s.pieces.Put(p)
	}
}

// copyChunkHead writes the head of a chunk to the end of b and returns its length.
func copyChunkHead(b []byte, size int) int {
	const hex = "0123456789abcdef"
	i := len(b) - 2
	b[i], b[i+1] = '\r', '\n'
	for ; size > 0; size >>= 4 {
		i--
		b[i] = hex[size&15]
	}
	return len(b) - i
}

// head is the status line and the headers, which say how long the body is if
// it is whole by now.
func (h *hijacked) head(whole bool, size int) []byte {
	header := h.header
	h.header = nil
	if whole && len(header["Content-Length"]) == 0 {
		header["Content-Length"] = []string{strconv.Itoa(size)}
	}
	if h.sized = len(header["Content-Length"]) > 0; !h.sized {
		header["Transfer-Encoding"] = []string{"chunked"}
	}
	header["Date"] = []string{h.server.clock().UTC().Format(http.TimeFormat)}
	text := http.StatusText(h.status)
	if text == "" {
		text = "status code " + strconv.Itoa(h.status)
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "HTTP/1.1 %03d %s\r\n", h.status, text)
	_ = header.Write(&out)
	out.WriteString("\r\n")
	return out.Bytes()
}
