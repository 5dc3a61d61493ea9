package backstop

import (
	"hash/fnv"
	"sync/atomic"
	"time"
)

// Engine decides for all calls of a plan. Its methods are safe for concurrent
// use; each [Call] belongs to one goroutine.
type Engine struct {
	plan   *Plan
	epoch  time.Time
	notify func(Transition)
	ups    []*upstreamState // in plan order, so that every walk is deterministic
	byName map[string]*upstreamState
	calls  atomic.Uint64
	probes atomic.Uint64
}

// EngineOptions are what an engine needs besides its plan.
type EngineOptions struct {
	Now time.Time // start of its clock; every later time must come from the same clock
	// Notify hears each breaker transition, outside all locks, from whichever
	// goroutine caused it. It must not block.
	Notify func(Transition)
	// Previous hands over the memory (breakers, parks, budgets) of upstreams
	// whose settings did not change.
	Previous *Engine
}

// Request is what the engine knows about a call.
type Request struct {
	ID         string
	Model      string
	Caller     string // key name, else peer address: the unit of cancel evidence
	Dialect    Dialect
	Embed      bool
	Stream     bool   // the caller wants a stream
	JSON       bool   // the answer was promised to be JSON
	Schema     uint64 // hash of the schema that the call itself brought for it, 0 = none
	Tools      bool
	Streamable bool // a stream of the answer loses nothing against one body
	Reask      bool // promised JSON that did not come may be asked for again, with the violations
	Once       bool // it must not be asked at two upstreams at a time: it is stored, or bound to one of them
	Rescuable  bool // a stream that broke may be taken over: one choice, no logprobs

	InputSize, MaxTokens int // tokens, estimated and asked

	Timeout    time.Duration // the caller's own bound on the deadline, 0 = none
	NoFallback bool          // only the first tier
	NoLocal    bool          // no local tier
	Retrying   bool          // the caller is retrying already: no retry at the same upstream
	// Wake is called when a breaker opened under the call: it should ask Next
	// again. It may be called from any goroutine and must not block. nil = none.
	Wake func()
	// Refuses says why an upstream cannot be asked this call with that model
	// name, nil if it can. It is asked about upstreams that stand aside (open,
	// parked, over a limit) when none answers, so that a call which none can
	// take is told so whatever their state. It must always say the same of the
	// same upstream. nil = all can.
	Refuses func(u *Upstream, model string) *Outcome
}

// NewEngine builds the decisions for a validated plan.
func NewEngine(p *Plan, o EngineOptions) *Engine {
	e := &Engine{plan: p, epoch: o.Now, notify: o.Notify, byName: make(map[string]*upstreamState, len(p.Upstreams))}
	if o.Previous != nil {
		e.epoch = o.Previous.epoch
	}
	accounts := map[string]*parks{}
	if o.Previous != nil {
		for _, s := range o.Previous.ups {
			if s.u.Account != "" {
				accounts[s.u.Account] = s.ratePark
			}
		}
	}
	for i := range p.Upstreams {
		u := &p.Upstreams[i]
		s := e.inherit(o.Now, o.Previous, u)
		if s == nil {
			s = newUpstreamState(u, e.epoch, p.Seed+uint64(i)*0x9e3779b97f4a7c15)
		}
		if u.Account != "" {
			if shared := accounts[u.Account]; shared != nil {
				s.ratePark = shared
			} else {
				accounts[u.Account] = s.ratePark
			}
		}
		s.named = namedModels(p, u.Name)
		s.engine.Store(e)
		e.ups = append(e.ups, s)
		e.byName[u.Name] = s
	}
	if o.Previous != nil {
		e.obey(o.Now, o.Previous)
	}
	return e
}

// inherit takes over the memory of an upstream that the new plan leaves as it
// was in everything that memory depends on.
func (e *Engine) inherit(now time.Time, prev *Engine, u *Upstream) *upstreamState {
	if prev == nil {
		return nil
	}
	old := prev.byName[u.Name]
	if old == nil || fingerprint(old.u) != fingerprint(u) || !old.knows(u) {
		return nil
	}
	s := old.with(u)
	s.rekey(now, old.u)
	return s
}

// Plan returns the plan that the engine was built from.
func (e *Engine) Plan() *Plan { return e.plan }

// Begin starts a call. A model that no route serves gives a call that is done
// at once with [CodeNotFound].
func (e *Engine) Begin(now time.Time, r Request) *Call {
	seq := e.calls.Add(1)
	c := &Call{e: e, req: r, began: now, rng: mix(e.plan.Seed ^ seq*0x9e3779b97f4a7c15)}
	c.hash = hashOf(r.ID, seq)
	if r.JSON {
		c.who = hashOf(r.Caller, 0)
	}
	c.route = e.plan.Route(r.Model)
	if c.route == nil {
		c.fail(&Failure{Code: CodeNotFound, Status: 404, Param: "model",
			Message: "no route serves the model " + quoted(r.Model) + "; GET /v1/models lists the names"})
		return c
	}
	c.deadline = now.Add(c.bound())
	return c
}

// bound is the time that the call has up to its first token: the route's, or a
// shorter one of the caller's own.
func (c *Call) bound() time.Duration {
	if d := c.req.Timeout; d > 0 && d < c.route.Deadline {
		return d
	}
	return c.route.Deadline
}

// Paused tells the engine that the process stood still: evidence from calls
// that were waiting then is void (an upstream cannot be blamed for our pause).
func (e *Engine) Paused(now time.Time) {
	for _, s := range e.ups {
		s.pause(now)
	}
}

func (e *Engine) emit(t Transition) {
	if e.notify != nil {
		e.notify(t)
	}
}

// mix is the finaliser of SplitMix64 (Steele, Lea, Flood 2014): one good
// 64-bit number from a counter.
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

func hashOf(id string, seq uint64) uint64 {
	if id == "" {
		return mix(seq)
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(id))
	return mix(h.Sum64())
}

// quoted shortens and quotes a name that a caller chose, for a message.
func quoted(s string) string {
	const most = 80
	r := make([]rune, 0, most+2)
	r = append(r, '"')
	for _, c := range s {
		if len(r) > most {
			r = append(r, '…')
			break
		}
		if c < ' ' || c == '"' || c == 0x7f {
			c = '?'
		}
		r = append(r, c)
	}
	return string(append(r, '"'))
}
