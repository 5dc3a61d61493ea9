package backstop

import (
	"fmt"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"backstop/breaker"
	"backstop/budget"
	"backstop/limit"
)

// maxModels bounds the breaker scopes of models that the plan does not name:
// callers choose model names where a route passes them on, and memory must not
// follow them.
const maxModels = 256

// upstreamState is everything the engine remembers about an upstream.
type upstreamState struct {
	u        *Upstream
	engine   *atomic.Pointer[Engine] // whose notify hears transitions; changes on reload
	endpoint *breaker.Breaker
	budget   *budget.Bucket
	rate     *limit.Rate // nil = no limit
	inflight *limit.Inflight

	ratePark *parks // rate limits, shared within an account
	keyPark  *parks // quota and auth walls of keys, missing models, ramps

	mu     *sync.Mutex
	models *modelTable
	keys   *keyLedger
	named  map[string]bool // model names that the plan gives this upstream
}

// modelTable holds the scopes per model in order of appearance.
type modelTable struct {
	list   []*modelState
	byName map[string]*modelState
	latest *modelState
	clock  uint64 // counts the look-ups
	tiers  map[tierRate]*limit.Rate
}

type tierRate struct {
	rate  float64
	burst int
}

// modelState is the memory of one (upstream, model).
type modelState struct {
	name    string
	used    uint64 // look-up at which it was used last
	chat    *breaker.Breaker
	quality *breaker.Breaker
	embed   *breaker.Breaker
	trial   *breaker.Breaker // a second setting that hears everything and acts on nothing; nil = none
	plain   atomic.Bool      // the upstream rejected streaming for this model
	streams atomic.Bool      // … or plain bodies

	waiters waiters
	cancels cancelLedger
	doubts  complaintLedger
	spoke   atomic.Int64 // time of the latest first token, Unix nanoseconds
}

func newUpstreamState(u *Upstream, epoch time.Time, seed uint64) *upstreamState {
	s := &upstreamState{
		u: u, engine: &atomic.Pointer[Engine]{},
		budget: budget.New(u.Retry.Budget), inflight: limit.NewInflight(u.Limits.Inflight),
		ratePark: newParks(), keyPark: newParks(),
		mu: &sync.Mutex{}, models: &modelTable{byName: map[string]*modelState{}, tiers: map[tierRate]*limit.Rate{}},
		keys: &keyLedger{},
	}
	if u.Limits.Rate > 0 {
		s.rate = limit.NewRate(u.Limits.Rate, u.Limits.Burst, epoch)
	}
	cfg := breakerConfig(u, &u.Breaker)
	cfg.Hang = false // a dial has its own clock
	cfg.Notify = s.notifier("endpoint", "", false, nil)
	s.endpoint = breaker.New(cfg, epoch, mix(seed))
	return s
}

// with shares the memory with a new plan's copy of the same upstream.
func (s *upstreamState) with(u *Upstream) *upstreamState {
	n := *s
	n.u = u
	for _, m := range n.scopes() { // how a model wants to be asked is learned anew
		m.plain.Store(false)
		m.streams.Store(false)
	}
	return &n
}

func breakerConfig(u *Upstream, b *BreakerSettings) breaker.Config {
	return breaker.Config{
		Failures: b.Failures, Window: b.Window, Reset: b.Reset, Hang: b.Hang && !b.Literal,
		FirstToken: u.Timeouts.FirstToken, Live: b.Probe == ProbeLive || b.Literal, Literal: b.Literal,
	}
}

// notifier turns a breaker's transition into the engine's, and wakes the calls
// that wait on the scope when it opens.
func (s *upstreamState) notifier(scope, model string, trial bool, w *waiters) func(breaker.Transition) {
	name, engine := s.u.Name, s.engine
	return func(t breaker.Transition) {
		if e := engine.Load(); e != nil {
			e.emit(Transition{Time: t.Time, Upstream: name, Model: model, Scope: scope,
				From: t.From.String(), To: t.To.String(), Cause: t.Cause, Gen: t.Gen, Trial: trial})
		}
		if w != nil && (t.To == breaker.Open || t.To == breaker.ForcedOpen) {
			w.wake()
		}
	}
}

