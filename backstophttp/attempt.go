package backstophttp

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"sync/atomic"
	"time"

	"backstop"
	"backstop/internal/upstream"
	"backstop/wire"
)

const (
	// maxError bounds the body of an error answer, errorWait the time that the
	// rest of it may take: its status has said enough.
	maxError  = 64 << 10
	errorWait = 2 * time.Second
	// maxAnswer bounds an answer that is held as a whole, and what is held
	// back before the first token.
	maxAnswer = 8 << 20
)

// attempt is one try at an upstream. It runs on the serving goroutine; fields
// that the watchdog reads as well are guarded by the run's mutex.
type attempt struct {
	id     backstop.AttemptID
	step   backstop.Step
	room   wire.Room // of what the upstream says
	cross  *crossing // nil = that is the caller's dialect
	conn   *upstream.Conn
	sent   upstream.Call
	copied *wire.Outbound // of what was sent, for probes that repeat it
	cancel context.CancelFunc

	reply  wire.Reply
	body   io.ReadCloser // of the answer, once there is one
	tail   bool          // the end was recognised, but not all bytes were read
	stream wire.StreamReader

	whole    []byte   // plain body of the answer
	repaired []string // kinds of repairs
	wrong    []breach // why it is not what was promised
	// truncated: a document in it was cut. noted: what its headers could not
	// say is said at the end of its stream.
	truncated, noted bool
	named            int               // how many of its losses the headers tell
	writer           wire.StreamWriter // set when the answer is passed on event by event
	base             wire.StreamWriter // the caller's stream that it writes to
	held             []byte            // events that came before its first token, if none came

	dropped  bool      // the engine passed its verdict
	stood    bool      // a connection was there: something may have been sent
	issuer   bool      // it said which id later calls may name it by
	finished bool      // complete, although the upstream keeps the stream open
	bugged   bool      // the watchdog failed at it
	spoke    time.Time // when its latest token came
}

// open prepares the attempt that the engine ordered.
func (r *run) open() *attempt {
	u := r.step.Upstream
	a := &attempt{id: r.step.Attempt, step: r.step, conn: r.d.conns[u.Name], room: r.d.options.Rooms[u.Dialect]}
	if u.Dialect != r.req.Dialect {
		r.cross(a)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.step.Hedge && r.live != nil { // nil: it ended after the order was given
		r.rival = a
	} else {
		r.live = a
	}
	r.tried = append(r.tried, a)
	return a
}

// mark reports something about the attempt to the engine.
func (r *run) mark(a *attempt, m backstop.Mark) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a.stood = a.stood || m.Kind == backstop.Dialed
	if !a.dropped {
		r.call.Observe(time.Now(), a.id, m)
	}
	if m.Kind == backstop.Progress && r.rival != nil {
		r.consult() // it is decided
	}
}

// attempt sends the request, reads the answer and judges it. A panic in here is
// our own fault and counts for nobody.
func (r *run) attempt(ctx context.Context, a *attempt) (o backstop.Outcome) {
	defer func() {
		if p := recover(); p != nil {
			o = bug()
		}
	}()
	if a.takesOver() && !r.shown.kept {
		return unsent(diverged())
	}
	out, refused := r.outbound(a)
	if refused != nil {
		return unsent(*refused)
	}
	r.shadowed(a, &out)
	a.sent = upstream.Call{Outbound: out, Key: a.step.Key, Header: r.headers(a), Dialed: func() {
		r.mark(a, backstop.Mark{Kind: backstop.Dialed})
	}}
	resp, err := a.conn.Do(ctx, &a.sent)
	if err != nil {
		o = upstream.Classify(err, false)
		o.Replayed = a.sent.Replayed()
		return o
	}
	a.sent.Outbound.Body = nil // it is sent; the answer may take many minutes
	a.body = resp.Body
	r.mark(a, backstop.Mark{Kind: backstop.FirstByte})
	a.reply = wire.Reply{
		Vendor: a.step.Upstream.Vendor, Dialect: a.room.Dialect(), Caller: r.req.Dialect,
		Status: resp.StatusCode, Header: resp.Header, Now: time.Now(), Mask: r.d.mask.clean,
	}
	return r.settled(a, r.answer(a, resp, out.Stream))
}

