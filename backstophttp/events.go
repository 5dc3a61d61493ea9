package backstophttp

import (
	"errors"
	"io"
	"time"

	"backstop"
	"backstop/internal/upstream"
	"backstop/sse"
	"backstop/wire"
)

// maxMalformed is how many malformed events a stream may have before it
// counts as broken.
const maxMalformed = 16

// maxCrossed bounds a stream that is translated on its way: other dialects have
// an order that parts may have to wait for, or repeat the answer at its end. So
// does Responses' own, where it has to be written anew.
// 800,000 tokens, each in an event of its own, have that size.
const maxCrossed = 256 << 20

// follower reads one event stream to its end. For a caller who streams it
// passes events on; otherwise it puts them together into one body.
type follower struct {
	r      *run
	a      *attempt
	events *sse.Reader
	src    io.Reader

	held      []byte          // events before the first token
	whole     wire.Aggregator // nil = not wanted
	size      int             // bytes put together
	crossed   int             // bytes that were translated, or may have been
	malformed int
	committed bool
	last      time.Time   // of the latest token
	sig       wire.Signal // of the latest event; here, so that an event costs no memory
	verdict   *backstop.Outcome

	join  joiner       // of a rescuer on its way to the seam
	half  []byte       // of its text what may still change
	graft wire.Grafter // of a rescuer beyond it
	calls arguments    // that it makes

	mend *mending // of promised JSON that is passed on as it comes
}

// follow prepares to read the answer as events.
func (r *run) follow(a *attempt, src io.Reader) *follower {
	f := &follower{r: r, a: a, src: src}
	f.events = sse.NewReader(f, 0)
	a.reply.Surface = wire.SurfaceFirst
	stream := a.room.Reader(r.seen(a), &a.reply)
	r.mu.Lock()
	a.stream = stream
	switch {
	case a.takesOver():
		a.writer, f.join = a.view(r.won.base), r.joiner(a)
	case r.req.Stream:
		a.writer = r.begun(a)
		if f.mend = r.newMending(a); f.mend == nil && r.gathers() {
			a.writer = nil // made whole before any of it is passed on
		}
	}
	if a.writer == nil || r.promised() || r.cache() != nil && !a.step.Continue {
		f.whole = a.room.Aggregator(r.seen(a))
	}
	r.mu.Unlock()
	return f
}

// followed follows a stream to its commit, which it leaves to the loop to go
// on from, or to its end.
func (r *run) followed(f *follower) backstop.Outcome {
	f.run()
	if f.verdict == nil {
		return r.hand(f)
	}
	return *f.verdict
}

// hand gives a committed stream to the loop, unless it was dropped since its
// commit: then the loop has another attempt in its place by now.
func (r *run) hand(f *follower) backstop.Outcome {
	r.mu.Lock() // the watchdog asks for it
	defer r.mu.Unlock()
	if f.a.dropped {
		return backstop.Outcome{Class: backstop.Canceled, Kind: backstop.KindCaller}
	}
	r.flow = f
	return backstop.Outcome{}
}

// run reads events: up to the commit, where it returns without a verdict, and
// when called again to the end. A panic is our own fault, as in an attempt.
func (f *follower) run() {
	defer func() {
		if recover() != nil {
			f.verdict = nil
			f.decide(bug())
		}
	}()
	before := f.committed
	for f.verdict == nil && f.committed == before {
		ev, err := f.events.Next()
		f.take(ev, err)
	}
	if f.verdict != nil {
		f.sum()
	}
}

// Read is the source of the event reader. Everything passed on so far is
// flushed before a read that may block, so events that came together leave
// together and none waits.
func (f *follower) Read(p []byte) (int, error) {
	if f.committed {
		f.flush()
	}
	n, err := f.src.Read(p)
	if err == io.EOF {
		f.a.tail = false
	}
	return n, err
}

func (f *follower) flush() {
	f.r.mu.Lock()
	defer f.r.mu.Unlock()
	f.r.send(nil)
}

// take handles one event, or the end.
func (f *follower) take(ev *sse.Event, err error) {
	f.r.mu.Lock()
	defer f.r.mu.Unlock()
	if f.a.dropped || f.r.gone {
		f.decide(backstop.Outcome{Class: backstop.Canceled, Kind: backstop.KindCaller})
		return
	}
	switch {
	case ev != nil && err == sse.ErrTruncated: // a clean end that only forgot the blank line; writers add it
		f.event(ev)
		err = io.EOF
	case ev != nil && err == nil:
		f.event(ev)
	}
	if err != nil && f.verdict == nil {
		f.end(err)
	}
}

