package backstophttp

import (
	"net/http"
	"strconv"
	"time"

	"backstop"
	"backstop/sse"
	"backstop/wire"
)

// retryClamp bounds the delay that callers are told: SDKs sleep it out inside
// the user's call.
const retryClamp = 10 * time.Second

// finish writes what is still to be written once the engine said Done.
func (r *run) finish() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.array != nil {
		defer r.array.finish()
	}
	step := &r.step
	if step.Failure != nil {
		r.fail(step.Failure)
		return
	}
	for _, a := range r.tried {
		if a.id == step.Attempt {
			r.won = a
		}
	}
	switch a := r.won; {
	case a == nil:
		r.remember(nil, r.local.body)
		r.give(r.local.body, nil) // says itself what it is
	case a.writer != nil:
		r.start()
		r.write(a.held)
		var end []byte
		if w, ok := a.writer.(*rewording); ok {
			end = w.rest()
		}
		end = append(end, a.writer.Close(r.remark(a))...)
		r.remember(a, end)
		r.send(end)
		r.store(a, step.Outcome)
	default:
		r.remember(a, a.whole)
		r.give(a.whole, r.remark(a))
		r.store(a, step.Outcome)
	}
}

// give sends an answer that is there as a whole.
func (r *run) give(body []byte, note *wire.Note) {
	if !r.req.Stream {
		if note != nil {
			body = r.room.Annotate(body, note)
		}
		r.describe(r.out.w.Header())
		r.plain(http.StatusOK, body)
		return
	}
	r.start()
	w := r.room.Writer(r.req)
	if g, ok := w.(wire.Grafter); ok && note != nil {
		g.Hold()
	}
	for _, data := range r.room.Explode(r.req, body) {
		r.write(w.Event(&sse.Event{Data: data}, &wire.Signal{Kind: wire.Token}))
	}
	r.send(w.Close(note))
}

// fail ends the call with an error: as an answer of its own, or as the last
// frame of a stream that has begun.
func (r *run) fail(f *backstop.Failure) {
	if r.gone {
		return
	}
	if r.out.started {
		w := r.room.Writer(r.req)
		if r.won != nil {
			w = r.won.writer
		}
		r.send(w.Failure(f, r.c.ID))
		return
	}
	h := r.out.w.Header()
	r.describe(h)
	status := r.dress(h, f)
	r.plain(status, r.room.Failure(f, r.c.ID))
}

// dress sets the headers that tell a caller whether and when to come again,
// and returns the status.
func (r *run) dress(h http.Header, f *backstop.Failure) int {
	status := f.Status
	if status < 400 {
		status = f.Code.Status()
	}
	h["X-Should-Retry"] = []string{strconv.FormatBool(f.Retryable)}
	after := f.RetryAfter > 0
	if !f.Retryable && again(status) {
		switch r.c.Hint {
		case "ai":
			status = http.StatusFailedDependency
		case "langchain":
			status, after = http.StatusTooManyRequests, false
		}
	}
	if after {
		comeAgain(h, f.RetryAfter)
	}
	return status
}

// comeAgain says after which time a caller may come again, if one is known.
func comeAgain(h http.Header, after time.Duration) {
	if after <= 0 {
		return
	}
	d := min(after, retryClamp)
	h["Retry-After-Ms"] = []string{strconv.FormatInt(max(1, d.Milliseconds()), 10)}
	h["Retry-After"] = []string{strconv.FormatInt(int64((d+time.Second-1)/time.Second), 10)}
}

// again reports whether SDKs repeat a call that got this status.
func again(status int) bool {
	return status >= 500 || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout || status == http.StatusConflict
}
