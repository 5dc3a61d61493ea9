package backstop

import (
	"testing"
	"time"

	"backstop/breaker"
	"backstop/secret"
)

// What an upstream said of one setting says nothing of another: an operator who
// mends it need not wait for the end of a park.
func TestAnUpstreamThatIsAskedOtherwiseIsRememberedNoMore(t *testing.T) {
	refused := Outcome{Class: Limited, Kind: KindAuth, Status: 401, Park: ParkKey, NextTier: true}
	for name, c := range map[string]struct {
		change func(*Upstream)
		parked bool
	}{
		"nothing changed":          {func(*Upstream) {}, true},
		"what is no part of it":    {func(u *Upstream) { u.Passthrough = !u.Passthrough }, true},
		"another place of the key": {func(u *Upstream) { u.Auth = "x-api-key" }, false},
		"another parameter":        {func(u *Upstream) { u.Query = map[string]string{"api-version": "2"} }, false},
		"another header":           {func(u *Upstream) { u.Headers = map[string]string{"x-org": "a"} }, false},
		"another way there":        {func(u *Upstream) { u.Proxy = "http://proxy.test" }, false},
		"another vendor":           {func(u *Upstream) { u.Vendor = "openai" }, false},
	} {
		before := NewEngine(pair(), EngineOptions{Now: epoch})
		before.byName["primary"].keyPark.set(epoch, parkID{0, ""}, &refused, epoch)
		p := pair()
		c.change(&p.Upstreams[0])
		after := NewEngine(p, EngineOptions{Now: epoch, Previous: before})
		if _, until := after.PassKey(epoch.Add(time.Second), "primary"); until.IsZero() == c.parked {
			t.Errorf("%s: parked until %v", name, until)
		}
	}
}

func TestAReloadEndsWhatWasLearnedOfStreaming(t *testing.T) {
	before := NewEngine(pair(), EngineOptions{Now: epoch})
	m := before.byName["primary"].model("m")
	m.plain.Store(true)
	m.streams.Store(true)
	after := NewEngine(pair(), EngineOptions{Now: epoch, Previous: before})
	if n := after.byName["primary"].model("m"); n != m || n.plain.Load() || n.streams.Load() {
		t.Errorf("the same memory: %v, plain %v, streamed %v", n == m, n.plain.Load(), n.streams.Load())
	}
}

// A reload forgets what an old key was refused for, and nothing else: whether
// the file of a key was read again meanwhile is nobody's business.
func TestAReloadAfterAKeyFileHasChangedKeepsTheBreakers(t *testing.T) {
	refused := Outcome{Class: Limited, Kind: KindAuth, Status: 401, Park: ParkKey, NextTier: true}
	keyed := func(file string, keys ...string) *Plan {
		p := pair()
		p.Upstreams[0].Keys, p.Upstreams[0].KeyFiles = nil, nil
		for _, k := range keys {
			p.Upstreams[0].Keys = append(p.Upstreams[0].Keys, secret.New(k))
			if file != "" {
				p.Upstreams[0].KeyFiles = append(p.Upstreams[0].KeyFiles, file)
			}
		}
		return p
	}
	for name, c := range map[string]struct {
		before, after *Plan
		renewed       string // the key that was read while running, "" = none was
		kept, parked  bool
	}{
		"the same key":                            {keyed("/k", "a"), keyed("/k", "a"), "", true, true},
		"read again, then by the reload":          {keyed("/k", "a"), keyed("/k", "b"), "b", true, true},
		"read by the reload first":                {keyed("/k", "a"), keyed("/k", "b"), "", true, false},
		"read again, and once more by the reload": {keyed("/k", "a"), keyed("/k", "c"), "b", true, false},
		"read again, and changed back":            {keyed("/k", "a"), keyed("/k", "a"), "b", true, false},
		"another file with the same key":          {keyed("/k", "a"), keyed("/l", "a"), "", true, true},
		"another file with another key":           {keyed("/k", "a"), keyed("/l", "b"), "", false, false},
		"another key of the plan":                 {keyed("", "a"), keyed("", "b"), "", false, false},
		"one key more":                            {keyed("/k", "a"), keyed("/k", "a", "b"), "", false, false},
	} {
		before := NewEngine(c.before, EngineOptions{Now: epoch})
		if c.renewed != "" {
			before.Rekeyed(epoch.Add(time.Second), "primary", 0, secret.New(c.renewed))
		}
		before.byName["primary"].keyPark.set(epoch.Add(2*time.Second), parkID{0, ""}, &refused, epoch.Add(2*time.Second))
		if err := before.Force(epoch, "primary", "open", 0); err != nil {
			t.Fatal(err)
		}
		after := NewEngine(c.after, EngineOptions{Now: epoch.Add(3 * time.Second), Previous: before})
		s := after.byName["primary"]
		if kept := s.endpoint == before.byName["primary"].endpoint; kept != c.kept {
			t.Errorf("%s: kept %v", name, kept)
		}
		if until, _ := s.keyPark.blocked(epoch.Add(4*time.Second), parkID{0, ""}); until.IsZero() == c.parked {
			t.Errorf("%s: parked until %v", name, until)
		}
		again := NewEngine(c.after, EngineOptions{Now: epoch.Add(5 * time.Second), Previous: after})
		if again.byName["primary"].endpoint != s.endpoint {
			t.Errorf("%s: the second reload forgets", name)
		}
	}
}

