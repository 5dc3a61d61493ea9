package sim

import (
	"slices"
	"time"

	"backstop"
)

// pauses make the process of a run stand still now and then: nothing happens
// for a while, and then everything that was due. The drivers of live traffic
// notice that by their clocks and tell the engine, as this one does.
type pauses struct {
	from, long []int64 // when, and for how long
	running    map[*run]struct{}
}

// standStill lets the time jump if the event at an instant comes after the
// beginning of a pause.
func (w *world) standStill(at int64) {
	s := w.pauses
	if len(s.from) == 0 || at < s.from[0] {
		return
	}
	w.now = s.from[0] + s.long[0]
	s.from, s.long = s.from[1:], s.long[1:]
	runs := make([]*run, 0, len(s.running))
	for r := range s.running {
		runs = append(runs, r)
	}
	slices.SortFunc(runs, func(a, b *run) int { return int(a.ask.index) - int(b.ask.index) })
	for _, r := range runs {
		r.call.Observe(w.time(), 0, backstop.Mark{Kind: backstop.Paused})
	}
	for _, r := range w.replicas {
		r.engine.Paused(w.time())
	}
}

// pauseTimes plans n pauses, evenly spread over a run.
func (w *world) pauseTimes(n int, long time.Duration) {
	w.pauses = &pauses{running: map[*run]struct{}{}}
	for i := range n {
		w.pauses.from = append(w.pauses.from, w.end/int64(n+1)*int64(i+1))
		w.pauses.long = append(w.pauses.long, int64(long))
	}
}