// model finds or makes the scopes of a model name.
func (s *upstreamState) model(name string) *modelState {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.models.clock++
	if m := s.models.byName[name]; m != nil {
		s.models.latest, m.used = m, s.models.clock
		return m
	}
	if len(s.models.list) >= maxModels+len(s.named) {
		s.evict()
	}
	e := s.engine.Load()
	seed := mix(e.plan.Seed ^ hashOf(s.u.Name+"\x00"+name, 0))
	m := &modelState{name: name, used: s.models.clock}
	m.chat = s.breaker(&s.u.Breaker, seed, func(c *breaker.Config) { c.Notify = s.notifier("model", name, false, &m.waiters) })
	m.quality = s.breaker(&s.u.Breaker, mix(seed+1), func(c *breaker.Config) {
		c.Hang, c.Slow, c.Notify = false, true, s.notifier("quality", name, false, nil)
	})
	m.embed = s.breaker(&s.u.Breaker, mix(seed+2), func(c *breaker.Config) {
		c.Hang, c.Notify = false, s.notifier("embed", name, false, &m.waiters) // plain: no token can be seen
	})
	if s.u.Trial != nil {
		// Nothing is probed for its sake: a caller's attempt that runs anyway
		// is its probe once its reset time is over.
		m.trial = s.breaker(s.u.Trial, mix(seed+3), func(c *breaker.Config) {
			c.Live, c.Notify = true, s.notifier("model", name, true, nil)
		})
	}

	s.models.byName[name] = m
	s.models.list = append(s.models.list, m)
	s.models.latest = m
	return m
}

// evict forgets one model that callers made up: of those that never answered
// the one that was not used for longest, else of all. Models that the plan
// names are never forgotten.
func (s *upstreamState) evict() {
	worst := -1
	for i, m := range s.models.list {
		if s.named[m.name] {
			continue
		}
		if worst < 0 || m.before(s.models.list[worst]) {
			worst = i
		}
	}
	if worst < 0 {
		return
	}
	gone := s.models.list[worst]
	delete(s.models.byName, gone.name)
	s.models.list = append(s.models.list[:worst:worst], s.models.list[worst+1:]...)
	if s.models.latest == gone {
		s.models.latest = nil
	}
}

// before orders models by how little is lost with them.
func (m *modelState) before(o *modelState) bool {
	if a, b := m.spoke.Load() != 0, o.spoke.Load() != 0; a != b {
		return !a
	}
	return m.used < o.used
}

// namedModels are the model names that a plan gives an upstream.
func namedModels(p *Plan, upstream string) map[string]bool {
	out := map[string]bool{}
	for i := range p.Routes {
		r := &p.Routes[i]
		for j := range r.Tiers {
			switch t := &r.Tiers[j]; {
			case t.Upstream != upstream || t.Local != nil:
			case t.Model != "":
				out[t.Model] = true
			case r.Exact():
				out[r.Model] = true
			}
		}
	}
	return out
}

// breaker makes one breaker of the upstream.
func (s *upstreamState) breaker(b *BreakerSettings, seed uint64, edit func(*breaker.Config)) *breaker.Breaker {
	cfg := breakerConfig(s.u, b)
	edit(&cfg)
	return breaker.New(cfg, s.engine.Load().epoch, seed)
}

// latest is the model that was asked for last, nil = none yet.
func (s *upstreamState) latest() *modelState {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.models.latest
}

// scopes returns a stable copy of the model scopes.
func (s *upstreamState) scopes() []*modelState {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*modelState(nil), s.models.list...)
}

// tierLimit is the bucket of a tier's rate: one per upstream and rate.
func (s *upstreamState) tierLimit(t *Tier) *limit.Rate {
	if t.Rate <= 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	k := tierRate{t.Rate, t.Burst}
	r := s.models.tiers[k]
	if r == nil {
		r = limit.NewRate(t.Rate, t.Burst, s.engine.Load().epoch)
		s.models.tiers[k] = r
	}
	return r
}

func (s *upstreamState) pause(now time.Time) {
	for _, m := range s.scopes() {
		m.chat.Pause(now)
		m.embed.Pause(now)
	}
}

// fingerprint names everything that an upstream's memory depends on, save its
// keys: see [upstreamState.knows].
func fingerprint(u *Upstream) string {
	var b strings.Builder
	if u.Trial != nil {
		fmt.Fprintf(&b, "%v|", *u.Trial)
	}
	fmt.Fprintf(&b, "%s|%s|%s|%s|%v|%v|%v|%v|%s|%s|%s|%v", u.Name, u.Dialect, u.BaseURL, u.Account, u.Breaker, u.Timeouts, u.Retry, u.Limits,
		u.Vendor, u.Auth, u.Proxy, u.Query)
	names := make([]string, 0, len(u.Headers))
	for k := range u.Headers {
		names = append(names, k+"="+u.Headers[k])
	}
	sort.Strings(names)
	return b.String() + strings.Join(names, "|")
}
