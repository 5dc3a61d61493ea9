package backstophttp

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"backstop"
	"backstop/local"
	"backstop/wire"
	"backstop/wire/openai"
)

func TestPlansThatCanNeverWorkAreRefused(t *testing.T) {
	for name, change := range map[string]func(*backstop.Plan){
		"an unknown upstream":       func(p *backstop.Plan) { p.Routes[0].Tiers[1].Upstream = "nobody" },
		"a dialect not spoken":      func(p *backstop.Plan) { p.Upstreams[1].Dialect = "other" },
		"a base URL without scheme": func(p *backstop.Plan) { p.Upstreams[1].BaseURL = "backup.test" },
	} {
		t.Run(name, func(t *testing.T) {
			p := pair(nil)
			change(p)
			if d, err := NewDriver(p, Options{}); err == nil {
				_ = d.Close(context.Background())
				t.Error("NewDriver accepted it")
			}
		})
	}
}

// faulty is a room with a bug for one upstream.
type faulty struct{ openai.Room }

func (f faulty) Outbound(r *wire.Request, u *backstop.Upstream, s *backstop.Step) (wire.Outbound, *backstop.Outcome) {
	if u.Name == "primary" {
		panic("bug")
	}
	return f.Room.Outbound(r, u, s)
}

func TestABugOfOursIsNobodysFault(t *testing.T) {
	in(t, setup{primary: answers(good("P")...), backup: answers(good("B")...), options: Options{Rooms: map[backstop.Dialect]wire.Room{backstop.OpenAI: faulty{}}}}, func(h *house) {
		for range 10 {
			p, ev := h.call(stream)
			h.want(p, 200, "backup")
			if o := ev.Attempts[0].Outcome; o.Reason() != "canceled/bug" || o.Counts != backstop.CountsNone {
				t.Errorf("outcome %+v", o)
			}
		}
		if len(h.turns) != 0 {
			t.Errorf("transitions %+v", h.turns)
		}
	})
}

func TestAReplayIsCountedAndNothingElse(t *testing.T) {
	second := false
	primary := func(w http.ResponseWriter, r *http.Request) {
		if second {
			second = false
			panic(http.ErrAbortHandler)
		}
		answers(good("P")...)(w, r)
	}
	in(t, setup{primary: primary, backup: answers(good("B")...)}, func(h *house) {
		h.call(stream)
		time.Sleep(time.Millisecond) // the drain gives the connection back
		second = true
		p, ev := h.call(stream)
		h.want(p, 200, "primary")
		if ev.Calls() != 1 || ev.Attempts[0].Replays != 1 || h.saw("primary") != 3 {
			t.Errorf("event %+v, upstream saw %d", ev, h.saw("primary"))
		}
	})
}

// shelf is a cache without bounds.
type shelf struct {
	mu sync.Mutex
	m  map[local.Key]local.Entry
}

func (s *shelf) Get(k local.Key) (local.Entry, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.m[k]
	return e, ok
}

func (s *shelf) Put(k local.Key, e local.Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.m[k] = e
}

func TestTheLastGoodAnswerIsServedStale(t *testing.T) {
	dead := false
	primary := func(w http.ResponseWriter, r *http.Request) {
		if dead {
			body(503, `{"error":{"message":"down"}}`)(w, r)
			return
		}
		answers(good("fresh")...)(w, r)
	}
	s := &shelf{m: map[local.Key]local.Entry{}}
	in(t, setup{primary: primary, options: Options{Cache: func(*backstop.Route) local.Cache { return s }}, change: func(p *backstop.Plan) {
		p.Routes[0].Tiers = []backstop.Tier{{Upstream: "primary"}, {Local: &backstop.Local{Cache: &backstop.CacheSettings{Age: time.Hour, Size: 1 << 20}}}}
	}}, func(h *house) {
		h.call(stream)
		dead = true
		time.Sleep(90 * time.Second)
		for form, request := range map[string]string{"stream": stream, "unary": unary} {
			p, ev := h.call(request)
			h.want(p, 200, "local")
			if !strings.Contains(p.String(), "fresh") || p.header.Get("X-Backstop-Stale") != "90" || p.header.Get("X-Backstop-Upstream") != "cache" || ev.Stale != 90*time.Second {
				t.Errorf("%s: headers %v, event %+v\n%s", form, p.header, ev, p)
			}
			if !strings.Contains(p.String(), `"x_backstop"`) {
				t.Errorf("%s: no note in %s", form, p)
			}
		}
		if p, _ := h.serve(context.Background(), &Call{Request: h.read(unary), ID: "req_1", Caller: "other"}); p.status == 200 {
			t.Errorf("another caller got %s", p)
		}
		time.Sleep(time.Hour)
		if p, _ := h.call(unary); p.status == 200 {
			t.Errorf("an answer over its age was served: %s", p)
		}
	})
}

func TestAReloadKeepsBreakersAndTheOldDriverFinishes(t *testing.T) {
	in(t, setup{primary: answers("hang"), backup: answers(role, token("a"), "wait:30s", finish("stop"), done),
		change: func(p *backstop.Plan) { p.Upstreams[1].Timeouts.Idle = time.Minute }}, func(h *house) {
		var calls sync.WaitGroup
		for range 20 {
			calls.Go(func() { h.call(stream) })
		}
		time.Sleep(6 * time.Second)
		o := h.d.options
		o.Previous = h.d
		next, err := NewDriver(pair(func(p *backstop.Plan) { p.Upstreams[1].Timeouts.Idle = time.Minute }), o)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = next.Close(context.Background()) }()
		closed := make(chan error, 1)
		go func() { closed <- h.d.Close(context.Background()) }()
		ev := next.Serve(context.Background(), newPage(), &Call{Request: h.read(stream), ID: "req_2"})
		if ev.Tier != "backup" || ev.Reason != "open" {
			t.Errorf("the breaker's memory is gone: %+v", ev)
		}
		calls.Wait()
		if err := <-closed; err != nil {
			t.Error(err)
		}
		for _, ev := range h.events {
			if ev.Outcome != backstop.OK {
				t.Errorf("a call was cut: %+v", ev)
			}
		}
	})
}

func TestCloseGivesUpWithItsContext(t *testing.T) {
	in(t, setup{primary: answers("hang"), change: func(p *backstop.Plan) { p.Routes[0].Tiers = p.Routes[0].Tiers[:1] }}, func(h *house) {
		go h.call(stream)
		time.Sleep(time.Second)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := h.d.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Close = %v", err)
		}
	})
}
