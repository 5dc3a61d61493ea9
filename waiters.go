package backstop

import (
	"sync"
	"time"
)

// waiters are the calls that wait for a first token on a scope, in order of
// arrival so that waking them is deterministic.
type waiters struct {
	mu   sync.Mutex
	list []*attempt
}

func (w *waiters) add(a *attempt) {
	w.mu.Lock()
	a.slot = len(w.list)
	w.list = append(w.list, a)
	w.mu.Unlock()
}

// remove is idempotent.
func (w *waiters) remove(a *attempt) {
	w.mu.Lock()
	if i := a.slot; i >= 0 && i < len(w.list) && w.list[i] == a {
		last := len(w.list) - 1
		w.list[i] = w.list[last]
		w.list[i].slot = i
		w.list[last] = nil
		w.list = w.list[:last]
		a.slot = -1
	}
	w.mu.Unlock()
}

func (w *waiters) wake() {
	w.mu.Lock()
	fns := make([]func(), 0, len(w.list))
	for _, a := range w.list {
		if a.wake != nil {
			fns = append(fns, a.wake)
		}
	}
	w.mu.Unlock()
	for _, f := range fns {
		f()
	}
}

// oldest returns how many calls wait, and since when the first of them does.
func (w *waiters) oldest() (n int, since time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, a := range w.list {
		if since.IsZero() || a.began.Before(since) {
			since = a.began
		}
	}
	return len(w.list), since
}
