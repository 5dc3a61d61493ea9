package backstop

import (
	"testing"
	"time"
)

// BenchmarkCall is the cost of all decisions of one healthy call.
func BenchmarkCall(b *testing.B) {
	e := NewEngine(pair(upstreamEdit("primary", func(u *Upstream) { u.Limits.Rate = 0 })), EngineOptions{Now: epoch})
	now := epoch
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(time.Millisecond)
		c := e.Begin(now, Request{ID: "a-request-id", Model: "m", Caller: "a", Streamable: true, Wake: func() {}})
		s := c.Next(now)
		c.Next(now)
		c.Observe(now, s.Attempt, Mark{Kind: Dialed})
		c.Observe(now, s.Attempt, Mark{Kind: FirstByte})
		c.Observe(now, s.Attempt, Mark{Kind: Progress})
		c.Observe(now, s.Attempt, Mark{Kind: Ended, Outcome: Outcome{Class: OK, Status: 200}})
		if c.Next(now).Kind != Done {
			b.Fatal("not done")
		}
	}
}

// BenchmarkProgress is what one more token of a running stream costs.
func BenchmarkProgress(b *testing.B) {
	e := NewEngine(pair(), EngineOptions{Now: epoch})
	now := epoch
	c := e.Begin(now, Request{Model: "m", Stream: true, Streamable: true})
	s := c.Next(now)
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(time.Millisecond)
		c.Observe(now, s.Attempt, Mark{Kind: Progress, Bytes: 4})
		c.Next(now)
	}
}
