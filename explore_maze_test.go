package backstop

import (
	"fmt"
	"hash/fnv"
	"strings"
	"time"
)

// maze is an engine with two calls, whose driver does what it must at once.
type maze struct {
	e      *Engine
	now    time.Time
	calls  [2]walker
	probes []trial
	due    time.Time // when the prober is to ask again
	moved  []Transition
	hedges int
	broke  string // the first invariant that did not hold
}

// trial is a background probe with the time at which its driver gives it up.
type trial struct {
	Probe
	until time.Time
}

// walker is a call and what its driver knows.
type walker struct {
	call    *Call
	shape   int
	live    Step // the running attempt, zero = none
	rival   Step // the one beside it
	token   bool
	commit  AttemptID // whose bytes the caller has
	tries   int
	until   time.Time
	waiting bool
	woken   bool
	owed    []AttemptID // a breaker opened under them: the call must be woken
	last    Step
	over    bool
}

func newMaze(p *Plan) *maze {
	m := &maze{now: epoch}
	m.e = NewEngine(p, EngineOptions{Now: epoch, Notify: m.hear})
	return m
}

func (m *maze) fail(format string, args ...any) {
	if m.broke == "" {
		m.broke = fmt.Sprintf(format, args...)
	}
}

// hear notes who must be woken by a breaker that opened.
func (m *maze) hear(t Transition) {
	m.moved = append(m.moved, t)
	if t.To != "open" && t.To != "forced-open" || t.Scope != "model" {
		return
	}
	for i := range m.calls {
		w := &m.calls[i]
		for _, s := range w.runs() {
			if !w.token && !s.Plain && s.Upstream.Name == t.Upstream && s.Model == t.Model {
				w.owed = append(w.owed, s.Attempt)
			}
		}
	}
}

// runs are the attempts under way.
func (w *walker) runs() (all []Step) {
	for _, s := range [...]Step{w.live, w.rival} {
		if s.Kind == Try {
			all = append(all, s)
		}
	}
	return all
}

// end forgets an attempt that is over: one beside it goes on in its place.
func (w *walker) end(id AttemptID) {
	w.owed = without(w.owed, id)
	switch id {
	case w.live.Attempt:
		w.live, w.rival = w.rival, Step{}
	case w.rival.Attempt:
		w.rival = Step{}
	}
}

// lane is the attempt that an act is about.
func (w *walker) lane(a act) Step {
	if a.rival {
		return w.rival
	}
	return w.live
}

func (m *maze) can(a act) bool {
	w := &m.calls[a.call]
	s := w.lane(a)
	switch a.kind {
	case actBegin:
		return w.call == nil || w.over
	case actDial:
		return s.Kind == Try && w.call.attempt(s.Attempt).dialed.IsZero()
	case actToken:
		return s.Kind == Try
	case actEnd: // a driver knows before the first byte that it cannot send, and no rescuer is done before the seam
		o := &ends[a.with].o
		return s.Kind == Try && !(o.NotSent && w.token) && !(o.Class == OK && s.Splice && !w.token)
	case actLeave:
		return w.call != nil && !w.over
	case actProbe:
		return len(m.probes) > 0
	case actNext:
		return !m.next().IsZero()
	}
	return true
}

func (m *maze) do(a act) {
	m.moved = m.moved[:0]
	w := &m.calls[a.call]
	switch a.kind {
	case actBegin:
		r := shapes[a.with].req
		r.Model, r.Caller, r.Streamable = "m", fmt.Sprint("caller ", a.call), true
		*w = walker{shape: a.with}
		r.Wake = func() { w.woken = true }
		w.call = m.e.Begin(m.now, r)
		m.drive(w)
	case actDial:
		w.call.Observe(m.now, w.lane(a).Attempt, Mark{Kind: Dialed})
		m.drive(w)
	case actToken:
		m.token(w, w.lane(a))
	case actEnd:
		id := w.lane(a).Attempt
		w.end(id)
		w.call.Observe(m.now, id, Mark{Kind: Ended, Outcome: ends[a.with].o})
		m.drive(w)
	case actLeave:
		w.call.Observe(m.now, 0, Mark{Kind: Left})
		if m.drive(w); !w.over {
			m.fail("J6: a call whose caller left goes on")
		}
	case actProbe:
		p := m.probes[0]
		m.probes = m.probes[1:]
		if a.with == 0 {
			m.e.ProbeToken(m.now, p.Probe)
		}
		m.e.Probed(m.now, p.Probe, probeEnds[a.with])
	case actBeat:
		m.pass(m.now.Add(150 * time.Millisecond))
	case actNext:
		m.pass(m.next())
	case actPause:
		m.now = m.now.Add(2 * time.Second)
		for i := range m.calls {
			if w := &m.calls[i]; w.call != nil && !w.over {
				w.call.Observe(m.now, 0, Mark{Kind: Paused})
			}
		}
		m.e.Paused(m.now)
		m.pass(m.now)
	case actForce:
		if err := m.e.Force(m.now, "primary", forces[a.with], 0); err != nil {
			m.fail("%s", err)
		}
	}
	m.settle()
}

