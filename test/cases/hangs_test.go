package cases

import (
	"strings"
	"sync"
	"testing"
)

// Section 1: hangs, stalls, timeouts, connections.

func TestF01SilentFromTheFirstByte(t *testing.T) {
	t.Parallel()
	rows := map[string]struct {
		call  call
		aloof bool
	}{
		"a stream":            {call: call{stream: true}},
		"b plain":             {call: call{}},
		"c 2 MiB unread body": {call: call{stream: true, more: `"x":"` + strings.Repeat("y", 2<<20) + `"`}, aloof: true},
	}
	for name, row := range rows {
		t.Run(name+", a backup", func(t *testing.T) {
			t.Parallel()
			p, b := pair(t, hold)
			p.aloof.Store(row.aloof)
			if row.aloof {
				p.play(func(x *exchange) {
					x.at(9)
					close(x.line.thaw)
					x.hold()
				})
			}
			g := start(t, setup{primary: p, backup: b, scaled: true})
			a := g.ask(row.call)
			a.fromBackup("hang")
			near(t, "the answer", a.took, usual.sec(4.5))
			p.saw(1)
			g.tried("primary", "hang/first_token")
			g.counts("primary", 1)
		})
		if row.aloof {
			continue
		}
		t.Run(name+", nobody else", func(t *testing.T) {
			t.Parallel()
			p := newFake(t, "primary", hold)
			g := start(t, setup{primary: p, scaled: true})
			a := g.ask(row.call)
			r := a.refused(504, "upstream_timeout")
			if r.fault == nil || r.fault.Type == nil || *r.fault.Type != "timeout_error" {
				t.Errorf("the type is not timeout_error\n%s", a.show())
			}
			near(t, "the error", a.took, usual.sec(4.5))
			g.tried("primary", "hang/first_token")
		})
		t.Run(name+", the fifth opens", func(t *testing.T) {
			t.Parallel()
			p, b := pair(t, hold)
			g := start(t, setup{primary: p, backup: b, scaled: true})
			for _, a := range g.together(5, row.call) {
				a.fromBackup("hang")
			}
			if c := g.state("primary"); c.State != "open" {
				t.Errorf("after 5 failures the breaker is %s", c.State)
			}
			g.straightAway(row.call)
			p.saw(5)
		})
	}
}

func TestF02WarmButTokenless(t *testing.T) {
	t.Parallel()
	rows := map[string]script{
		"a pings": then(opened(), func(x *exchange) {
			x.at(0.2)
			x.event(role())
			x.every(1, 1, ": ping")
		}),
		"b empty deltas": then(opened(), func(x *exchange) { x.every(0, 1, ch(`{"content":""}`, "null")) }),
	}
	for name, s := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, b := pair(t, s)
			g := start(t, setup{primary: p, backup: b, scaled: true})
			a := g.ask(call{stream: true})
			a.fromBackup("hang")
			near(t, "the status line", a.opened, usual.sec(4.5))
			g.tried("primary", "hang/first_token")
			g.counts("primary", 1)
		})
	}
}

func TestF03KeepAlivesHideAStall(t *testing.T) {
	t.Parallel()
	call1 := ch(`{"tool_calls":[{"index":0,"id":"t1","type":"function","function":{"name":"f","arguments":""}}]}`, "null")
	p, b := pair(t, then(opened(role(), tok("a"), call1), func(x *exchange) { x.every(1, 1, ": keep-alive") }))
	g := start(t, setup{primary: p, backup: b, scaled: true})
	a := g.ask(call{stream: true})
	a.brokenOff("a", "stream_stalled")
	near(t, "the error frame", a.took, usual.sec(4.5))
	b.saw(0)
	g.tried("primary", "hang/idle")
	g.counts("primary", 1)
	if r := g.last(1); !r.Committed {
		t.Errorf("the record does not say that the call was committed: %+v", r)
	}
}

