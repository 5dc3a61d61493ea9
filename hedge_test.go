package backstop

import (
	"slices"
	"testing"
	"time"
)

const hedgeAfter = 600 * time.Millisecond

func hedging(edit ...func(*Plan)) *Plan {
	return pair(append([]func(*Plan){func(p *Plan) {
		p.Routes[0].Hedge.After = hedgeAfter
		p.Upstreams[0].Retry.Max = 0
	}}, edit...)...)
}

var (
	failing  = Outcome{Class: Broken, Kind: KindServer, Status: 500, Counts: CountsModel, RetrySame: true, NextTier: true}
	misasked = Outcome{Class: Rejected, Kind: KindParam, Status: 400, Message: "no such role"}
	tooLong  = Outcome{Class: Rejected, Kind: KindContext, Status: 400, NextTier: true}
)

// raced is what one call with a hedge came to.
type raced struct {
	asked    []string      // upstreams in order
	tier     int           // that answered, -1 = none
	took     time.Duration // the call
	outcomes []string      // of the attempts
}

func race(w *world, r Request) raced {
	run := w.begin(r)
	w.run(time.Minute)
	out := raced{tier: run.answered.Tier, took: run.took()}
	for _, s := range run.tries {
		out.asked = append(out.asked, s.Upstream.Name)
	}
	for _, a := range run.call.Event(w.now).Attempts {
		out.outcomes = append(out.outcomes, a.Outcome.Reason())
	}
	if run.answered.Failure != nil {
		out.tier = -1
	}
	return out
}