func (m *maze) token(w *walker, s Step) {
	id := s.Attempt
	w.call.Observe(m.now, id, Mark{Kind: Dialed})
	w.call.Observe(m.now, id, Mark{Kind: Progress, Bytes: 4})
	w.token = true
	if shapes[w.shape].req.Stream {
		if s.Splice {
			w.call.Observe(m.now, id, Mark{Kind: Seam})
		} else if w.commit == 0 {
			w.call.Observe(m.now, id, Mark{Kind: Committed})
		}
		w.commit = id
	}
	m.drive(w)
}

// next is the earliest time that anybody waits for.
func (m *maze) next() (at time.Time) {
	at = m.due
	for i := range m.calls {
		if w := &m.calls[i]; w.waiting && !w.until.IsZero() && (at.IsZero() || w.until.Before(at)) {
			at = w.until
		}
	}
	for _, p := range m.probes {
		if at.IsZero() || p.until.Before(at) {
			at = p.until
		}
	}
	return at
}

// pass lets the time pass, with everything on the way.
func (m *maze) pass(to time.Time) {
	for n := 0; ; n++ {
		at := m.next()
		if at.IsZero() || at.After(to) {
			break
		}
		if n > 300 {
			m.fail("busy: 300 things to do between %s and %s", m.now.Sub(epoch), to.Sub(epoch))
			return
		}
		if at.After(m.now) {
			m.now = at
		}
		for i := range m.calls {
			if w := &m.calls[i]; w.waiting && !w.until.IsZero() && !m.now.Before(w.until) {
				m.drive(w)
			}
		}
		for len(m.probes) > 0 && !m.now.Before(m.probes[0].until) { // they end in the order in which they began
			p := m.probes[0]
			m.probes = m.probes[1:]
			m.e.Probed(m.now, p.Probe, Outcome{Class: Hang, Kind: KindTotal, Counts: CountsModel})
		}
		m.settle()
	}
	if to.After(m.now) {
		m.now = to
	}
}

// settle wakes who is to be woken and lets the prober look.
func (m *maze) settle() {
	for again, n := true, 0; again; n++ {
		if n > 20 {
			m.fail("busy: calls wake each other for ever")
			return
		}
		again = false
		for i := range m.calls {
			w := &m.calls[i]
			if len(w.owed) > 0 && !w.woken {
				m.fail("a wake was lost: a breaker opened and call %d sleeps on", i)
			}
			w.owed = nil
			if w.woken {
				w.woken, again = false, true
				m.drive(w)
			}
		}
		for {
			p, ok, next := m.e.Due(m.now)
			if !ok {
				if m.due = next; !next.IsZero() && !next.After(m.now) {
					m.fail("busy: the prober is told to come back at once")
				}
				break
			}
			for _, q := range m.probes {
				if q.gate == p.gate && m.now.Before(q.until) {
					m.fail("I1: two probes of %s/%s are out", p.Upstream.Name, p.Scope)
				}
			}
			m.probes = append(m.probes, trial{p, m.now.Add(p.Lease)})
		}
	}
}

// drive obeys the engine until the call waits or is over.
func (m *maze) drive(w *walker) {
	if w.call == nil || w.over {
		return
	}
	for n := 0; ; n++ {
		if n > 20 {
			m.fail("busy: 20 steps without a wait")
			return
		}
		w.waiting = false
		s := w.call.Next(m.now)
		switch s.Kind {
		case Try:
			m.try(w, s)
		case Drop:
			w.end(s.Attempt)
		case Serve:
			if len(w.runs()) > 0 {
				m.fail("the local tier and an attempt at once")
			}
			w.call.Observe(m.now, s.Attempt, Mark{Kind: Ended, Outcome: Outcome{Class: OK}})
		case Wait:
			m.wait(w, s)
			return
		case Done:
			m.done(w, s)
			return
		default:
			m.fail("no step: %+v", s)
			return
		}
	}
}

