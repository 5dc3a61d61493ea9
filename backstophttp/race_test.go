package backstophttp

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"backstop"
)

// hedged makes the routes of a plan start a second attempt after 600 ms.
func hedged(change func(*backstop.Plan)) func(*backstop.Plan) {
	return func(p *backstop.Plan) {
		p.Routes[0].Hedge.After = 600 * time.Millisecond
		if change != nil {
			change(p)
		}
	}
}

// left notes how long an upstream's handler ran until its request was canceled.
type left struct {
	mu sync.Mutex
	at []time.Duration
}

func (l *left) handler(script ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		answers(script...)(w, r)
		if r.Context().Err() != nil {
			l.mu.Lock()
			l.at = append(l.at, time.Since(began))
			l.mu.Unlock()
		}
	}
}

func (l *left) times() []time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.at)
}

func outcomes(ev *backstop.Event) (all []string) {
	for _, a := range ev.Attempts {
		all = append(all, a.Outcome.Reason())
	}
	return all
}

func TestAHedgedCallIsAnsweredByWhoeverSpeaksFirst(t *testing.T) {
	slow := []string{role, "wait:2s", token("P1"), token("P2"), finish("stop"), done}
	soon := []string{role, "wait:300ms", token("B1"), token("B2"), finish("stop"), done}
	for name, c := range map[string]struct {
		primary, backup []string
		tier, text      string
		took            time.Duration
		outcomes        []string
		canceled        string // whose request was canceled
	}{
		"the hedge":                                  {slow, soon, "backup", "B1B2", 900 * time.Millisecond, []string{"canceled/hedge", "ok"}, "primary"},
		"the hedge of a silent upstream":             {[]string{"hang"}, soon, "backup", "B1B2", 900 * time.Millisecond, []string{"canceled/hedge", "ok"}, "primary"},
		"the first attempt":                          {[]string{role, "wait:700ms", token("P1"), token("P2"), finish("stop"), done}, soon, "primary", "P1P2", 700 * time.Millisecond, []string{"ok", "canceled/hedge"}, "backup"},
		"the first attempt before any hedge":         {[]string{role, "wait:500ms", token("P1"), token("P2"), finish("stop"), done}, soon, "primary", "P1P2", 500 * time.Millisecond, []string{"ok"}, ""},
		"the first one although the hedge is broken": {slow, []string{role, "fin"}, "primary", "P1P2", 2 * time.Second, []string{"ok", "broken/reset"}, ""},
		"the hedge although the first one is broken": {[]string{role, "wait:700ms", "fin"}, soon, "backup", "B1B2", 900 * time.Millisecond, []string{"broken/reset", "ok"}, ""},
		"nobody but the local tier":                  {[]string{"hang"}, []string{"hang"}, "local", "busy", 5100 * time.Millisecond, []string{"hang/first_token", "hang/first_token"}, ""},
	} {
		for form, request := range map[string]string{"stream": stream, "unary": unary, "promised JSON": asJSON} {
			text := c.text
			if form == "promised JSON" {
				if text = strings.ReplaceAll(text, "B1B2", `{}`); text != `{}` {
					continue
				}
			}
			t.Run(name+", "+form, func(t *testing.T) {
				lost := map[string]*left{"primary": {}, "backup": {}}
				backup := c.backup
				if form == "promised JSON" {
					backup = []string{role, "wait:300ms", token("{"), token("}"), finish("stop"), done}
				}
				in(t, setup{primary: lost["primary"].handler(c.primary...), backup: lost["backup"].handler(backup...), change: hedged(nil)}, func(h *house) {
					began := time.Now()
					p, ev := h.call(request)
					took := time.Since(began)
					h.want(p, 200, c.tier)
					got := textOf(p.String())
					if form != "stream" {
						_, rest, _ := strings.Cut(p.String(), `"content":"`)
						got, _, _ = strings.Cut(rest, `"`)
					}
					if got != text || took != c.took || !slices.Equal(outcomes(ev), c.outcomes) {
						t.Errorf("text %q after %s, attempts %v, want %q after %s, %v\n%s", got, took, outcomes(ev), text, c.took, c.outcomes, p)
					}
					if len(ev.Attempts) > 1 && !ev.Attempts[1].Hedge {
						t.Error("the record does not tell of the hedge")
					}
					time.Sleep(200 * time.Millisecond)
					for name, l := range lost {
						n := 0
						if name == c.canceled {
							n = 1
						}
						if at := l.times(); c.canceled != "" && len(at) != n {
							t.Errorf("%s saw %d requests canceled, want %d", name, len(at), n)
						}
					}
				})
			})
		}
	}
}

// The loser may have a token in its hands at the moment the winner commits.
func TestNoTokenOfTheLoserReachesTheCaller(t *testing.T) {
	for _, both := range []string{"wait:900ms", "wait:901ms", "wait:899ms"} {
		in(t, setup{primary: answers(role, both, token("P"), token("P"), token("P"), finish("stop"), done),
			backup: answers(role, "wait:300ms", token("B"), token("B"), token("B"), finish("stop"), done), change: hedged(nil)}, func(h *house) {
			for range 20 {
				p, ev := h.call(stream)
				if text := textOf(p.String()); text != "PPP" && text != "BBB" {
					t.Errorf("%s: the caller got %q", both, text)
				}
				if strings.Count(p.String(), `"role"`) != 1 || ev.Outcome != backstop.OK {
					t.Errorf("%s: %+v\n%s", both, ev, p)
				}
			}
		})
	}
}

