package sim

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"backstop"
)

// The dice of a run, by what they decide.
const (
	diceArrivals uint64 = iota + 1
	diceAsk
	diceAttempt
	diceRetry
	diceProbe
)

// world is a run: the queue of events and everything that they happen to.
type world struct {
	s     *Scenario
	plan  *backstop.Plan
	epoch time.Time
	now   int64 // ns since the epoch
	end   int64 // of the arrivals
	q     queue
	stock stock

	sites    map[string]*site
	ordered  []*site
	replicas []*replica
	troubles []*trouble

	arrivals dice
	calls    uint64
	weights  []float64 // of the models, added up
	routes   []*backstop.Route
	names    []string // of callers

	pauses *pauses // nil = the process never stands still

	tape    *tape // nil = the scenario decides
	tally   *tally
	checker *checker
	err     error
}

// Run plays a scenario against a plan. The plan is not changed. An error means
// that the scenario cannot be played, and names what to mend.
//
// Run may be called from any number of goroutines at once. It takes about 3 us
// of one processor for each call.
func Run(plan *backstop.Plan, s Scenario) (*Report, error) {
	w, err := newWorld(plan, s)
	if err != nil {
		return nil, err
	}
	return w.play()
}

// Verify is Run with every step of the engine checked against its invariants.
// An error that is a [*Breach] is a defect of the engine, not of the scenario.
func Verify(plan *backstop.Plan, s Scenario) (*Report, error) {
	w, err := newWorld(plan, s)
	if err != nil {
		return nil, err
	}
	w.checker = newChecker()
	r, err := w.play()
	if err != nil {
		return nil, err
	}
	return r, w.checker.verdict(w)
}

func newWorld(plan *backstop.Plan, s Scenario) (*world, error) {
	s.Upstreams, s.Faults = slices.Clone(s.Upstreams), slices.Clone(s.Faults)
	s.Arrivals.Models = slices.Clone(s.Arrivals.Models)
	if err := s.check(plan); err != nil {
		return nil, err
	}
	w := &world{s: &s, plan: plan, epoch: time.Unix(0, 0).UTC(), end: int64(s.Duration), sites: map[string]*site{}}
	w.arrivals = roll(s.Seed, diceArrivals)
	if err := w.build(); err != nil {
		return nil, err
	}
	if s.Recorded != nil {
		w.tape = newTape(s.Recorded)
	}
	w.tally = newTally(w)
	w.people()
	for i := range s.Replicas {
		w.replicas = append(w.replicas, w.newReplica(i))
	}
	w.planFaults()
	return w, nil
}

// build makes the sites and the faults that strike them.
func (w *world) build() error {
	for i := range w.plan.Upstreams {
		up := &w.plan.Upstreams[i]
		m := Usual(up.Name)
		for _, d := range w.s.Upstreams {
			if d.Name == up.Name {
				m = d
			}
		}
		site, err := newSite(up, i, m)
		if err != nil {
			return fmt.Errorf("upstreams: %s: over: %w", up.Name, err)
		}
		w.sites[up.Name] = site
		w.ordered = append(w.ordered, site)
	}
	for _, f := range w.s.Faults {
		site := w.sites[f.Upstream]
		p, err := compile(f.Word, site.judge(), 0)
		if err != nil {
			return fmt.Errorf("faults: %w", err)
		}
		t := &trouble{site: site, nth: len(w.troubles), from: int64(f.From), to: int64(f.To), model: f.Model, key: f.Key, power: p}
		site.troubles = append(site.troubles, t)
		w.troubles = append(w.troubles, t)
	}
	return nil
}

// planFaults queues the beginnings and ends of the faults, those at the same
// instant in the order of the file.
func (w *world) planFaults() {
	var plan []event
	for i, t := range w.troubles {
		plan = append(plan, event{at: t.from, kind: onFault, n: int32(i)}, event{at: t.to, kind: onFault, n: int32(i)})
	}
	slices.SortStableFunc(plan, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	for _, e := range plan {
		w.q.push(e)
	}
}

// people prepares who calls and for what.
func (w *world) people() {
	a := &w.s.Arrivals
	sum := 0.0
	for _, m := range a.Models {
		sum += m.Weight
		w.weights = append(w.weights, sum)
		w.routes = append(w.routes, w.plan.Route(m.Name))
	}
	for i := range a.Callers {
		w.names = append(w.names, "caller-"+strconv.Itoa(i+1))
	}
}

func (w *world) newReplica(i int) *replica {
	r := &replica{index: i}
	plan := *w.plan
	if plan.Seed == 0 {
		plan.Seed = w.s.Seed
	}
	plan.Seed = stir(plan.Seed + uint64(i)*golden)
	r.engine = backstop.NewEngine(&plan, backstop.EngineOptions{Now: w.epoch, Notify: func(t backstop.Transition) {
		w.poke(r, w.now)
		w.tally.transition(w, t)
		if w.checker != nil {
			w.checker.transition(w, r, &t)
		}
	}})
	return r
}

// time is now as the engine wants it.
func (w *world) time() time.Time { return w.epoch.Add(time.Duration(w.now)) }

func (w *world) fail(form string, args ...any) {
	if w.err == nil {
		w.err = &Breach{At: time.Duration(w.now), Rule: "driver", What: fmt.Sprintf(form, args...)}
	}
}

// play runs until nothing is left to happen. After the last arrival only the
// calls under way are finished: probes of an upstream that stays broken would
// go on for ever.
func (w *world) play() (*Report, error) {
	w.schedule(0)
	for w.err == nil {
		e, ok := w.q.next()
		if !ok || w.complete(e.at) {
			break
		}
		if w.pauses != nil {
			w.standStill(e.at)
		}
		w.now = max(w.now, e.at)
		w.happen(&e)
	}
	if w.err != nil {
		return nil, w.err
	}
	return w.tally.report(w)
}

// complete reports whether the run is complete: no call is under way or to come.
func (w *world) complete(at int64) bool {
	return at >= w.end && w.tally.open == 0
}

func (w *world) happen(e *event) {
	switch e.kind {
	case onArrival:
		w.arrive(w.ask())
		w.schedule(w.now)
	case onHead, onToken, onBeat, onEnd:
		w.mark(e)
	case onTimer, onWake, onPatience:
		w.due(e)
	case onAgain:
		w.comeBack(e.run)
	case onFault:
		w.toggle(w.troubles[e.n])
	case onProber:
		if r := w.replicas[e.n]; r.look == e.at {
			w.prober(r)
		}
	case onProbe:
		w.probeLimit(e.play, int(e.n))
	}
}

// due is what was planned for a run, unless it is another call's by now.
func (w *world) due(e *event) {
	r := e.run
	if e.n != r.ver {
		return
	}
	switch e.kind {
	case onTimer:
		if r.timer == e.at {
			r.timer = 0
			w.step(r)
		}
	case onWake:
		r.woken = false
		w.step(r)
	case onPatience:
		w.patience(r)
	}
}

func (w *world) mark(e *event) {
	p := e.play
	if e.n != p.ver {
		return
	}
	switch e.kind {
	case onHead:
		w.head(p)
	case onToken:
		w.token(p)
	case onBeat:
		w.beat(p)
	case onEnd:
		w.finish(p)
	}
}

// errEmpty is a run in which nobody called.
var errEmpty = errors.New("no call arrived: make the duration longer or the rate higher")
