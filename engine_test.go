package backstop

import (
	"strings"
	"testing"
	"time"

	"backstop/secret"
)

var (
	good     = healthy(300*time.Millisecond, 10*time.Millisecond, 5)
	down     = answers(5*time.Millisecond, Outcome{Class: Broken, Kind: KindServer, Status: 500, Counts: CountsModel, RetrySame: true, NextTier: true})
	overload = answers(5*time.Millisecond, Outcome{Class: Broken, Kind: KindOverload, Status: 529, Counts: CountsModel, NextTier: true})
)

func limited(hint time.Duration) behaviour {
	return answers(5*time.Millisecond, Outcome{Class: Limited, Kind: KindRate, Status: 429, Park: ParkKey, Hint: hint, HasHint: hint > 0, NextTier: true})
}

func rejected(status int, k Kind, o Outcome) behaviour {
	o.Class, o.Kind, o.Status = Rejected, k, status
	return answers(5*time.Millisecond, o)
}

func TestOneCall(t *testing.T) {
	tests := []struct {
		name            string
		plan            []func(*Plan)
		req             Request
		primary, backup behaviour
		noLocal         bool
		tier            int // -1 = error
		code            Code
		status          int
		tries           int
		atLeast, within time.Duration
		reason          string
	}{
		{name: "a healthy primary answers", primary: good, backup: good, tier: 0, tries: 1, within: 400 * time.Millisecond},
		{name: "a silent primary is left at its first-token limit", primary: silent, backup: good, tier: 1, tries: 2,
			atLeast: 4500 * time.Millisecond, within: 4900 * time.Millisecond, reason: "hang"},
		{name: "two silent upstreams end in the local tier", primary: silent, backup: silent, tier: 2, tries: 2, within: 9100 * time.Millisecond, reason: "hang"},
		{name: "a 500 is tried once more at the same upstream after the card's jitter", primary: then(down, good), backup: good, tier: 0, tries: 2,
			atLeast: 505 * time.Millisecond, within: 900 * time.Millisecond},
		{name: "two 500s go to the backup", primary: down, backup: good, tier: 1, tries: 3, within: 900 * time.Millisecond, reason: "broken/server"},
		{name: "an overload goes to the backup without a sleep", primary: overload, backup: good, tier: 1, tries: 2, within: 400 * time.Millisecond, reason: "broken/overload"},
		{name: "a rate limit goes to the backup at once", primary: limited(20 * time.Second), backup: good, tier: 1, tries: 2, within: 400 * time.Millisecond, reason: "limited/rate"},
		{name: "a caller that retries already gets no retry at the same upstream", req: Request{Retrying: true}, primary: then(down, good), backup: good,
			tier: 1, tries: 2, within: 400 * time.Millisecond, reason: "broken/server"},
		{name: "a bad request is the caller's business", primary: rejected(400, KindParam, Outcome{Message: "bad x"}), backup: good, tier: -1,
			code: CodeUpstreamRejected, status: 400, tries: 1},
		{name: "a missing model goes to the next tier", primary: rejected(404, KindModel, Outcome{NextTier: true, Park: ParkUpstream}), backup: good, tier: 1, tries: 2, reason: "rejected/model"},
		{name: "a context that is too long is not tried elsewhere", primary: rejected(400, KindContext, Outcome{}), backup: good, tier: -1,
			code: CodeUpstreamRejected, status: 400, tries: 1},
		{name: "a context that is too long goes to a tier declared larger", plan: []func(*Plan){func(p *Plan) {
			p.Routes[0].Tiers[0].Context, p.Routes[0].Tiers[1].Context = 1000, 2000
		}}, primary: rejected(400, KindContext, Outcome{}), backup: good, tier: 1, tries: 2, reason: "rejected/context"},
		{name: "a context that is too long skips a tier that is not larger", plan: []func(*Plan){func(p *Plan) {
			p.Routes[0].Tiers[0].Context, p.Routes[0].Tiers[1].Context = 2000, 2000
		}}, primary: rejected(400, KindContext, Outcome{}), backup: good, tier: -1, code: CodeUpstreamRejected, status: 400, tries: 1},
		{name: "a named parameter is left out once", primary: then(rejected(400, KindParam, Outcome{Param: "parallel_tool_calls"}), good), backup: good, tier: 0, tries: 2},
		{name: "tools are never left out", primary: rejected(400, KindParam, Outcome{Param: "tools"}), backup: good, tier: -1, code: CodeUpstreamRejected, status: 400, tries: 1},
		{name: "an upstream that refuses to stream is asked plainly", primary: then(rejected(400, KindParam, Outcome{Param: "stream", NoStream: true}), good), backup: good, tier: 0, tries: 2},
		{name: "no-fallback keeps the primary's error", req: Request{NoFallback: true}, primary: overload, backup: good, tier: -1,
			code: CodeUpstreamUnavailable, status: 529, tries: 1},
		{name: "no-local ends in an error when both are down", req: Request{NoLocal: true}, primary: overload, backup: overload, tier: -1,
			code: CodeUpstreamsExhausted, status: 503, tries: 2},
		{name: "an embedding never goes to another model or a template", req: Request{Embed: true}, plan: []func(*Plan){func(p *Plan) {
			p.Routes[0].Tiers[1].Model = "other"
		}}, primary: overload, backup: good, tier: -1, code: CodeUpstreamUnavailable, status: 529, tries: 1},
		{name: "a caller's short deadline leaves the backup its share", req: Request{Timeout: 2500 * time.Millisecond}, primary: silent, backup: good, tier: 1, tries: 2,
			within: 2500 * time.Millisecond, reason: "hang"},
		{name: "without a lower tier a named short delay is sat out", req: Request{NoFallback: true}, primary: then(limited(1500*time.Millisecond), good), backup: good,
			tier: 0, tries: 2, atLeast: 1800 * time.Millisecond, within: 2 * time.Second},
		{name: "a long delay is not sat out", req: Request{NoFallback: true}, primary: then(limited(5*time.Second), good), backup: good, tier: -1,
			code: CodeRateLimited, status: 429, tries: 1, within: 10 * time.Millisecond},
		{name: "a default park is not sat out", req: Request{NoFallback: true}, primary: then(limited(0), good), backup: good, tier: -1,
			code: CodeRateLimited, status: 429, tries: 1, within: 10 * time.Millisecond},
		{name: "retry.wait honours a named delay although a backup is free", plan: []func(*Plan){upstreamEdit("primary", func(u *Upstream) { u.Retry.Wait = 3 * time.Second })},
			primary: then(limited(2*time.Second), good), backup: good, tier: 0, tries: 2, atLeast: 2 * time.Second, within: 2600 * time.Millisecond},
		{name: "a delay that is named again and again is sat out once", plan: []func(*Plan){upstreamEdit("primary", func(u *Upstream) { u.Retry.Wait = 3 * time.Second })},
			primary: limited(time.Second), backup: good, tier: 1, tries: 3, atLeast: time.Second, within: 2600 * time.Millisecond, reason: "limited/rate"},
		{name: "an empty answer goes on", primary: answers(time.Millisecond, Outcome{Class: Garbled, Kind: KindEmpty, Status: 200, Counts: CountsModel, NextTier: true}),
			backup: good, tier: 1, tries: 2, reason: "garbled/empty"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, pair(tt.plan...))
			w.acts["primary"], w.acts["backup"] = tt.primary, tt.backup
			r := w.begin(tt.req)
			w.run(time.Minute)
			if r.over.IsZero() {
				t.Fatal("the call never ended")
			}
			if r.answered.Tier != tt.tier {
				t.Fatalf("tier %d answered, want %d (failure %v)", r.answered.Tier, tt.tier, r.answered.Failure)
			}
			if f := r.answered.Failure; tt.tier < 0 && (f.Code != tt.code || f.Status != tt.status) {
				t.Errorf("failure %s %d (%s), want %s %d", f.Code, f.Status, f.Message, tt.code, tt.status)
			}
			if len(r.tries) != tt.tries {
				t.Errorf("%d attempts, want %d", len(r.tries), tt.tries)
			}
			if d := r.took(); d < tt.atLeast || tt.within > 0 && d > tt.within {
				t.Errorf("took %s, want %s..%s", d, tt.atLeast, tt.within)
			}
			if got := r.call.Report().Reason; tt.tier > 0 && got != tt.reason {
				t.Errorf("reason %q, want %q", got, tt.reason)
			}
			w.checkIdle()
		})
	}
}

