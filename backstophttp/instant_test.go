package backstophttp

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"backstop"
)

// What happens to a call at one instant may be seen in any order. Whatever the
// order is, the call ends soon, is counted once, and gives everything back.
func TestWhatHappensAtOneInstantMayBeSeenInAnyOrder(t *testing.T) {
	const at = 600 * time.Millisecond
	speaks := []string{role, "wait:600ms", token("P1"), finish("stop"), done}
	later := []string{role, "wait:300ms", token("B1"), finish("stop"), done}
	type action func(h *house, cancel context.CancelFunc)
	leaves := func(_ *house, cancel context.CancelFunc) { cancel() }
	for name, c := range map[string]struct {
		primary, backup http.HandlerFunc
		hedged          bool
		change          func(*backstop.Plan)
		act             action // at that instant
		most            time.Duration
	}{
		"a token and its limit":                   {answers(speaks...), answers(later...), false, limit(at), nil, time.Second},
		"a token and its limit, with hedges":      {answers(speaks...), answers(later...), true, limit(at), nil, time.Second},
		"a token and a hedge":                     {answers(speaks...), answers(later...), true, nil, nil, time.Second},
		"two tokens":                              {answers(role, "wait:900ms", token("P1"), finish("stop"), done), answers(later...), true, nil, nil, time.Second},
		"two failures":                            {answers(role, "wait:900ms", "fin"), answers(role, "wait:300ms", "fin"), true, nil, nil, 2 * time.Second},
		"a failure, a hedge that fails at once":   {answers(role, "wait:600ms", "fin"), body(503, "{}"), true, nil, nil, 2 * time.Second},
		"a failure, a hedge that goes nowhere":    {answers(role, "wait:600ms", "fin"), nil, true, nil, nil, 2 * time.Second},
		"a hedge that goes nowhere":               {answers(role, "wait:700ms", token("P1"), finish("stop"), done), nil, true, nil, nil, 2 * time.Second},
		"a token and a caller who leaves":         {answers(speaks...), answers(later...), false, nil, leaves, time.Second},
		"a hedge and a caller who leaves":         {answers(speaks...), answers(later...), true, nil, leaves, time.Second},
		"a failure, a hedge, a caller who leaves": {answers(role, "wait:600ms", "fin"), answers(later...), true, nil, leaves, time.Second},
		"the end and a caller who leaves":         {answers(role, token("P1"), "wait:600ms", finish("stop"), done), answers(later...), false, nil, leaves, time.Second},
		"a token and the end of the process":      {answers(speaks...), answers(later...), false, nil, aborts, time.Second},
		"a hedge and the end of the process":      {answers(speaks...), answers(later...), true, nil, aborts, time.Second},
		"a failure and the end of the process":    {answers(role, "wait:600ms", "fin"), answers(later...), true, nil, aborts, time.Second},
		"a stall and its token":                   {answers(role, token("P1"), "wait:600ms", token("P2"), finish("stop"), done), answers(later...), false, stall(at), nil, 2 * time.Second},
		"a stall and its token, with hedges":      {answers(role, token("P1"), "wait:600ms", token("P2"), finish("stop"), done), answers(later...), true, stall(at), nil, 2 * time.Second},
		"a keep-alive and a token":                {answers(speaks...), answers(later...), false, func(p *backstop.Plan) { p.Routes[0].Stream.Keepalive = at }, nil, time.Second},
		"a keep-alive, a token and a hedge":       {answers(speaks...), answers(later...), true, func(p *backstop.Plan) { p.Routes[0].Stream.Keepalive = at }, nil, time.Second},
	} {
		change := func(p *backstop.Plan) {
			for i := range p.Upstreams {
				p.Upstreams[i].Breaker.Failures = 64
			}
			if c.change != nil {
				c.change(p)
			}
		}
		if c.hedged {
			change = hedged(change)
		}
		for range 12 {
			for _, request := range []string{stream, unary} {
				in(t, setup{primary: c.primary, backup: c.backup, change: change}, func(h *house) {
					ctx, cancel := context.WithCancel(context.Background())
					defer cancel()
					if c.act != nil {
						time.AfterFunc(at, func() { c.act(h, cancel) })
					}
					began := time.Now()
					_, ev := h.serve(ctx, &Call{Request: h.read(request), ID: "req_1", Caller: "c"})
					if took := time.Since(began); took > c.most {
						t.Errorf("%s: after %s %v", name, took, outcomes(ev))
					}
					time.Sleep(2 * time.Second)
					if len(h.events) != 1 || slices.ContainsFunc(ev.Attempts, func(a backstop.AttemptRecord) bool { return a.Outcome.Class == 0 }) {
						t.Errorf("%s: %d records, %v", name, len(h.events), outcomes(ev))
					}
					for _, u := range h.d.Engine().State(time.Now()).Upstreams {
						if u.Inflight != 0 {
							t.Errorf("%s: %d attempts at %s are still counted", name, u.Inflight, u.Name)
						}
					}
					if s := h.d.Engine().Silences(time.Now()); len(s) > 0 {
						t.Errorf("%s: %+v wait", name, s)
					}
				})
			}
		}
	}
}

