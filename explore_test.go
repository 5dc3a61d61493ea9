package backstop

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"
)

// The explorer plays every order of what two callers, two upstreams, the
// prober and the clock can do on the real engine, breadth first. An engine is
// no plain value, so a state is reached by playing the way to it again.
//
// BACKSTOP_PROOF=1 explores to a depth that takes minutes.

// act is one thing that happens.
type act struct {
	kind  actKind
	call  int
	with  int  // shape of a call, or outcome
	rival bool // of the attempt that runs beside the first
}

type actKind uint8

const (
	actBegin actKind = iota
	actDial
	actToken
	actEnd
	actLeave
	actProbe
	actBeat
	actNext
	actPause
	actForce
)

var shapes = []struct {
	name string
	req  Request
}{
	{"a stream", Request{Stream: true, Rescuable: true}},
	{"one body of JSON", Request{JSON: true, Reask: true}},
	{"one body that the caller retries, due in 3 s", Request{Retrying: true, Timeout: 3 * time.Second}},
}

var ends = []struct {
	name string
	o    Outcome
}{
	{"ok", Outcome{Class: OK, Status: 200}},
	{"broken", Outcome{Class: Broken, Kind: KindServer, Status: 500, Counts: CountsModel, RetrySame: true, NextTier: true}},
	{"unreachable", Outcome{Class: Broken, Kind: KindDial, Counts: CountsEndpoint, NextTier: true}},
	{"limited for 700 ms", Outcome{Class: Limited, Kind: KindRate, Status: 429, Park: ParkKey, Hint: 700 * time.Millisecond, HasHint: true, NextTier: true}},
	{"garbled", Outcome{Class: Garbled, Kind: KindJSON, Status: 200, Counts: CountsQuality, NextTier: true}},
	{"rejected", Outcome{Class: Rejected, Kind: KindParam, Status: 400}},
	{"not sent", Outcome{Class: Rejected, Kind: KindParam, NotSent: true, NextTier: true}},
	{"cut", Outcome{Class: Garbled, Kind: KindCut, Status: 200, Counts: CountsModel, NextTier: true}},
}

// probeEnds are what probes come to; the last one is our own fault.
var probeEnds = []Outcome{
	{Class: OK, Status: 200}, {Class: Broken, Kind: KindServer, Status: 500, Counts: CountsModel}, {Class: Canceled, Kind: KindBug},
}

func (a act) String() string {
	switch a.kind {
	case actBegin:
		return fmt.Sprintf("call %d begins: %s", a.call, shapes[a.with].name)
	case actDial:
		return fmt.Sprintf("call %d%s is connected", a.call, a.beside())
	case actToken:
		return fmt.Sprintf("call %d%s gets a token", a.call, a.beside())
	case actEnd:
		return fmt.Sprintf("call %d%s's attempt ends: %s", a.call, a.beside(), ends[a.with].name)
	case actLeave:
		return fmt.Sprintf("call %d's caller leaves", a.call)
	case actProbe:
		return fmt.Sprintf("a probe ends: %s", probeEnds[a.with].Reason())
	case actBeat:
		return "150 ms pass"
	case actNext:
		return "time passes to the next deadline"
	case actPause:
		return "the process stood still for 2 s"
	}
	return "primary is forced " + forces[a.with]
}

func (a act) beside() string {
	if a.rival {
		return " (hedge)"
	}
	return ""
}

var forces = []string{"open", "auto"}

// every act that there is, in an order that makes the ways short to read.
func acts() (all []act) {
	all = append(all, act{kind: actNext}, act{kind: actBeat}, act{kind: actPause}, act{kind: actForce}, act{kind: actForce, with: 1})
	for i := range 2 {
		for s := range shapes {
			all = append(all, act{kind: actBegin, call: i, with: s})
		}
		for o := range ends {
			all = append(all, act{kind: actEnd, call: i, with: o}, act{kind: actEnd, call: i, with: o, rival: true})
		}
		for _, rival := range []bool{false, true} {
			all = append(all, act{kind: actDial, call: i, rival: rival}, act{kind: actToken, call: i, rival: rival})
		}
		all = append(all, act{kind: actLeave, call: i})
	}
	for o := range probeEnds {
		all = append(all, act{kind: actProbe, with: o})
	}
	return all
}

