package observe

import (
	"strings"
	"time"

	"backstop"
)

const (
	tallySlots = 30 // of ten seconds each: five minutes
	slotTime   = 10 * time.Second
	classes    = int(backstop.Canceled) + 1
)

// tally counts the attempts at one upstream by class.
type tally struct {
	since [classes]uint64 // since the start
	slots [tallySlots]struct {
		at int64 // number of the ten seconds
		n  [classes]uint32
	}
	last Trouble
}

// Trouble is the latest attempt at an upstream that failed through its fault.
type Trouble struct {
	Time    time.Time
	Call    string // request id
	Model   string
	Outcome string // class or class/kind
	Status  int    // 0 = no answer
}

// Tally is how the attempts at one upstream ended, by class word.
type Tally struct {
	Lately map[string]uint64 // in the last five minutes
	Since  map[string]uint64 // since the start
	Last   Trouble           // zero = none
}

// blamed are the classes that are the upstream's doing.
func blamed(c backstop.Class) bool {
	switch c {
	case backstop.Hang, backstop.Limited, backstop.Broken, backstop.Garbled:
		return true
	}
	return false
}

func (t *Traffic) tally(e *backstop.Event, a *backstop.AttemptRecord, now time.Time) {
	y := t.tallies[a.Upstream]
	if y == nil {
		if len(t.tallies) >= mostTallies {
			return
		}
		if t.tallies == nil {
			t.tallies = map[string]*tally{}
		}
		y = &tally{}
		t.tallies[strings.Clone(a.Upstream)] = y
	}
	class := min(int(a.Outcome.Class), classes-1)
	y.since[class]++
	at := now.Unix() / int64(slotTime/time.Second)
	slot := &y.slots[at%tallySlots]
	if slot.at != at {
		slot.at, slot.n = at, [classes]uint32{}
	}
	slot.n[class]++
	if blamed(a.Outcome.Class) {
		y.last = Trouble{Time: now, Call: own(e.ID), Model: own(a.Model), Outcome: a.Outcome.Reason(), Status: a.Outcome.Status}
	}
}

// Tally returns how the attempts at an upstream ended.
func (t *Traffic) Tally(upstream string, now time.Time) Tally {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := Tally{Lately: map[string]uint64{}, Since: map[string]uint64{}}
	y := t.tallies[upstream]
	if y == nil {
		return out
	}
	out.Last = y.last
	newest := now.Unix() / int64(slotTime/time.Second)
	for c := 1; c < classes; c++ {
		word := backstop.Class(c).String()
		if y.since[c] > 0 {
			out.Since[word] = y.since[c]
		}
		for i := range y.slots {
			if s := &y.slots[i]; s.n[c] > 0 && s.at > newest-tallySlots && s.at <= newest {
				out.Lately[word] += uint64(s.n[c])
			}
		}
	}
	return out
}
