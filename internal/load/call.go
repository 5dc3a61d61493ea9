package load

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"time"
)

// What can be wrong with a call, as Sample.Err. A failed Check gives its own
// words.
const (
	ErrTimeout    = "timeout"    // not complete within Options.Timeout
	ErrCanceled   = "canceled"   // the run was ended
	ErrConnect    = "connect"    // no connection
	ErrReset      = "reset"      // connection reset
	ErrCut        = "cut"        // connection closed before the end of the answer
	ErrInBand     = "in-band"    // an error event in a stream
	ErrIncomplete = "incomplete" // a stream that ended without [DONE]
	ErrOther      = "other"
)

const checked = 1 << 20 // bytes of a body that Options.Check sees

// exchange sends one call and reads its answer to the end.
func (r *runner) exchange(ctx context.Context, s *Sample) {
	var body io.Reader
	if r.opts.Body != nil {
		body = bytes.NewReader(r.opts.Body(s.Index))
	}
	req, err := http.NewRequestWithContext(ctx, r.opts.Method, r.opts.URL, body)
	if err != nil {
		s.Err = ErrOther
		return
	}
	req.Header = r.opts.Header // shared: a round tripper only reads it
	resp, err := r.send.RoundTrip(req)
	if err != nil {
		s.Err = errorWord(err)
		return
	}
	defer resp.Body.Close()
	s.FirstByte = time.Since(r.start) - s.Due
	s.read(resp)
	switch {
	case r.opts.Stream && resp.StatusCode == http.StatusOK:
		err = r.follow(resp.Body, s)
	case r.opts.Check != nil && resp.StatusCode == http.StatusOK:
		err = r.look(resp.Body, s)
	default:
		s.Bytes, err = r.drain(resp.Body)
	}
	if err != nil {
		s.Err = errorWord(err)
	}
}

// read takes what the gateway says about an answer in its header.
func (s *Sample) read(resp *http.Response) {
	h := resp.Header
	s.Status = resp.StatusCode
	s.Tier, s.Upstream = h.Get("X-Backstop-Tier"), h.Get("X-Backstop-Upstream")
	s.Reason = h.Get("X-Backstop-Reason")
	if n, err := strconv.Atoi(h.Get("X-Backstop-Attempts")); err == nil {
		s.Attempts, s.HasAttempts = n, true
	}
}

const bufferSize = 16 << 10

// drain reads a body to its end, so that its connection can be used again.
func (r *runner) drain(body io.Reader) (int64, error) {
	buf, ok := r.buffers.Get().(*[]byte)
	if !ok {
		b := make([]byte, bufferSize)
		buf = &b
	}
	defer r.buffers.Put(buf)
	return io.CopyBuffer(struct{ io.Writer }{io.Discard}, body, *buf) // plain Discard would bring its own buffer
}

// reader takes a line reader from the pool.
func (r *runner) reader(body io.Reader) *bufio.Reader {
	br, ok := r.readers.Get().(*bufio.Reader)
	if !ok {
		return bufio.NewReaderSize(body, bufferSize)
	}
	br.Reset(body)
	return br
}

// look reads a body for Options.Check.
func (r *runner) look(body io.Reader, s *Sample) error {
	b, err := io.ReadAll(io.LimitReader(body, checked))
	s.Bytes = int64(len(b))
	if err == nil {
		var more int64
		more, err = r.drain(body)
		s.Bytes += more
	}
	if err != nil {
		return err
	}
	if wrong := r.opts.Check(b); wrong != nil {
		s.Err = wrong.Error()
	}
	return nil
}

// follow reads a stream to its end and notes the first token, an error event
// and the end mark.
func (r *runner) follow(body io.Reader, s *Sample) error {
	br := r.reader(body)
	defer func() { br.Reset(nil); r.readers.Put(br) }()
	done, failed, inLine := false, false, false
	for {
		line, err := br.ReadSlice('\n')
		s.Bytes += int64(len(line))
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok && !inLine {
			data = bytes.TrimSpace(data)
			done = done || string(data) == "[DONE]"
			failed = failed || bytes.HasPrefix(data, []byte(`{"error"`))
			if s.FirstToken == 0 && hasToken(data) {
				s.FirstToken = time.Since(r.start) - s.Due
			}
		}
		inLine = errors.Is(err, bufio.ErrBufferFull) // the rest of a long line is no line
		switch {
		case err == nil || inLine:
		case failed:
			s.Err = ErrInBand
			return nil
		case err != io.EOF:
			return err
		case !done:
			s.Err = ErrIncomplete
			return nil
		default:
			return nil
		}
	}
}

// tokenKeys open a piece of an answer, in the dialects that are measured.
var tokenKeys = [][]byte{[]byte(`"content":"`), []byte(`"delta":"`), []byte(`"text":"`), []byte(`"reasoning_content":"`), []byte(`"arguments":"`)}

// hasToken reports whether an event carries a piece of an answer: one of the
// keys with text after it.
func hasToken(data []byte) bool {
	for _, key := range tokenKeys {
		rest := data
		for {
			i := bytes.Index(rest, key)
			if i < 0 {
				break
			}
			if rest = rest[i+len(key):]; len(rest) > 0 && rest[0] != '"' {
				return true
			}
		}
	}
	return false
}

// errorWord sorts the errors of a call.
func errorWord(err error) string {
	var op *net.OpError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return ErrTimeout
	case errors.Is(err, context.Canceled):
		return ErrCanceled
	case errors.As(err, &op) && op.Op == "dial":
		return ErrConnect
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return ErrReset
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return ErrCut
	}
	return ErrOther
}
