package observe

import (
	"strings"
	"sync"

	"backstop"
)

const (
	defaultRing     = 10_000
	keptTransitions = 512
	mostDropped     = 8
)

// Recent remembers the last calls and transitions in bounded memory. Its
// records are its own and never change.
type Recent struct {
	mu    sync.Mutex
	calls []*backstop.Event // a ring
	next  int
	byID  map[string]*backstop.Event

	transitions []backstop.Transition // a ring as well
	count       uint64                // of all transitions ever
	changes     chan struct{}         // closed at the next one
}

func newRecent(size int) *Recent {
	return &Recent{
		calls: make([]*backstop.Event, size), byID: make(map[string]*backstop.Event, size),
		transitions: make([]backstop.Transition, keptTransitions), changes: make(chan struct{}),
	}
}

func (r *Recent) add(e *backstop.Event) {
	kept := keep(e)
	r.mu.Lock()
	defer r.mu.Unlock()
	if old := r.calls[r.next]; old != nil && r.byID[old.ID] == old {
		delete(r.byID, old.ID)
	}
	r.calls[r.next] = kept
	r.byID[kept.ID] = kept // callers may repeat ids: the latest counts
	r.next = (r.next + 1) % len(r.calls)
}

// Calls returns the latest calls that keep wants, newest first.
func (r *Recent) Calls(limit int, keep func(*backstop.Event) bool) []*backstop.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []*backstop.Event
	for i := 1; i <= len(r.calls) && len(out) < limit; i++ {
		e := r.calls[(r.next-i+len(r.calls))%len(r.calls)]
		if e == nil {
			break
		}
		if keep(e) {
			out = append(out, e)
		}
	}
	return out
}

// Call returns the latest call with a request id, nil if it is forgotten.
func (r *Recent) Call(id string) *backstop.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byID[id]
}

func (r *Recent) changed(t backstop.Transition) {
	t.Model = own(t.Model)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.transitions[r.count%keptTransitions] = t
	r.count++
	close(r.changes)
	r.changes = make(chan struct{})
}

// Transitions returns those after the first n, oldest first, as far as they
// are remembered; the number to ask with the next time; and a channel that is
// closed when there is another.
func (r *Recent) Transitions(n uint64) ([]backstop.Transition, uint64, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n > r.count {
		n = r.count
	}
	if r.count-n > keptTransitions {
		n = r.count - keptTransitions
	}
	out := make([]backstop.Transition, 0, r.count-n)
	for ; n < r.count; n++ {
		out = append(out, r.transitions[n%keptTransitions])
	}
	return out, r.count, r.changes
}

// keep copies what the ring remembers of a call. Strings are cut and cloned:
// a model name may be a piece of a body of many megabytes.
func keep(e *backstop.Event) *backstop.Event {
	c := *e
	c.ID, c.Asked, c.Model, c.Caller = own(e.ID), own(e.Asked), own(e.Model), own(e.Caller)
	if f := e.Failure; f != nil {
		c.Failure = &backstop.Failure{Code: f.Code, Status: f.Status, Param: own(f.Param), RetryAfter: f.RetryAfter, Retryable: f.Retryable}
		if ours(f) {
			c.Failure.Message = f.Message
		}
	}
	c.Dropped = nil
	for i := range e.Dropped[:min(len(e.Dropped), mostDropped)] {
		c.Dropped = append(c.Dropped, own(e.Dropped[i]))
	}
	c.Attempts = make([]backstop.AttemptRecord, len(e.Attempts))
	for i, a := range e.Attempts {
		a.Model, a.Outcome.Param = own(a.Model), own(a.Outcome.Param)
		a.Outcome.Body, a.Outcome.Message = nil, ""
		c.Attempts[i] = a
	}
	return &c
}

// ours reports whether a failure's message is our own words only. Those about
// a request may quote it, and an upstream's may quote the prompt.
func ours(f *backstop.Failure) bool {
	return f.Code != backstop.CodeInvalidRequest && f.Code != backstop.CodeUpstreamRejected && f.Code != backstop.CodeNotFound && len(f.Body) == 0
}

func own(s string) string {
	if s == "" {
		return ""
	}
	return strings.Clone(clip(s))
}
