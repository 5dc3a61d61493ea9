package backstophttp

import (
	"bytes"
	"net/http"
	"slices"
	"time"

	"backstop"
	"backstop/jsonfix"
	"backstop/sse"
	"backstop/wire"
)

// shown is the text that the caller of a stream has, for the case that
// another upstream must go on from there.
type shown struct {
	text []byte
	kept bool // all of it is here, and nothing but text has gone out
}

// rescuable reports whether the call's stream may be taken over at all: its
// answer is one text.
func (r *run) rescuable() bool {
	q := r.req
	return q.Stream && q.Op != wire.Embedding && q.Choices == 1 && !q.Logprobs && !q.Audio && !r.promised()
}

// remembers reports whether the text is worth keeping: somebody could rescue.
func (r *run) remembers() bool {
	if r.route == nil || r.c.NoFallback || !r.rescuable() || r.route.Stream.Rescue != "splice" && r.route.Stream.Rescue != "continue" {
		return false
	}
	upstreams := 0
	for i := range r.route.Tiers {
		if r.route.Tiers[i].Local == nil {
			upstreams++
		}
	}
	return upstreams > 1
}

// listen adds the text of the latest event, of at most size bytes, to what the
// caller has.
func (s *shown) listen(stream wire.StreamReader, size int) {
	if !s.kept {
		return
	}
	t, ok := stream.(wire.TextReader)
	if !ok || !t.TextOnly() {
		*s = shown{}
		return
	}
	if cap(s.text)-len(s.text) < size {
		s.text = slices.Grow(s.text, max(size, len(s.text))) // append grows long slices by little
	}
	if s.text = t.AppendText(s.text); len(s.text) > maxHeldBack {
		*s = shown{}
	}
}

// takesOver reports whether the attempt is to go on with a stream that broke.
func (a *attempt) takesOver() bool { return a.step.Splice }

// asked is the request that the attempt sends on: the caller's, or one for the
// rest of an answer.
func (r *run) asked(a *attempt) (*wire.Request, *backstop.Outcome) {
	switch {
	case a.step.Reask != 0:
		return r.reasked(a)
	case !a.step.Continue:
		return r.req, nil
	}
	room, ok := r.room.(wire.Continuer)
	if !ok {
		o := diverged()
		return nil, &o
	}
	return room.Continue(r.req, a.step.Upstream, a.step.Model, r.shown.text)
}

// joiner is what finds the attempt's way into the caller's stream.
func (r *run) joiner(a *attempt) joiner {
	if a.step.Continue {
		return newOverlap(r.shown.text)
	}
	return &splice{have: r.shown.text}
}

// retold follows an answer that came as one body as if it had been streamed.
func (r *run) retold(a *attempt, o backstop.Outcome) backstop.Outcome {
	if o.Class == backstop.Refused {
		return diverged()
	}
	if o.Class != backstop.OK {
		return o
	}
	var events []byte
	for _, data := range a.room.Explode(r.seen(a), a.whole) {
		events = sse.Append(events, "", data)
	}
	a.whole = nil
	return r.followed(r.follow(a, bytes.NewReader(events)))
}

// reproduce holds the events of a rescuer back until its text has reached what
// the caller has.
func (f *follower) reproduce(ev *sse.Event, sig *wire.Signal) {
	if !f.collect(ev) {
		return
	}
	t, reads := f.a.stream.(wire.TextReader)
	w, grafts := f.a.writer.(wire.Grafter)
	if !reads || !grafts {
		f.decide(diverged())
		return
	}
	if sig.Kind != wire.Token {
		if sig.Kind == wire.Quiet {
			w.Graft(ev, sig, false) // as below: the count of the input's tokens comes first in some dialects
		}
		return
	}
	last := !t.TextOnly() || f.a.complete()
	text := t.AppendText(f.half)
	n := len(text)
	if !last {
		n -= halfAtEnd(text)
	}
	fresh, at := f.join.next(text[:n], last)
	switch at {
	case apart:
		f.decide(diverged())
	case reached:
		if f.a.cross == nil { // else the bridge keeps that half until it is whole
			fresh = append(fresh, text[n:]...)
		}
		f.goOn(w, ev, sig, fresh)
	default:
		f.half = append(f.half[:0], text[n:]...)
		w.Graft(ev, sig, false) // nothing of it goes out, but what comes later builds on it
	}
}

// goOn crosses the seam: from here on the caller gets the rescuer's events.
func (f *follower) goOn(w wire.Grafter, ev *sse.Event, sig *wire.Signal, fresh []byte) {
	r := f.r
	r.call.Observe(time.Now(), f.a.id, backstop.Mark{Kind: backstop.Seam})
	f.committed, f.join, f.graft, f.half = true, nil, w, nil
	r.won, r.shown = f.a, shown{}
	w.Hold()
	r.write(w.Text(fresh))
	r.write(w.Graft(ev, sig, false))
}

// callsWell listens to the tool calls of a rescuer. It is false once its answer
// ends, by its own word whole, with one that nobody could make, be it for a
// closer alone: what ends a call in the caller's stream is out by then, where
// a mended stream has it wait. One whose ending says that it was cut is marked.
func (f *follower) callsWell(sig *wire.Signal) bool {
	reader, ok := f.a.stream.(wire.PieceReader)
	if !ok || sig.Kind != wire.Token && sig.Kind != wire.Terminal || !f.a.stream.ToolBegun() {
		return true
	}
	if sig.Kind == wire.Token {
		f.calls.listen(reader)
	}
	finish := reader.Finish()
	if finish == "" {
		return true
	}
	for i := range f.calls.list {
		switch {
		case f.r.inspectStreamed(&f.calls.list[i]).Status == jsonfix.StatusValid:
		case wire.FinishOf(finish).Kind == wire.FinishGood:
			f.decide(f.judged(notJSON(garbled(backstop.KindJSON))))
			return false
		default:
			f.a.truncated = true
		}
	}
	return true
}

// diverged is the outcome of a rescuer who said something else than the caller
// already has, which is nobody's fault.
func diverged() backstop.Outcome {
	return backstop.Outcome{
		Class: backstop.Garbled, Kind: backstop.KindDiverged, Status: http.StatusOK, InputTokens: -1, OutputTokens: -1,
	}
}

// remark is what a stream says about itself at its end, nil if its headers
// have said it all.
func (r *run) remark(a *attempt) *wire.Note {
	unnamed := []string(nil)
	if r.out.started {
		unnamed = a.unnamed()
	}
	if !a.takesOver() && !r.out.early && !a.noted && !a.truncated && len(unnamed) == 0 {
		return nil
	}
	rep := r.call.Report()
	return &wire.Note{
		Tier: rep.Tier, Upstream: rep.Upstream, Reason: rep.Reason, Attempts: rep.Attempts,
		Rescued: a.takesOver(), Continued: a.step.Continue, Repaired: a.repaired, Truncated: a.truncated, Dropped: unnamed,
	}
}