func (m *maze) try(w *walker, s Step) {
	m.hedged(w, s)
	if w.tries++; w.tries > MaxAttempts+w.unsent() {
		m.fail("I11: attempt %d", w.tries)
	}
	if w.commit != 0 && !s.Splice {
		m.fail("I12: an attempt after the commit that takes nothing over")
	}
	if !s.Splice && m.now.After(w.call.deadline) {
		m.fail("I12: an attempt after the deadline")
	}
	if w.call.left {
		m.fail("J6: an attempt for a caller who left")
	}
	st := m.e.byName[s.Upstream.Name]
	for _, g := range st.gates() {
		if g.m != nil && (g.m.name != s.Model || g.scope == "embed" || g.scope == "quality" && !w.call.req.JSON) {
			continue
		}
		if i := g.b.Info(m.now); !s.Probe && i.State.String() != "closed" {
			m.fail("J4: an attempt at %s although its %s is %s", s.Upstream.Name, g.scope, i.State)
		}
	}
	if s.Hedge {
		m.hedges++
		w.rival = s
		return
	}
	w.live, w.token = s, false
}

// hedged: a second attempt runs only as a hedge: before any token, elsewhere,
// once a call, and paid for.
func (m *maze) hedged(w *walker, s Step) {
	switch n := len(w.runs()); {
	case !s.Hedge && n > 0, n > 1:
		m.fail("%d attempts at once", n+1)
	case !s.Hedge:
		return
	case n == 0:
		m.fail("a hedge beside nothing")
	case w.token || w.commit != 0:
		m.fail("I12: a hedge although a token is here")
	case s.Upstream.Name == w.live.Upstream.Name:
		m.fail("a hedge at the same upstream")
	case w.live.Probe:
		m.fail("a hedge beside a probe")
	case w.call.req.Retrying || w.call.req.Once:
		m.fail("a hedge for a call that gets none")
	}
	for _, a := range w.call.attempts {
		if a.hedge && a.id != s.Attempt {
			m.fail("I11: two hedges of a call")
		}
	}
}

// unsent counts attempts that never left us.
func (w *walker) unsent() (n int) {
	for _, a := range w.call.attempts {
		if a.unsent {
			n++
		}
	}
	return n
}

func (m *maze) wait(w *walker, s Step) {
	w.waiting, w.until = true, s.Until
	switch {
	case s.Until.IsZero():
		m.fail("a wait without an end")
	case !s.Until.After(m.now):
		m.fail("busy: a wait until %s at %s", s.Until.Sub(epoch), m.now.Sub(epoch))
	case w.commit == 0 && !w.token && s.Until.After(w.call.deadline.Add(10*time.Millisecond)):
		m.fail("J7: a wait until %s, the deadline is %s", s.Until.Sub(epoch), w.call.deadline.Sub(epoch))
	}
}

func (m *maze) done(w *walker, s Step) {
	w.over, w.last = true, s
	if len(w.runs()) > 0 {
		m.fail("J1: the call is over and an attempt runs on")
	}
	if (s.Failure == nil) == (s.Attempt == 0) {
		m.fail("J1: an ending must be an answer or a failure: %+v", s)
	}
	if again := w.call.Next(m.now.Add(time.Hour)); again.Kind != Done || again.Attempt != s.Attempt || again.Failure != s.Failure {
		m.fail("J1: two endings: %+v and %+v", s, again)
	}
	if w.commit != 0 && s.Failure == nil && s.Attempt != w.commit {
		m.fail("J2: the caller has bytes of attempt %d, attempt %d answered", w.commit, s.Attempt)
	}
	if ev := w.call.Event(m.now); ev.Calls() != w.tries-w.unsent() {
		m.fail("J5: the event tells of %d attempts, there were %d", ev.Calls(), w.tries-w.unsent())
	}
}

// checkHeld: J3, what is held is held by somebody who runs.
func (m *maze) checkHeld() {
	leases := map[heldLease]bool{} // an account's parks are of several upstreams
	for i := range m.calls {
		w := &m.calls[i]
		if n := len(w.runs()); n > 1 && w.token {
			m.fail("two attempts although one has a token")
		}
		for _, s := range w.runs() {
			for _, h := range w.call.attempt(s.Attempt).leases {
				leases[h] = true
			}
		}
	}
	for _, s := range m.e.ups {
		running, probing := 0, len(m.probes)
		for i := range m.calls {
			for _, r := range m.calls[i].runs() {
				if r.Upstream.Name != s.u.Name {
					continue
				}
				running++
				if r.Probe {
					probing++
				}
			}
		}
		if n := s.inflight.Count(); n != running {
			m.fail("J3: %s counts %d permits, %d attempts run", s.u.Name, n, running)
		}
		for _, p := range []*parks{s.ratePark, s.keyPark} {
			for id, e := range p.m {
				if e.held && !leases[heldLease{p, id}] {
					m.fail("J3: nobody runs who holds the trial of the park %+v of %s", id, s.u.Name)
				}
			}
		}
		for _, g := range s.gates() {
			if g.b.Info(m.now).Probing && probing == 0 {
				m.fail("J3: %s/%s waits for a probe that nobody makes", s.u.Name, g.scope)
			}
			if g.m == nil {
				continue
			}
			if n, _ := g.m.waiters.oldest(); n > running {
				m.fail("J3: %d wait for a token of %s, %d attempts run", n, s.u.Name, running)
			}
		}
	}
}