func TestABreakerThatIsHeldByHandStaysSoWhenItsUpstreamChanges(t *testing.T) {
	states := func(e *Engine, now time.Time, upstream string) map[string]string {
		out := map[string]string{}
		for _, u := range e.State(now).Upstreams {
			for _, s := range u.Scopes {
				if u.Name == upstream {
					out[s.Scope+" "+s.Model] = s.State
				}
			}
		}
		return out
	}
	for _, state := range []string{"open", "closed"} {
		for _, span := range []time.Duration{0, 15 * time.Minute} {
			before := NewEngine(pair(), EngineOptions{Now: epoch})
			before.byName["primary"].model("m")
			if err := before.Force(epoch, "primary", state, span); err != nil {
				t.Fatal(err)
			}
			var heard []Transition
			e := before
			for i := range 3 { // the second changes nothing
				p := pair(upstreamEdit("primary", func(u *Upstream) { u.Timeouts.Idle = time.Duration(20+i/2) * time.Second }))
				e = NewEngine(p, EngineOptions{Now: epoch.Add(time.Duration(i) * time.Minute), Previous: e, Notify: func(t Transition) { heard = append(heard, t) }})
			}
			for at, want := range map[time.Duration]string{3 * time.Minute: "forced-" + state, 14 * time.Minute: "forced-" + state} {
				for scope, got := range states(e, epoch.Add(at), "primary") {
					if got != want {
						t.Errorf("%s for %s: after %s %s is %s", state, span, at, scope, got)
					}
				}
			}
			if got := states(e, epoch.Add(3*time.Minute), "primary"); len(got) < 2 || got["endpoint "] == "" || got["model m"] == "" {
				t.Errorf("%s for %s: %v", state, span, got)
			}
			if got := states(e, epoch.Add(3*time.Minute), "backup")["endpoint "]; got != "closed" {
				t.Errorf("the backup is %s", got)
			}
			if got := states(e, epoch.Add(16*time.Minute), "primary")["endpoint "]; (got == "closed") != (span > 0) {
				t.Errorf("%s for %s: at the end %s", state, span, got)
			}
			if err := e.Force(epoch.Add(17*time.Minute), "primary", "auto", 0); err != nil || states(e, epoch.Add(17*time.Minute), "primary")["endpoint "] != "closed" {
				t.Errorf("%s for %s: it cannot be released: %v", state, span, err)
			}
			for _, tr := range heard {
				if tr.Upstream != "primary" {
					t.Errorf("heard %+v", tr)
				}
			}
		}
	}
}

func TestWhatABreakerLearnedGoesWithItsUpstream(t *testing.T) {
	before := NewEngine(pair(), EngineOptions{Now: epoch})
	g := before.byName["primary"].endpoint
	g.Restore(epoch, breaker.Snapshot{State: breaker.Open, Time: epoch, Next: epoch.Add(time.Minute)})
	if got := g.Info(epoch.Add(time.Second)).State; got != breaker.Open {
		t.Fatalf("the breaker is %s", got)
	}
	p := pair(upstreamEdit("primary", func(u *Upstream) { u.BaseURL = "https://elsewhere.test/v1" }))
	after := NewEngine(p, EngineOptions{Now: epoch.Add(time.Second), Previous: before})
	if got := after.byName["primary"].endpoint.Info(epoch.Add(time.Second)).State; got != breaker.Closed {
		t.Errorf("after the change it is %s", got)
	}
}
