package backstop

import (
	"container/heap"
	"testing"
	"time"
)

// The tests drive the engine in virtual time: an upstream is a function from
// an attempt to the marks that it will cause.

type timed struct {
	after time.Duration
	mark  Mark
}

type behaviour func(w *world, s Step) []timed

func healthy(first, gap time.Duration, tokens int) behaviour {
	return func(*world, Step) []timed {
		out := []timed{{time.Millisecond, Mark{Kind: Dialed}}, {2 * time.Millisecond, Mark{Kind: FirstByte}}}
		for i := 0; i < tokens; i++ {
			out = append(out, timed{first + time.Duration(i)*gap, Mark{Kind: Progress, Bytes: 4}})
		}
		return append(out, timed{first + time.Duration(tokens)*gap, Mark{Kind: Ended, Outcome: Outcome{Class: OK, Status: 200}}})
	}
}

// silent dials and never says a word.
func silent(*world, Step) []timed { return []timed{{time.Millisecond, Mark{Kind: Dialed}}} }

func answers(after time.Duration, o Outcome) behaviour {
	return func(*world, Step) []timed {
		return []timed{{time.Millisecond, Mark{Kind: Dialed}}, {after, Mark{Kind: Ended, Outcome: o}}}
	}
}

// then plays one behaviour a try, the last one for ever.
func then(list ...behaviour) behaviour {
	n := 0
	return func(w *world, s Step) []timed {
		b := list[min(n, len(list)-1)]
		n++
		return b(w, s)
	}
}

type running struct {
	call      *Call
	began     time.Time
	live      map[AttemptID]bool
	tries     []Step
	answered  Step
	over      time.Time
	committed bool
	stream    bool
	waits     int // guards against lost timers
}

type event struct {
	at  time.Time
	seq int
	run *running
	id  AttemptID
	m   Mark
	do  func()
}

type events []*event

func (q events) Len() int { return len(q) }
func (q events) Less(i, j int) bool {
	return q[i].at.Before(q[j].at) || q[i].at.Equal(q[j].at) && q[i].seq < q[j].seq
}
func (q events) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *events) Push(x any)   { *q = append(*q, x.(*event)) }
func (q *events) Pop() any     { o := *q; x := o[len(o)-1]; *q = o[:len(o)-1]; return x }

type world struct {
	t      testing.TB
	e      *Engine
	now    time.Time
	q      events
	seq    int
	acts   map[string]behaviour
	probes map[string]behaviour
	trans  []Transition
	local  bool // the local tier has an answer
	calls  []*running
	asked  map[string]int
	probed map[string]int
}

var epoch = time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)

func newWorld(t testing.TB, p *Plan) *world {
	w := &world{t: t, now: epoch, acts: map[string]behaviour{}, probes: map[string]behaviour{}, local: true,
		asked: map[string]int{}, probed: map[string]int{}}
	w.e = NewEngine(p, EngineOptions{Now: epoch, Notify: func(tr Transition) {
		w.trans = append(w.trans, tr)
		w.at(0, w.prober)
	}})
	return w
}

func (w *world) at(after time.Duration, do func()) {
	w.seq++
	heap.Push(&w.q, &event{at: w.now.Add(after), seq: w.seq, do: do})
}

// prober starts what is due and comes back when the engine says.
func (w *world) prober() {
	for {
		p, ok, next := w.e.Due(w.now)
		if !ok {
			if !next.IsZero() {
				w.at(max(next.Sub(w.now), time.Millisecond), w.prober)
			}
			return
		}
		if !p.Began.Equal(w.now) {
			w.t.Errorf("a probe that starts at %s says that it began at %s", w.now, p.Began)
		}
		w.probed[p.Upstream.Name]++
		act := w.probes[p.Upstream.Name]
		if act == nil {
			act = w.acts[p.Upstream.Name]
		}
		marks := act(w, Step{Upstream: p.Upstream, Model: p.Model})
		last := marks[len(marks)-1]
		if last.mark.Kind != Ended || last.after > p.Lease {
			last = timed{p.Lease, Mark{Kind: Ended, Outcome: Outcome{Class: Hang, Kind: KindFirstToken, Counts: CountsModel}}}
		}
		w.at(last.after, func() { w.e.Probed(w.now, p, last.mark.Outcome) })
	}
}

