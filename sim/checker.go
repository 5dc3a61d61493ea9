package sim

import (
	"fmt"
	"time"

	"backstop"
)

// checker watches the engine from outside while a run is played and keeps the
// first breach of an invariant.
type checker struct {
	first  *Breach
	scopes map[scopeKey]*scopeWatch
	doors  map[doorKey]*doorWatch
}

// scopeKey names one breaker, doorKey one upstream of one replica.
type (
	scopeKey struct {
		replica                int
		upstream, scope, model string
	}
	doorKey struct {
		replica  int
		upstream string
	}
)

// scopeWatch is what is known of a breaker from its transitions.
type scopeWatch struct {
	state   string
	gen     uint32
	opened  int64 // when it left the closed state
	changed int64 // when its state changed last, -1 = never
	probing int64 // start of the probe that runs, -1 = none
	spaced  bool  // a probe started since it opened
	proof   []int64
}

// doorWatch counts what may be bounded at an upstream.
type doorWatch struct {
	inside    int
	retries   int
	successes int
	next      map[int]int64 // by tier: theoretical arrival times of its rate
}

// witness is what is known of one call.
type witness struct {
	deadline  int64
	tries     int
	hedges    int
	inside    int // attempts that run
	committed bool
	shown     backstop.AttemptID // whose tokens the caller of a stream has, after a rescue the rescuer
	done      bool
	spliced   int
	probes    []scopeKey // whose places the running attempt has taken
}

func newChecker() *checker {
	return &checker{scopes: map[scopeKey]*scopeWatch{}, doors: map[doorKey]*doorWatch{}}
}

func (c *checker) breach(w *world, rule, form string, args ...any) {
	if c.first == nil {
		c.first = &Breach{At: time.Duration(w.now), Rule: rule, What: fmt.Sprintf(form, args...)}
	}
}

func (c *checker) scope(k scopeKey) *scopeWatch {
	s := c.scopes[k]
	if s == nil {
		s = &scopeWatch{state: "closed", probing: -1, changed: -1}
		c.scopes[k] = s
	}
	return s
}

func (c *checker) door(r int, upstream string) *doorWatch {
	k := doorKey{r, upstream}
	d := c.doors[k]
	if d == nil {
		d = &doorWatch{next: map[int]int64{}}
		c.doors[k] = d
	}
	return d
}

func (c *checker) begin(w *world, r *run) *witness {
	return &witness{deadline: w.now + int64(r.ask.route.Deadline)}
}

// step checks one order of the engine.
func (c *checker) step(w *world, r *run, s *backstop.Step) {
	x := r.check
	if x.done {
		c.breach(w, "J1", "a step after the end of a call")
	}
	switch s.Kind {
	case backstop.Try:
		c.try(w, r, s)
	case backstop.Wait:
		if !s.Until.IsZero() && r.first == 0 && int64(s.Until.Sub(w.epoch)) > x.deadline {
			c.breach(w, "J7", "a call waits %s beyond its deadline", time.Duration(int64(s.Until.Sub(w.epoch))-x.deadline))
		}
		if r.left {
			c.breach(w, "J6", "a call whose caller left goes on waiting")
		}
	}
}

func (c *checker) try(w *world, r *run, s *backstop.Step) {
	x := r.check
	x.tries++
	switch {
	case x.tries > backstop.MaxAttempts:
		c.breach(w, "I11", "upstream request %d of a call, at most %d", x.tries, backstop.MaxAttempts)
	case s.Hedge:
		c.hedge(w, r, s)
	case x.inside > 0:
		c.breach(w, "I12", "two attempts of a call at once")
	case x.committed && !s.Splice:
		c.breach(w, "I12", "an attempt after the first token went to the caller")
	case !s.Splice && w.now > x.deadline:
		c.breach(w, "I12", "an attempt %s after the deadline", time.Duration(w.now-x.deadline))
	case r.left:
		c.breach(w, "J6", "an attempt for a caller who left")
	}
	if s.Splice {
		if x.spliced++; x.spliced > 2 {
			c.breach(w, "I12", "more than one rescue and one continuation")
		}
	}
	x.inside++
	d := c.door(r.ask.replica, s.Upstream.Name)
	d.inside++
	if most := s.Upstream.Limits.Inflight; most > 0 && d.inside > most {
		c.breach(w, "I16", "%d attempts at %s at once, at most %d", d.inside, s.Upstream.Name, most)
	}
	if s.Retry || s.Reask != 0 {
		c.spends(w, r.ask.replica, s.Upstream)
	}
	c.pace(w, r, s, d)
	c.admit(w, r, s)
}

