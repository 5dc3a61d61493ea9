package cases

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// Section 3: failover around streams.

const overloadedFrame = `data: {"error":{"message":"busy","type":"server_error","code":"server_is_overloaded"}}`

func TestF13ErrorAfterAHarmlessPreamble(t *testing.T) {
	t.Parallel()
	rows := map[string]struct {
		script  script
		outcome string
	}{
		"a an error frame after the role": {streamed(role(), overloadedFrame), "broken/overload"},
		"d status 529":                    {status(529, `{"type":"error","error":{"type":"overloaded_error","message":"m"}}`), "broken/overload"},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, b := pair(t, row.script)
			g := start(t, setup{primary: p, backup: b})
			g.ask(call{stream: true}).fromBackup(row.outcome)
			g.tried("primary", row.outcome)
			g.counts("primary", 1)
		})
	}
	t.Run("e the same after three deltas, in this dialect", func(t *testing.T) {
		t.Parallel()
		p, b := pair(t, streamed(role(), tok("a"), tok("b"), tok("c"), overloadedFrame))
		g := start(t, setup{primary: p, backup: b})
		g.ask(call{stream: true}).brokenOff("abc", "upstream_unavailable")
		b.saw(0)
		g.tried("primary", "broken/overload")
		g.counts("primary", 1)
	})
}

func TestF14NoRestartAfterOutput(t *testing.T) {
	t.Parallel()
	t.Run("a a stall after two tokens", func(t *testing.T) {
		t.Parallel()
		p, b := pair(t, then(opened(role(), tok("Here"), tok(" is")), hold))
		g := start(t, setup{primary: p, backup: b, scaled: true})
		a := g.ask(call{stream: true})
		a.brokenOff("Here is", "stream_stalled")
		near(t, "the error frame", a.took, usual.sec(4.5))
		b.saw(0)
		g.tried("primary", "hang/idle")
		g.counts("primary", 1)
	})
	for form, stream := range bothForms {
		t.Run("b no fallback asked, "+form, func(t *testing.T) {
			t.Parallel()
			p, b := pair(t, status(503, `{"error":{"message":"down","type":"server_error","code":"internal_error"}}`))
			g := start(t, setup{primary: p, backup: b, template: "busy"})
			a := g.ask(call{stream: stream, header: map[string]string{"x-backstop-no-fallback": "1"}})
			a.refused(503, "upstream_unavailable")
			p.saw(1)
			b.saw(0)
		})
	}
}

func TestF15InBandErrorShapes(t *testing.T) {
	t.Parallel()
	type row struct {
		frames  []string
		outcome string
		park    string
		run     int
	}
	rows := map[string]row{
		"a quota":           {[]string{`data: {"error":{"message":"quota exceeded"}}`, done}, "limited/quota", "quota", 0},
		"c a text":          {[]string{`data: {"error":"busy"}`}, "broken/server", "", 1},
		"d event error":     {[]string{"id:1\nevent:error\n:HTTP_STATUS/429\ndata:{\"code\":\"Throttling.AllocationQuota\",\"message\":\"m\",\"request_id\":\"r\"}"}, "limited/rate", "rate", 0},
		"e a gateway's 504": {[]string{`data: {"error":{"message":"m","type":"GatewayTimeout","code":504}}`, done}, "broken/timeout", "", 1},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, b := pair(t, streamed(row.frames...))
			g := start(t, setup{primary: p, backup: b})
			g.ask(call{stream: true}).fromBackup(row.outcome)
			g.counts("primary", row.run)
			g.parked("primary", row.park)
			if r := g.last(1); r.Input != 10 || r.Output != 2 {
				t.Errorf("usage %d/%d, want the backup's alone", r.Input, r.Output)
			}
		})
	}
	t.Run("b a 400", func(t *testing.T) {
		t.Parallel()
		p, b := pair(t, streamed(`data: {"object":"error","message":"m","type":"BadRequestError","code":400}`, done))
		g := start(t, setup{primary: p, backup: b})
		a := g.ask(call{stream: true})
		if r := a.read(); r.kind != "http-error" || a.status != 400 || r.fault.Message != "m" {
			t.Errorf("want the upstream's 400\n%s", a.show())
		}
		b.saw(0)
		g.counts("primary", 0)
		g.parked("primary", "")
	})
}