func TestAHedgeRace(t *testing.T) {
	const ms = time.Millisecond
	quick, slow := healthy(300*ms, 10*ms, 5), healthy(2*time.Second, 10*ms, 5)
	for name, c := range map[string]struct {
		primary, backup behaviour
		plan            func(*Plan)
		stream          bool
		want            raced
	}{
		"is won by the tier below, and the slow attempt is dropped": {slow, quick, nil, true,
			raced{[]string{"primary", "backup"}, 1, 950 * ms, []string{"canceled/hedge", "ok"}}},
		"is the same for one body": {slow, quick, nil, false,
			raced{[]string{"primary", "backup"}, 1, 950 * ms, []string{"canceled/hedge", "ok"}}},
		"is won by the first tier if its token comes first": {healthy(800*ms, 10*ms, 5), quick, nil, true,
			raced{[]string{"primary", "backup"}, 0, 850 * ms, []string{"ok", "canceled/hedge"}}},
		"does not begin if the first token is in time": {healthy(500*ms, 10*ms, 50), quick, nil, true,
			raced{[]string{"primary"}, 0, time.Second, []string{"ok"}}},
		"goes on alone when the first tier fails": {answers(700*ms, failing), quick, func(p *Plan) { p.Upstreams[0].Retry.Max = 1 }, true,
			raced{[]string{"primary", "backup"}, 1, 950 * ms, []string{"broken/server", "ok"}}},
		"is lost without harm when the hedge fails": {slow, answers(50*ms, failing), nil, true,
			raced{[]string{"primary", "backup"}, 0, 2050 * ms, []string{"ok", "broken/server"}}},
		"leaves the tier of a failed hedge alone when the first fails as well": {answers(700*ms, failing), answers(50*ms, failing), nil, true,
			raced{[]string{"primary", "backup"}, 2, 700 * ms, []string{"broken/server", "broken/server"}}},
		"ends with the caller's own mistake, whoever finds it first": {answers(700*ms, misasked), slow, nil, true,
			raced{[]string{"primary", "backup"}, -1, 700 * ms, []string{"rejected/param", "canceled/hedge"}}},
		"is not ended by what only the hedge's upstream rejects": {slow, answers(50*ms, misasked), nil, true,
			raced{[]string{"primary", "backup"}, 0, 2050 * ms, []string{"ok", "rejected/param"}}},
		"goes on where there is room for a call that is too long": {answers(700*ms, tooLong), quick, func(p *Plan) {
			p.Routes[0].Tiers[0].Context, p.Routes[0].Tiers[1].Context = 1000, 2000
		}, true, raced{[]string{"primary", "backup"}, 1, 950 * ms, []string{"rejected/context", "ok"}}},
		"drops a hedge where there is no room either": {answers(700*ms, tooLong), slow, func(p *Plan) {
			p.Routes[0].Tiers[0].Context, p.Routes[0].Tiers[1].Context = 1000, 1000
		}, true, raced{[]string{"primary", "backup"}, -1, 700 * ms, []string{"rejected/context", "canceled/hedge"}}},
		"of two silent upstreams ends with the first limit, then the second": {silent, silent, nil, true,
			raced{[]string{"primary", "backup"}, 2, 5100 * ms, []string{"hang/first_token", "hang/first_token"}}},
	} {
		t.Run(name, func(t *testing.T) {
			p := hedging()
			if c.plan != nil {
				c.plan(p)
			}
			w := newWorld(t, p)
			w.acts["primary"], w.acts["backup"] = c.primary, c.backup
			got := race(w, Request{Stream: c.stream})
			if !slices.Equal(got.asked, c.want.asked) || got.tier != c.want.tier || got.took != c.want.took || !slices.Equal(got.outcomes, c.want.outcomes) {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
			for _, u := range w.e.State(w.now).Upstreams {
				if u.Inflight != 0 {
					t.Errorf("%s keeps %d permits", u.Name, u.Inflight)
				}
			}
		})
	}
}

func TestNoHedgeFor(t *testing.T) {
	for name, c := range map[string]struct {
		req  Request
		plan func(*Plan)
	}{
		"a call that is stored or bound to its upstream": {Request{Once: true}, nil},
		"a call whose caller retries":                    {Request{Retrying: true}, nil},
		"a call that wants its first tier alone":         {Request{NoFallback: true}, nil},
		"embeddings that other vectors would answer":     {Request{Embed: true}, func(p *Plan) { p.Routes[0].Tiers[1].Model = "other" }},
		"a route without the setting":                    {Request{}, func(p *Plan) { p.Routes[0].Hedge = HedgeSettings{} }},
		"a time that the attempt does not have":          {Request{}, func(p *Plan) { p.Routes[0].Hedge.After = 4500 * time.Millisecond }},
		"a second tier at the same upstream":             {Request{}, func(p *Plan) { p.Routes[0].Tiers[1].Upstream = "primary" }},
		"a budget that is spent":                         {Request{}, func(p *Plan) { p.Upstreams[0].Retry.Budget = 0 }},
	} {
		t.Run(name, func(t *testing.T) {
			p := hedging()
			if c.plan != nil {
				c.plan(p)
			}
			w := newWorld(t, p)
			w.acts["primary"], w.acts["backup"] = healthy(2*time.Second, time.Millisecond, 5), healthy(300*time.Millisecond, time.Millisecond, 5)
			if got := race(w, c.req); len(got.asked) != 1 || got.tier != 0 {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestAHedgeGoesToTheNextTierThatMayServe(t *testing.T) {
	p := hedging(func(p *Plan) {
		third := p.Upstreams[1]
		third.Name, third.BaseURL = "third", "http://127.0.0.1:3/v1"
		p.Upstreams = append(p.Upstreams, third)
		p.Routes[0].Tiers = slices.Insert(p.Routes[0].Tiers, 2, Tier{Upstream: "third"})
	})
	w := newWorld(t, p)
	w.acts["primary"], w.acts["third"] = silent, healthy(300*time.Millisecond, time.Millisecond, 5)
	if err := w.e.Force(w.now, "backup", "open", 0); err != nil {
		t.Fatal(err)
	}
	if got := race(w, Request{}); !slices.Equal(got.asked, []string{"primary", "third"}) || got.tier != 2 {
		t.Errorf("%+v", got)
	}
}

func TestHedgesArePaidBySuccessesOfTheUpstreamThatIsWaitedFor(t *testing.T) {
	p := hedging(upstreamEdit("primary", func(u *Upstream) { u.Breaker.Hang = false }))
	w := newWorld(t, p)
	w.acts["primary"], w.acts["backup"] = silent, healthy(300*time.Millisecond, time.Millisecond, 5)
	for range 40 {
		w.begin(Request{Stream: true})
	}
	w.run(time.Minute)
	hedges := 0
	for _, r := range w.calls {
		for _, s := range r.tries {
			if s.Hedge {
				hedges++
			}
		}
	}
	if hedges != 10 {
		t.Errorf("a dead upstream paid for %d hedges, its bucket holds 10", hedges)
	}
}

func TestAHedgeThatFindsNoTierCostsNothing(t *testing.T) {
	w := newWorld(t, hedging())
	w.acts["primary"] = healthy(2*time.Second, time.Millisecond, 5)
	if err := w.e.Force(w.now, "backup", "open", 0); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		w.begin(Request{Stream: true})
	}
	w.run(time.Minute)
	if left := w.e.State(w.now).Upstreams[0].Budget; left != 10 {
		t.Errorf("%g permits are left of 10", left)
	}
}

func TestAutoHedgesWaitForOneAndAHalfTimesTheP95(t *testing.T) {
	w := newWorld(t, hedging(func(p *Plan) { p.Routes[0].Hedge = HedgeSettings{Auto: true} }))
	w.acts["primary"], w.acts["backup"] = healthy(200*time.Millisecond, time.Millisecond, 5), healthy(100*time.Millisecond, time.Millisecond, 5)
	for range 40 {
		w.begin(Request{Stream: true})
		w.run(w.now.Sub(epoch) + time.Second)
	}
	p95, _ := w.e.byName["primary"].model("m").chat.FirstToken95()
	w.acts["primary"] = silent
	run := w.begin(Request{Stream: true})
	began := w.now
	w.run(w.now.Sub(epoch) + time.Second)
	if len(run.tries) != 2 || !run.tries[1].Hedge {
		t.Fatalf("%d attempts", len(run.tries))
	}
	at := run.call.attempts[1].began.Sub(began)
	if at != p95*3/2 {
		t.Errorf("the hedge began after %s, the p95 is %s", at, p95)
	}
}

// What hedges cut off must not be missing from the p95: the wait is a sample of
// at least its length. It is no failure.
func TestALostAttemptIsASampleAndNoFailure(t *testing.T) {
	w := newWorld(t, hedging())
	w.acts["primary"], w.acts["backup"] = healthy(2*time.Second, time.Millisecond, 5), healthy(300*time.Millisecond, time.Millisecond, 5)
	for range 10 {
		w.begin(Request{Stream: true})
		w.run(w.now.Sub(epoch) + time.Second)
	}
	b := w.e.byName["primary"].model("m").chat
	if p95, n := b.FirstToken95(); n != 10 || p95 < 900*time.Millisecond {
		t.Errorf("%d samples, p95 %s, want 10 of 900 ms", n, p95)
	}
	if i := b.Info(w.now); i.Run != 0 || i.State.String() != "closed" {
		t.Errorf("%+v", i)
	}
}

func TestACallerWhoLeavesTakesBothAttemptsAlong(t *testing.T) {
	w := newWorld(t, hedging())
	w.acts["primary"], w.acts["backup"] = silent, silent
	run := w.begin(Request{Stream: true})
	w.run(time.Second)
	run.call.Observe(w.now, 0, Mark{Kind: Left})
	w.step(run)
	if len(run.live) != 0 || run.answered.Failure == nil || run.answered.Failure.Code != CodeCanceled {
		t.Errorf("%d attempts run on, %+v", len(run.live), run.answered)
	}
	if run = w.begin(Request{Stream: true}); run.over.IsZero() {
		w.run(2 * time.Second)
		run.call.Observe(w.now, 0, Mark{Kind: Aborted})
		if w.step(run); len(run.live) != 0 || run.answered.Failure.Code != CodeDraining {
			t.Errorf("%d attempts run on, %+v", len(run.live), run.answered)
		}
	}
}

func TestAProbeIsNotHedged(t *testing.T) {
	w := newWorld(t, hedging(upstreamEdit("primary", func(u *Upstream) { u.Breaker.Failures = 1 })))
	w.acts["primary"], w.acts["backup"] = answers(50*time.Millisecond, failing), healthy(300*time.Millisecond, time.Millisecond, 5)
	w.probes["primary"] = healthy(100*time.Millisecond, time.Millisecond, 1)
	w.begin(Request{Stream: true})
	w.run(10 * time.Second) // opened, and half-open after a probe
	w.acts["primary"] = healthy(1200*time.Millisecond, time.Millisecond, 5)
	run := w.begin(Request{Stream: true})
	w.run(20 * time.Second)
	if len(run.tries) != 1 || !run.tries[0].Probe || run.answered.Tier != 0 {
		t.Errorf("%d attempts, answered by tier %d", len(run.tries), run.answered.Tier)
	}
	if s := w.e.byName["primary"].model("m").chat.Info(w.now).State.String(); s != "closed" {
		t.Errorf("the breaker is %s", s)
	}
}
