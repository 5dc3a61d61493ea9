package backstop

import (
	"testing"
	"time"
)

// FuzzCall feeds random marks to a call: nothing that a driver or an upstream
// does may make it loop, exceed its attempts, start one after a commit or
// after the deadline, or keep a permit.
func FuzzCall(f *testing.F) {
	f.Add([]byte{0})
	f.Add([]byte{1, 10, 2, 20, 4, 3, 5, 200, 6, 0, 7, 7})
	f.Add([]byte("a committed call that stalls must be ended"))
	f.Add([]byte{9, 9, 9, 9, 255, 255, 255, 0, 0, 0, 128, 64, 32, 16, 8, 4, 2, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 600 {
			return
		}
		p := pair(upstreamEdit("primary", func(u *Upstream) {
			u.Limits.Inflight, u.Retry.Wait = 3, time.Second
			u.Keys = append(u.Keys, secretValue("key-a-0123456789"), secretValue("key-b-0123456789"))
		}), func(p *Plan) {
			p.Routes[0].RefusalNext = len(data)%2 == 0
			switch len(data) % 3 {
			case 1:
				p.Routes[0].Hedge.After = 600 * time.Millisecond
			case 2:
				p.Routes[0].Hedge.Auto = true
			}
		})
		e := NewEngine(p, EngineOptions{Now: epoch})
		now := epoch
		for len(data) > 0 {
			data, now = fuzzOne(t, e, data, now)
		}
		for _, u := range e.State(now).Upstreams {
			if u.Inflight != 0 {
				t.Fatalf("%s keeps %d permits", u.Name, u.Inflight)
			}
			for _, s := range u.Scopes {
				if s.Waiting != 0 {
					t.Fatalf("%s/%s counts %d waiting calls", u.Name, s.Scope, s.Waiting)
				}
			}
		}
	})
}

func without(list []AttemptID, id AttemptID) (rest []AttemptID) {
	for _, x := range list {
		if x != id {
			rest = append(rest, x)
		}
	}
	return rest
}

// kinds a fuzzer may report.
var fuzzOutcomes = []Outcome{
	{Class: OK, Status: 200},
	{Class: Broken, Kind: KindServer, Status: 500, Counts: CountsModel, RetrySame: true, NextTier: true},
	{Class: Broken, Kind: KindDial, Counts: CountsEndpoint, NextTier: true},
	{Class: Limited, Kind: KindRate, Status: 429, Park: ParkKey, Hint: 700 * time.Millisecond, HasHint: true, NextTier: true},
	{Class: Limited, Kind: KindQuota, Status: 429, Park: ParkKey, NextTier: true},
	{Class: Limited, Kind: KindAuth, Status: 401, Park: ParkKey, NextTier: true},
	{Class: Garbled, Kind: KindJSON, Status: 200, Counts: CountsQuality, NextTier: true},
	{Class: Rejected, Kind: KindContext, Status: 400},
	{Class: Rejected, Kind: KindParam, Status: 400, Param: "seed"},
	{Class: Rejected, Kind: KindModel, Status: 404, Park: ParkUpstream, NextTier: true},
	{Class: Refused, Kind: KindFilter, Status: 400},
	{Class: Canceled, Kind: KindBug, NextTier: true},
	{Class: Rejected, Kind: KindParam, Status: 400, Param: "stream", NoStream: true},
}

func fuzzOne(t *testing.T, e *Engine, data []byte, now time.Time) ([]byte, time.Time) {
	shape := data[0]
	data = data[1:]
	c := e.Begin(now, Request{Model: "m", Caller: "x", Stream: shape&1 == 1, Streamable: true, JSON: shape&2 == 2, NoFallback: shape&12 == 12,
		NoLocal: shape&16 == 16, Retrying: shape&32 == 32, Embed: shape&0xc0 == 0xc0, Wake: func() {}})
	began := now
	var live []AttemptID
	tries, committed, spoken, served := 0, false, false, AttemptID(0)
	for steps := 0; ; steps++ {
		if steps > 5000 {
			t.Fatal("the call does not end")
		}
		s := c.Next(now)
		switch s.Kind {
		case Try:
			if tries++; tries > MaxAttempts {
				t.Fatalf("attempt %d of at most %d", tries, MaxAttempts)
			}
			if committed {
				t.Fatal("an attempt after the commit")
			}
			if now.After(c.deadline) {
				t.Fatal("an attempt after the deadline")
			}
			if len(live) > 0 && !s.Hedge || len(live) > 1 {
				t.Fatalf("%d attempts at once", len(live)+1)
			}
			if s.Hedge && spoken {
				t.Fatal("a hedge although a token is here")
			}
			spoken = false
			live = append(live, s.Attempt)
			continue
		case Drop:
			live = without(live, s.Attempt)
			continue
		case Serve:
			if len(live) > 0 {
				t.Fatal("the local tier beside an attempt")
			}
			served = s.Attempt
			continue
		case Done:
			if len(live) > 0 {
				t.Fatal("an attempt runs on")
			}
			if again := c.Next(now); again.Kind != Done {
				t.Fatal("done is not the end")
			}
			if (s.Failure == nil) == (s.Attempt == 0) {
				t.Fatalf("an ending must be an answer or a failure: %+v", s)
			}
			c.Event(now)
			return data, now
		}
		if !s.Until.IsZero() && !s.Until.After(now) {
			t.Fatalf("busy loop: wait until %s at %s", s.Until.Sub(began), now.Sub(began))
		}
		if s.Until.IsZero() && served == 0 {
			t.Fatal("a wait without an end and without a mark to come")
		}
		if served != 0 {
			o := Outcome{Class: OK}
			if shape&8 == 8 {
				o = Outcome{Class: Canceled, Kind: KindMiss}
			}
			c.Observe(now, served, Mark{Kind: Ended, Outcome: o})
			served = 0
			continue
		}
		if len(live) > 1 && committed {
			t.Fatal("two attempts after the commit")
		}
		if len(data) == 0 { // nothing more to play: only the clocks can end it
			now = s.Until
			continue
		}
		b := data[0]
		data = data[1:]
		var id AttemptID
		if len(live) > 0 {
			id = live[int(b/10)%len(live)]
		}
		switch b % 10 {
		case 0:
			c.Observe(now, id, Mark{Kind: Dialed})
		case 1:
			c.Observe(now, id, Mark{Kind: FirstByte})
		case 2, 3:
			c.Observe(now, id, Mark{Kind: Progress, Bytes: int(b)})
			spoken = id != 0
			if id != 0 && shape&1 == 1 {
				committed = true
				c.Observe(now, id, Mark{Kind: Committed})
			}
		case 4:
			now = now.Add(time.Duration(b) * 20 * time.Millisecond)
		case 5:
			now = s.Until
		case 6:
			c.Observe(now, id, Mark{Kind: Ended, Outcome: fuzzOutcomes[int(b/10)%len(fuzzOutcomes)]})
			live = without(live, id)
		case 7:
			if b > 200 {
				c.Observe(now, 0, Mark{Kind: Left})
			} else {
				c.Observe(now, AttemptID(b), Mark{Kind: Ended, Outcome: Outcome{Class: OK}})
				live = without(live, AttemptID(b))
			}
		case 8:
			c.Observe(now, 0, Mark{Kind: Paused})
		case 9:
			if e := e.Force(now, "primary", []string{"open", "auto", "closed"}[int(b/10)%3], 0); e != nil {
				t.Fatal(e)
			}
		}
	}
}
