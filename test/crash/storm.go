package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"backstop/internal/load"
)

// storms are X10 and X11: streams that all stall, each at another token, with
// and without somebody who could take over.
func storms(p pace) []scenario {
	return []scenario{
		storm(p, "X10", "streams that stall, nobody to take over", setup{
			alone: true, route: "stream: {rescue: off}\n",
		}),
		storm(p, "X11", "streams that stall, each taken over", setup{}),
	}
}

// stallers is how many streams stall.
func (p pace) stallers() int { return int(2000 * p.scale) }

// stallWithin is what the end of a stalled stream may take beyond idle.
const stallWithin = 250 * time.Millisecond

// storm opens many streams over a few seconds, waits for the last end, and
// looks at what is left. All models break their own breaker, so it is told to
// bear it: the streams must stall, not be turned away.
func storm(p pace, id, title string, s setup) scenario {
	n := p.stallers()
	return scenario{id: id, title: title, fault: fmt.Sprintf("%d x stall@0..39", n), heavy: true, run: func(ctx context.Context, t *trial) error {
		s.pace, s.byName = p, true
		s.quicker = true // a rescuer has its first_token to reach the seam
		s.gap = p.of(100 * time.Millisecond)
		s.primary = "limits: {inflight: 0}\nbreaker: {failures: 1000, hang: false}\n"
		s.backup = "limits: {inflight: 0}\n"
		if !s.alone {
			s.route, s.tiers = "", "  - model: \"*\"\n    tiers:\n      - {upstream: primary}\n      - {upstream: backup, model: ok, rate: 0}\n"
		}
		start := load.Measure()
		h, err := open(s)
		if err != nil {
			return err
		}
		text, err := h.text(ctx, id+" asks.")
		if err != nil {
			h.close()
			return err
		}
		warm := h.ask(ctx, h.url, question{model: "ok", prompt: "warm"}, 20*time.Second)
		h.conns.CloseIdleConnections()
		calm := load.Measure()
		l := &stalls{}
		l.run(ctx, h, n, question{prompt: id + " asks."})
		l.judge(t, h, text)
		t.must("a healthy stream before it", warm.success(), "%s", warm)
		t.primary, t.backup = len(h.primary.sightings(id, "")), len(h.backup.sightings(id, ""))
		h.conns.CloseIdleConnections()
		if s.alone {
			left := load.Settle(ctx, calm, 4, 2*time.Second)
			t.must("goroutines and sockets are back while it runs", back(left, calm), "%d and %d, before %d and %d", left.Goroutines, left.Sockets, calm.Goroutines, calm.Sockets)
		}
		h.close()
		left := load.Settle(ctx, start, 4, 2*time.Second)
		t.must("nothing is left after it", back(left, start) && left.CloseWait <= 0, "%d goroutines, %d sockets, %d in CLOSE_WAIT; before %d and %d", left.Goroutines, left.Sockets, left.CloseWait, start.Goroutines, start.Sockets)
		return nil
	}}
}

func back(got, base load.Footprint) bool {
	return got.Goroutines <= base.Goroutines+4 && got.Sockets <= base.Sockets+4
}

// stalls are the answers to a storm.
type stalls struct {
	mu      sync.Mutex
	answers []*answer
	points  []int
}

// spread is the time over which the streams of a storm begin.
const spread = 4 * time.Second

func (l *stalls) run(ctx context.Context, h *gateway, n int, q question) {
	var wait sync.WaitGroup
	began := time.Now()
	for i := range n {
		rest(ctx, time.Until(began.Add(time.Duration(i)*h.pace.of(spread)/time.Duration(n))))
		q := q
		at := i * 7919 % 40 // every point about as often, neighbours far apart
		q.model = fmt.Sprintf("stall@%d", at)
		if at == 0 {
			q.model = "role-only"
		}
		wait.Go(func() {
			a := h.ask(ctx, h.url, q, time.Minute)
			l.mu.Lock()
			defer l.mu.Unlock()
			l.answers, l.points = append(l.answers, a), append(l.points, at)
		})
	}
	wait.Wait()
}

// judge looks at every stream. Silence counts from the last token that the
// caller has, or from the call's start where there was none. A stream that is
// taken over has another text to read to its end; there only that is counted
// which comes before.
func (l *stalls) judge(t *trial, h *gateway, text string) {
	whole, ended, refused, odd := 0, 0, &answer{}, &answer{}
	var worst time.Duration
	for i, a := range l.answers {
		t.shown = max(t.shown, a.took)
		limit, from := h.pace.of(idle), a.last
		if l.points[i] == 0 {
			limit, from = h.pace.of(firstToken), a.began
		}
		switch {
		case a.whole(text):
			whole++
		case a.typed() && (l.points[i] == 0) == (a.text == ""):
			ended++
			worst, refused = max(worst, a.ended.Sub(from)-limit), a
		default:
			odd = a
		}
		if a.success() && a.text != text {
			t.lied = fmt.Sprintf("a success with %d of %d bytes", len(a.text), len(text))
		}
	}
	if h.setup.alone {
		t.rescued = ended == len(l.answers)
		t.detail = fmt.Sprintf("%d of %d ended with a typed error, the last %d ms after its limit", ended, len(l.answers), worst.Milliseconds())
		late := worst - stallWithin
		t.must("ended within the limit and 250 ms", late <= t.slack(), "%d ms after it, timers of this process up to %d ms late", worst.Milliseconds(), t.late.since(t.began).Milliseconds())
	} else {
		t.rescued, t.typed = whole == len(l.answers), whole+ended == len(l.answers)
		t.detail = fmt.Sprintf("%d of %d have the whole text, %d a typed error", whole, len(l.answers), ended)
		if ended > 0 {
			t.detail += fmt.Sprintf(", one of them after %.1f s: %s", refused.took.Seconds(), refused)
		}
	}
	if odd.began.IsZero() {
		return
	}
	t.must("each ends in an answer or a typed error", false, "%s", odd)
}
