package cases

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// Section 7: breaker and parks.

const fault = `{"error":{"message":"m","type":"server_error","code":"internal_error"}}`

// opens spends five faults, after which the primary's breaker is open.
func (g *gateway) opens() {
	g.t.Helper()
	for range 5 {
		g.ask(call{stream: true})
	}
	if c := g.state("primary"); c.State != "open" {
		g.t.Fatalf("after five faults the breaker is %s: %+v", c.State, c.Scopes)
	}
}

// probable waits until a live call may probe.
func (g *gateway) probable() {
	g.t.Helper()
	eventually(g.t, "a probe is due", func() bool {
		for _, s := range g.state("primary").Scopes {
			if s.State != "closed" && s.Next != nil && time.Now().Before(*s.Next) {
				return false
			}
		}
		return true
	})
}

func TestF32MistakesOfCallersDoNotOpenIt(t *testing.T) {
	t.Parallel()
	bodies := map[int]string{
		400: `{"error":{"message":"too long","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`,
		404: `{"error":{"message":"Unknown request URL","type":"invalid_request_error","param":null,"code":"unknown_url"}}`,
		413: `{"error":{"message":"Request too large","type":"invalid_request_error","param":null,"code":null}}`,
		415: `{"error":{"message":"unsupported media","type":"invalid_request_error","param":null,"code":null}}`,
		422: `{"error":{"message":"unprocessable","type":"invalid_request_error","param":null,"code":null}}`,
	}
	for code, body := range bodies {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			t.Parallel()
			wrong := status(code, body)
			p, b := pair(t, inTurn(append(slices.Repeat([]script{wrong}, 10), good)...))
			g := start(t, setup{primary: p, backup: b})
			for range 10 {
				if a := g.ask(call{stream: true}); a.status != code || a.header.Get("X-Should-Retry") != "false" {
					t.Errorf("want the upstream's %d\n%s", code, a.show())
				}
			}
			g.counts("primary", 0)
			g.parked("primary", "")
			b.saw(0)
			g.ask(call{stream: true}).success("primary", "ab")
			p.saw(11)
		})
	}
}

func TestF33CallersWhoLeaveDoNotOpenIt(t *testing.T) {
	t.Parallel()
	talking := func(x *exchange) {
		x.open200()
		x.event(role(), tok("a"), tok("b"))
		x.every(1, 1, tok("c"))
	}
	late := func(x *exchange) { x.at(2); good(x) }
	p, b := pair(t, func(x *exchange) {
		switch {
		case x.n <= 20:
			talking(x)
		case x.n <= 40:
			late(x)
		default:
			good(x)
		}
	})
	g := start(t, setup{primary: p, backup: b})
	for i := range 20 {
		a := g.open(call{stream: true})
		a.has(`"content":"b"`)
		a.leave()
		g.last(i + 1)
	}
	for i := range 20 {
		a := g.open(call{stream: true})
		eventually(t, "the request is at the primary", func() bool { return p.count() == 21+i })
		a.leave()
		g.last(21 + i)
	}
	for i, r := range g.records() {
		if r.Outcome != "canceled" {
			t.Errorf("call %d is on record as %s", i+1, r.Outcome)
		}
	}
	before(t, time.Second, "all requests upstream are given up", p.idle)
	g.counts("primary", 0)
	g.parked("primary", "")
	g.ask(call{stream: true}).success("primary", "ab")
	p.saw(41)
	b.saw(0)
}

