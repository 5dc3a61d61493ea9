package backstophttp

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"backstop"
	"backstop/wire"
)

// Call is one caller request as the listener accepted it.
type Call struct {
	// Request is what a dialect room read. Its body must stay unchanged for
	// good: a canceled attempt may still be sending it when Serve returns.
	Request *wire.Request
	ID      string      // request id, safe to print in a header
	Caller  string      // key name, else peer address
	Op      string      // word for the event; "" = agent if Agent, else the request's operation
	Header  http.Header // the caller's headers; few are passed on, see package upstream

	Timeout    time.Duration // the caller's own bound on the deadline, 0 = none
	NoFallback bool          // only the first tier
	NoLocal    bool          // no local tier
	Retrying   bool          // the caller is already retrying
	Agent      bool          // the call came in as POST /api/agent
	Array      bool          // a stream is sent as one JSON array, application/json, and errors as such; for callers of the Gemini dialect

	// Hint names the SDK family of the caller if final errors are to be
	// dressed for it: "ai" gets 424, "langchain" 429 without Retry-After, so
	// that these do not retry what we have retried. "" = the real status.
	Hint string

	// Trace is where the call stands in a trace; the zero value leaves a
	// traceparent in Header as it is. Attempts go out as spans of it.
	Trace backstop.Trace
}

// run is a call on its way.
type run struct {
	d        *Driver
	c        *Call
	req      *wire.Request // of the call, with the route's promise
	whole    *wire.Request // the same for who reads an answer that is held as a whole
	room     wire.Room     // of the caller's dialect
	route    *backstop.Route
	vow      vow
	hub      hubbed    // for upstreams of other dialects
	recalled *recalled // nil = the call names no items, or not all are known

	// mu guards everything below, and the engine's call above all: the serving
	// goroutine and the watchdog share it.
	mu    sync.Mutex
	call  *backstop.Call
	step  backstop.Step // the engine's last order
	live  *attempt
	rival *attempt  // the one beside it, see race.go
	flow  *follower // the live attempt's stream, once the call is committed
	out   answer
	array *array // the same for a caller who gets an array, else nil
	gone  bool   // the caller cannot be written to any more
	over  bool
	// aborted: the call is to end, and an attempt that was about to begin with it.
	aborted bool

	waits  bool           // the loop waits for attempts: others may ask the engine for it
	kept   bool           // step is an order that the loop has not seen yet
	news   chan struct{}  // there is something for the loop to do
	landed bool           // the race is won, and the winner's stream is the loop's
	racers sync.WaitGroup // attempts with goroutines of their own

	timer *time.Timer // the watchdog's
	woken atomic.Bool // the engine wants to be asked
	busy  atomic.Bool // the watchdog could not look when it was due
	until time.Time   // what the engine waits for; zero = no time
	due   time.Time   // when the watchdog looks: until, or a keep-alive before it

	won   *attempt // the attempt whose answer goes to the caller
	tried []*attempt
	shown shown    // what the caller of a stream has of the answer
	local fallback // the local tier's answer
}

// Serve runs a call and writes its answer, or the error in the caller's
// dialect, with all headers that belong to it. It returns when the last byte is
// written or the caller is gone; the event it returns was already given to
// Options.Observe. Canceling ctx means that the caller left.
func (d *Driver) Serve(ctx context.Context, w http.ResponseWriter, c *Call) *backstop.Event {
	d.works.add()
	defer d.works.done()
	r := &run{d: d, c: c, req: c.Request, room: d.options.Rooms[c.Request.Dialect], route: d.plan.Route(c.Request.Model)}
	r.recall()
	r.unstored()
	r.promise()
	r.out = answer{w: w, stream: c.Request.Stream}
	if c.Array && c.Request.Stream {
		r.array = &array{w: w}
		r.out.w = r.array
	}
	r.timer = time.AfterFunc(idle, r.watch)
	r.shown.kept = r.remembers()
	r.begin()
	d.enter(r)
	defer r.end()
	r.loop(ctx)
	r.finish()
	r.racers.Wait() // all are dropped
	return r.record()
}

// begin tells the engine about the call.
func (r *run) begin() {
	q, c := r.req, r.c
	r.call = r.d.engine.Begin(time.Now(), backstop.Request{
		ID: c.ID, Model: q.Model, Caller: c.Caller, Dialect: q.Dialect,
		Embed: q.Op == wire.Embedding, Stream: q.Stream, JSON: q.Promise.Kind != wire.PromiseNone, Schema: r.vow.own,
		Reask: r.reaskable(), Tools: q.Tools, Streamable: q.Streamable(), Rescuable: r.rescuable(), Once: q.Stored || q.Pinned, InputSize: q.InputSize, MaxTokens: q.MaxTokens,
		Timeout: c.Timeout, NoFallback: c.NoFallback, NoLocal: c.NoLocal || q.Pinned || q.Op == wire.CountTokens, Retrying: c.Retrying,
		Wake: r.wake, Refuses: r.refuses,
	})
}

// end makes sure that nothing touches the caller's connection any more.
func (r *run) end() {
	r.mu.Lock()
	r.over = true
	r.mu.Unlock()
	r.timer.Stop()
	r.d.leave(r)
	r.stop()
	r.racers.Wait()
	r.giveBack()
	r.out.close()
}

// giveBack ends what a panic left unended: else the engine would count its
// attempts as running for good.
func (r *run) giveBack() {
	defer func() { _ = recover() }() // it may have been the engine's own
	r.mu.Lock()
	defer r.mu.Unlock()
	r.call.Observe(time.Now(), 0, backstop.Mark{Kind: backstop.Aborted}) // nothing to a call that is done
}

// record is the event of the finished call.
func (r *run) record() *backstop.Event {
	ev := r.call.Event(time.Now())
	ev.Trace = r.c.Trace
	ev.Op, ev.Status, ev.Stale = r.c.Op, r.out.status, r.local.stale
	switch {
	case ev.Op != "":
	case r.c.Agent:
		ev.Op = "agent"
	default:
		ev.Op = string(r.c.Request.Op)
	}
	ev.Blocked = r.out.blocked
	if r.gone { // it did not get what the engine counts as an answer
		ev.Status, ev.Outcome = backstop.CodeCanceled.Status(), backstop.Canceled
	}
	if r.local.body != nil {
		ev.Model = r.local.model
	}
	if a := r.won; a != nil {
		ev.Dropped, ev.Repaired, ev.Truncated = a.without(), a.repaired, a.truncated
	}
	for i := range ev.Attempts {
		for _, a := range r.tried {
			if a.id == ev.Attempts[i].ID {
				ev.Attempts[i].Replays = a.sent.Replayed()
			}
		}
	}
	if r.d.options.Observe != nil {
		r.d.options.Observe(ev)
	}
	return ev
}
