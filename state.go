package backstop

import (
	"fmt"
	"sort"
	"time"

	"backstop/breaker"
)

// State is a picture of the engine for people and metrics. It holds config
// names and times, never a credential.
type State struct {
	Time      time.Time       `json:"time"`
	Upstreams []UpstreamState `json:"upstreams"`
}

// UpstreamState is one upstream in a [State].
type UpstreamState struct {
	Name     string       `json:"name"`
	Vendor   string       `json:"vendor"`
	Dialect  Dialect      `json:"dialect"`
	Keys     int          `json:"keys"`
	Inflight int          `json:"inflight"`
	Budget   float64      `json:"retry_budget"` // permits left of 10
	Parked   []ParkState  `json:"parked"`
	Scopes   []ScopeState `json:"scopes"`
}

// ParkState is one running park. Key is an index, -1 = every key.
type ParkState struct {
	Key   int       `json:"key"`
	Model string    `json:"model,omitempty"`
	Until time.Time `json:"until"`
	Why   string    `json:"why"`
}

// ScopeState is one breaker.
type ScopeState struct {
	Scope        string        `json:"scope"`
	Model        string        `json:"model,omitempty"`
	State        string        `json:"state"`
	Since        time.Time     `json:"since"`
	Cause        string        `json:"cause,omitempty"`
	Next         time.Time     `json:"next"` // next probe or live trial, zero = none
	Run          int           `json:"run"`  // consecutive failures
	Need         int           `json:"need"` // that open it, scaled with the base error rate
	Suspicion    time.Duration `json:"suspicion"`
	FirstToken95 time.Duration `json:"first_token_p95"`
	Samples      int           `json:"samples"`
	Waiting      int           `json:"waiting"`
}

// State describes every upstream at time now. Scopes that are closed and never
// saw a call are left out.
func (e *Engine) State(now time.Time) State {
	st := State{Time: now}
	for _, s := range e.ups {
		u := UpstreamState{Name: s.u.Name, Vendor: s.u.Vendor, Dialect: s.u.Dialect, Keys: len(s.u.Keys),
			Inflight: s.inflight.Count(), Budget: s.budget.Remaining(), Parked: append(s.ratePark.list(now), s.keyPark.list(now)...)}
		sort.Slice(u.Parked, func(i, j int) bool {
			a, b := u.Parked[i], u.Parked[j]
			if a.Key != b.Key {
				return a.Key < b.Key
			}
			if a.Model != b.Model {
				return a.Model < b.Model
			}
			return a.Why < b.Why
		})
		for _, g := range s.gates() {
			u.Scopes = append(u.Scopes, scopeState(now, g))
		}
		st.Upstreams = append(st.Upstreams, u)
	}
	return st
}

func scopeState(now time.Time, g gate) ScopeState {
	i := g.b.Info(now)
	out := ScopeState{Scope: g.scope, State: i.State.String(), Since: i.Since, Cause: i.Cause, Next: nextTrial(i),
		Run: i.Run, Need: i.Needed, Suspicion: i.Suspicion, FirstToken95: i.FirstToken95, Samples: i.Samples, Waiting: i.Waiting}
	if g.m != nil {
		out.Model = g.m.name
	}
	return out
}

// Force holds every model scope of an upstream open or closed for d (0 = until
// changed); state "auto" gives the breakers back to their own rules. It takes
// "open", "closed" or "auto"; the latter two lift the upstream's parks as well,
// for whoever says them has mended the account or the key.
func (e *Engine) Force(now time.Time, upstream, state string, d time.Duration) error {
	s := e.byName[upstream]
	if s == nil {
		return fmt.Errorf("no upstream is named %s: see the state for the names", quoted(upstream))
	}
	to, ok := map[string]breaker.State{"open": breaker.ForcedOpen, "closed": breaker.ForcedClosed, "auto": breaker.Closed}[state]
	if !ok {
		return fmt.Errorf("unknown breaker state %s: use open, closed or auto", quoted(state))
	}
	if d < 0 {
		return fmt.Errorf("a breaker cannot be forced for %s: use a positive duration, or none", d)
	}
	// The endpoint's breaker stands before every model, known now or later.
	for _, g := range s.gates() {
		g.b.Force(now, to, d)
	}
	if to != breaker.ForcedOpen {
		s.keyPark.lift()
		s.ratePark.lift()
	}
	return nil
}

// Snapshot is the breaker memory that survives a restart.
type Snapshot struct {
	Scopes []ScopeSnapshot `json:"scopes"`
}

// ScopeSnapshot is one breaker of a [Snapshot].
type ScopeSnapshot struct {
	Upstream string           `json:"upstream"`
	Scope    string           `json:"scope"`
	Model    string           `json:"model,omitempty"`
	Breaker  breaker.Snapshot `json:"breaker"`
}

// Snapshot returns the breakers that are not closed.
func (e *Engine) Snapshot(now time.Time) Snapshot {
	var out Snapshot
	for _, s := range e.ups {
		for _, g := range s.gates() {
			if b, ok := g.b.Snapshot(now); ok {
				n := ScopeSnapshot{Upstream: s.u.Name, Scope: g.scope, Breaker: b}
				if g.m != nil {
					n.Model = g.m.name
				}
				out.Scopes = append(out.Scopes, n)
			}
		}
	}
	return out
}

// Restore opens the breakers of a snapshot whose upstreams are still there.
func (e *Engine) Restore(now time.Time, snap Snapshot) {
	for _, n := range snap.Scopes {
		s := e.byName[n.Upstream]
		if s == nil {
			continue
		}
		if n.Scope != "endpoint" {
			s.model(n.Model)
		}
		for _, g := range s.gates() {
			if g.scope == n.Scope && (g.m == nil || g.m.name == n.Model) {
				g.b.Restore(now, n.Breaker)
			}
		}
	}
}

// obey holds forced breakers where they are when the rest of an upstream's
// memory goes: that was not learned, it is an order, and about a name.
func (e *Engine) obey(now time.Time, prev *Engine) {
	var orders Snapshot
	for _, n := range prev.Snapshot(now).Scopes {
		s := e.byName[n.Upstream]
		forced := n.Breaker.State == breaker.ForcedOpen || n.Breaker.State == breaker.ForcedClosed
		if forced && s != nil && s.endpoint != prev.byName[n.Upstream].endpoint {
			orders.Scopes = append(orders.Scopes, n)
		}
	}
	e.Restore(now, orders)
}

// nextTrial is when something next finds out whether the scope is back.
func nextTrial(i breaker.Info) time.Time {
	if !i.NextProbe.IsZero() {
		return i.NextProbe
	}
	return i.Until
}

// Silence is a model of an upstream whose calls wait without a token.
type Silence struct {
	Upstream, Model string
	Calls           int
	Oldest          time.Duration
}

// What makes a silence worth telling: calls enough, for long enough, and
// nobody who was answered meanwhile.
const (
	silentCalls = 5
	silentFor   = 500 * time.Millisecond
)

// Silences lists the models that went silent, before any breaker can know.
func (e *Engine) Silences(now time.Time) []Silence {
	var out []Silence
	for _, s := range e.ups {
		for _, m := range s.scopes() {
			n, oldest := m.waiters.oldest()
			if n < silentCalls || now.Sub(oldest) < silentFor || now.UnixNano()-m.spoke.Load() < int64(silentFor) {
				continue
			}
			out = append(out, Silence{s.u.Name, m.name, n, now.Sub(oldest)})
		}
	}
	return out
}