// drain lets nothing happen but time: every call ends, in time.
func (m *maze) drain() {
	for n := 0; !m.calls[0].idle() || !m.calls[1].idle(); n++ {
		if n > 200 || m.next().IsZero() {
			m.fail("a call never ends: %s", m.picture())
			return
		}
		for i := range m.calls {
			if w := &m.calls[i]; !w.idle() && w.commit == 0 && !w.token && m.now.After(w.call.deadline.Add(10*time.Millisecond)) {
				m.fail("J7: call %d has nothing %s after its deadline", i, m.now.Sub(w.call.deadline))
			}
		}
		m.do(act{kind: actNext})
		if m.broke != "" {
			m.broke += "\n  (while nothing but time passed)"
			return
		}
	}
	m.checkHeld()
}

func (w *walker) idle() bool { return w.call == nil || w.over }

// picture is the state for people.
func (m *maze) picture() string {
	var b strings.Builder
	for i := range m.calls {
		w := &m.calls[i]
		switch {
		case w.call == nil:
			continue
		case w.over && w.last.Failure != nil:
			fmt.Fprintf(&b, "call %d: %s; ", i, w.last.Failure.Code)
		case w.over:
			fmt.Fprintf(&b, "call %d: answered by tier %d; ", i, w.last.Tier)
		case w.live.Kind == Try:
			fmt.Fprintf(&b, "call %d: attempt %d at %s probe=%v retry=%v splice=%v until %s; ", i, w.live.Attempt, w.live.Upstream.Name, w.live.Probe, w.live.Retry, w.live.Splice, w.until.Sub(epoch))
		default:
			fmt.Fprintf(&b, "call %d: waits until %s; ", i, w.until.Sub(epoch))
		}
	}
	for _, s := range m.e.State(m.now).Upstreams {
		for _, g := range s.Scopes {
			if g.State != "closed" {
				fmt.Fprintf(&b, "%s %s %s (%s); ", s.Name, g.Scope, g.State, g.Cause)
			}
		}
	}
	return b.String()
}

// key tells two states apart by everything that decisions depend on, times as
// distances from now.
func (m *maze) key() uint64 {
	h := fnv.New64a()
	rel := func(t time.Time) time.Duration {
		if t.IsZero() {
			return 1 << 62
		}
		return max(t.Sub(m.now), -20*time.Minute)
	}
	for i := range m.calls {
		w := &m.calls[i]
		if w.idle() {
			fmt.Fprint(h, "idle;")
			continue
		}
		c := w.call
		fmt.Fprint(h, w.shape, w.token, w.commit, rel(w.until), c.rng, c.hedged, c.returned, rel(c.deadline), c.tier, c.spent, c.retries, rel(c.resume), c.retry, c.napped, c.without, c.plain, c.tooLong, c.reasked, c.claims, c.origin != nil, c.continues, ";")
		for _, a := range c.attempts {
			fmt.Fprint(h, a.tier, a.outcome.Class, a.outcome.Kind, a.unsent, a.passed)
		}
		for _, s := range w.runs() {
			a := c.attempt(s.Attempt)
			fmt.Fprint(h, a.tier, a.key, a.plain, a.probe, rel(a.began), rel(a.clock), rel(a.dialed), rel(a.firstByte), rel(a.token), rel(a.last), a.age, len(a.leases), ";")
		}
	}
	for _, s := range m.e.ups {
		fmt.Fprint(h, s.budget.Remaining(), s.inflight.Count(), s.inflight.Bound())
		for _, g := range s.gates() {
			i := g.b.Info(m.now)
			fmt.Fprint(h, i.State, i.Cause, rel(i.Since), rel(i.Until), rel(i.NextProbe), i.Probing, i.Run, i.Needed, i.BaseRate, i.Waiting, i.Suspicion, i.Samples, i.FirstToken95, ";")
		}
		for _, p := range []*parks{s.ratePark, s.keyPark} {
			sum := uint64(0)
			for id, e := range p.m {
				one := fnv.New64a()
				fmt.Fprint(one, id, rel(e.until), e.held, rel(e.lease), e.n, e.why, e.named)
				sum += one.Sum64()
			}
			fmt.Fprint(h, sum, ";")
		}
	}
	for _, p := range m.probes {
		fmt.Fprint(h, p.Upstream.Name, p.Scope, rel(p.until))
	}
	fmt.Fprint(h, rel(m.due))
	return h.Sum64()
}
