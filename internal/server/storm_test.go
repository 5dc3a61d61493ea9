package server

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"backstop"
	"backstop/backstophttp"
	"backstop/internal/testkit"
	"backstop/mock"
	"backstop/wire/openai"
)

// A storm sends calls of all kinds through the whole data plane, listener,
// driver and engine, to two mocks that break anew with every attempt, all in
// virtual time and in memory. Afterwards the books must balance to the last
// request.
//
// BACKSTOP_PROOF=1 sends 1,000 calls a storm for BACKSTOP_MINUTES (10);
// BACKSTOP_SEED=n begins with another seed.

// weather is what an attempt may meet. The last two words park an upstream for
// minutes and come in few storms only.
var weather = []string{
	"slow:1s", "hang", "slow:3s", "slow:20s", "slowhead:1s", "role-only", "keepalive:1s", "blanklines:2s", "stall@3", "stall@12", "drip:200ms",
	"cut@5", "cut@18", "reset", "reset@5", "nodone", "nofinish@5", "500", "503", "529", "429:retry-after=1", "429",
	"error-in-200", "error-first", "error-mid@3", "malformed@4", "malformed:all@4", "empty", "html", "html:502", "blank", "busy", "context", "refusal", "fenced", "badjson",
	"401", "404",
}

// shares of the attempts that meet it; each upstream has one for ten seconds.
var shares = []float64{0, 0.05, 0.05, 0.3, 1}

const (
	stormTokens = 24
	template    = "The assistant is busy."
)

type tempest struct {
	t     *testing.T
	seed  uint64
	mild  int // words of the weather that do not come
	mu    sync.Mutex
	draws *rand.Rand

	mocks   map[string]*mock.Server
	seen    map[string]int // requests by upstream, those of calls and those of probes
	tries   map[int][]*sight
	probes  map[string]int // requests of those that ended, by upstream
	events  map[string][]*backstop.Event
	plan    *backstop.Plan
	cancels map[int]time.Time
	limits  map[int]time.Duration // deadlines that callers named
	words   map[string]int        // what became of calls and attempts
}

// sight is an attempt as its upstream saw it.
type sight struct {
	upstream, fault string
	began, ended    time.Time
}

// errand is one caller.
type errand struct {
	n      int
	kind   string // stream | body | json | agent
	start  time.Duration
	leaves time.Duration // after the start, 0 = stays
	limit  time.Duration // own deadline, 0 = none
	slow   bool          // reads slowly
}

var numbered = regexp.MustCompile(`errand (\d+) of`)

// errands are the calls of a seed; no two things happen at the same instant.
func errands(r *rand.Rand, n int) (all []errand) {
	at := time.Duration(0)
	for i := range n {
		at += time.Duration(r.IntN(100_000_000)) + 1
		e := errand{n: i, start: at, kind: []string{"stream", "stream", "body", "body", "json", "json stream", "agent"}[r.IntN(7)]}
		switch r.IntN(4) {
		case 0:
			e.leaves = time.Duration(r.IntN([]int{250_000_000, 600_000_000, 8_000_000_000}[r.IntN(3)])) + 1
		case 1:
			e.limit = time.Duration(1000+r.IntN(5000)) * time.Millisecond
		}
		e.slow = r.IntN(20) == 0
		all = append(all, e)
	}
	return all
}

// fault draws what an attempt meets. The caller holds w.mu.
func (w *tempest) fault(name string) string {
	now := rand.New(rand.NewPCG(w.seed+uint64(len(name)), uint64(time.Now().Unix()/10)))
	if w.draws.Float64() >= shares[now.IntN(len(shares))] {
		return "ok"
	}
	return weather[w.draws.IntN(len(weather)-w.mild)]
}

// upstream is a mock behind a handler that turns the model's name into the
// fault of the moment and keeps the books.
func (w *tempest) upstream(name string, m *mock.Server) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			body = nil
		}
		s := &sight{upstream: name, began: time.Now()}
		w.mu.Lock()
		w.seen[name]++
		s.fault = w.fault(name)
		if at := numbered.FindSubmatch(body); at != nil {
			n, _ := strconv.Atoi(string(at[1]))
			w.tries[n] = append(w.tries[n], s)
		}
		w.mu.Unlock()
		defer func() { w.mu.Lock(); s.ended = time.Now(); w.mu.Unlock() }()
		r.Body = io.NopCloser(strings.NewReader(strings.Replace(string(body), `"m"`, strconv.Quote(s.fault), 1)))
		m.ServeHTTP(rw, r)
	})
}