// checkIdle: every permit that was taken was given back.
func (w *world) checkIdle() {
	w.t.Helper()
	for _, u := range w.e.State(w.now).Upstreams {
		if u.Inflight != 0 {
			w.t.Errorf("upstream %s still counts %d calls in flight", u.Name, u.Inflight)
		}
		for _, s := range u.Scopes {
			if s.Waiting != 0 {
				w.t.Errorf("scope %s/%s/%s still counts %d waiting", u.Name, s.Scope, s.Model, s.Waiting)
			}
		}
	}
}

func TestTotalHangMovesWaitingCallsOver(t *testing.T) {
	w := newWorld(t, pair())
	w.acts["primary"], w.acts["backup"] = silent, healthy(5*time.Millisecond, time.Millisecond, 3)
	for i := 0; i < 500; i++ {
		w.at(time.Duration(i)*20*time.Millisecond, func() { w.begin(Request{Caller: "a"}) })
	}
	w.run(30 * time.Second)
	var over2500, over4000, local int
	for _, r := range w.calls {
		if r.answered.Failure != nil {
			t.Fatalf("a call failed: %v", r.answered.Failure)
		}
		if r.took() > 2500*time.Millisecond {
			over2500++
		}
		if r.took() > 4*time.Second {
			over4000++
		}
		if r.answered.Tier == 2 {
			local++
		}
	}
	attempts := float64(w.asked["primary"]+w.asked["backup"]) / float64(len(w.calls))
	t.Logf("of 500: %d over 2.5 s, %d over 4 s, %d local; attempts per call %.3f; primary saw %d, probes %d; %v",
		over2500, over4000, local, attempts, w.asked["primary"], w.probed["primary"], w.trans)
	if over4000 > 25 || over2500 > 125 || attempts > 1.35 || local > 100 {
		t.Error("detection is slower than the contract allows")
	}
	w.checkIdle()
}

