package mock

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// How an attempt ended, as the log shows it.
const (
	EndOpen     = "open"     // still running
	EndDone     = "done"     // answered to the end, an error answer included
	EndCanceled = "canceled" // the peer left, or the server was closed
	EndCut      = "cut"      // the connection was closed in the middle, by the fault
	EndReset    = "reset"    // the connection was reset, by the fault
)

// exchange is one attempt while it is answered: what faults play on.
type exchange struct {
	s   *Server
	w   http.ResponseWriter
	r   *http.Request
	ask *ask
	say dialect

	reply *reply
	fault Fault
	since time.Time // start of the fault's clock

	delay, gap time.Duration
	opened     bool // the header is written
	dirty      bool // something waits in a buffer
	abort      bool // the connection must die when the handler returns
	in, out    int64
	status     int
	ended      string

	frames []frame // of a stream, once begun
	next   int     // first frame that was not sent
	tokens int     // tokens that were sent
	plain  []byte  // the body, once begun
	sent   int     // bytes of it that were sent
}

// serve reads a request, picks its fault and lets it play.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, rm room) {
	entry := s.log.begin(r)
	x := &exchange{s: s, w: w, r: r, say: rm.say, delay: s.opts.Delay, gap: s.opts.Gap, ended: EndDone}
	defer func() { s.log.end(entry, x) }()
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	x.in = int64(len(body))
	if err != nil {
		x.fail(failure{Status: 413, Type: "invalid_request_error", Code: "request_too_large", Message: "the body could not be read or is over 32 MiB"})
		return
	}
	w.Header().Set("X-Mock-Name", s.opts.Name)
	setAttemptID(w.Header(), rm.say, entry.Seq)
	a, bad := rm.read(r, body)
	if s.opts.Key != "" && peerKey(r) != s.opts.Key {
		f := failureFor(http.StatusUnauthorized)
		bad = &f
	}
	if bad != nil {
		if a != nil {
			s.log.name(entry, a, "")
		}
		x.fail(*bad)
		return
	}
	x.ask = a
	x.fault, x.since, err = s.pick(a.model)
	s.log.name(entry, a, x.fault.text)
	if err != nil {
		x.fail(failure{Status: 400, Type: "invalid_request_error", Param: "model", Code: "invalid_fault", Message: err.Error()})
		return
	}
	x.reply = compose(a, &s.opts)
	w.Header().Set("X-Mock-Fault", x.fault.text)
	x.fault.play(x)
	if x.abort {
		panic(http.ErrAbortHandler) // not hijackable: the only way to kill the stream
	}
}

// wait lets d pass, after what is buffered went out. It is false when the
// attempt is over.
func (x *exchange) wait(d time.Duration) bool {
	if x.over() {
		return false
	}
	if d <= 0 {
		return true
	}
	x.flush()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-x.r.Context().Done():
	case <-x.s.closed:
	}
	x.ended = EndCanceled
	return false
}

// silence waits for the peer to leave.
func (x *exchange) silence() {
	x.flush()
	select {
	case <-x.r.Context().Done():
	case <-x.s.closed:
	}
	x.ended = EndCanceled
}

// over reports whether the peer has left.
func (x *exchange) over() bool {
	if x.ended != EndDone {
		return true
	}
	select {
	case <-x.r.Context().Done():
		x.ended = EndCanceled
		return true
	default:
		return false
	}
}

// setAttemptID gives the answer an id under the header's name of its dialect.
func setAttemptID(h http.Header, d dialect, seq int64) {
	id := fmt.Sprintf("req_%016x", stir(uint64(seq)))
	switch d.(type) {
	case geminiDialect:
	case anthropicDialect:
		h.Set("Request-Id", id)
	default:
		h.Set("X-Request-Id", id)
	}
}

// open writes the header of a 200 answer, once.
func (x *exchange) open(mime string, length int) {
	if x.opened {
		return
	}
	x.opened = true
	h := x.w.Header()
	h.Set("Content-Type", mime)
	if length >= 0 {
		h.Set("Content-Length", strconv.Itoa(length))
	}
	if x.ask.stream {
		h.Set("Cache-Control", "no-cache")
		h.Set("X-Accel-Buffering", "no")
	}
	x.status = http.StatusOK
	x.w.WriteHeader(http.StatusOK)
	x.dirty = true
	if length < 0 {
		x.flush() // or a short answer would get a Content-Length
	}
}

const (
	eventStream = "text/event-stream; charset=utf-8"
	jsonBody    = "application/json"
)

// emit writes bytes of the answer; they reach the peer at the next wait, or
// at the end.
func (x *exchange) emit(b []byte) bool {
	if x.over() {
		return false
	}
	n, err := x.w.Write(b)
	x.out += int64(n)
	x.dirty = true
	if err != nil {
		x.ended = EndCanceled
		return false
	}
	return true
}

func (x *exchange) flush() {
	if !x.dirty {
		return
	}
	x.dirty = false
	if err := http.NewResponseController(x.w).Flush(); err != nil && x.r.Context().Err() != nil {
		x.ended = EndCanceled
	}
}

// fail answers with an error.
func (x *exchange) fail(f failure) {
	x.sign(&f)
	x.opened, x.status = true, f.Status
	x.out += int64(writeFailure(x.w, x.say, f))
}

// sign says in a failure what it belongs to.
func (x *exchange) sign(f *failure) {
	f.ID, f.Seq = x.w.Header().Get("Request-Id"), x.next
	if x.ask != nil {
		f.Model, f.Listed = x.ask.model, x.ask.pack.mime == growing.mime
	}
	if x.reply != nil {
		f.ReplyID = x.reply.id
	}
}
