package server

import (
	"context"
	"encoding/json"
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
	"backstop/sse"
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
	refused map[string]int        // errors by code
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
			e.leaves = time.Duration(r.IntN(8_000_000_000)) + 1
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
func blow(t *testing.T, seed uint64, calls int) (attempts int) {
	synctest.Test(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(seed, 77))
		w := &tempest{t: t, seed: seed, draws: rand.New(rand.NewPCG(seed, 78)), plan: stormPlan(r), mocks: map[string]*mock.Server{}, seen: map[string]int{},
			tries: map[int][]*sight{}, probes: map[string]int{}, events: map[string][]*backstop.Event{}, cancels: map[int]time.Time{}, limits: map[int]time.Duration{}, refused: map[string]int{}}
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
		t.Logf("seed %d: %v requests, %v probes, errors %v", seed, w.seen, w.probes, w.refused)
	})
	return attempts
}

func TestStormsLeaveTheBooksBalanced(t *testing.T) {
	seeds, calls, limit := uint64(3), 200, time.Duration(1<<62)
	if os.Getenv("BACKSTOP_PROOF") != "" {
		seeds, calls, limit = 1<<40, 1000, wish("BACKSTOP_MINUTES", 10)*time.Minute
	}
	began, done, attempts, first := time.Now(), 0, 0, uint64(wish("BACKSTOP_SEED", 1))
	for seed := first; seed < first+seeds && time.Since(began) < limit && !t.Failed(); seed++ {
		attempts += blow(t, seed, calls)
		done++
	}
	t.Logf("%d storms of %d calls, %d requests upstream", done, calls, attempts)
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

// want is the whole answer of an upstream to a plain question.
func (w *tempest) want(upstream string, n int) string {
	rec := &paper{header: http.Header{}}
	body := fmt.Sprintf(`{"model":"ok","messages":[{"role":"user","content":%q}]}`, w.prompt(n))
	m := mock.New(mock.Options{Seed: map[string]uint64{"primary": 0, "backup": w.seed % 3 / 2}[upstream], Name: upstream, Tokens: stormTokens})
	req, err := http.NewRequest("POST", "/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		w.t.Error(err)
		return ""
	}
	m.ServeHTTP(rec, req)
	text, _, _ := openai.Room{}.Content([]byte(rec.body.String()))
	return text
}

// paper is a response writer in memory.
type paper struct {
	header http.Header
	body   strings.Builder
}

func (r *paper) Header() http.Header         { return r.header }
func (r *paper) Write(b []byte) (int, error) { return r.body.Write(b) }
func (r *paper) WriteHeader(int)             {}

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

// check: J1 and J2, one ending, and one upstream's text.
func (w *tempest) check(e errand, resp *http.Response, answer string) {
	if resp.Header.Get("Content-Type") == "text/event-stream" {
		w.stream(e, answer)
		return
	}
	var plain struct {
		Error   *struct{ Code string }
		Choices []struct {
			Message struct{ Content string }
			Text    string
		}
	}
	if err := json.Unmarshal([]byte(answer), &plain); err != nil || (plain.Error != nil) == (resp.StatusCode == 200) {
		w.fail(e.n, "status %d with a body that does not fit: %v %.300q", resp.StatusCode, err, answer)
		return
	}
	if resp.StatusCode != 200 {
		w.mu.Lock()
		w.refused[plain.Error.Code]++
		w.mu.Unlock()
		return
	}
	if len(plain.Choices) != 1 {
		w.fail(e.n, "no choice: %.300s", answer)
		return
	}
	w.text(e, plain.Choices[0].Message.Content+plain.Choices[0].Text, false)
}

func (w *tempest) stream(e errand, answer string) {
	var text strings.Builder
	ends, errs, finishes, continued := 0, 0, 0, false
	events := sse.NewReader(strings.NewReader(answer), 0)
	for {
		ev, err := events.Next()
		if err != nil {
			break
		}
		if ev.Comment {
			continue
		}
		if ends+errs > 0 {
			w.fail(e.n, "an event behind the end: %s", ev.Data)
			return
		}
		if string(ev.Data) == "[DONE]" {
			ends++
			continue
		}
		var chunk struct {
			Error   *struct{ Code string }
			Note    *struct{ Continued bool } `json:"x_backstop"`
			Choices []struct {
				Delta  struct{ Content string }
				Finish *string `json:"finish_reason"`
			}
		}
		if err := json.Unmarshal(ev.Data, &chunk); err != nil {
			w.fail(e.n, "an event that is no JSON: %s", ev.Data)
			return
		}
		if chunk.Error != nil {
			errs++
		}
		if chunk.Note != nil && chunk.Note.Continued {
			continued = true
		}
		for _, c := range chunk.Choices {
			text.WriteString(c.Delta.Content)
			if c.Finish != nil {
				finishes++
			}
		}
	}
	if ends+errs != 1 || finishes != ends {
		w.fail(e.n, "J1: %d ends, %d errors, %d finish reasons in %.2000s", ends, errs, finishes, answer)
		return
	}
	if errs == 0 {
		w.text(e, text.String(), continued)
	}
}

// text: J2.
func (w *tempest) text(e errand, text string, continued bool) {
	switch {
	case strings.Contains(e.kind, "json"):
		if !json.Valid([]byte(text)) && !w.met(e.n, "refusal") {
			w.fail(e.n, "promised JSON is %.300q", text)
		}
	case text == template || continued || w.met(e.n, "refusal") || w.met(e.n, "fenced") || w.met(e.n, "badjson") || w.met(e.n, "nofinish@5"): // these say what they like, the last one in plain bodies
	case text != w.want("primary", e.n) && text != w.want("backup", e.n):
		w.fail(e.n, "J2: the text is of nobody: %q\nprimary says %q\nbackup says  %q", text, w.want("primary", e.n), w.want("backup", e.n))
	}
}

// met reports whether an attempt of a call ran into a fault.
func (w *tempest) met(n int, fault string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.tries[n] {
		if s.fault == fault {
			return true
		}
	}
	return false
}

// balance checks the books when all is quiet.
func (w *tempest) balance(e *backstop.Engine, calls int) {
	told := map[string]int{}
	for n := range calls {
		list := w.events[eventID(n)]
		if len(list) == 0 && !w.cancels[n].IsZero() && len(w.tries[n]) == 0 {
			continue // it left before anybody heard of it
		}
		if len(list) != 1 {
			w.fail(n, "J1: %d events", len(list))
			continue
		}
		w.attempts(n, list[0], told)
		w.left(n)
	}
	for name := range w.mocks {
		if want := told[name] + w.probes[name]; w.seen[name] != want {
			w.t.Errorf("seed %d: J5: %s saw %d requests, the events tell of %d and probes of %d", w.seed, name, w.seen[name], told[name], w.probes[name])
		}
	}
	for _, u := range e.State(time.Now()).Upstreams {
		if u.Inflight != 0 {
			w.t.Errorf("seed %d: J3: %s keeps %d permits", w.seed, u.Name, u.Inflight)
		}
	}
}

// attempts: J5 of one call, J7 and I11.
func (w *tempest) attempts(n int, e *backstop.Event, told map[string]int) {
	sum := 0
	for _, a := range e.Attempts {
		told[a.Upstream] += 1 + a.Replays
		sum += 1 + a.Replays
	}
	if sum != len(w.tries[n]) {
		w.fail(n, "J5: %d requests were seen, the event tells of %d", len(w.tries[n]), sum)
	}
	deadline, committed := w.plan.Routes[0].Deadline, false
	if own := w.limits[n]; own > 0 {
		deadline = own
	}
	for _, a := range e.Attempts {
		waited := a.Start + a.Duration
		if a.FirstToken > 0 {
			waited = a.Start + a.FirstToken
		}
		if waited > deadline+10*time.Millisecond && !committed { // a rescuer has a clock of its own
			w.fail(n, "J7: attempt %d without a token until %s, the deadline was %s", a.ID, waited, deadline)
		}
		committed = committed || e.Committed && a.FirstToken > 0
	}
	if len(e.Attempts) > backstop.MaxAttempts {
		w.fail(n, "I11: %d attempts", len(e.Attempts))
	}
}

// left: J6, a caller who left takes its attempts along.
func (w *tempest) left(n int) {
	at := w.cancels[n]
	if at.IsZero() {
		return
	}
	for _, s := range w.tries[n] {
		if s.began.After(at.Add(100*time.Millisecond)) || s.ended.IsZero() || s.ended.After(at.Add(100*time.Millisecond)) {
			w.fail(n, "J6: the caller left at %s, %s was asked until %s", at.Format("05.000000"), s.upstream, s.ended.Format("05.000000"))
		}
	}
}
