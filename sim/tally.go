package sim

import (
	"slices"
	"time"

	"backstop"
)

// phase is a part of a run, from the point of view of a call.
type phase int

const (
	before phase = iota
	detecting
	open
	recovered
	phases
)

// episode is one outage: faults that overlap or follow each other at once.
type episode struct {
	site           *site // that failed first
	start, end     int64
	detect, backAt int64 // first refusal, first call of the traffic that is back; 0 = not yet
	ended          bool
	late           []landing // calls since the end, until the traffic is back
	gone           int       // of them, the first ones, which are counted and not kept any more
	done           int       // of them, from the first, that are finished
	good           int       // among the last returnSpan finished ones
}

// landing is where a call after an outage got its answer.
type landing struct {
	at, took int64
	done     bool
	answered bool
	home     bool // at its first tier
}

// The traffic is back when so many of so many calls in a row are answered by
// their first tier.
const (
	returnSpan = 40
	returnGood = 38
)

// tally is what is counted of a run.
type tally struct {
	open  int // calls that came and are not finished
	calls int

	answered, degraded int
	tiers              [3]int // primary, backup, local
	waited             int    // calls of an outage that waited 4 s or more
	long               int    // calls that did so at any time
	spread             [phases]histogram

	noise    bool // no fault of the scenario is severe: all of them make outages
	at       int  // faults at work that begin an outage, or keep one going
	episodes []episode

	moves []backstop.Transition
	flips int
	false int
	life  timeline
}

const longWait = int64(4 * time.Second)

func newTally(w *world) *tally {
	t := &tally{noise: true}
	for _, f := range w.troubles {
		t.noise = t.noise && !f.severe()
	}
	t.life = newTimeline(w.end)
	return t
}

// lasting is the share of spoiled attempts with which the traffic cannot be
// back yet, see returnGood.
const lasting = 1 - float64(returnGood)/returnSpan

// troubled begins an outage with a severe fault. Once begun, it lasts until
// the faults that are at work leave nearly all attempts alone.
func (t *tally) troubled(w *world, f *trouble) {
	if !t.noise && f.weight <= lasting {
		return
	}
	t.at++
	e := t.current()
	running := e != nil && !e.ended
	if running || !t.noise && !f.severe() && (e == nil || e.end != w.now) {
		return
	}
	if e != nil && e.end == w.now { // one fault after another
		t.settle(e, len(e.late))
		e.ended, e.late, e.gone, e.done, e.good = false, nil, 0, 0, 0
		return
	}
	t.close()
	t.episodes = append(t.episodes, episode{site: f.site, start: w.now})
}

func (t *tally) calmed(w *world, f *trouble) {
	if !t.noise && f.weight <= lasting {
		return
	}
	t.at--
	if e := t.current(); t.at == 0 && e != nil && !e.ended {
		e.end, e.ended = w.now, true
	}
}

// current is the episode that is or was last, nil = none yet.
func (t *tally) current() *episode {
	if len(t.episodes) == 0 {
		return nil
	}
	return &t.episodes[len(t.episodes)-1]
}

// came notes a new caller.
func (t *tally) came(w *world, k *ask) {
	t.open++
	t.calls++
	if e := t.current(); e != nil && e.ended && e.backAt == 0 {
		k.after = e.gone + len(e.late)
		e.late = append(e.late, landing{at: k.at})
	}
}

// refused looks for the first refusal of an outage, when a call goes on at a
// tier below the one that failed.
func (t *tally) refused(w *world, r *run, tier int) {
	e := t.current()
	if e == nil || e.ended || e.detect != 0 || tier == 0 {
		return
	}
	for _, s := range r.call.Event(w.time()).Skipped {
		if s.Upstream == e.site.up.Name && (s.Why == "open" || s.Why == "parked") {
			e.detect = w.now
			return
		}
	}
}

