package backstop

import (
	"testing"
	"time"

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
