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
	calls [][]byte // a ring of packed events
	next  int
	spare packing

	transitions []backstop.Transition // a ring as well
	count       uint64                // of all transitions ever
	changes     chan struct{}         // closed at the next one
}

func newRecent(size int) *Recent {
	return &Recent{calls: make([][]byte, size), transitions: make([]backstop.Transition, keptTransitions), changes: make(chan struct{})}
}

func (r *Recent) add(e *backstop.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls[r.next] = r.spare.pack(e)
	r.next = (r.next + 1) % len(r.calls)
}

// newest are the packed calls, newest first.
func (r *Recent) newest() [][]byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([][]byte, 0, len(r.calls))
	for i := 1; i <= len(r.calls); i++ {
		b := r.calls[(r.next-i+len(r.calls))%len(r.calls)]
		if b == nil {
			break
		}
		all = append(all, b)
	}
	return all
}

// Calls returns the latest calls that keep wants, newest first.
func (r *Recent) Calls(limit int, keep func(*backstop.Event) bool) []*backstop.Event {
	var out []*backstop.Event
	for _, b := range r.newest() {
		if len(out) >= limit {
			break
		}
		if e := unpack(b); keep(e) {
			out = append(out, e)
		}
	}
	return out
}

// Call returns the latest call with a request id, nil if it is forgotten.
func (r *Recent) Call(id string) *backstop.Event {
	for _, b := range r.newest() {
		if packedID(b) == id {
			return unpack(b)
		}
	}
	return nil
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