func TestF16ErrorsAndNothingInsideA200(t *testing.T) {
	t.Parallel()
	rows := map[string]struct {
		body    string
		outcome string
	}{
		"a an error object":   {`{"error":{"message":"busy","type":"server_error","code":"server_is_overloaded"}}`, "broken/overload"},
		"b a numbered error":  {`{"error":{"code":"1305","message":"m"}}`, "broken/overload"},
		"c choices are null":  {`{"id":"","object":"","created":0,"model":"","choices":null,"usage":null}`, "garbled/protocol"},
		"d choices are empty": {`{"choices":[]}`, "garbled/protocol"},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, b := pair(t, status(200, row.body))
			more := ""
			if strings.HasPrefix(name, "b") {
				more = "vendor: zhipu\n"
			}
			g := start(t, setup{primary: p, backup: b, primaryYAML: more})
			g.ask(call{}).fromBackup(row.outcome)
			g.tried("primary", row.outcome)
			g.counts("primary", 1)
			if n := g.metric("backstop_tokens_total", `upstream="primary"`); n != 0 {
				t.Errorf("%g tokens of the primary are booked", n)
			}
		})
	}
	t.Run("e an unknown finish reason after a token", func(t *testing.T) {
		t.Parallel()
		p, b := pair(t, streamed(role(), tok("a"), end("network_error"), done))
		g := start(t, setup{primary: p, backup: b})
		a := g.ask(call{stream: true})
		a.brokenOff("a", "upstream_unavailable")
		b.saw(0)
		g.counts("primary", 1)
	})
	t.Run("f an unknown finish reason at once", func(t *testing.T) {
		t.Parallel()
		p, b := pair(t, streamed(role(), end("network_error")))
		g := start(t, setup{primary: p, backup: b})
		g.ask(call{stream: true}).fromBackup("broken/server")
		g.counts("primary", 1)
	})
}

func TestF17EndOfStreamWithoutATerminal(t *testing.T) {
	t.Parallel()
	abc := []string{role(), tok("a"), tok("b"), tok("c")}
	rows := map[string]struct {
		script  script
		text    string
		outcome string
	}{
		"a a clean end":      {streamed(abc...), "abc", "garbled/cut"},
		"b FIN":              {then(opened(abc...), fin), "abc", "garbled/cut"},
		"e a bad chunk size": {then(opened(role(), tok("a")), func(x *exchange) { x.raw("zz\r\n"); x.hold() }), "a", "garbled/cut"},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, b := pair(t, row.script)
			g := start(t, setup{primary: p, backup: b})
			g.ask(call{stream: true}).brokenOff(row.text, "stream_incomplete")
			b.saw(0)
			g.tried("primary", row.outcome)
			g.counts("primary", 1)
		})
	}
	t.Run("c nothing but a role", func(t *testing.T) {
		t.Parallel()
		p, b := pair(t, streamed(role()))
		g := start(t, setup{primary: p, backup: b})
		g.ask(call{stream: true}).fromBackup("garbled")
		g.counts("primary", 1)
	})
	t.Run("d gathered into one body", func(t *testing.T) {
		t.Parallel()
		p, b := pair(t, streamed(abc...))
		g := start(t, setup{primary: p, backup: b, unary: "stream"})
		g.ask(call{}).fromBackup("garbled")
		g.tried("primary", "garbled/cut")
		g.counts("primary", 1)
	})
	t.Run("d gathered, nobody else", func(t *testing.T) {
		t.Parallel()
		p := newFake(t, "primary", streamed(abc...))
		g := start(t, setup{primary: p, unary: "stream"})
		g.ask(call{}).refused(502, "stream_incomplete")
	})
}

