package backstop

import (
	"testing"
	"time"

	"backstop/secret"
)

func TestAProbeThatBeganWithTheOldKeySaysNothingAboutTheNewOne(t *testing.T) {
	refused := Outcome{Class: Limited, Kind: KindAuth, Status: 401, Park: ParkKey, NextTier: true}
	for name, c := range map[string]struct {
		began, renewed time.Duration
		parked         bool
	}{
		"renewed while it ran":        {0, time.Second, false},
		"renewed at its very start":   {time.Second, time.Second, false},
		"renewed before":              {2 * time.Second, time.Second, true},
		"never renewed, long running": {0, -1, true},
	} {
		w := newWorld(t, pair(func(p *Plan) { p.Upstreams[0].Keys = []secret.Value{secret.New("a-key")} }))
		s := w.e.byName["primary"]
		if c.renewed >= 0 {
			w.e.Rekeyed(epoch.Add(c.renewed), "primary", 0, secret.New("another-key"))
		}
		w.e.Probed(epoch.Add(3*time.Second), Probe{Upstream: s.u, Scope: "endpoint", Began: epoch.Add(c.began), gate: s.endpoint, state: s}, refused)
		if _, until := w.e.PassKey(epoch.Add(4*time.Second), "primary"); until.IsZero() == c.parked {
			t.Errorf("%s: parked until %v", name, until)
		}
	}
}

func TestTheLedgerOfKeysKnowsWhoseAnswersItHears(t *testing.T) {
	var k keyLedger
	at := func(s int) time.Time { return epoch.Add(time.Duration(s) * time.Second) }
	for key := range 2 {
		k.worked(at(0), at(0), key)
		k.renew(at(10), key, secret.New("another-key"))
		k.worked(at(12), at(11), key)
	}
	if k.refuse(at(13), at(9), 0) || k.refuse(at(13), at(9), 1) {
		t.Error("two old keys were refused, and their successors are said to be")
	}
	k.worked(at(14), at(9), 2)
	k.renew(at(20), 2, secret.New("another-key"))
	k.worked(at(21), at(19), 2)
	if k.refuse(at(22), at(21), 2) || k.refuse(at(22), at(21), 0) {
		t.Error("a key that never worked counts as a good one")
	}
	if !k.refuse(at(22), at(21), 1) {
		t.Error("two good keys were refused")
	}
}