// headers are the caller's, with the attempt's own span in its trace.
func (r *run) headers(a *attempt) http.Header {
	parent := r.c.Trace.Traceparent(r.c.Trace.AttemptSpan(a.id))
	if parent == "" {
		return r.c.Header
	}
	h := maps.Clone(r.c.Header)
	if h == nil {
		h = http.Header{}
	}
	h["Traceparent"] = []string{parent}
	return h
}

// settled adds to an outcome what only the exchange knows, and takes from it
// what no caller may know.
func (r *run) settled(a *attempt, o backstop.Outcome) backstop.Outcome {
	r.d.rekey(a.step.Upstream, a.step.Key, &o)
	r.d.mask.cover(&o)
	o.Absent = o.Class == backstop.Rejected && o.Param != "" && r.lacks(a, o.Param)
	r.answered(a, &o)
	o.Replayed = a.sent.Replayed()
	if o.Status == 0 {
		o.Status = a.reply.Status
	}
	return o
}

// answer reads and judges what came back.
func (r *run) answer(a *attempt, resp *http.Response, stream bool) backstop.Outcome {
	if resp.StatusCode != http.StatusOK {
		return a.refusal(resp)
	}
	if stream {
		s := &sniffer{src: resp.Body}
		if events, err := s.events(resp.Header.Get("Content-Type")); err == errBlanks {
			return garbled(backstop.KindEmpty)
		} else if err != nil {
			return upstream.Classify(err, true)
		} else if events {
			return r.followed(r.follow(a, s))
		}
		return r.oneBody(a, s, -1)
	}
	return r.oneBody(a, resp.Body, resp.ContentLength)
}

// oneBody reads and judges an answer that is no stream.
func (r *run) oneBody(a *attempt, src io.Reader, length int64) backstop.Outcome {
	o := r.gather(a, src, length)
	if a.takesOver() {
		return r.retold(a, o)
	}
	return r.comesHome(a, o)
}

// refusal judges an answer whose status is not 200.
func (a *attempt) refusal(resp *http.Response) backstop.Outcome {
	var cut atomic.Bool
	t := time.AfterFunc(errorWait, func() { cut.Store(true); a.cancel() })
	defer t.Stop()
	body, err := read(resp.Body, resp.ContentLength, maxError, nil)
	if err != nil && err != errTooLarge && !cut.Load() && len(body) == 0 {
		return upstream.Classify(err, true)
	}
	a.reply.Surface, a.reply.Body = wire.SurfaceHTTP, body
	return wire.Judge(&a.reply)
}

// release gives the connection back to its pool, or closes it.
func (a *attempt) release(d *Driver) {
	switch {
	case a.body == nil:
	case a.tail && !a.dropped:
		body, cancel := a.body, a.cancel
		d.works.run(func() { drain(body, cancel) })
		return
	default:
		_ = a.body.Close()
	}
	a.cancel()
}

// drain reads the end of a stream whose last event was already passed on, so
// that its connection can be used again. It does not wait long for it.
func drain(body io.ReadCloser, cancel context.CancelFunc) {
	t := time.AfterFunc(time.Second, cancel)
	defer t.Stop()
	defer cancel()
	_, _ = io.CopyN(io.Discard, body, 4<<10)
	_ = body.Close()
}

// unsent marks the outcome of an attempt that its upstream never heard of.
func unsent(o backstop.Outcome) backstop.Outcome {
	o.NotSent, o.NextTier = true, true
	return o
}

func bug() backstop.Outcome {
	return backstop.Outcome{Class: backstop.Canceled, Kind: backstop.KindBug, NextTier: true, InputTokens: -1, OutputTokens: -1}
}

// garbled is the outcome of an answer that broke the dialect.
func garbled(kind backstop.Kind) backstop.Outcome {
	return backstop.Outcome{
		Class: backstop.Garbled, Kind: kind, Status: http.StatusOK, Counts: backstop.CountsModel,
		NextTier: true, InputTokens: -1, OutputTokens: -1,
	}
}

var errTooLarge = fmt.Errorf("answer is over its bound of %d bytes", maxAnswer)
