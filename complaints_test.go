package backstop

import (
	"fmt"
	"testing"
	"time"
)

// asks is a call with promised JSON, and what became of it at the model.
type asks struct {
	caller string
	schema uint64
	how    string // ok | own | none
}

// settleAll plays calls one after the other, 100 ms apart, and reports whether
// the quality breaker opened.
func settleAll(t *testing.T, list []asks, edit func(*Upstream)) bool {
	t.Helper()
	p := pair(upstreamEdit("primary", edit))
	now, opened := time.Unix(1700000000, 0), false
	e := NewEngine(p, EngineOptions{Now: now, Notify: func(tr Transition) {
		if tr.Upstream == "primary" && tr.Scope == "quality" && tr.To == "open" {
			opened = true
		}
	}})
	for _, x := range list {
		c := e.Begin(now, Request{ID: fmt.Sprint(now), Model: "gpt-4o", Caller: x.caller, JSON: true, Schema: x.schema})
		for s := c.Next(now); s.Kind != Done; s = c.Next(now) {
			if s.Kind != Try && s.Kind != Serve {
				t.Fatalf("step %+v", s)
			}
			o := Outcome{Class: OK, Status: 200}
			if x.how != "ok" && s.Tier == 0 {
				o = Outcome{Class: Garbled, Kind: KindJSON, Status: 200, Counts: CountsQuality, NextTier: true, OwnSchema: x.how == "own"}
			}
			c.Observe(now, s.Attempt, Mark{Kind: Ended, Outcome: o})
		}
		now = now.Add(100 * time.Millisecond)
	}
	return opened
}

func TestNoSchemaOfOneCallerOpensTheBreakerOfAll(t *testing.T) {
	repeat := func(n int, list ...asks) (out []asks) {
		for range n {
			out = append(out, list...)
		}
		return out
	}
	many := func(n int, caller string) (out []asks) {
		for i := range n {
			out = append(out, asks{caller, uint64(100 + i), "own"})
		}
		return out
	}
	bad, fine := asks{"a", 7, "own"}, asks{"b", 0, "ok"}
	for name, c := range map[string]struct {
		list  []asks
		opens bool
	}{
		"one caller's, another is there":              {append([]asks{fine}, repeat(40, bad)...), false},
		"one caller's, another comes now and then":    {repeat(10, fine, bad, bad, bad, bad, bad), false},
		"one caller's of many kinds":                  {append([]asks{fine}, many(40, "a")...), false},
		"one schema of the only caller's":             {append([]asks{{"a", 0, "ok"}}, repeat(40, bad)...), false},
		"one schema that several callers bring":       {append([]asks{fine}, repeat(20, bad, asks{"c", 7, "own"})...), false},
		"all schemas of the only caller":              {many(20, "a"), true},
		"the only schema of the only caller":          {repeat(20, bad), true},
		"schemas of several callers":                  {repeat(20, bad, asks{"b", 8, "own"}), true},
		"the only schema, of several callers":         {repeat(20, bad, asks{"b", 7, "own"}), true},
		"no JSON at all":                              {append([]asks{fine}, repeat(20, asks{"a", 7, "none"})...), true},
		"no JSON for one, a schema broken of another": {repeat(20, bad, asks{"b", 0, "none"}), true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := settleAll(t, c.list, func(*Upstream) {}); got != c.opens {
				t.Errorf("opened: %v, want %v", got, c.opens)
			}
		})
	}
	literal := func(u *Upstream) { u.Breaker.Literal = true }
	if !settleAll(t, append([]asks{fine}, repeat(40, bad)...), literal) {
		t.Error("the literal card counts every failure")
	}
}

func TestComplaintsAreForgottenAndBounded(t *testing.T) {
	var l complaintLedger
	now, window := time.Unix(1700000000, 0), 30*time.Second
	l.heard(now, 1, 0)
	l.heard(now, 2, 7)
	for i, want := range []bool{true, false} {
		if l.counts(now, 2, 7, true, window) != want {
			t.Errorf("one counts, and no second one: complaint %d", i)
		}
	}
	now = now.Add(window + 1)
	for i := range 2 {
		if !l.counts(now, 2, 7, true, window) {
			t.Errorf("who is alone counts in full: complaint %d", i)
		}
	}
	for i := range uint64(3 * maxComplaints) {
		l.counts(now, i, i, false, window)
	}
	if len(l.entries) != maxComplaints || cap(l.entries) > 2*maxComplaints {
		t.Errorf("%d entries", len(l.entries))
	}
}