func TestAHedgedStreamThatBreaksIsRescuedAsAnyOther(t *testing.T) {
	in(t, setup{primary: answers(role, "wait:700ms", token("one "), token("two "), "fin"), backup: answers(role, token("one "), token("two "), token("three"), finish("stop"), done),
		change: hedged(func(p *backstop.Plan) { p.Routes[0].Hedge.After = time.Second })}, func(h *house) {
		p, ev := h.call(stream)
		if text := textOf(p.String()); text != "one two three" || ev.Rescued != "spliced" {
			t.Errorf("%q, rescued %q, %v\n%s", text, ev.Rescued, outcomes(ev), p)
		}
	})
}

func TestACallerWhoLeavesEndsBothAttempts(t *testing.T) {
	var a, b left
	in(t, setup{primary: a.handler("hang"), backup: b.handler("hang"), change: hedged(nil)}, func(h *house) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_, ev := h.serve(ctx, &Call{Request: h.read(stream), ID: "req_1", Caller: "web"})
		if ev.Outcome != backstop.Canceled || len(ev.Attempts) != 2 || ev.Duration > 1100*time.Millisecond {
			t.Errorf("%+v", ev)
		}
		time.Sleep(100 * time.Millisecond)
		if len(a.times()) != 1 || len(b.times()) != 1 {
			t.Errorf("canceled: %v and %v", a.times(), b.times())
		}
	})
}

func TestAnAbortEndsBothAttempts(t *testing.T) {
	in(t, setup{primary: answers("hang"), backup: answers("hang"), change: hedged(nil)}, func(h *house) {
		time.AfterFunc(time.Second, h.d.Abort)
		p, ev := h.call(unary)
		if p.status != 503 || ev.Failure == nil || ev.Failure.Code != backstop.CodeDraining || len(ev.Attempts) != 2 {
			t.Errorf("status %d, %+v", p.status, ev)
		}
	})
}

func TestAStoredCallIsNotHedged(t *testing.T) {
	in(t, setup{primary: body(200, plainBody("P")), backup: answers(good("B")...), change: hedged(func(p *backstop.Plan) { p.Routes[0].Hedge.After = time.Nanosecond })}, func(h *house) {
		p, ev := h.call(strings.Replace(unary, `{`, `{"store":true,`, 1))
		if h.want(p, 200, "primary"); len(ev.Attempts) != 1 || h.saw("backup") != 0 {
			t.Errorf("%v", outcomes(ev))
		}
	})
}

// Many calls at once, with the race detector's eyes: permits and goroutines
// all come back, and nobody gets a mixture.
func TestHedgesInACrowd(t *testing.T) {
	in(t, setup{primary: answers(role, "wait:650ms", token("P"), token("P"), finish("stop"), done), backup: answers(role, "wait:60ms", token("B"), token("B"), finish("stop"), done),
		change: hedged(func(p *backstop.Plan) {
			p.Upstreams[0].Retry.Budget = 10
			p.Routes[0].Stream.Keepalive = 620 * time.Millisecond
		})}, func(h *house) {
		var crowd sync.WaitGroup
		for range 100 {
			crowd.Go(func() {
				p, _ := h.call(stream)
				if text := textOf(p.String()); text != "PP" && text != "BB" {
					t.Errorf("%q", text)
				}
			})
		}
		crowd.Wait()
		for _, u := range h.d.Engine().State(time.Now()).Upstreams {
			if u.Inflight != 0 {
				t.Errorf("%s keeps %d permits", u.Name, u.Inflight)
			}
		}
	})
}

func TestAStreamThatIsDroppedRightAfterItsCommitIsNotTheLoops(t *testing.T) {
	r, a, next := &run{}, &attempt{dropped: true}, &attempt{}
	r.live = next // the engine's next try
	if o := r.hand(&follower{r: r, a: a}); o.Class != backstop.Canceled || r.flow != nil || r.live != next {
		t.Errorf("outcome %+v, a stream: %v", o, r.flow != nil)
	}
	if o := r.hand(&follower{r: r, a: next}); o.Class != 0 || r.flow == nil {
		t.Errorf("outcome %+v, no stream", o)
	}
}

// The hedge is ordered at the very moment at which the first attempt ends: it
// may end before the hedge was opened, between that and its start, or after.
func TestAHedgeThatIsOrderedWhenTheFirstAttemptEndsIsTheCallsAttempt(t *testing.T) {
	broken := []string{role, "wait:600ms", "fin"}
	soon := []string{role, "wait:300ms", token("B1"), token("B2"), finish("stop"), done}
	for range 100 {
		in(t, setup{primary: answers(broken...), backup: answers(soon...), change: hedged(func(p *backstop.Plan) { p.Upstreams[0].Breaker.Failures = 64 })}, func(h *house) {
			for range 5 {
				began := time.Now()
				p, ev := h.call(stream)
				h.want(p, 200, "backup")
				if took := time.Since(began); took > time.Second || !strings.Contains(p.String(), "B2") {
					t.Errorf("after %s %v: %s", took, outcomes(ev), p)
				}
			}
		})
	}
}