// hedge checks the one case in which two attempts of a call run: before any
// token, elsewhere, once a call, and paid by the upstream that is waited for.
func (c *checker) hedge(w *world, r *run, s *backstop.Step) {
	x := r.check
	x.hedges++
	switch {
	case x.inside != 1 || r.live == nil:
		c.breach(w, "I12", "a hedge beside %d attempts", x.inside)
		return
	case x.hedges > 1:
		c.breach(w, "I11", "hedge %d of a call", x.hedges)
	case x.committed || r.token > 0:
		c.breach(w, "I12", "a hedge although a token is here")
	case s.Upstream == r.live.site.up:
		c.breach(w, "I12", "a hedge at %s, which is waited for", s.Upstream.Name)
	case w.now > x.deadline:
		c.breach(w, "I12", "a hedge after the deadline")
	case len(x.probes) > 0:
		c.breach(w, "I12", "a hedge beside a probe")
	}
	c.spends(w, r.ask.replica, r.live.site.up)
}

// spends is the second part of I11: retries and hedges of an upstream are at
// most what its bucket began with and its successes earned.
func (c *checker) spends(w *world, replica int, u *backstop.Upstream) {
	d := c.door(replica, u.Name)
	d.retries++
	if float64(d.retries) > 10+u.Retry.Budget*float64(d.successes)+1e-6 {
		c.breach(w, "I11", "%d retries and hedges of %s after %d successes", d.retries, u.Name, d.successes)
	}
}

// pace is I15: in any time t at most rate x t + burst attempts.
func (c *checker) pace(w *world, r *run, s *backstop.Step, d *doorWatch) {
	t := &r.ask.route.Tiers[s.Tier]
	if t.Rate <= 0 || s.Tier == len(r.ask.route.Tiers)-1 || r.ask.embed {
		return
	}
	gap := int64(1e9 / t.Rate)
	next := max(d.next[s.Tier], w.now) + gap
	if next-w.now > gap*int64(max(t.Burst, 1))+1000 {
		c.breach(w, "I15", "more than %g/s with a burst of %d at tier %d", t.Rate, t.Burst, s.Tier)
	}
	d.next[s.Tier] = next
}

// admit is I1 and I4: an open scope admits one probe at a time and nothing else.
func (c *checker) admit(w *world, r *run, s *backstop.Step) {
	probe := false
	r.check.probes = r.check.probes[:0]
	for _, k := range c.gates(r, s) {
		g := c.scope(k)
		if g.state == "closed" {
			continue
		}
		if !s.Probe {
			c.breach(w, "I4", "a call that is no probe went to %s while its %s scope is %s", k.upstream, k.scope, g.state)
		}
		probe = true
		r.check.probes = append(r.check.probes, k)
		c.lease(w, k, g, s.Upstream)
	}
	if s.Probe && !probe {
		c.breach(w, "I1", "a probe at %s although it is closed", s.Upstream.Name)
	}
}

func (c *checker) gates(r *run, s *backstop.Step) []scopeKey {
	k := scopeKey{replica: r.ask.replica, upstream: s.Upstream.Name, scope: "model", model: s.Model}
	if r.ask.embed {
		k.scope = "embed"
	}
	keys := []scopeKey{k, {replica: k.replica, upstream: k.upstream, scope: "endpoint"}}
	if r.ask.json || r.ask.route.JSON.Always {
		k.scope = "quality"
		keys = append(keys, k)
	}
	return keys
}

// lease takes the one place of a probe.
func (c *checker) lease(w *world, k scopeKey, g *scopeWatch, u *backstop.Upstream) {
	lease := int64(min(u.Timeouts.FirstToken+time.Second, u.Breaker.Reset))
	if g.probing >= 0 && w.now-g.probing < lease {
		c.breach(w, "I1", "a second probe of %s %s %s after %s", k.upstream, k.scope, k.model, time.Duration(w.now-g.probing))
	}
	g.probing = w.now
}

// release notes that an attempt of a call is over.
func (c *checker) release(w *world, r *run, p *play, ok, failed bool) {
	r.check.inside--
	for _, k := range r.check.probes {
		if g := c.scope(k); g.probing == p.began {
			g.probing = -1
		}
	}
	d := c.door(r.ask.replica, p.site.up.Name)
	d.inside--
	if ok {
		d.successes++
	}
	if failed {
		scope := "model"
		if p.embed {
			scope = "embed"
		}
		g := c.scope(scopeKey{r.ask.replica, p.site.up.Name, scope, p.model})
		for g.proof = append(g.proof, w.now); w.now-g.proof[0] > proofSpan(p.site.up); {
			g.proof = g.proof[1:]
		}
	}
}

// token is the first token that goes to a caller.
func (c *checker) token(w *world, r *run, p *play) {
	x := r.check
	if late := w.now - x.deadline; late > int64(10*time.Millisecond) {
		c.breach(w, "J7", "a first token %s after the deadline", time.Duration(late))
	}
	if r.ask.stream {
		x.committed, x.shown = true, p.id
	}
}