func stormPlan(r *rand.Rand) *backstop.Plan {
	p := &backstop.Plan{Seed: r.Uint64()}
	for _, name := range []string{"primary", "backup"} {
		u := backstop.DefaultUpstream()
		u.Name, u.BaseURL, u.Proxy = name, "http://"+name+".test/v1", "off"
		u.Breaker.Reset = []time.Duration{60, 10, 2}[r.IntN(3)] * time.Second
		if r.IntN(4) == 0 {
			u.Unary = backstop.UnaryPlain
		}
		if r.IntN(4) == 0 {
			u.Breaker.Probe = backstop.ProbeLive
		}
		if r.IntN(4) == 0 {
			u.Limits.Inflight = 8
		}
		p.Upstreams = append(p.Upstreams, u)
	}
	route := backstop.DefaultRoute()
	route.Model = "*"
	route.Tiers = []backstop.Tier{{Upstream: "primary", Model: "m"}, {Upstream: "backup", Model: "m", Rate: 20, Burst: 20},
		{Local: &backstop.Local{Template: &backstop.Template{Text: template, JSON: []byte(`{"busy":true}`)}}}}
	if r.IntN(3) == 0 {
		route.Tiers = route.Tiers[:2]
	}
	route.Stream.Rescue = []string{"splice", "continue", "off"}[r.IntN(3)]
	if r.IntN(2) == 0 {
		route.Hedge = backstop.HedgeSettings{After: time.Duration(1+r.IntN(3000)) * time.Millisecond, Auto: r.IntN(2) == 0}
	}
	p.Routes = []backstop.Route{route}
	p.Routes[0].Deadline = backstop.AutoDeadline(p, &p.Routes[0])
	return p
}

func (w *tempest) serve(name string, h http.Handler, served *sync.WaitGroup) (*testkit.Pipe, *http.Server) {
	pipe, srv := testkit.NewPipe(), &http.Server{Handler: h, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0)}
	served.Go(func() { _ = srv.Serve(pipe) })
	return pipe, srv
}

// blow runs one storm.
func blow(t *testing.T, seed uint64, calls int, met map[string]int) (attempts int) {
	synctest.Test(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(seed, 77))
		w := &tempest{t: t, seed: seed, draws: rand.New(rand.NewPCG(seed, 78)), plan: stormPlan(r), mocks: map[string]*mock.Server{}, seen: map[string]int{},
			tries: map[int][]*sight{}, probes: map[string]int{}, events: map[string][]*backstop.Event{}, cancels: map[int]time.Time{}, limits: map[int]time.Duration{}, words: map[string]int{}}
		if w.mild = 2; seed%4 == 0 {
			w.mild = 0
		}
		var served, out sync.WaitGroup
		pipes, servers := map[string]*testkit.Pipe{}, []*http.Server(nil)
		for i, name := range []string{"primary", "backup"} {
			// In two storms of three the backup says the same, so that rescues succeed.
			m := mock.New(mock.Options{Seed: uint64(i) * (seed % 3 / 2), Name: name, Delay: 200 * time.Millisecond, Gap: 11 * time.Millisecond, Tokens: stormTokens})
			w.mocks[name] = m
			pipe, srv := w.serve(name, w.upstream(name, m), &served)
			pipes[name+".test:80"], servers = pipe, append(servers, srv)
		}
		dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
			return pipes[addr].DialContext(ctx, network, addr)
		}
		d, err := backstophttp.NewDriver(w.plan, backstophttp.Options{Dial: dial, ProbeDone: func(p backstop.Probe, o backstop.Outcome) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.probes[p.Upstream.Name] += 1 + o.Replayed
		}})
		if err != nil {
			t.Fatal(err)
		}
		s := New(Options{Rooms: map[backstop.Dialect]Room{backstop.OpenAI: openai.Room{}}, Log: slog.New(slog.DiscardHandler), Observe: func(e *backstop.Event) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.events[e.ID] = append(w.events[e.ID], e)
		}})
		s.Swap(&Plane{Plan: w.plan, Runner: d, Agent: Agent{Model: "x"}})
		front := testkit.NewPipe()
		served.Go(func() { _ = s.Serve(front) })
		callers := &http.Transport{DialContext: front.DialContext, MaxIdleConnsPerHost: 100}
		for _, e := range errands(r, calls) {
			w.limits[e.n] = e.limit
			out.Go(func() { w.run(e, callers) })
		}
		out.Wait()
		time.Sleep(time.Minute) // what drains and probes still do
		w.balance(d.Engine(), calls)
		if err := d.Close(t.Context()); err != nil {
			t.Error(err)
		}
		callers.CloseIdleConnections()
		for _, m := range w.mocks {
			m.Close()
		}
		_ = s.Close()
		for _, srv := range servers {
			_ = srv.Close()
		}
		served.Wait() // and the bubble ends only when no goroutine is left
		attempts = w.seen["primary"] + w.seen["backup"]
		for word, n := range w.words {
			met[word] += n
		}
	})
	return attempts
}