func TestF04SlowButHealthyIsNotCut(t *testing.T) {
	t.Parallel()
	const p40 pace = 40 // 120 s are 3 s here
	commented := then(opened(), func(x *exchange) {
		for s := 5.0; s < 94 && x.at(s); s += 5 {
			x.event(": still thinking")
		}
		if x.at(94) {
			x.event(role(), tok("a"), tok("b"), end("stop"), usage(10, 2), done)
			x.cleanEnd()
		}
	})
	rows := map[string]struct {
		script script
		text   string
		think  int
	}{
		"a comments for 94 s": {commented, "ab", 0},
		"c reasoning for 60 s": {then(opened(role()), func(x *exchange) {
			for s := 2.0; s <= 60 && x.at(s); s += 2 {
				x.event(ch(`{"reasoning_content":"hm"}`, "null"))
			}
			x.event(tok("a"), end("stop"), done)
			x.cleanEnd()
		}), "a", 30},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, b := pair(t, row.script)
			p.pace = p40
			g := start(t, setup{primary: p, backup: b, first: p40.sec(120), idle: p40.sec(120)})
			a := g.ask(call{stream: true})
			if r := a.success("primary", row.text); len(r.think) != 2*row.think {
				t.Errorf("%d bytes of reasoning, want %d", len(r.think), 2*row.think)
			}
			b.saw(0)
			g.tried("primary", "ok")
			g.counts("primary", 0)
			if at := a.events()[0].at; row.think > 0 && at > p40.sec(40) {
				t.Errorf("reasoning does not commit: the first event came after %s", at)
			}
		})
	}
	t.Run("d the same as a under the default limit", func(t *testing.T) {
		t.Parallel()
		p, b := pair(t, commented)
		g := start(t, setup{primary: p, backup: b, scaled: true})
		a := g.ask(call{stream: true})
		a.fromBackup("hang")
		near(t, "the answer", a.took, usual.sec(4.5))
	})
}

func TestF05TheTotalLimitCutsNoLiveStream(t *testing.T) {
	t.Parallel()
	p, b := pair(t, then(opened(role()), func(x *exchange) {
		for s := 0.0; s < 14 && x.at(s); s++ {
			x.event(tok("a"))
		}
		x.event(end("stop"), done)
		x.cleanEnd()
	}))
	g := start(t, setup{primary: p, backup: b, scaled: true, idle: unscaled})
	g.ask(call{stream: true}).success("primary", strings.Repeat("a", 14))
	g.tried("primary", "ok")
	g.counts("primary", 0)
}

func TestF06HalfClosedPooledConnection(t *testing.T) {
	t.Parallel()
	rounds := 1000
	if raced {
		rounds = 100
	}
	var closed sync.WaitGroup
	p, b := pair(t, func(x *exchange) {
		good(x)
		x.at(0.02) // the answer is read and the connection pooled by then, or not yet: both happen
		_ = x.line.conn.CloseWrite()
		x.shut = true
		closed.Done()
		select {
		case <-x.line.gone: // its read side stays open until the peer closes
		case <-x.f.stop:
		}
	})
	p.racing = rounds
	g := start(t, setup{primary: p, backup: b})
	for range rounds {
		closed.Add(1)
		a := g.ask(call{})
		a.success("primary", "ab")
		below(t, "an answer", a.took, unscaled/2)
		closed.Wait()
		if t.Failed() {
			return
		}
	}
	before(t, rest, "no more than one connection stands", func() bool { return p.open() <= 1 })
	g.counts("primary", 0)
	b.saw(0)
}

func TestF07KeepAliveRaceOnPost(t *testing.T) {
	t.Parallel()
	big := call{stream: true, more: `"x":"` + strings.Repeat("y", 2<<20) + `"`}
	onReused := func(s script) script {
		return func(x *exchange) {
			if x.nth > 1 {
				s(x)
				return
			}
			good(x)
		}
	}
	t.Run("a nothing at all on a reused connection", func(t *testing.T) {
		t.Parallel()
		p, b := pair(t, onReused(fin))
		g := start(t, setup{primary: p, backup: b})
		g.ask(call{stream: true}).success("primary", "ab")
		g.pooled()
		g.ask(big).success("primary", "ab")
		b.saw(0)
		if log := p.requests(); len(log) != 3 || log[1].nth != 2 || log[1].body != log[2].body || len(log[2].body) < 2<<20 {
			t.Errorf("%d requests; want the second one on a reused connection and the third to have its full body", len(log))
		}
		g.tried("primary", "ok", "ok")
		g.counts("primary", 0)
	})
	t.Run("b a status line on a reused connection", func(t *testing.T) {
		t.Parallel()
		p, b := pair(t, onReused(then(func(x *exchange) { x.raw("HTTP/1.1 200 OK\r\n") }, fin)))
		g := start(t, setup{primary: p, backup: b})
		g.ask(call{stream: true}).success("primary", "ab")
		g.pooled()
		g.ask(big).fromBackup("broken")
		g.tried("primary", "ok", "broken/reset")
		g.counts("primary", 1)
		p.saw(2)
	})
	t.Run("c the fresh connection as well", func(t *testing.T) {
		t.Parallel()
		p, b := pair(t, func(x *exchange) {
			if x.n == 1 {
				good(x)
				return
			}
			x.fin()
		})
		g := start(t, setup{primary: p, backup: b})
		g.ask(call{stream: true}).success("primary", "ab")
		g.pooled()
		g.ask(big).fromBackup("broken")
		g.tried("primary", "ok", "broken/reset")
		g.counts("primary", 1)
		p.saw(3)
	})
}
