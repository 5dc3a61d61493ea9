package backstophttp

import (
	"backstop"
	"backstop/wire"
)

// sum completes the verdict with what holds for the answer as a whole.
func (f *follower) sum() {
	a := f.a
	a.held = f.held
	if f.mend != nil && f.r.promised() && !f.committed {
		a.writer, a.held = nil, nil // nobody has any of it
	}
	if f.whole != nil && f.size <= maxAnswer {
		a.whole = f.whole.Body()
	}
	if a.noted {
		a.whole = nil // not what went out
	}
	o := *f.verdict
	if a.writer == nil {
		o = f.r.keepPromise(a, f.refused(o))
	} else if o.Class == backstop.OK && f.refusing() {
		o = f.refusal()
	}
	o = f.r.comesHome(a, o)
	if f.join != nil && (o.Class == backstop.OK || o.Class == backstop.Refused) {
		o = f.judged(diverged()) // it ended before it said all that the caller has
	}
	o.Malformed = f.malformed
	o.NoRescue = f.committed && !f.r.shown.kept || f.committed && !whole(f.r.shown.text)
	o = f.r.settled(a, o)
	f.verdict = &o
}

// refused finds a refusal in an answer that was put together: the stream alone
// looks like a good one.
func (f *follower) refused(o backstop.Outcome) backstop.Outcome {
	if o.Class != backstop.OK || f.a.whole == nil {
		return o
	}
	reply := f.a.reply
	reply.Surface, reply.Body = wire.SurfaceBody, f.a.whole
	if v := f.a.room.JudgeBody(f.r.seen(f.a), &reply); v.Class == backstop.Refused {
		return f.judged(v)
	}
	return o
}

// refusing reports whether the stream is held back because it is a refusal so
// far and the route has refusals go on to the next tier.
func (f *follower) refusing() bool {
	if f.committed || f.r.route == nil || !f.r.route.RefusalNext {
		return false
	}
	s, ok := f.a.stream.(wire.Refuser)
	return ok && s.Refusing()
}

// refusal is the verdict on a whole stream that is one.
func (f *follower) refusal() backstop.Outcome {
	reply := f.a.reply
	reply.Surface, reply.Body = wire.SurfaceFirst, nil
	return f.judged(wire.JudgeRefusal(&reply))
}