// spot is a state that was reached, as the way to it.
type spot struct {
	parent int32
	act    uint8
}

type tour struct {
	plan func() *Plan
	acts []act
	pre  []act // the way to where the tour begins
	all  []spot
}

func (s *tour) way(i int32) (way []act) {
	for ; i > 0; i = s.all[i].parent {
		way = append(way, s.acts[s.all[i].act])
	}
	for a, b := 0, len(way)-1; a < b; a, b = a+1, b-1 {
		way[a], way[b] = way[b], way[a]
	}
	return append(append([]act(nil), s.pre...), way...)
}

// reach plays a way on a fresh engine.
func (s *tour) reach(way []act) *maze {
	m := newMaze(s.plan())
	for _, a := range way {
		if m.can(a) {
			m.do(a)
		}
	}
	return m
}

func (s *tour) story(way []act) string {
	var b strings.Builder
	m := newMaze(s.plan())
	for i, a := range way {
		if !m.can(a) {
			continue
		}
		if m.do(a); len(way)-i > 30 {
			continue
		}
		fmt.Fprintf(&b, "  %10s %s\n             %s\n", m.now.Sub(epoch), a, m.picture())
	}
	return b.String()
}

// start is a plan and the way to where a tour begins.
type start struct {
	name string
	plan func() *Plan
	pre  []act
}

func starts() []start {
	touchy := upstreamEdit("primary", func(u *Upstream) {
		u.Breaker.Failures = 2
		u.Keys = append(u.Keys, secretValue("key-a-0123456789"), secretValue("key-b-0123456789"))
	})
	bare := func(p *Plan) {
		p.Routes[0].Tiers, p.Routes[0].RefusalNext = p.Routes[0].Tiers[:2], true
		p.Upstreams[0].Breaker.Failures, p.Upstreams[1].Breaker.Failures = 1, 1
		p.Upstreams[0].Retry.Wait, p.Upstreams[0].Limits.Inflight = time.Second, 1
		p.Routes[0].Stream.Rescue = "continue"
		p.Upstreams[0].Retry.Max, p.Upstreams[1].Retry.Max = 3, 3
	}
	live := func(p *Plan) {
		bare(p)
		p.Upstreams[0].Breaker.Probe, p.Upstreams[1].Account = ProbeLive, "both"
		p.Upstreams[0].Account, p.Upstreams[0].Breaker.Failures = "both", 5
	}
	begin := func(shape int) act { return act{kind: actBegin, with: shape} }
	end := func(how int) act { return act{kind: actEnd, with: how} }
	failed := []act{begin(2), end(1), end(0), begin(2), end(1), end(0)}
	hedged := func(after time.Duration) func() *Plan {
		return func() *Plan {
			return pair(touchy, func(p *Plan) {
				p.Routes[0].Hedge.After = after
				p.Upstreams[1].Breaker.Failures = 1
			})
		}
	}
	three := func() *Plan {
		return pair(bare, func(p *Plan) {
			third := p.Upstreams[1]
			third.Name, third.BaseURL = "third", "http://127.0.0.1:3/v1"
			p.Upstreams = append(p.Upstreams, third)
			p.Routes[0].Tiers = append(p.Routes[0].Tiers, Tier{Upstream: "third"})
			p.Routes[0].Hedge.Auto = true
		})
	}
	return []start{
		{"the pair", func() *Plan { return pair(touchy) }, nil},
		{"the pair, primary open", func() *Plan { return pair(touchy) }, failed},
		{"no local tier, one failure opens", func() *Plan { return pair(bare) }, nil},
		{"no local tier, both open", func() *Plan { return pair(bare) }, []act{begin(2), end(1), end(1)}},
		{"callers probe, one account", func() *Plan { return pair(live) }, nil},
		{"a hedge runs", hedged(150 * time.Millisecond), []act{begin(0), {kind: actBeat}}},
		{"a hedge runs, primary open before", hedged(150 * time.Millisecond), append(append([]act(nil), failed...), begin(1), act{kind: actBeat})},
		{"hedges over three upstreams", three, nil},
	}
}