func (f *follower) event(ev *sse.Event) {
	if ev.Comment {
		if f.committed {
			f.pass(ev, &wire.Signal{Kind: wire.Quiet})
		}
		return
	}
	if f.a.cross != nil || f.r.req.Dialect == backstop.Responses {
		if f.crossed += len(ev.Data); f.crossed > maxCrossed {
			f.decide(tooLarge())
			return
		}
	}
	f.r.issued(f.a, ev.Data)
	f.sig = f.a.stream.Event(ev)
	sig := &f.sig
	switch sig.Kind {
	case wire.Malformed:
		if f.malformed++; f.malformed > maxMalformed {
			f.broken(garbled(backstop.KindProtocol))
		}
		return
	case wire.Fault:
		f.decide(*sig.Outcome)
		return
	}
	if f.a.takesOver() && !f.callsWell(sig) {
		return
	}
	switch {
	case f.mend != nil:
		f.passMended(ev, sig)
	case sig.Kind == wire.Token && !f.progress(sig, true):
		return
	case f.join != nil:
		f.reproduce(ev, sig)
	default:
		f.pass(ev, sig)
	}
	if sig.Kind == wire.Terminal && f.verdict == nil {
		f.a.tail = true
		f.decide(f.judged(f.a.stream.End(true)))
	}
}

// collect adds an event to the whole. It is false if an answer that is held as
// a whole is too large for that.
func (f *follower) collect(ev *sse.Event) bool {
	if f.whole == nil || ev.Comment || f.size > maxAnswer {
		return true
	}
	if f.size += len(ev.Data); f.size <= maxAnswer {
		f.whole.Add(ev.Data)
	} else if f.a.writer == nil || f.mend != nil && !f.committed {
		f.decide(tooLarge())
		return false
	}
	return true
}

// pass hands an event on, holds it back before the first token, or adds it to
// the whole.
func (f *follower) pass(ev *sse.Event, sig *wire.Signal) {
	if !f.collect(ev) || f.a.writer == nil {
		return
	}
	if f.graft != nil {
		f.r.write(f.graft.Graft(ev, sig, true))
		return
	}
	f.out(f.a.writer.Event(ev, sig))
}

// out sends what an event makes, or holds it back before the first token.
func (f *follower) out(out []byte) {
	switch {
	case f.committed:
		f.r.write(out)
	case len(f.held)+len(out) > maxAnswer:
		f.decide(garbled(backstop.KindTooLarge))
	default:
		f.held = append(f.held, out...)
	}
}

// end judges a stream that is over without its terminal event.
func (f *follower) end(err error) {
	clean := err == io.EOF || f.a.finished
	o := f.judged(f.a.stream.End(clean))
	switch {
	case errors.Is(err, sse.ErrTooLarge):
		f.broken(tooLarge())
		return
	case !clean && o.Class != backstop.OK && o.Class != backstop.Refused && !errors.Is(err, sse.ErrTruncated):
		if c := upstream.Classify(err, true); c.Class == backstop.Canceled {
			o = c
		}
	}
	f.decide(f.settle(o))
}

// broken ends a stream that cannot be read any further, unless its answer is
// whole by then: of that nobody is to make another.
func (f *follower) broken(o backstop.Outcome) {
	if f.a.complete() {
		o = f.settle(f.judged(f.a.stream.End(false)))
	}
	f.decide(o)
}

// judged adds the tokens that the upstream reported.
func (f *follower) judged(o backstop.Outcome) backstop.Outcome {
	o.InputTokens, o.OutputTokens = f.a.stream.Usage()
	return o
}

// tooLarge is the outcome of an answer over a bound of ours.
func tooLarge() backstop.Outcome {
	o := garbled(backstop.KindTooLarge)
	o.Counts = backstop.CountsNone
	return o
}

func (f *follower) decide(o backstop.Outcome) {
	if f.verdict == nil {
		f.verdict = &o
	}
}

// complete reports whether a stream has said all it has to say. The caller
// holds the run's mutex.
func (a *attempt) complete() bool {
	if a.stream == nil {
		return false
	}
	o := a.stream.End(false)
	return o.Class == backstop.OK || o.Class == backstop.Refused
}