func TestBreakerClosesByItself(t *testing.T) {
	for _, probe := range []string{"a probe that answers", "a first probe that hangs"} {
		t.Run(probe, func(t *testing.T) {
			w := newWorld(t, pair())
			broken := true
			w.acts["backup"] = good
			w.acts["primary"] = func(w *world, s Step) []timed {
				if broken {
					return silent(w, s)
				}
				return good(w, s)
			}
			w.at(10*time.Second, func() { broken = false })
			if probe == "a first probe that hangs" {
				w.probes["primary"] = then(silent, good)
			}
			for i := 0; i < 3000; i++ {
				w.at(time.Duration(i)*20*time.Millisecond, func() { w.begin(Request{}) })
			}
			w.run(90 * time.Second)
			last := w.calls[len(w.calls)-1]
			if last.answered.Tier != 0 {
				t.Errorf("the last call was answered by tier %d, want the primary again; %v", last.answered.Tier, w.trans)
			}
			for _, r := range w.calls {
				if r.answered.Failure != nil || r.took() > 4500*time.Millisecond+400*time.Millisecond {
					t.Fatalf("a call took %s, failure %v", r.took(), r.answered.Failure)
				}
			}
			w.checkIdle()
		})
	}
}

func TestOneCallAPark(t *testing.T) {
	w := newWorld(t, pair())
	hits := []time.Duration{}
	w.acts["backup"] = good
	w.acts["primary"] = func(w *world, s Step) []timed {
		hits = append(hits, w.now.Sub(epoch))
		return limited(10*time.Second)(w, s)
	}
	for i := 0; i < 3000; i++ {
		w.at(time.Duration(i)*10*time.Millisecond, func() { w.begin(Request{}) })
	}
	w.run(time.Minute)
	// The first answer comes after 5 ms, so one call asks before the park; then
	// one trial after each 10 s.
	if len(hits) != 3 || hits[1] < 10*time.Second || hits[2] < 20*time.Second || hits[1] > 11*time.Second {
		t.Errorf("the parked upstream was asked at %v, want 0 s, ~10 s, ~20 s", hits)
	}
	for _, tr := range w.trans {
		t.Errorf("a rate limit moved a breaker: %+v", tr)
	}
}