func TestF18UsageAndTerminalAtTheTail(t *testing.T) {
	t.Parallel()
	withUsage := func(delta, finish, usage string) string {
		return fmt.Sprintf(`data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":%s,"finish_reason":%s}],"usage":%s}`, delta, finish, usage)
	}
	rows := map[string]script{
		"a apart":               primaryVoice.good("a", "b"),
		"b in the finish chunk": streamed(role(), tok("a"), tok("b"), withUsage(`{}`, `"stop"`, usageOf(10, 2)), done),
		"c null in every chunk": streamed(withUsage(`{"role":"assistant","content":""}`, "null", "null"), withUsage(`{"content":"a"}`, "null", "null"),
			withUsage(`{"content":"b"}`, "null", "null"), withUsage(`{}`, `"stop"`, "null"), usage(10, 2), done),
	}
	for name, s := range rows {
		for asked, more := range map[string]string{"asked for": `"stream_options":{"include_usage":true}`, "not asked for": ""} {
			t.Run(name+", "+asked, func(t *testing.T) {
				t.Parallel()
				p, b := pair(t, s)
				g := start(t, setup{primary: p, backup: b})
				a := g.ask(call{stream: true, more: more})
				r := a.success("primary", "ab")
				var q struct {
					Options struct {
						Usage bool `json:"include_usage"`
					} `json:"stream_options"`
				}
				if err := json.Unmarshal([]byte(p.requests()[0].body), &q); err != nil || !q.Options.Usage {
					t.Errorf("the upstream is not asked for usage: %s", p.requests()[0].body)
				}
				want := 0
				if more != "" {
					want = 1
				}
				if len(r.usages) != want || want == 1 && r.usages[0].Prompt != 10 {
					t.Errorf("%d usages %v, want %d\n%s", len(r.usages), r.usages, want, a.show())
				}
				finishes := 0
				for _, c := range r.chunks {
					if len(c.Choices) > 0 && c.Choices[0].FinishReason != nil {
						finishes++
					}
				}
				if finishes != 1 {
					t.Errorf("%d finish chunks\n%s", finishes, a.show())
				}
				if r := g.last(1); r.Input != 10 || r.Output != 2 {
					t.Errorf("usage on record is %d/%d, want 10/2", r.Input, r.Output)
				}
			})
		}
	}
}

func TestF48OneMalformedEvent(t *testing.T) {
	t.Parallel()
	const bad = `data: {"oops`
	t.Run("dropped", func(t *testing.T) {
		t.Parallel()
		p, b := pair(t, streamed(role(), tok("a"), bad, tok("b"), end("stop"), done))
		g := start(t, setup{primary: p, backup: b})
		a := g.ask(call{stream: true})
		a.success("primary", "ab")
		if strings.Contains(a.body(), "oops") {
			t.Errorf("the bad event is passed on\n%s", a.show())
		}
		g.tried("primary", "ok")
		g.counts("primary", 0)
		if n := g.metric("backstop_malformed_events_total", `upstream="primary"`); n != 1 {
			t.Errorf("%g malformed events are counted, want 1", n)
		}
	})
	t.Run("it does not commit", func(t *testing.T) {
		t.Parallel()
		p, b := pair(t, then(opened(role(), bad), hold))
		g := start(t, setup{primary: p, backup: b, scaled: true})
		a := g.ask(call{stream: true})
		a.fromBackup("hang")
		near(t, "the answer", a.took, usual.sec(4.5))
	})
	t.Run("it re-arms no clock", func(t *testing.T) {
		t.Parallel()
		p, b := pair(t, then(opened(role(), tok("a")), func(x *exchange) {
			for s := 1.0; s < 9 && x.at(s); s++ {
				x.event(bad)
			}
			x.hold()
		}))
		g := start(t, setup{primary: p, backup: b, scaled: true})
		a := g.ask(call{stream: true})
		a.brokenOff("a", "stream_stalled")
		near(t, "the error frame", a.took, usual.sec(4.5))
	})
	t.Run("too many", func(t *testing.T) {
		t.Parallel()
		p, b := pair(t, then(opened(role(), tok("a")), func(x *exchange) {
			for range 17 {
				x.event(bad)
			}
			x.event(tok("b"), end("stop"), done)
			x.cleanEnd()
		}))
		g := start(t, setup{primary: p, backup: b})
		g.ask(call{stream: true}).brokenOff("a", "stream_incomplete")
		g.counts("primary", 1)
	})
}

