package backstop

import (
	"testing"
	"time"
)

// cut streams some tokens and breaks.
func cut(o Outcome) behaviour {
	return func(*world, Step) []timed {
		return []timed{{time.Millisecond, Mark{Kind: Dialed}}, {100 * time.Millisecond, Mark{Kind: Progress, Bytes: 4}},
			{200 * time.Millisecond, Mark{Kind: Progress, Bytes: 4}}, {300 * time.Millisecond, Mark{Kind: Ended, Outcome: o}}}
	}
}

// takesOver reproduces the text up to the seam and goes on.
func takesOver(seam time.Duration, o Outcome) behaviour {
	return func(*world, Step) []timed {
		return []timed{{time.Millisecond, Mark{Kind: Dialed}}, {50 * time.Millisecond, Mark{Kind: Progress, Bytes: 4}},
			{seam, Mark{Kind: Seam}}, {seam + 100*time.Millisecond, Mark{Kind: Progress, Bytes: 4}}, {seam + 200*time.Millisecond, Mark{Kind: Ended, Outcome: o}}}
	}
}

func TestRescueOfACommittedStream(t *testing.T) {
	broke := Outcome{Class: Garbled, Kind: KindCut, Status: 200, Counts: CountsModel, NextTier: true}
	diverged := Outcome{Class: Garbled, Kind: KindDiverged, Status: 200}
	fine := Outcome{Class: OK, Status: 200}
	tests := []struct {
		name    string
		rescue  string
		req     Request
		primary Outcome
		backup  behaviour
		code    Code // "" = answered
		word    string
		backups int
	}{
		{"the next tier takes a cut stream over", "splice", Request{Rescuable: true}, broke, takesOver(time.Second, fine), "", "spliced", 1},
		{"off means the error frame", "off", Request{Rescuable: true}, broke, takesOver(time.Second, fine), CodeStreamIncomplete, "", 0},
		{"a tool call that began is never taken over", "splice", Request{Rescuable: true}, Outcome{Class: Garbled, Kind: KindCut, Counts: CountsModel, NoRescue: true}, takesOver(time.Second, fine), CodeStreamIncomplete, "", 0},
		{"a call with several choices is never taken over", "splice", Request{}, broke, takesOver(time.Second, fine), CodeStreamIncomplete, "", 0},
		{"no-fallback forbids the rescue", "splice", Request{Rescuable: true, NoFallback: true}, broke, takesOver(time.Second, fine), CodeStreamIncomplete, "", 0},
		{"a text that diverges ends in the first error", "splice", Request{Rescuable: true}, broke, takesOver(time.Second, diverged), CodeStreamIncomplete, "failed", 1},
		{"continue asks for the rest after a divergence", "continue", Request{Rescuable: true}, broke, then(takesOver(time.Second, diverged), takesOver(time.Second, fine)), "", "continued", 2},
		{"a rescuer that is too slow to the seam is given up", "splice", Request{Rescuable: true}, broke, takesOver(5*time.Second, fine), CodeStreamIncomplete, "failed", 1},
		{"a silent rescuer is given up", "splice", Request{Rescuable: true}, broke, silent, CodeStreamIncomplete, "failed", 1},
		{"a rescuer that is refused is not waited for", "splice", Request{Rescuable: true}, broke, limited(time.Second), CodeStreamIncomplete, "failed", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, pair(func(p *Plan) { p.Routes[0].Stream.Rescue = tt.rescue }))
			w.acts["primary"], w.acts["backup"] = cut(tt.primary), tt.backup
			tt.req.Stream = true
			r := w.begin(tt.req)
			w.run(time.Minute)
			if r.over.IsZero() {
				t.Fatal("the call never ended")
			}
			f := r.answered.Failure
			if tt.code == "" && f != nil || tt.code != "" && (f == nil || f.Code != tt.code) {
				t.Errorf("failure %v, want %q", f, tt.code)
			}
			if got := r.call.Event(w.now).Rescued; got != tt.word {
				t.Errorf("rescued %q, want %q", got, tt.word)
			}
			if w.asked["backup"] != tt.backups {
				t.Errorf("the backup was asked %d times, want %d", w.asked["backup"], tt.backups)
			}
			w.checkIdle()
		})
	}
}

func TestPromisedJSONIsAskedForOnceMore(t *testing.T) {
	bad := answers(10*time.Millisecond, Outcome{Class: Garbled, Kind: KindJSON, Status: 200, Counts: CountsQuality, NextTier: true})
	short := answers(10*time.Millisecond, Outcome{Class: Garbled, Kind: KindTruncated, Status: 200, NextTier: true, Spare: true})
	tests := []struct {
		name            string
		invalid         string
		primary, backup behaviour
		local           bool
		tier, tries     int
		code            Code
	}{
		{"a second question is answered well", "reask", then(bad, good), good, true, 0, 2, ""},
		{"a second bad answer goes to the next tier", "reask", bad, good, true, 1, 3, ""},
		{"next goes to the next tier at once", "next", bad, good, true, 1, 2, ""},
		{"error ends the call", "error", bad, good, true, -1, 1, CodeJSONInvalid},
		{"a truncated document is never asked for again", "reask", short, good, true, 1, 2, ""},
		{"a truncated document is delivered when nothing better is left", "reask", short, overload, false, 0, 2, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, pair(func(p *Plan) { p.Routes[0].JSON.Invalid = tt.invalid }))
			w.acts["primary"], w.acts["backup"], w.local = tt.primary, tt.backup, tt.local
			r := w.begin(Request{JSON: true, Reask: true})
			w.run(time.Minute)
			if r.answered.Tier != tt.tier || len(r.tries) != tt.tries {
				t.Errorf("tier %d after %d tries, want %d after %d (%v)", r.answered.Tier, len(r.tries), tt.tier, tt.tries, r.answered.Failure)
			}
			if tt.code != "" && (r.answered.Failure == nil || r.answered.Failure.Code != tt.code) {
				t.Errorf("failure %v, want %s", r.answered.Failure, tt.code)
			}
			if tt.name == "a second question is answered well" && r.tries[1].Reask != r.tries[0].Attempt {
				t.Error("the second try does not name the answer it is about")
			}
			w.checkIdle()
		})
	}
}

func TestWhenEverythingIsOpenOneCallATimeIsTheLastHope(t *testing.T) {
	w := newWorld(t, pair(func(p *Plan) {
		p.Routes[0].Tiers = p.Routes[0].Tiers[:1]
		p.Upstreams[0].Breaker.Probe = ProbeLive
	}))
	w.acts["primary"] = overload
	for i := 0; i < 6; i++ {
		w.begin(Request{})
		w.run(time.Duration(i+1) * 10 * time.Millisecond)
	}
	if w.asked["primary"] != 5 {
		t.Fatalf("asked %d times, want 5: right after it opened nobody is let through", w.asked["primary"])
	}
	w.run(6 * time.Second)
	w.acts["primary"] = silent
	for i := 0; i < 10; i++ {
		w.begin(Request{})
	}
	if w.asked["primary"] != 6 {
		t.Errorf("asked %d times, want one call more", w.asked["primary"])
	}
	w.run(time.Minute)
	w.acts["primary"] = good
	r := w.begin(Request{})
	w.run(2 * time.Minute)
	if r.answered.Tier != 0 {
		t.Errorf("the upstream is back, but tier %d answered: %v", r.answered.Tier, r.answered.Failure)
	}
	w.checkIdle()
}
