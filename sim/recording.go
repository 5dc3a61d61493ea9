package sim

import (
	"cmp"
	"slices"
	"time"

	"backstop"
)

// Recording is what a log says about real calls: see [Scenario.Recorded].
type Recording struct {
	Tries []Try
}

// Try is one attempt of a recorded call.
type Try struct {
	Upstream   string
	Call       int           // index of its call among the arrivals
	At         time.Duration // since the start of the recording
	FirstToken time.Duration // since At, 0 = none came
	Duration   time.Duration
	Outcome    backstop.Outcome
}

// tape is a recording made ready: the tries of each upstream in order.
type tape struct {
	by map[string][]Try
}

func newTape(r *Recording) *tape {
	t := &tape{by: map[string][]Try{}}
	for _, x := range r.Tries {
		t.by[x.Upstream] = append(t.by[x.Upstream], x)
	}
	for _, list := range t.by {
		slices.SortStableFunc(list, func(a, b Try) int { return cmp.Compare(a.At, b.At) })
	}
	return t
}

// fate is what would have become of an attempt: what became of the one that the
// same call made then, else of the nearest in time.
func (t *tape) fate(p *play, now int64) fate {
	list := t.by[p.site.up.Name]
	if len(list) == 0 {
		d := p.dice
		return p.site.healthy(p, &d)
	}
	i, _ := slices.BinarySearchFunc(list, time.Duration(now), func(x Try, at time.Duration) int { return cmp.Compare(x.At, at) })
	best := min(i, len(list)-1)
	if best > 0 && (i == len(list) || time.Duration(now)-list[best-1].At < list[best].At-time.Duration(now)) {
		best--
	}
	if p.run != nil {
		for j := max(i-replaySpan, 0); j < min(i+replaySpan, len(list)); j++ {
			if list[j].Call == int(p.run.ask.index) {
				best = j
				break
			}
		}
	}
	return list[best].fate(p)
}

// replaySpan is how far around an instant the call's own attempt is looked for.
const replaySpan = 64

func (x *Try) fate(p *play) fate {
	o := x.Outcome
	f := fate{dialed: true, head: -1, token: -1, end: -1, beat: p.site.beat, bytes: 1 << 16}
	switch {
	case o.Class == backstop.Hang && o.Kind != backstop.KindIdle && o.Kind != backstop.KindTotal && o.Kind != backstop.KindDrip,
		o.Class == backstop.Canceled && x.FirstToken == 0:
		// We gave up on it: nobody knows when a token would have come.
		f.dialed = o.Kind != backstop.KindConnect
		return f
	case o.Class == backstop.Hang:
		f.token = int64(x.FirstToken)
		f.beat = 0
		return f
	}
	if x.FirstToken > 0 {
		f.token = int64(x.FirstToken)
	}
	f.end = max(int64(x.Duration), f.token+1, 1)
	if o.Class != backstop.OK && o.Class != backstop.Canceled {
		f.outcome = &o
	}
	if p.probe != nil {
		f.end = min(f.end, max(f.token+int64(200*time.Millisecond), 1)) // a probe asks for little
		if f.token < 0 {
			f.end = max(int64(x.Duration), 1)
		}
	}
	return f
}
