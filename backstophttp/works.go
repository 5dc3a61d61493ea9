package backstophttp

import "sync"

// works counts what runs. Other than a WaitGroup it may be added to while
// somebody waits for its end: a call that took this driver just before a reload
// begins when the driver is being closed already. The zero value is ready.
type works struct {
	mu   sync.Mutex
	n    int
	idle chan struct{} // closed when nothing runs any more; nil = nobody waits
}

func (w *works) add() {
	w.mu.Lock()
	w.n++
	w.mu.Unlock()
}

func (w *works) done() {
	w.mu.Lock()
	if w.n--; w.n == 0 && w.idle != nil {
		close(w.idle)
		w.idle = nil
	}
	w.mu.Unlock()
}

// run runs f on a goroutine of its own.
func (w *works) run(f func()) {
	w.add()
	go func() {
		defer w.done()
		f()
	}()
}

// over is closed once nothing runs.
func (w *works) over() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.idle == nil {
		idle := make(chan struct{})
		if w.n == 0 {
			close(idle)
			return idle
		}
		w.idle = idle
	}
	return w.idle
}
