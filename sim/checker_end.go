package sim

import (
	"strings"
	"time"

	"backstop"
)

// done checks the end of a call.
func (c *checker) done(w *world, r *run, s *backstop.Step) {
	x := r.check
	if x.done {
		c.breach(w, "J1", "a call ended twice")
	}
	x.done = true
	if again := r.call.Next(w.time()); again.Kind != backstop.Done {
		c.breach(w, "J1", "done is not the end")
	}
	if (s.Failure == nil) == (s.Attempt == 0) {
		c.breach(w, "J1", "an end is an answer or a failure, this is both or neither")
	}
	if x.inside != 0 {
		c.breach(w, "J3", "%d attempts run on after the end of their call", x.inside)
	}
	if s.Failure == nil && x.committed && s.Attempt != x.shown {
		c.breach(w, "J2", "the caller has tokens of attempt %d, and attempt %d is the answer", x.shown, s.Attempt)
	}
	e := r.call.Event(w.time())
	if len(e.Attempts) != r.tries {
		c.breach(w, "J5", "%d attempts were made, the record has %d", r.tries, len(e.Attempts))
	}
	for i := range e.Skipped {
		c.refused(w, r, &e.Skipped[i])
	}
	c.lost(w, r, s)
}

// rampSpan is how long after a close a breaker may refuse a share of the calls.
const rampSpan = int64(20 * time.Second)

// refused is I17: a tier refuses as open only if one of the scopes that the
// call needs was not closed then. What happened to another model, another key
// or another upstream is no reason.
func (c *checker) refused(w *world, r *run, k *backstop.Skip) {
	if k.Why != "open" {
		return
	}
	t := &r.ask.route.Tiers[k.Tier]
	model := t.Model
	if model == "" {
		model = r.ask.model
	}
	at := r.began + int64(k.At)
	step := backstop.Step{Model: model, Upstream: w.sites[k.Upstream].up}
	for _, key := range c.gates(r, &step) {
		if g := c.scope(key); g.state != "closed" || g.changed >= at-rampSpan {
			return
		}
	}
	c.breach(w, "I17", "%s refused %s as open, although all that the call needs is closed", k.Upstream, model)
}

// lost is I14: a local tier answers whenever the upstreams do not, unless the
// caller left, has a part of an answer, or is itself at fault.
func (c *checker) lost(w *world, r *run, s *backstop.Step) {
	if s.Failure == nil || r.left || r.check.committed {
		return
	}
	switch s.Failure.Code {
	case backstop.CodeUpstreamRejected, backstop.CodeJSONInvalid:
		return
	}
	for i := range r.ask.route.Tiers {
		l := r.ask.route.Tiers[i].Local
		if l != nil && l.Template != nil && !r.ask.embed && (!r.ask.json || l.Template.JSON != nil) {
			c.breach(w, "I14", "a call failed (%s) although the template could answer", s.Failure)
		}
	}
}

// transition checks I5, I8 and I9.
func (c *checker) transition(w *world, r *replica, t *backstop.Transition) {
	g := c.scope(scopeKey{r.index, t.Upstream, t.Scope, t.Model})
	if t.From != g.state {
		c.breach(w, "I8", "%s %s goes from %s to %s but was %s", t.Upstream, t.Scope, t.From, t.To, g.state)
	}
	if t.Gen <= g.gen {
		c.breach(w, "I8", "generation %d of %s follows %d", t.Gen, t.Upstream, g.gen)
	}
	if t.From == "closed" && t.To == "open" {
		g.opened, g.spaced = w.now, false
		c.evidence(w, r, t, g)
	}
	g.state, g.gen, g.probing, g.changed = t.To, t.Gen, -1, w.now
}

// proofSpan is how long a failure may be evidence.
func proofSpan(u *backstop.Upstream) int64 { return int64(u.Breaker.Window + time.Second) }

// evidence is I5: failures and calls that wait add up to the threshold.
func (c *checker) evidence(w *world, r *replica, t *backstop.Transition, g *scopeWatch) {
	s := w.sites[t.Upstream]
	if t.Scope != "model" {
		return
	}
	n := 0
	for _, at := range g.proof {
		if w.now-at <= proofSpan(s.up) {
			n++
		}
	}
	for _, p := range s.waiting {
		if p.run != nil && p.run.ask.replica == r.index && p.model == t.Model {
			n++
		}
	}
	// The attempt that ended just now may not have been released yet.
	if n+1 < s.up.Breaker.Failures {
		c.breach(w, "I5", "%s opened (%s) on %d units of evidence", t.Upstream, t.Cause, n)
	}
}

// probe checks a background probe: it is alone, and not too early.
func (c *checker) probe(w *world, r *replica, p *backstop.Probe) {
	model := p.Model
	if p.Scope == "endpoint" {
		model = ""
	}
	k := scopeKey{r.index, p.Upstream.Name, p.Scope, model}
	g := c.scope(k)
	if g.state != "open" {
		c.breach(w, "I1", "a background probe of %s while it is %s", p.Upstream.Name, g.state)
	}
	wait := time.Duration(float64(time.Second) * min(1, float64(p.Upstream.Breaker.Reset)/float64(time.Minute)))
	if !g.spaced && w.now-g.opened < int64(wait)-1000 {
		c.breach(w, "I9", "the first probe of %s comes after %s, at least %s", p.Upstream.Name, time.Duration(w.now-g.opened), wait)
	}
	g.spaced = true
	c.lease(w, k, g, p.Upstream)
}

func (c *checker) probed(w *world, b *probing) {
	model := b.p.Model
	if b.p.Scope == "endpoint" {
		model = ""
	}
	c.scope(scopeKey{b.replica.index, b.p.Upstream.Name, b.p.Scope, model}).probing = -1
}

// recoverSpan is far more than an upstream that answers again needs to be used
// again: I3.
const recoverSpan = int64(4 * time.Minute)

// verdict is the first breach of the run, and what can be told at its end.
func (c *checker) verdict(w *world) error {
	for i, r := range w.replicas {
		for _, u := range r.engine.State(w.time()).Upstreams {
			if u.Inflight != 0 {
				c.breach(w, "J3", "%s of replica %d keeps %d permits", u.Name, i, u.Inflight)
			}
			c.recovered(w, i, u)
		}
	}
	if c.first != nil {
		return c.first
	}
	return nil
}

func (c *checker) recovered(w *world, replica int, u backstop.UpstreamState) {
	s := w.sites[u.Name]
	healthy := !s.up.Breaker.Literal && s.up.Unary != backstop.UnaryPlain // these cut long answers
	quiet := healthy && s.trouble == 0 && s.usual == 0 && len(u.Parked) == 0 && w.s.Arrivals.Rate >= 5
	for _, f := range w.s.Faults { // one refused stream makes a model plain for good
		quiet = quiet && !strings.Contains(f.Word, "nostream")
	}
	for _, t := range s.troubles {
		quiet = quiet && w.end-t.to > recoverSpan
	}
	for _, g := range u.Scopes {
		if g.Waiting != 0 {
			c.breach(w, "I13", "%s counts %d waiting calls after the last", u.Name, g.Waiting)
		}
		opened := c.scope(scopeKey{replica, u.Name, g.Scope, g.Model}).opened
		if quiet && g.Scope == "model" && g.State != "closed" && s.index == 0 && w.end-opened > recoverSpan {
			c.breach(w, "I3", "%s is still %s although it has answered for minutes", u.Name, g.State)
		}
	}
}
