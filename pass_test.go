package backstop

import (
	"testing"
	"time"

	"backstop/secret"
)

func TestPassagesStayAwayFromParkedKeys(t *testing.T) {
	rate := Outcome{Class: Limited, Kind: KindRate, Park: ParkKey, Hint: 10 * time.Second, HasHint: true}
	auth := Outcome{Class: Limited, Kind: KindAuth, Park: ParkKey}
	for name, c := range map[string]struct {
		account string
		act     func(e *Engine)
		after   time.Duration
		key     int
		parked  bool
	}{
		"nothing happened":               {"", func(*Engine) {}, 0, 0, false},
		"the first is over its rate":     {"", func(e *Engine) { e.Passed(epoch, "u", 0, epoch, &rate) }, time.Second, 1, false},
		"that is over":                   {"", func(e *Engine) { e.Passed(epoch, "u", 0, epoch, &rate) }, 11 * time.Second, 0, false},
		"the account is over it":         {"a", func(e *Engine) { e.Passed(epoch, "u", 0, epoch, &rate) }, time.Second, -1, true},
		"a key of an account is refused": {"a", func(e *Engine) { e.Passed(epoch, "u", 0, epoch, &auth) }, time.Second, 1, false},
		"one ran into a wall, the other is over its rate": {"", func(e *Engine) {
			e.Passed(epoch, "u", 0, epoch, &auth)
			e.Passed(epoch, "u", 1, epoch, &rate)
		}, time.Second, 0, false},
		"both ran into a wall": {"", func(e *Engine) {
			e.Passed(epoch, "u", 0, epoch, &auth)
			e.Passed(epoch, "u", 1, epoch, &auth)
		}, time.Second, 0, false},
		"both are over their rate": {"", func(e *Engine) {
			e.Passed(epoch, "u", 0, epoch, &rate)
			e.Passed(epoch, "u", 1, epoch, &rate)
		}, time.Second, -1, true},
		"a call found one refused": {"", func(e *Engine) {
			e.byName["u"].keyPark.set(epoch, parkID{0, ""}, &auth, epoch)
		}, time.Second, 1, false},
		"the upstream is walled off": {"", func(e *Engine) {
			e.byName["u"].keyPark.set(epoch, parkID{allKeys, ""}, &auth, epoch)
		}, time.Second, -1, true},
		"a model is over its rate": {"", func(e *Engine) {
			e.byName["u"].ratePark.set(epoch, parkID{0, "m"}, &rate, epoch)
		}, time.Second, 0, false},
		"another one did not find what it asked for": {"", func(e *Engine) {
			e.Passed(epoch, "u", 0, epoch, &Outcome{Class: Rejected, Kind: KindModel, Park: ParkUpstream})
		}, time.Second, 0, false},
		"a new key was read": {"", func(e *Engine) {
			e.Passed(epoch, "u", 0, epoch, &auth)
			e.Rekeyed(epoch, "u", 0, secret.New("another-key"))
		}, time.Second, 0, false},
		"a new key was read before the old one's refusal came": {"", func(e *Engine) {
			e.Rekeyed(epoch.Add(time.Millisecond), "u", 0, secret.New("another-key"))
			e.Passed(epoch.Add(time.Second), "u", 0, epoch, &auth)
		}, 2 * time.Second, 0, false},
		"a later one went well": {"", func(e *Engine) {
			e.Passed(epoch, "u", 0, epoch, &rate)
			e.Passed(epoch.Add(11*time.Second), "u", 0, epoch.Add(10*time.Second), &Outcome{Class: OK})
		}, 12 * time.Second, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			u := DefaultUpstream()
			u.Name, u.BaseURL, u.Account = "u", "http://u.test", c.account
			u.Keys = []secret.Value{secret.New("first-key"), secret.New("second-key")}
			e := NewEngine(&Plan{Upstreams: []Upstream{u}}, EngineOptions{Now: epoch})
			c.act(e)
			key, until := e.PassKey(epoch.Add(c.after), "u")
			if key != c.key || until.IsZero() == c.parked {
				t.Errorf("key %d until %v", key, until)
			}
		})
	}
}

func TestAPassageParksNoCalls(t *testing.T) {
	u := DefaultUpstream()
	u.Name, u.BaseURL = "u", "http://u.test"
	u.Keys = []secret.Value{secret.New("first-key")}
	e := NewEngine(&Plan{Upstreams: []Upstream{u}}, EngineOptions{Now: epoch})
	for _, kind := range []Kind{KindRate, KindAuth, KindQuota} {
		e.Passed(epoch, "u", 0, epoch, &Outcome{Class: Limited, Kind: kind, Park: ParkKey})
	}
	s := e.byName["u"]
	if key, until := pick(epoch, s, s.model("m")); key != 0 {
		t.Errorf("key %d until %v", key, until)
	}
}

func TestAPassageWithoutAKeyNeedsNone(t *testing.T) {
	u := DefaultUpstream()
	u.Name, u.BaseURL = "u", "http://u.test"
	e := NewEngine(&Plan{Upstreams: []Upstream{u}}, EngineOptions{Now: epoch})
	if key, until := e.PassKey(epoch, "u"); key != -1 || !until.IsZero() {
		t.Errorf("key %d until %v", key, until)
	}
	e.Passed(epoch, "u", -1, epoch, &Outcome{Class: Limited, Kind: KindRate, Park: ParkKey})
	if _, until := e.PassKey(epoch, "u"); until.IsZero() {
		t.Error("its limit is not kept")
	}
	e.Passed(epoch, "nobody", 0, epoch, &Outcome{})
	e.PassKey(epoch, "nobody")
}