func TestEveryOrderOfTwoCallsKeepsTheInvariants(t *testing.T) {
	most := 1000
	if os.Getenv("BACKSTOP_PROOF") != "" {
		most = 50_000
	}
	states, edges, marks := 0, 0, map[string]int{}
	for _, c := range starts() {
		s := &tour{plan: c.plan, acts: acts(), pre: c.pre, all: []spot{{}}}
		seen := map[uint64]bool{s.reach(c.pre).key(): true}
		depth, deep := []int{0}, 0
		for i := 0; i < len(s.all) && len(s.all) < most; i++ {
			way := s.way(int32(i))
			at := s.reach(way)
			deep = depth[i]
			for j, a := range s.acts {
				if !at.can(a) {
					continue
				}
				m := s.reach(way)
				m.do(a)
				edges++
				k, fresh := m.key(), false
				if fresh = !seen[k]; fresh {
					seen[k] = true
					s.all = append(s.all, spot{int32(i), uint8(j)})
					depth = append(depth, depth[i]+1)
				}
				for _, tr := range m.moved {
					marks[tr.Scope+" "+tr.To+" "+tr.Cause]++
				}
				m.checkHeld()
				if fresh && m.broke == "" {
					m.drain()
				}
				if m.broke != "" {
					t.Fatalf("%s: %s\n%s", c.name, m.broke, s.story(append(way, a)))
				}
			}
		}
		states += len(s.all)
		t.Logf("%-36s %7d states to depth %d", c.name, len(s.all), deep)
	}
	t.Logf("%d states, %d edges; %v", states, edges, marks)
}

// Random ways go where breadth cannot: hundreds of acts deep.
func TestLongRandomWaysOfTwoCallsKeepTheInvariants(t *testing.T) {
	walks, length := 40, 400
	if os.Getenv("BACKSTOP_PROOF") != "" {
		walks, length = 20_000, 600
	}
	all, done, calls, marks := acts(), 0, 0, map[string]int{}
	for _, c := range starts() {
		s := &tour{plan: c.plan}
		for i := range walks {
			r := rand.New(rand.NewPCG(uint64(i), 3))
			m, way, silent := s.reach(c.pre), append([]act(nil), c.pre...), i%2 == 1
			for n := 0; n < length && m.broke == ""; n++ {
				a := all[r.IntN(len(all))]
				rare := a.kind == actForce || a.kind == actPause || silent && (a.kind == actEnd || a.kind == actToken || a.kind == actLeave)
				if rare && r.IntN(10) > 0 || !m.can(a) {
					continue
				}
				if a.kind == actBegin {
					calls++
				}
				m.do(a)
				m.checkHeld()
				way = append(way, a)
				done++
				for _, tr := range m.moved {
					marks[tr.Scope+" "+tr.To+" "+tr.Cause]++
				}
			}
			if m.broke == "" {
				m.drain()
			}
			marks["hedge"] += m.hedges
			if m.broke != "" {
				t.Fatalf("%s, walk %d: %s\n%s", c.name, i, m.broke, s.story(way))
			}
		}
	}
	t.Logf("%d acts, %d calls; %v", done, calls, marks)
	for _, k := range []string{"model open run", "model open hang", "endpoint open run", "model half-open probe", "model closed probe", "hedge"} {
		if marks[k] == 0 {
			t.Errorf("no walk ever saw %q", k)
		}
	}
}