func (w *world) begin(r Request) *running {
	run := &running{began: w.now, live: map[AttemptID]bool{}, stream: r.Stream}
	r.Wake = func() { w.at(0, func() { w.step(run) }) }
	r.Streamable = true
	if r.Model == "" {
		r.Model = "m"
	}
	run.call = w.e.Begin(w.now, r)
	w.calls = append(w.calls, run)
	w.step(run)
	return run
}

// step obeys the engine until it waits or is done.
func (w *world) step(run *running) {
	if !run.over.IsZero() {
		return
	}
	for n := 0; ; n++ {
		if n > 50 {
			w.t.Fatalf("busy loop: 50 steps without a wait at %s", w.now.Sub(epoch))
		}
		s := run.call.Next(w.now)
		switch s.Kind {
		case Try:
			w.try(run, s)
		case Drop:
			delete(run.live, s.Attempt)
		case Serve:
			o := Outcome{Class: OK}
			if !w.local {
				o = Outcome{Class: Canceled, Kind: KindMiss}
			}
			run.call.Observe(w.now, s.Attempt, Mark{Kind: Ended, Outcome: o})
		case Wait:
			if !s.Until.IsZero() {
				if !s.Until.After(w.now) {
					w.t.Fatalf("a wait that is over already: until %s at %s", s.Until.Sub(epoch), w.now.Sub(epoch))
				}
				run.waits++
				k := run.waits
				w.at(s.Until.Sub(w.now), func() {
					if run.waits == k {
						w.step(run)
					}
				})
			}
			return
		case Done:
			run.answered, run.over = s, w.now
			return
		}
	}
}

func (w *world) try(run *running, s Step) {
	run.tries = append(run.tries, s)
	run.live[s.Attempt] = true
	w.asked[s.Upstream.Name]++
	act := w.acts[s.Upstream.Name]
	if act == nil {
		w.t.Fatalf("nobody plays upstream %s", s.Upstream.Name)
	}
	for _, m := range act(w, s) {
		w.seq++
		heap.Push(&w.q, &event{at: w.now.Add(m.after), seq: w.seq, run: run, id: s.Attempt, m: m.mark})
	}
}

// run plays until nothing is left or the time is up.
func (w *world) run(until time.Duration) {
	end := epoch.Add(until)
	for len(w.q) > 0 {
		ev := heap.Pop(&w.q).(*event)
		if ev.at.After(end) {
			heap.Push(&w.q, ev)
			break
		}
		w.now = ev.at
		if ev.do != nil {
			ev.do()
			continue
		}
		if !ev.run.live[ev.id] || !ev.run.over.IsZero() {
			continue
		}
		if ev.m.Kind == Ended {
			delete(ev.run.live, ev.id)
		}
		ev.run.call.Observe(w.now, ev.id, ev.m)
		if ev.m.Kind == Progress && ev.run.stream && !ev.run.committed {
			ev.run.committed = true
			ev.run.call.Observe(w.now, ev.id, Mark{Kind: Committed})
		}
		w.step(ev.run)
	}
	w.now = end
}

func (r *running) took() time.Duration { return r.over.Sub(r.began) }

// pair is the article's plan: primary, backup, template.
func pair(edit ...func(*Plan)) *Plan {
	a, b := DefaultUpstream(), DefaultUpstream()
	a.Name, a.BaseURL = "primary", "http://127.0.0.1:1/v1"
	b.Name, b.BaseURL = "backup", "http://127.0.0.1:2/v1"
	r := DefaultRoute()
	r.Model = "*"
	r.Tiers = []Tier{{Upstream: "primary"}, {Upstream: "backup", Rate: DefaultFallbackRate, Burst: DefaultBurst},
		{Local: &Local{Template: &Template{Text: "busy"}}}}
	p := &Plan{Upstreams: []Upstream{a, b}, Routes: []Route{r}, Seed: 1}
	for _, f := range edit {
		f(p)
	}
	for i := range p.Routes {
		if p.Routes[i].Deadline == 0 {
			p.Routes[i].Deadline = AutoDeadline(p, &p.Routes[i])
		}
	}
	return p
}

func upstreamEdit(name string, f func(*Upstream)) func(*Plan) {
	return func(p *Plan) { f(p.Upstream(name)) }
}