func TestStormsLeaveTheBooksBalanced(t *testing.T) {
	seeds, calls, limit := uint64(3), 200, time.Duration(1<<62)
	if os.Getenv("BACKSTOP_PROOF") != "" {
		seeds, calls, limit = 1<<40, 1000, wish("BACKSTOP_MINUTES", 10)*time.Minute
	}
	began, done, attempts, met, first := time.Now(), 0, 0, map[string]int{}, uint64(wish("BACKSTOP_SEED", 1))
	for seed := first; seed < first+seeds && time.Since(began) < limit && !t.Failed(); seed++ {
		attempts += blow(t, seed, calls, met)
		done++
	}
	t.Logf("%d storms of %d calls, %d requests upstream: %v", done, calls, attempts, met)
}

func wish(name string, otherwise time.Duration) time.Duration {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return time.Duration(n)
	}
	return otherwise
}

func (w *tempest) fail(n int, format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var story strings.Builder
	for _, s := range w.tries[n] {
		fmt.Fprintf(&story, "\n  %s %s: %s .. %s", s.upstream, s.fault, s.began.Format("05.000000"), s.ended.Format("05.000000"))
	}
	for _, e := range w.events[eventID(n)] {
		fmt.Fprintf(&story, "\n  event %s tier %q %s status %d after %s, left %v", e.Outcome, e.Tier, e.Rescued, e.Status, e.Duration, !w.cancels[n].IsZero())
		if e.Failure != nil {
			fmt.Fprintf(&story, " %s: %s", e.Failure.Code, e.Failure.Message)
		}
		for _, a := range e.Attempts {
			fmt.Fprintf(&story, "\n    attempt %d at %s: %s after %s, first token %s, took %s", a.ID, a.Upstream, a.Outcome.Reason(), a.Start, a.FirstToken, a.Duration)
		}
	}
	w.t.Errorf("seed %d, call %d: %s%s", w.seed, n, fmt.Sprintf(format, args...), story.String())
}

func eventID(n int) string { return "storm-" + strconv.Itoa(n) }

func (w *tempest) prompt(n int) string { return fmt.Sprintf("errand %d of the storm", n) }

// run is one caller from start to end.
func (w *tempest) run(e errand, callers http.RoundTripper) {
	time.Sleep(e.start)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if e.leaves > 0 {
		leave := time.AfterFunc(e.leaves, func() {
			w.mu.Lock()
			w.cancels[e.n] = time.Now()
			w.mu.Unlock()
			cancel()
		})
		defer leave.Stop()
	}
	path, body := "/v1/chat/completions", fmt.Sprintf(`{"model":"x","messages":[{"role":"user","content":%q}]`, w.prompt(e.n))
	switch {
	case e.kind == "agent":
		path, body = "/api/agent", fmt.Sprintf(`{"prompt":%q`, w.prompt(e.n))
	case strings.Contains(e.kind, "json"):
		body += `,"response_format":{"type":"json_object"}`
	}
	if strings.Contains(e.kind, "stream") {
		body += `,"stream":true`
	}
	req, err := http.NewRequestWithContext(ctx, "POST", "http://localhost"+path, strings.NewReader(body+"}"))
	if err != nil {
		w.t.Error(err)
		return
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Request-Id", eventID(e.n))
	if e.limit > 0 {
		req.Header.Set("X-Backstop-Timeout-Ms", strconv.FormatInt(e.limit.Milliseconds(), 10))
	}
	resp, err := callers.RoundTrip(req)
	if err != nil {
		if ctx.Err() == nil {
			w.fail(e.n, "no answer: %v", err)
		}
		return
	}
	defer func() { _ = resp.Body.Close() }()
	var src io.Reader = resp.Body
	if e.slow {
		src = &slowly{resp.Body}
	}
	answer, err := io.ReadAll(src)
	if ctx.Err() != nil {
		return // it left: what it has by then is nobody's business
	}
	if err != nil {
		w.fail(e.n, "the answer was cut: %v", err)
		return
	}
	w.check(e, resp, string(answer))
}

type slowly struct{ io.Reader }

func (s *slowly) Read(b []byte) (int, error) {
	time.Sleep(20*time.Millisecond + 1)
	return s.Reader.Read(b[:min(len(b), 100)])
}