func TestKeysAreParkedNotTheUpstream(t *testing.T) {
	p := pair(upstreamEdit("primary", func(u *Upstream) {
		u.Keys = append(u.Keys, secretValue("key-a-0123456789"), secretValue("key-b-0123456789"))
	}))
	w := newWorld(t, p)
	w.acts["backup"] = good
	w.acts["primary"] = func(w *world, s Step) []timed {
		if s.Key == 0 {
			return answers(time.Millisecond, Outcome{Class: Limited, Kind: KindQuota, Status: 429, Park: ParkKey, NextTier: true})(w, s)
		}
		return good(w, s)
	}
	first := w.begin(Request{})
	w.run(5 * time.Second)
	second := w.begin(Request{})
	w.run(10 * time.Second)
	if first.answered.Tier != 0 || len(first.tries) != 2 || second.answered.Tier != 0 || len(second.tries) != 1 || second.tries[0].Key != 1 {
		t.Errorf("first %d tries on tier %d, second %d tries", len(first.tries), first.answered.Tier, len(second.tries))
	}
}

func TestAParkSaysWhatItIsForToWhoeverComesLater(t *testing.T) {
	for _, c := range []struct {
		kind   Kind
		status int
		code   Code
		word   string
	}{
		{KindAuth, 401, CodeUpstreamAuth, "our credential was refused"},
		{KindAuth, 403, CodeUpstreamAuth, "our credential was refused"},
		{KindQuota, 402, CodeQuota, "its account is used up"},
		{KindRate, 429, CodeRateLimited, "parked, again in"},
	} {
		w := newWorld(t, pair(func(p *Plan) { p.Routes[0].Tiers = p.Routes[0].Tiers[:1] }))
		w.acts["primary"] = answers(time.Millisecond, Outcome{Class: Limited, Kind: c.kind, Status: c.status, Park: ParkKey, NextTier: true, Hint: time.Minute, HasHint: true})
		w.begin(Request{})
		w.run(time.Second)
		later := w.begin(Request{})
		w.run(2 * time.Second)
		f := later.answered.Failure
		if f == nil || f.Code != c.code || f.Status != c.status || !strings.Contains(f.Message, c.word) || w.asked["primary"] != 1 {
			t.Errorf("%s by %d: %+v, asked %d times", c.kind, c.status, f, w.asked["primary"])
		}
	}
}

func TestAnOperatorWhoMendedAKeyLiftsItsPark(t *testing.T) {
	for _, state := range []string{"auto", "closed", "open"} {
		w := newWorld(t, pair(func(p *Plan) { p.Routes[0].Tiers = p.Routes[0].Tiers[:1] }))
		w.acts["primary"] = then(answers(time.Millisecond, Outcome{Class: Limited, Kind: KindAuth, Status: 401, Park: ParkKey, NextTier: true}), good)
		w.begin(Request{})
		w.run(time.Second)
		if err := w.e.Force(w.now, "primary", state, 0); err != nil {
			t.Fatal(err)
		}
		later := w.begin(Request{})
		w.run(2 * time.Second)
		if answered := later.answered.Failure == nil; answered == (state == "open") {
			t.Errorf("%s: %+v", state, later.answered)
		}
	}
}

func TestARefusalOfAnAttemptThatBeganWithTheOldKeySaysNothingAboutTheNewOne(t *testing.T) {
	refused := Outcome{Class: Limited, Kind: KindAuth, Status: 401, Park: ParkKey, NextTier: true}
	for name, c := range map[string]struct {
		renewed, began time.Duration
		parked         bool
	}{
		"renewed while it ran":               {500 * time.Millisecond, 0, false},
		"renewed at its very start":          {0, 0, false},
		"renewed before":                     {0, time.Second, true},
		"renewed once the refusal was known": {1500 * time.Millisecond, 0, false},
	} {
		w := newWorld(t, pair(func(p *Plan) {
			p.Routes[0].Tiers = p.Routes[0].Tiers[:1]
			p.Upstreams[0].Keys = []secret.Value{secret.New("a-key")}
		}))
		w.acts["primary"] = then(answers(time.Second, refused), good)
		w.at(c.renewed, func() { w.e.Rekeyed(w.now, "primary", 0, secret.New("another-key")) })
		w.at(c.began, func() { w.begin(Request{}) })
		w.run(3 * time.Second)
		w.begin(Request{})
		w.run(6 * time.Second)
		if parked := w.asked["primary"] == 1; parked != c.parked {
			t.Errorf("%s: asked %d times", name, w.asked["primary"])
		}
		w.checkIdle()
	}
}

