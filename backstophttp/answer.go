package backstophttp

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"backstop"
)

const (
	// writeLimit is how long one write to the caller may take: a reader that
	// is slower is cut.
	writeLimit = 10 * time.Second
	// slowWrite is from when a write counts as time in which the upstream was
	// not listened to, so that its clocks start anew.
	slowWrite = time.Second
	// portion is the most bytes of one write under one limit.
	portion = 64 << 10
	// shortBody is up to where net/http itself says how long a body is that is
	// written at once. One header less keeps the map of them in its first size.
	shortBody = 2048
)

var (
	keepaliveComment = []byte(": keep-alive\n\n")
	// keepaliveBlank is one for callers of the Gemini dialect, whose SDKs take a
	// comment for a broken event and read over an empty one, in front of all
	// others: see blank.
	keepaliveBlank = []byte("\n\n")
)

// answer is the caller's side of a call. It is guarded by the run's mutex.
type answer struct {
	w       http.ResponseWriter
	stream  bool // the caller asked for an event stream
	started bool // status and headers are gone
	early   bool // they went before anybody had answered
	status  int
	control *http.ResponseController
	flush   func() error  // control's, or straight the writer's: it is asked for every token
	limit   time.Time     // write limit that is set; zero = none
	last    time.Time     // of the last write
	blocked time.Duration // in writes after the answering attempt was over
}

// begin sends status and headers.
func (o *answer) begin(status int) {
	o.started, o.status = true, status
	o.last = time.Now()
	o.w.WriteHeader(status)
}

// put writes b and, if asked, flushes. It returns how long that took.
func (o *answer) put(b []byte, flush bool) (took time.Duration, err error) {
	began := time.Now()
	o.guard(began)
	for ; len(b) > portion && err == nil; b = b[portion:] {
		_, err = o.w.Write(b[:portion])
		o.guard(time.Now())
	}
	if len(b) > 0 && err == nil {
		_, err = o.w.Write(b)
	}
	if flush && err == nil {
		err = o.flush()
	}
	o.last = time.Now()
	return o.last.Sub(began), err
}

// guard sets the write limit. One that was set less than a second ago is good
// enough: setting it costs more than writing a token.
func (o *answer) guard(now time.Time) {
	if o.control == nil {
		o.control = http.NewResponseController(o.w)
		o.flush = o.control.Flush
		if f, ok := o.w.(interface{ FlushError() error }); ok {
			o.flush = f.FlushError
		}
	}
	if o.limit.Sub(now) > writeLimit-time.Second {
		return
	}
	o.limit = now.Add(writeLimit)
	_ = o.control.SetWriteDeadline(o.limit) // not every writer has one
}

// close leaves a write limit for what the server still has to send. The server
// takes it off when it has: the connection may go on.
func (o *answer) close() {
	o.limit = time.Time{}
	o.guard(time.Now())
}

// keepaliveDue is when the caller of a stream is owed a sign of life.
func (o *answer) keepaliveDue(every time.Duration) time.Time {
	if !o.stream || every <= 0 {
		return time.Time{}
	}
	if o.last.IsZero() {
		o.last = time.Now()
	}
	return o.last.Add(every)
}

// start sends the headers of an event stream.
func (r *run) start() {
	if r.out.started {
		return
	}
	h := r.out.w.Header()
	r.describe(h)
	h["Content-Type"] = []string{"text/event-stream"}
	h["Cache-Control"] = []string{"no-cache, no-transform, no-store"}
	h["X-Accel-Buffering"] = []string{"no"}
	r.out.begin(http.StatusOK)
}

// remind sends a keep-alive comment if one is due.
func (r *run) remind(now time.Time) {
	if at := r.out.keepaliveDue(r.keepalive()); at.IsZero() || now.Before(at) {
		return
	}
	r.out.early = r.out.early || !r.out.started && r.won == nil
	r.start()
	if r.req.Dialect == backstop.Gemini {
		r.send(r.blank())
		return
	}
	r.send(keepaliveComment)
}

// blank is an empty event that suits those which the caller has.
func (r *run) blank() []byte {
	if r.won != nil {
		if w, ok := r.won.base.(interface{ Blank() []byte }); ok {
			return w.Blank()
		}
	}
	return keepaliveBlank
}

// write passes bytes on without a flush; send flushes as well. Either may find
// that the caller is gone.
func (r *run) write(b []byte) { r.put(b, false) }
func (r *run) send(b []byte)  { r.put(b, true) }

func (r *run) put(b []byte, flush bool) {
	if r.gone || len(b) == 0 && !flush {
		return
	}
	took, err := r.out.put(b, flush)
	if r.flow == nil {
		r.out.blocked += took
	}
	if err != nil {
		r.gone = true
	}
	if took > slowWrite {
		r.call.Observe(r.out.last, 0, backstop.Mark{Kind: backstop.Paused})
	}
}

// plain sends a JSON body.
func (r *run) plain(status int, body []byte) {
	h := r.out.w.Header()
	h["Content-Type"] = []string{"application/json"}
	if _, piped := r.out.w.(*pipe); piped || len(body) >= shortBody {
		h["Content-Length"] = []string{strconv.Itoa(len(body))}
	}
	r.out.begin(status)
	r.put(body, len(body) > portion) // the server flushes a small one itself
}

// describe sets the headers that every answer has: who answered, and why.
func (r *run) describe(h http.Header) {
	rep := backstop.Report{}
	if !r.out.early { // who answers is not known then
		rep = r.call.Report()
	}
	if r.local.body != nil {
		rep.Model = r.local.model
	}
	values := make([]string, 0, 10)
	set := func(name, value string) {
		if value == "" {
			return
		}
		values = append(values, value)
		n := len(values)
		h[name] = values[n-1 : n : n]
	}
	set("X-Request-Id", r.c.ID)
	set("Request-Id", r.c.ID)
	set("X-Backstop-Tier", rep.Tier)
	set("X-Backstop-Upstream", rep.Upstream)
	set("X-Backstop-Model", printable(rep.Model))
	if rep.Route != "" {
		set("X-Backstop-Attempts", strconv.Itoa(rep.Attempts))
	}
	set("X-Backstop-Reason", rep.Reason)
	set("Cache-Control", "no-store")
	if a := r.won; a != nil {
		list, n := listed(a.without())
		a.named = n
		set("X-Backstop-Dropped", list)
		set("X-Backstop-Repaired", strings.Join(a.repaired, ","))
		if a.truncated {
			set("X-Backstop-Truncated", "1")
		}
		if r.vow.unvalidated {
			set("X-Backstop-Unvalidated", "schema")
		}
	}
	if r.local.stale > 0 {
		set("X-Backstop-Stale", strconv.Itoa(int(r.local.stale/time.Second)))
	}
}

// printable makes a name that a caller chose fit for a header.
func printable(s string) string {
	const most = 256
	clean := len(s) <= most
	for i := 0; clean && i < len(s); i++ {
		clean = ' ' <= s[i] && s[i] < 0x7f
	}
	if clean {
		return s
	}
	b := []byte(s[:min(len(s), most)])
	for i, c := range b {
		if c < ' ' || c >= 0x7f {
			b[i] = '?'
		}
	}
	return string(b)
}
