package backstophttp

import (
	"time"

	"backstop"
)

// Abort ends all calls that run, and those that still come: what is not
// answered gets the error "draining", a stream that has begun its error frame.
// It does not wait for them; [Driver.Close] does. A second Abort does nothing.
func (d *Driver) Abort() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.isAborted() {
		return
	}
	close(d.aborted)
	for r := range d.running {
		d.works.run(r.abort) // waits for a write to a slow reader
	}
}

func (d *Driver) isAborted() bool {
	select {
	case <-d.aborted:
		return true
	default:
		return false
	}
}

// enter and leave keep the list of the calls that run.
func (d *Driver) enter(r *run) {
	d.mu.Lock()
	d.running[r] = struct{}{}
	aborted := d.isAborted()
	d.mu.Unlock()
	if aborted {
		r.abort()
	}
}

func (d *Driver) leave(r *run) {
	d.mu.Lock()
	delete(d.running, r)
	d.mu.Unlock()
}

func (r *run) abort() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return
	}
	r.aborted = true
	r.call.Observe(time.Now(), 0, backstop.Mark{Kind: backstop.Aborted})
	for _, a := range r.running() {
		if a != nil && a.cancel != nil {
			a.dropped = true
			a.cancel()
		}
	}
}