func TestF49HerdAndBusyLocalServers(t *testing.T) {
	t.Parallel()
	for _, busy := range []int{503, 500} { // only the second is worth a second try at the same place
		t.Run(fmt.Sprintf("a herd that meets %d", busy), func(t *testing.T) {
			t.Parallel()
			first := make(chan time.Time, 1)
			p, b := pair(t, func(x *exchange) {
				if x.n == 1 {
					first <- x.began
				}
				t0 := <-first
				first <- t0
				if x.began.Sub(t0) < usual.sec(3) {
					x.json(busy, `{"error":"server busy"}`)
					return
				}
				good(x)
			})
			g := start(t, setup{primary: p, backup: b, retries: 2})
			for _, a := range g.together(50, call{stream: true}) {
				if r := a.read(); r.kind != "success" {
					t.Errorf("not answered\n%s", a.show())
				}
			}
			if n := p.count(); n > 60 {
				t.Errorf("the primary saw %d requests of 50 calls: retries are not limited", n)
			}
			g.spread()
		})
	}
	t.Run("b a server that loads its model", func(t *testing.T) {
		t.Parallel()
		p := newFake(t, "primary", status(503, `{"error":{"message":"Loading model","type":"unavailable_error","code":503}}`))
		g := start(t, setup{primary: p, retries: 2})
		a := g.ask(call{stream: true})
		a.refused(503, "upstream_unavailable")
		g.counts("primary", int(float64(p.count())))
	})
	t.Run("a a text for an error", func(t *testing.T) {
		t.Parallel()
		p := newFake(t, "primary", status(503, `{"error":"server busy"}`))
		g := start(t, setup{primary: p})
		g.ask(call{}).refused(503, "upstream_unavailable")
		g.counts("primary", 1)
	})
}

// spread checks that retries do not come in step: no 50 ms hold two thirds.
func (g *gateway) spread() {
	g.t.Helper()
	var at []float64
	for _, r := range g.records() {
		for _, a := range r.Attempts {
			if a.Again {
				at = append(at, a.Waited)
			}
		}
	}
	for _, from := range at {
		n := 0
		for _, other := range at {
			if other >= from && other < from+50 {
				n++
			}
		}
		if len(at) >= 6 && 3*n >= 2*len(at) {
			g.t.Errorf("%d of %d retries waited between %.0f and %.0f ms: %v", n, len(at), from, from+50, at)
			return
		}
	}
}

func TestF50KeepAlivesTowardsTheCaller(t *testing.T) {
	t.Parallel()
	slow := then(opened(), func(x *exchange) {
		x.at(20)
		x.event(role(), tok("a"), tok("b"), end("stop"), usage(10, 2), done)
		x.cleanEnd()
	})
	for name, row := range map[string]struct {
		every  time.Duration
		stream bool
		want   int
	}{"on": {usual.sec(5), true, 3}, "off": {0, true, 0}, "plain": {usual.sec(5), false, 0}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, b := pair(t, func(x *exchange) {
				if x.streams() {
					slow(x)
					return
				}
				x.at(20)
				x.json(200, whole("ab", "stop"))
			})
			g := start(t, setup{primary: p, backup: b, first: usual.sec(60), keepalive: row.every})
			a := g.ask(call{stream: row.stream})
			r := a.success("primary", "ab")
			if r.comment < row.want || r.comment > row.want*4/3 { // the next one may come at the same time as the answer
				t.Errorf("%d comments, want %d\n%s", r.comment, row.want, a.show())
			}
			for i, e := range a.events()[:min(r.comment, len(a.events()))] {
				if e.comment != "keep-alive" {
					t.Errorf("the comment is %q", e.comment)
				}
				near(t, fmt.Sprintf("comment %d", i+1), e.at, time.Duration(i+1)*usual.sec(5))
			}
		})
	}
	t.Run("they are no progress", func(t *testing.T) {
		t.Parallel()
		p, b := pair(t, then(opened(), hold))
		g := start(t, setup{primary: p, backup: b, scaled: true, keepalive: usual.sec(1)})
		a := g.ask(call{stream: true})
		r := a.read()
		if r.kind != "success" || r.text != "B1B2" || r.comment < 2 {
			t.Errorf("got %s %q and %d comments, want the backup's answer and some\n%s", r.kind, r.text, r.comment, a.show())
		}
		// The headers went out before anyone had answered.
		if tier := a.header.Get("X-Backstop-Tier"); tier != "" || r.tail["tier"] != "backup" {
			t.Errorf("the header says tier %q and the last chunk %v, want nothing and backup\n%s", tier, r.tail, a.show())
		}
		near(t, "the answer", a.took, usual.sec(4.5))
		g.counts("primary", 1)
	})
	t.Run("with nobody left the error is in-band", func(t *testing.T) {
		t.Parallel()
		p := newFake(t, "primary", then(opened(), hold))
		g := start(t, setup{primary: p, scaled: true, keepalive: usual.sec(1)})
		a := g.ask(call{stream: true})
		a.brokenOff("", "upstream_timeout")
		near(t, "the error", a.took, usual.sec(4.5))
	})
}
