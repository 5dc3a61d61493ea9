package backstop

import (
	"testing"
	"time"
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
