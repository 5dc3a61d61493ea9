package load

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Report is what came of a run. Its samples are in the order in which the
// calls were due.
type Report struct {
	Start   time.Time
	Elapsed time.Duration // start to the last answer
	Cut     bool          // the context ended the run early
	Samples
}

// runner is one run while it lasts.
type runner struct {
	opts  Options
	send  http.RoundTripper
	start time.Time

	buffers sync.Pool // of *[]byte, to drain bodies
	readers sync.Pool // of *bufio.Reader, to follow streams

	calls   sync.WaitGroup
	mu      sync.Mutex
	samples Samples
}

// Run sends the load and returns when every call has ended. When ctx ends,
// nothing more is sent and calls that run are canceled. The error is about
// the options; failing calls are samples.
func Run(ctx context.Context, o Options) (*Report, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	tr, closeIdle := o.transport()
	defer closeIdle()
	r := &runner{opts: o, send: tr, start: time.Now()}
	r.samples = make(Samples, 0, max(o.Count, int(min(o.Rate*o.Duration.Seconds(), 1<<20))))
	cut := r.sendAll(ctx)
	r.calls.Wait()
	slices.SortFunc(r.samples, func(a, b Sample) int { return cmp.Compare(a.Index, b.Index) })
	return &Report{Start: r.start, Elapsed: time.Since(r.start), Cut: cut, Samples: r.samples}, nil
}

// sendAll starts each call when it is due. A late generator starts what is
// overdue at once: those calls carry the lateness in their latency.
func (r *runner) sendAll(ctx context.Context) (cut bool) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	plan := newArrivals(&r.opts)
	for i := 0; r.opts.Count <= 0 || i < r.opts.Count; i++ {
		due := plan.next()
		if r.opts.Duration > 0 && due >= r.opts.Duration {
			return false
		}
		if wait := due - time.Since(r.start); wait > 0 {
			timer.Reset(wait)
			select {
			case <-timer.C:
			case <-ctx.Done():
				return true
			}
		} else if ctx.Err() != nil {
			return true
		}
		r.calls.Go(func() { r.call(ctx, i, due) })
	}
	return false
}

// call makes one call and records it.
func (r *runner) call(ctx context.Context, i int, due time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, r.opts.Timeout)
	defer cancel()
	s := Sample{Index: i, Due: due, Lag: time.Since(r.start) - due}
	r.exchange(ctx, &s)
	s.Latency = time.Since(r.start) - due
	r.mu.Lock()
	defer r.mu.Unlock()
	r.samples = append(r.samples, s)
	if r.opts.Each != nil {
		r.opts.Each(s)
	}
}