func TestF34NoSlotOfAProbeIsLost(t *testing.T) {
	t.Parallel()
	const reset = 1500 * time.Millisecond // also the lease: the caller leaves well within it
	five := slices.Repeat([]script{status(500, fault)}, 5)
	rows := map[string]struct {
		probe script
		yaml  string
		park  time.Duration // after the probe
	}{
		"a rejected":     {probe: status(400, `{"error":{"message":"m","type":"invalid_request_error","param":"n","code":null}}`)},
		"c left":         {probe: hold},
		"d rate limited": {probe: limited("retry-after-ms: 1500"), park: 1500 * time.Millisecond},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, b := pair(t, inTurn(append(slices.Clone(five), row.probe, good)...))
			g := start(t, setup{primary: p, backup: b, reset: reset})
			g.opens()
			g.probable()
			a := g.open(call{stream: true})
			if name == "c left" {
				eventually(t, "the probe is at the primary", func() bool { return p.count() == 6 })
				a.leave()
				g.last(6)
			} else {
				a.wait()
			}
			p.saw(6)
			if row.park > 0 {
				g.parked("primary", "rate")
				eventually(t, "the park is over", func() bool { return len(g.state("primary").Parked) == 0 })
			}
			// The slot is free at once: this very call is the next probe.
			g.ask(call{stream: true}).success("primary", "ab")
			p.saw(7)
			g.counts("primary", 0)
		})
	}
	t.Run("b a key refused", func(t *testing.T) {
		t.Parallel()
		p, b := pair(t, func(x *exchange) {
			switch one := strings.HasSuffix(x.header.Get("Authorization"), "one"); {
			case x.n <= 5:
				x.json(500, fault)
			case one:
				x.json(401, `{"error":{"message":"bad key","type":"authentication_error","code":"invalid_api_key"}}`)
			default:
				good(x)
			}
		})
		g := start(t, setup{primary: p, backup: b, reset: reset, primaryYAML: "keys: [" + primaryKey + "-one, " + primaryKey + "-two]\n"})
		g.opens()
		g.probable()
		g.ask(call{stream: true}).success("primary", "ab") // the other key probes at once
		p.saw(7)
		g.counts("primary", 0)
	})
	t.Run("e no permit from a limit of ours", func(t *testing.T) {
		t.Parallel()
		p, b := pair(t, inTurn(append(slices.Clone(five), good)...))
		g := start(t, setup{primary: p, backup: b, reset: reset, primaryYAML: "limits: {rate: 0.3/s, burst: 5}\n"})
		g.opens()
		g.probable()
		g.ask(call{stream: true}).fromBackup("rate")
		p.saw(5)
		eventually(t, "a call is a probe as soon as the limit allows one", func() bool {
			return g.ask(call{stream: true}).header.Get("X-Backstop-Tier") == "primary"
		})
		p.saw(6)
		g.counts("primary", 0)
	})
}

func TestF35HalfOpenHerd(t *testing.T) {
	t.Parallel()
	const reset = 2 * time.Second
	p, b := pair(t, hold)
	g := start(t, setup{primary: p, backup: b, scaled: true, reset: reset, backupYAML: "limits: {rate: 0, inflight: 0}\n"})
	g.together(5, call{stream: true})
	g.probable()
	began := time.Now()
	list := g.together(100, call{stream: true})
	waited := 0
	var took []time.Duration
	for _, a := range list {
		if a.header.Get("X-Backstop-Reason") == "hang" {
			waited++
			a.fromBackup("hang")
			continue
		}
		a.fromBackup("open")
		took = append(took, a.took)
	}
	if p.saw(6); waited != 1 {
		t.Errorf("%d calls waited for the primary, want the probe alone", waited)
	}
	slices.Sort(took)
	if len(took) > 0 {
		// 100 connections are made at once here: what they cost together counts as the machine's.
		below(t, "the median call past the open breaker", took[len(took)/2], 20*time.Millisecond+slack(began))
		below(t, "the slowest", took[len(took)-1], atOnce)
	}
	if c := g.state("primary"); c.State != "open" {
		t.Errorf("after the probe's limit the breaker is %s", c.State)
	}
}

func TestF36AWayBack(t *testing.T) {
	t.Parallel()
	t.Run("the first probe closes it", func(t *testing.T) {
		t.Parallel()
		const reset = 600 * time.Millisecond // 60 s at the pace of 100
		p, b := pair(t, inTurn(append(slices.Repeat([]script{status(503, fault)}, 5), good)...))
		g := start(t, setup{primary: p, backup: b, reset: reset, retries: 2})
		g.opens()
		var opened time.Time
		for _, s := range g.state("primary").Scopes {
			if s.State == "open" && s.Since != nil {
				opened = *s.Since
			}
		}
		back := false
		for !back && time.Since(opened) < 2*reset+slack(opened) {
			next := time.After(10 * time.Millisecond)
			a := g.ask(call{stream: true})
			back = a.header.Get("X-Backstop-Tier") == "primary"
			<-next
		}
		below(t, "the way back", time.Since(opened), reset*61/60+20*time.Millisecond)
		p.saw(6)
		g.counts("primary", 0)
		g.ask(call{stream: true}).success("primary", "ab")
	})
	t.Run("the tries that are left skip an open breaker", func(t *testing.T) {
		t.Parallel()
		p, b := pair(t, status(500, fault))
		g := start(t, setup{primary: p, backup: b, primaryYAML: "retry: {max: 2, jitter: 1ms-2ms}\n"})
		for range 2 { // three tries each: the fifth fault is the second try of the second call
			g.ask(call{stream: true}).fromBackup("broken/server")
		}
		p.saw(5)
		if c := g.state("primary"); c.State != "open" {
			t.Errorf("the breaker is %s", c.State)
		}
	})
}