func TestAStallAfterCommitIsAnErrorNotASecondUpstream(t *testing.T) {
	w := newWorld(t, pair())
	w.acts["backup"] = good
	w.acts["primary"] = func(*world, Step) []timed {
		return []timed{{time.Millisecond, Mark{Kind: Dialed}}, {100 * time.Millisecond, Mark{Kind: Progress, Bytes: 4}}}
	}
	r := w.begin(Request{Stream: true})
	w.run(time.Minute)
	if f := r.answered.Failure; f == nil || f.Code != CodeStreamStalled || w.asked["backup"] != 0 {
		t.Errorf("failure %v, backup asked %d times", r.answered.Failure, w.asked["backup"])
	}
	if d := r.took(); d < 10*time.Second || d > 10200*time.Millisecond {
		t.Errorf("ended after %s, want the idle limit", d)
	}
	w.checkIdle()
}

func TestTheMessageNamesTheCauseChain(t *testing.T) {
	w := newWorld(t, pair(func(p *Plan) { p.Routes[0].Tiers = p.Routes[0].Tiers[:2] }))
	w.acts["primary"], w.acts["backup"] = silent, limited(12*time.Second)
	r := w.begin(Request{})
	w.run(time.Minute)
	f := r.answered.Failure
	if f == nil || f.Code != CodeUpstreamsExhausted {
		t.Fatalf("failure %v", f)
	}
	for _, want := range []string{"primary primary: no token for 4500 ms", "backup backup: 429, retry in 12 s", "no local tier"} {
		if !strings.Contains(f.Message, want) {
			t.Errorf("message %q lacks %q", f.Message, want)
		}
	}
}

func TestACallerWhoLeavesIsNeutral(t *testing.T) {
	w := newWorld(t, pair())
	w.acts["primary"], w.acts["backup"] = healthy(time.Second, time.Millisecond, 3), good
	for i := 0; i < 40; i++ {
		r := w.begin(Request{Caller: "a", Stream: true})
		leave := 300 * time.Millisecond
		if i%2 == 0 {
			leave = 1001 * time.Millisecond
		}
		w.at(leave, func() {
			r.call.Observe(w.now, 0, Mark{Kind: Left})
			w.step(r)
		})
	}
	w.run(10 * time.Second)
	r := w.begin(Request{})
	w.run(20 * time.Second)
	if r.answered.Tier != 0 || len(w.trans) != 0 {
		t.Errorf("tier %d, transitions %v", r.answered.Tier, w.trans)
	}
	w.checkIdle()
}

func secretValue(s string) secret.Value { return secret.New(s) }

func TestSilenceIsToldBeforeTheBreakerKnows(t *testing.T) {
	w := newWorld(t, pair())
	w.acts["primary"], w.acts["backup"] = silent, good
	for i := 0; i < 100; i++ {
		w.at(time.Duration(i)*20*time.Millisecond, func() { w.begin(Request{}) })
	}
	w.run(400 * time.Millisecond)
	if s := w.e.Silences(w.now); len(s) != 0 {
		t.Errorf("after 0.4 s: %+v", s)
	}
	w.run(1500 * time.Millisecond)
	if s := w.e.Silences(w.now); len(s) != 1 || s[0].Upstream != "primary" || s[0].Calls < 70 {
		t.Errorf("after 1.5 s: %+v", s)
	}
	w.run(time.Minute)
	if s := w.e.Silences(w.now); len(s) != 0 {
		t.Errorf("when all is over: %+v", s)
	}
}