// finish counts a call that is over for good.
func (t *tally) finish(w *world, r *run, s *backstop.Step) {
	t.open--
	k := &r.ask
	l := landing{at: k.at, done: true, answered: s.Failure == nil, home: s.Failure == nil && s.Tier == 0}
	l.took = w.now - k.at
	tier := -1
	if l.answered {
		t.answered++
		switch {
		case k.route.Tiers[s.Tier].Local != nil:
			tier = 2
			t.degraded++
		case s.Tier > 0:
			tier = 1
		default:
			tier = 0
		}
		t.tiers[tier]++
		if tier != 2 && r.first > 0 {
			l.took = r.first - k.at
		}
	}
	if l.took >= longWait {
		t.long++
	}
	t.life.add(k.at, tier, l.took)
	t.place(k, l)
}

// place finds the phase of a call.
func (t *tally) place(k *ask, l landing) {
	n := len(t.episodes) - 1
	for n > 0 && t.episodes[n].start > l.at {
		n--
	}
	if n < 0 {
		t.sample(before, l)
		return
	}
	e := &t.episodes[n]
	switch {
	case e.start > l.at && l.at+l.took <= e.start:
		t.sample(before, l)
	case n+1 < len(t.episodes) && t.episodes[n+1].start < l.at+l.took:
		t.affected(detecting, l, t.episodes[n+1].start)
	case e.ended && l.at >= e.end:
		t.landed(e, k, l)
	case e.detect == 0 || l.at < e.detect:
		t.affected(detecting, l, e.start)
	default:
		t.affected(open, l, e.start)
	}
}

// affected samples a call of an outage that began at start. What it had waited
// before that is not the outage's doing.
func (t *tally) affected(p phase, l landing, start int64) {
	if l.at+l.took-max(l.at, start) >= longWait {
		t.waited++
	}
	t.sample(p, l)
}

func (t *tally) sample(p phase, l landing) {
	if l.answered {
		t.spread[p].add(l.took)
	}
}

// landed takes in a call that came after the end of an outage, and finds out
// when the traffic is back.
func (t *tally) landed(e *episode, k *ask, l landing) {
	i := k.after - e.gone
	if k.after < 0 || e.late == nil || i < 0 || i >= len(e.late) || e.backAt != 0 {
		t.sample(recovered, l)
		return
	}
	e.late[i] = l
	for e.done < len(e.late) && e.late[e.done].done {
		if e.late[e.done].home {
			e.good++
		}
		if first := e.done - returnSpan; first >= 0 && e.late[first].home {
			e.good--
		}
		e.done++
		if e.done >= returnSpan && e.good >= returnGood {
			first := e.done - returnSpan
			e.backAt = e.late[first].at
			t.settle(e, first)
			return
		}
	}
	if e.done > mostLate {
		t.thin(e)
	}
}

// mostLate calls are kept until the traffic is back: for some plans it never is.
const mostLate = 1 << 12

// thin counts the calls from which no return can begin any more.
func (t *tally) thin(e *episode) {
	n := e.done - returnSpan
	rest := slices.Clone(e.late[n:])
	e.late = e.late[:n]
	t.settle(e, n)
	e.late, e.gone, e.done = rest, e.gone+n, returnSpan
}

// settle counts the calls that were kept until the traffic was back; the first
// ones still belong to the outage.
func (t *tally) settle(e *episode, first int) {
	for i, l := range e.late {
		switch {
		case !l.done: // it will find its phase when it is finished
		case i >= first:
			t.sample(recovered, l)
		case e.detect == 0:
			t.sample(detecting, l)
		default:
			t.sample(open, l)
		}
	}
	e.late = nil
}

// close ends the wait for the traffic to be back.
func (t *tally) close() {
	if e := t.current(); e != nil && e.ended && e.backAt == 0 {
		t.settle(e, len(e.late))
	}
}

// transition notes a change of a breaker.
func (t *tally) transition(w *world, tr backstop.Transition) {
	t.moves = append(t.moves, tr)
	opens := tr.To == "open" && tr.From == "closed"
	if opens || tr.To == "closed" {
		t.flips++
	}
	s := w.sites[tr.Upstream]
	if opens && !s.justified(w.now) {
		t.false++
	}
}
