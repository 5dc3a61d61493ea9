package observe

import (
	"encoding/binary"
	"time"

	"backstop"
)

// packing writes the record of a call as bytes, or reads it back: one list of
// fields serves both ways. Ten thousand records without a pointer in them are
// nothing that the garbage collector has to look through.
type packing struct {
	b       []byte
	reading bool
}

// pack returns what the ring remembers of a call. Texts of callers are cut, and
// nothing of a body or an upstream's words is taken over.
func (p *packing) pack(e *backstop.Event) []byte {
	p.b = p.b[:0]
	p.event(e)
	return append(make([]byte, 0, len(p.b)), p.b...)
}

func unpack(b []byte) *backstop.Event {
	p, e := packing{b: b, reading: true}, &backstop.Event{}
	p.event(e)
	return e
}

// packedID is the id of a packed call, which comes first.
func packedID(b []byte) (id string) {
	word(&packing{b: b, reading: true}, &id)
	return id
}

func (p *packing) event(e *backstop.Event) {
	text(p, &e.ID)
	p.time(&e.Time)
	word(p, &e.Route)
	text(p, &e.Asked)
	text(p, &e.Caller)
	word(p, &e.Dialect)
	word(p, &e.Op)
	p.flags(&e.Stream, &e.JSON, &e.Committed, &e.Truncated)
	word(p, &e.Tier)
	number(p, &e.TierIndex)
	word(p, &e.Upstream)
	text(p, &e.Model)
	word(p, &e.Reason)
	number(p, &e.Outcome)
	p.failure(&e.Failure)
	word(p, &e.Rescued)
	for i := range list(p, &e.Repaired, len(e.Repaired)) {
		word(p, &e.Repaired[i])
	}
	for i := range list(p, &e.Dropped, mostDropped) {
		text(p, &e.Dropped[i])
	}
	number(p, &e.Stale)
	for i := range list(p, &e.Attempts, len(e.Attempts)) {
		p.attempt(&e.Attempts[i])
	}
	for i := range list(p, &e.Skipped, len(e.Skipped)) {
		p.skip(&e.Skipped[i])
	}
	number(p, &e.FirstToken)
	number(p, &e.Duration)
	number(p, &e.Upstreamed)
	number(p, &e.Blocked)
	number(p, &e.Status)
	number(p, &e.InputTokens)
	number(p, &e.OutputTokens)
	p.trace(&e.Trace)
}

// trace is one byte for a call that is not traced.
func (p *packing) trace(t *backstop.Trace) {
	there := t.ID != ""
	p.flags(&there, &t.Sampled)
	if there {
		word(p, &t.ID)
		word(p, &t.Span)
		word(p, &t.Parent)
	}
}

// failure leaves a message out that is not our own words only.
func (p *packing) failure(f **backstop.Failure) {
	there, own := *f != nil, false
	if there && !p.reading {
		own = ours(*f)
	}
	p.flags(&there, &own)
	if !there {
		return
	}
	if p.reading {
		*f = &backstop.Failure{}
	}
	word(p, &(*f).Code)
	number(p, &(*f).Status)
	if own {
		word(p, &(*f).Message)
	}
	text(p, &(*f).Param)
	number(p, &(*f).RetryAfter)
	p.flags(&(*f).Retryable)
}

func (p *packing) attempt(a *backstop.AttemptRecord) {
	number(p, &a.ID)
	number(p, &a.Tier)
	word(p, &a.Upstream)
	text(p, &a.Model)
	number(p, &a.Key)
	number(p, &a.Start)
	number(p, &a.FirstByte)
	number(p, &a.FirstToken)
	number(p, &a.Duration)
	number(p, &a.Waited)
	number(p, &a.Gap)
	number(p, &a.Replays)
	p.flags(&a.Probe, &a.Retry, &a.Switched, &a.Hedge)
	p.outcome(&a.Outcome)
}

func (p *packing) outcome(o *backstop.Outcome) {
	number(p, &o.Class)
	word(p, &o.Kind)
	number(p, &o.Status)
	number(p, &o.Counts)
	number(p, &o.Park)
	number(p, &o.Hint)
	p.flags(&o.HasHint, &o.RetrySame, &o.NextTier, &o.NoStream, &o.Spare, &o.NoRescue, &o.OnlyStream, &o.NotSent, &o.Passthrough, &o.Absent, &o.OwnSchema)
	text(p, &o.Param)
	number(p, &o.Malformed)
	number(p, &o.Replayed)
	number(p, &o.InputTokens)
	number(p, &o.OutputTokens)
}

func (p *packing) skip(s *backstop.Skip) {
	number(p, &s.Tier)
	word(p, &s.Upstream)
	word(p, &s.Why)
	word(p, &s.Kind)
	number(p, &s.Status)
	number(p, &s.Until)
	number(p, &s.At)
}

// number keeps any whole number.
func number[T ~int | ~int32 | ~int64 | ~uint8 | ~uint32](p *packing, v *T) {
	if !p.reading {
		p.b = binary.AppendVarint(p.b, int64(*v))
		return
	}
	n, size := binary.Varint(p.b)
	*v, p.b = T(n), p.b[size:]
}

// flags keeps up to 32 of them as one number.
func (p *packing) flags(all ...*bool) {
	var bits uint32
	for i, f := range all {
		if *f && !p.reading {
			bits |= 1 << i
		}
	}
	number(p, &bits)
	for i, f := range all {
		if p.reading {
			*f = bits>>i&1 != 0
		}
	}
}

// word keeps a config name or a fixed word.
func word[T ~string](p *packing, v *T) {
	n := len(*v)
	if number(p, &n); !p.reading {
		p.b = append(p.b, *v...)
		return
	}
	*v, p.b = T(p.b[:n]), p.b[n:]
}

// text keeps what a caller chose, cut.
func text[T ~string](p *packing, v *T) {
	if !p.reading {
		cut := T(clip(string(*v)))
		v = &cut
	}
	word(p, v)
}

// list keeps the length of a list, at most so many, and returns as many of its
// elements to be kept.
func list[T any](p *packing, v *[]T, most int) []T {
	n := min(len(*v), most)
	number(p, &n)
	if p.reading && n > 0 {
		*v = make([]T, n)
	}
	return (*v)[:n]
}

func (p *packing) time(t *time.Time) {
	sec, nano := t.Unix(), t.Nanosecond()
	number(p, &sec)
	if number(p, &nano); p.reading {
		*t = time.Unix(sec, int64(nano))
	}
}