func TestATrialSettingIsHeardAndNeverActs(t *testing.T) {
	trial := DefaultUpstream().Breaker
	trial.Failures = 2
	w := newWorld(t, pair(upstreamEdit("primary", func(u *Upstream) { u.Trial = &trial })))
	w.acts["primary"], w.acts["backup"] = then(overload, overload, overload, good), good
	for i := 0; i < 3; i++ {
		w.begin(Request{})
		w.run(time.Duration(i+1) * time.Second)
	}
	last := w.begin(Request{})
	w.run(10 * time.Second)
	if last.answered.Tier != 0 {
		t.Errorf("tier %d answered: the trial acted", last.answered.Tier)
	}
	if len(w.trans) != 1 || !w.trans[0].Trial || w.trans[0].To != "open" {
		t.Errorf("transitions %+v, want one of the trial", w.trans)
	}
}

func TestModelNamesThatCallersMakeUpBreakNobodyElse(t *testing.T) {
	w := newWorld(t, pair(func(p *Plan) {
		r := p.Routes[0]
		r.Model = "named"
		p.Routes = append([]Route{r}, p.Routes...)
	}))
	w.acts["backup"] = good
	w.acts["primary"] = func(w *world, s Step) []timed {
		if strings.HasPrefix(s.Model, "junk") {
			return rejected(404, KindModel, Outcome{Park: ParkUpstream, NextTier: true})(w, s)
		}
		return good(w, s)
	}
	first := w.begin(Request{Model: "named"})
	w.run(time.Second)
	for i := 0; i < 1000; i++ {
		w.begin(Request{Model: "junk-" + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + time.Duration(i).String()})
	}
	w.run(10 * time.Second)
	named, other := w.begin(Request{Model: "named"}), w.begin(Request{Model: "gpt-real"})
	w.run(20 * time.Second)
	if first.answered.Tier != 0 || named.answered.Tier != 0 || other.answered.Tier != 0 {
		t.Errorf("tiers %d, %d, %d answered, want the primary", first.answered.Tier, named.answered.Tier, other.answered.Tier)
	}
	if n := len(w.e.ups[0].models.list); n > maxModels+1 {
		t.Errorf("%d scopes are kept", n)
	}
	if w.e.ups[0].models.byName["named"] == nil {
		t.Error("a model of the plan was forgotten")
	}
	w.checkIdle()
}

func TestRepeatedHangsDoNotSwitchTheEvidenceOff(t *testing.T) {
	w := newWorld(t, pair())
	hung := false
	w.acts["backup"] = healthy(5*time.Millisecond, time.Millisecond, 3)
	w.acts["primary"] = func(w *world, s Step) []timed {
		if hung {
			return silent(w, s)
		}
		return healthy(5*time.Millisecond, time.Millisecond, 3)(w, s)
	}
	const outages = 5
	for i := 0; i < outages; i++ {
		w.at(time.Duration(i)*60*time.Second+30*time.Second, func() { hung = true })
		w.at(time.Duration(i)*60*time.Second+38*time.Second, func() { hung = false })
	}
	for i := 0; i < 30*60*outages; i++ {
		w.at(time.Duration(i)*time.Second/30, func() { w.begin(Request{Caller: "a"}) })
	}
	w.run(60*outages*time.Second + 30*time.Second)
	var worst time.Duration
	for _, r := range w.calls {
		worst = max(worst, r.took())
	}
	if worst > 1500*time.Millisecond {
		t.Errorf("a call waited %s: the suspicion age grew with each outage", worst)
	}
	w.checkIdle()
}

func TestAPauseDoesNotLengthenTheTimeThatACallerGives(t *testing.T) {
	for timeout, most := range map[time.Duration]time.Duration{
		2 * time.Second: 3500 * time.Millisecond,
		0:               16 * time.Second,
	} {
		w := newWorld(t, pair())
		w.acts["primary"], w.acts["backup"] = silent, silent
		run := w.begin(Request{Timeout: timeout, NoFallback: true, NoLocal: true})
		w.at(1500*time.Millisecond, func() {
			run.call.Observe(w.now, 0, Mark{Kind: Paused})
			w.step(run)
		})
		run.waits++ // the process stands still until then: its timers are late
		w.run(time.Minute)
		if run.answered.Failure == nil || run.took() > most {
			t.Errorf("with %s: over after %s: %v", timeout, run.took(), run.answered.Failure)
		}
	}
}