func aborts(h *house, _ context.CancelFunc) { h.d.Abort() }

func limit(d time.Duration) func(*backstop.Plan) {
	return func(p *backstop.Plan) { p.Upstreams[0].Timeouts.FirstToken = d }
}

func stall(d time.Duration) func(*backstop.Plan) {
	return func(p *backstop.Plan) { p.Upstreams[0].Timeouts.Idle = d }
}

func TestARoundTripThatIsCanceledAtAnyInstantLeavesNothing(t *testing.T) {
	const at = 600 * time.Millisecond
	for name, c := range map[string]struct {
		script []string
		act    func(cancel context.CancelFunc, body io.Closer)
	}{
		"canceled at its first token": {[]string{role, "wait:600ms", token("P1"), finish("stop"), done}, func(cancel context.CancelFunc, _ io.Closer) { cancel() }},
		"canceled at a token":         {[]string{role, token("P1"), "wait:600ms", token("P2"), finish("stop"), done}, func(cancel context.CancelFunc, _ io.Closer) { cancel() }},
		"closed at a token":           {[]string{role, token("P1"), "wait:600ms", token("P2"), finish("stop"), done}, func(_ context.CancelFunc, body io.Closer) { _ = body.Close() }},
		"closed at the end":           {[]string{role, token("P1"), "wait:600ms"}, func(_ context.CancelFunc, body io.Closer) { _ = body.Close() }},
	} {
		for range 12 {
			for _, request := range []string{stream, unary} {
				in(t, setup{primary: answers(c.script...), backup: answers(role, "wait:600ms", token("B1"), finish("stop"), done)}, func(h *house) {
					ctx, cancel := context.WithCancel(context.Background())
					defer cancel()
					var body atomic.Pointer[io.ReadCloser]
					time.AfterFunc(at, func() {
						b := body.Load()
						if b == nil {
							cancel()
							return
						}
						c.act(cancel, *b)
					})
					req, _ := http.NewRequestWithContext(ctx, http.MethodPost, anywhere, strings.NewReader(request))
					resp, err := (&Transport{h.d}).RoundTrip(req)
					if err == nil {
						body.Store(&resp.Body)
						_, _ = io.Copy(io.Discard, resp.Body)
						_ = resp.Body.Close()
					}
					time.Sleep(2 * time.Second)
					h.d.mu.Lock()
					defer h.d.mu.Unlock()
					if len(h.d.running) != 0 {
						t.Errorf("%s: it still runs", name)
					}
				})
			}
		}
	}
}

// A reload takes the probe loop over from a driver whose probe is under way,
// begins or ends just then: the upstream is found to be back all the same.
func TestAReloadAtAnyInstantOfAProbeLosesNoProbe(t *testing.T) {
	for _, after := range []time.Duration{0, time.Millisecond, time.Second, 2 * time.Second, 4500 * time.Millisecond, 5 * time.Second, 10 * time.Second} {
		var well atomic.Bool
		primary := func(w http.ResponseWriter, r *http.Request) {
			if well.Load() {
				answers(good("P")...)(w, r)
				return
			}
			answers("hang")(w, r)
		}
		in(t, setup{primary: primary, backup: answers(good("B")...)}, func(h *house) {
			for range 12 {
				h.call(stream)
			}
			for before := h.saw("primary"); h.saw("primary") == before; { // until the next probe begins
				time.Sleep(time.Millisecond)
			}
			time.Sleep(after)
			o := h.d.options
			o.Previous = h.d
			next, err := NewDriver(pair(nil), o)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = next.Close(context.Background()) }()
			well.Store(true)
			if err := h.d.Close(context.Background()); err != nil {
				t.Error(err)
			}
			time.Sleep(90 * time.Second)
			p := newPage()
			next.Serve(context.Background(), p, &Call{Request: h.read(stream), ID: "req_1"})
			h.want(p, 200, "primary")
		})
	}
}
