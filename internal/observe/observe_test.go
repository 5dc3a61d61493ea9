package observe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"backstop"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sink is a log that can be read while it is written.
type sink struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *sink) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func (s *sink) lines() []string {
	return strings.Split(strings.TrimSuffix(s.String(), "\n"), "\n")
}

func hung(id string) *backstop.Event {
	return &backstop.Event{
		ID: id, Route: "gpt-4o", Asked: "gpt-4o", Caller: "web", Dialect: backstop.OpenAI, Op: "chat", Tier: "backup", TierIndex: 1, Upstream: "two", Model: "n",
		Reason: "hang/first_token", Outcome: backstop.OK, Status: 200, Duration: 4700 * time.Millisecond, FirstToken: 4600 * time.Millisecond, InputTokens: -1, OutputTokens: -1,
		Attempts: []backstop.AttemptRecord{
			{Upstream: "one", Model: "m", Duration: 4500 * time.Millisecond, Outcome: backstop.Outcome{Class: backstop.Hang, Kind: backstop.KindFirstToken}},
			{Tier: 1, Upstream: "two", Model: "n", FirstToken: 100 * time.Millisecond, Outcome: backstop.Outcome{Class: backstop.OK, InputTokens: 7, OutputTokens: 11}},
		},
	}
}

// skipped is a call that another tier served because the primary was open.
func skipped(id, tier, why string) *backstop.Event {
	return &backstop.Event{ID: id, Route: "gpt-4o", Tier: tier, TierIndex: 1, Upstream: "two", Outcome: backstop.OK, Status: 200,
		Duration: 3 * time.Millisecond, Upstreamed: time.Millisecond, Skipped: []backstop.Skip{{Upstream: "one", Why: why}},
		Attempts: []backstop.AttemptRecord{{Tier: 1, Upstream: "two", Outcome: backstop.Outcome{Class: backstop.OK}}}}
}

func toOpen(cause string) backstop.Transition {
	return backstop.Transition{Upstream: "one", Scope: "model", Model: "m", From: "closed", To: "open", Cause: cause}
}

func TestTheLinesSayWhatTheArticleGreps(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		out := &sink{}
		o := New(Options{Out: out, Format: format})
		o.Call(hung("id-1"))
		o.Transition(toOpen("hang"))
		for i := range 50 {
			o.Call(skipped(fmt.Sprint(i), "backup", "open"))
		}
		fixed := skipped("id-2", "local", "open")
		fixed.Repaired = []string{"fence", "trailing_comma"}
		o.Call(fixed)
		o.Transition(backstop.Transition{Upstream: "one", Scope: "model", From: "half-open", To: "closed", Cause: "probe"})
		o.Close()
		for _, want := range []string{
			"[Primary Model Error] one: hang/first_token after 4.5s",
			"[Circuit Breaker] one CLOSED -> OPEN (hang)",
			"[Circuit Breaker] one OPEN: 50 calls to backup, 1 to local",
			"[Circuit Breaker] one HALF-OPEN -> CLOSED (probe)",
			"[Schema Repair] two: fence, trailing_comma",
		} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: no line with %q in\n%s", format, want, out)
			}
		}
		calls := 0
		for _, line := range out.lines() {
			if format == "json" && !json.Valid([]byte(line)) {
				t.Errorf("not JSON: %s", line)
			}
			if strings.Contains(line, "msg=call ") || strings.Contains(line, `"msg":"call"`) {
				calls++
			}
		}
		if calls != 52 {
			t.Errorf("%s: %d lines of calls, want 52", format, calls)
		}
	}
}

func TestEverySecondOfAnOutageWithTrafficMatchesTheGrep(t *testing.T) {
	grep := regexp.MustCompile("Circuit Breaker|Primary Model Error")
	for _, why := range []string{"open", "parked"} {
		synctest.Test(t, func(t *testing.T) {
			out := &sink{}
			o := New(Options{Out: out, Format: "json"})
			start := time.Now()
			time.Sleep(730 * time.Millisecond)
			if why == "open" {
				o.Transition(toOpen("hang"))
			}
			for i := range 20 * 50 { // 50 calls a second for 20 seconds
				o.Call(skipped(fmt.Sprint(i), "backup", why))
				time.Sleep(20 * time.Millisecond)
			}
			o.Close()
			seen := map[int]bool{}
			for _, line := range out.lines() {
				var l struct{ Time time.Time }
				if json.Unmarshal([]byte(line), &l) == nil && grep.MatchString(line) {
					seen[int(l.Time.Sub(start)/time.Second)] = true
				}
			}
			for second := 1; second < 20; second++ {
				if !seen[second] {
					t.Errorf("%s: no line in second %d", why, second)
				}
			}
		})
	}
}

func TestAnOutageWithoutTrafficIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &sink{}
		o := New(Options{Out: out, Format: "text"})
		o.Transition(toOpen("run"))
		time.Sleep(time.Minute)
		o.Close()
		if n := len(out.lines()); n != 1 {
			t.Errorf("%d lines:\n%s", n, out)
		}
	})
}

func TestAStormOfErrorsIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &sink{}
		o := New(Options{Out: out, Format: "text", Level: "warn"})
		for i := range 100 {
			e := hung(fmt.Sprint(i))
			if i%4 == 0 {
				e.Attempts[0].Outcome = backstop.Outcome{Class: backstop.Broken, Kind: backstop.KindServer, Status: 503}
			}
			o.Call(e)
		}
		time.Sleep(1100 * time.Millisecond)
		o.Call(hung("next second"))
		o.Close()
		if n := strings.Count(out.String(), "Primary Model Error"); n != errorsEach+1+1 {
			t.Errorf("%d lines:\n%s", n, out)
		}
		if want := "[Primary Model Error] one: 95 more suppressed (broken/server 23, hang/first_token 72)"; !strings.Contains(out.String(), want) {
			t.Errorf("no line %q in\n%s", want, out)
		}
	})
}

func TestWhatIsTheCallersDoingIsNoModelError(t *testing.T) {
	out := &sink{}
	o := New(Options{Out: out, Format: "json"})
	for _, class := range []backstop.Class{backstop.OK, backstop.Rejected, backstop.Refused, backstop.Canceled} {
		e := hung(class.String())
		e.Attempts[0].Outcome = backstop.Outcome{Class: class}
		o.Call(e)
	}
	trial := toOpen("run")
	trial.Trial = true
	o.Transition(trial)
	o.Close()
	if s := out.String(); strings.Contains(s, "Primary Model Error") || strings.Contains(s, "Circuit Breaker") {
		t.Errorf("log:\n%s", s)
	}
}

func TestTextsOfOthersAreCutAndEscaped(t *testing.T) {
	const evil = "x\n[Circuit Breaker] one CLOSED -> OPEN (fake)\r\n\x1b[31m\u202e\"}"
	for _, format := range []string{"text", "json"} {
		out := &sink{}
		o := New(Options{Out: out, Format: format})
		e := hung("id")
		e.Asked, e.Model, e.Attempts[0].Model = evil+strings.Repeat("y", 10_000), evil, evil
		e.Dropped = []string{evil}
		e.Failure = &backstop.Failure{Code: backstop.CodeUpstreamRejected, Message: "PROMPT", Body: []byte("PROMPT")}
		e.Attempts[0].Outcome.Message, e.Attempts[0].Outcome.Body = "PROMPT", []byte("PROMPT")
		o.Call(e)
		o.Transition(backstop.Transition{Upstream: "one", Model: evil, Scope: "model", From: "closed", To: "open", Cause: "run"})
		o.Close()
		if n := len(out.lines()); n != 3 {
			t.Errorf("%s: %d lines for one call, one error and one transition:\n%s", format, n, out)
		}
		if strings.Contains(out.String(), "PROMPT") || strings.Contains(out.String(), "\x1b") || out.b.Len() > 5000 {
			t.Errorf("%s:\n%s", format, out)
		}
	}
}

// stuck is a writer that nobody reads until it is freed.
type stuck struct {
	free chan struct{}
	sink
}

func (s *stuck) Write(p []byte) (int, error) {
	<-s.free
	return s.sink.Write(p)
}

func TestALogThatNobodyReadsCostsLinesAndNoTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &stuck{free: make(chan struct{})}
		o := New(Options{Out: out})
		start := time.Now()
		for i := range 3 * queueLines {
			o.Call(skipped(fmt.Sprint(i), "backup", ""))
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("calls waited %s for the log", took)
		}
		if n := o.queue.dropped.Load(); n < 2*queueLines-1000 || n > 2*queueLines {
			t.Errorf("%d lines were dropped", n)
		}
		start = time.Now()
		o.Close()
		if took := time.Since(start); took != closeTime {
			t.Errorf("Close took %s", took)
		}
		close(out.free)
		synctest.Wait()
		if n := strings.Count(out.String(), "\n"); n < queueLines {
			t.Errorf("%d lines came out after the log was read", n)
		}
	})
}

func TestLinesComeInBatchesAndSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &sink{}
		o := New(Options{Out: out})
		defer o.Close()
		for round := 1; round <= 3; round++ {
			for range 10 {
				o.Call(skipped("id", "backup", ""))
			}
			if n := strings.Count(out.String(), "\n"); n != 10*(round-1) {
				t.Errorf("%d lines at once", n)
			}
			time.Sleep(2 * batchTime)
			if n := strings.Count(out.String(), "\n"); n != 10*round {
				t.Errorf("%d lines after %d calls", n, 10*round)
			}
			time.Sleep(time.Second)
		}
	})
}

func TestAutoIsJSONWhereNobodyLooks(t *testing.T) {
	out := &sink{}
	o := New(Options{Out: out, Format: "auto"})
	o.Log().Info("hello", slog.String("k", "v"))
	o.Close()
	if !json.Valid([]byte(strings.TrimSpace(out.String()))) {
		t.Errorf("line %q", out)
	}
}

func TestTheRingRemembersTheLastCalls(t *testing.T) {
	o := New(Options{Ring: 3})
	defer o.Close()
	body := strings.Repeat("z", 1<<20)
	for i := range 5 {
		e := skipped(fmt.Sprintf("id-%d", i), []string{"backup", "local"}[i%2], "open")
		e.Asked = body
		o.Call(e)
	}
	r := o.Recent()
	all := r.Calls(10, func(*backstop.Event) bool { return true })
	if len(all) != 3 || all[0].ID != "id-4" || all[2].ID != "id-2" {
		t.Fatalf("calls %+v", all)
	}
	if len(all[0].Asked) > maxText+3 {
		t.Errorf("a model name of %d bytes is kept", len(all[0].Asked))
	}
	if got := r.Calls(1, func(e *backstop.Event) bool { return e.Tier == "local" }); len(got) != 1 || got[0].ID != "id-3" {
		t.Errorf("local calls %+v", got)
	}
	if r.Call("id-1") != nil || r.Call("id-2") == nil {
		t.Error("the index and the ring differ")
	}
	again := skipped("id-4", "local", "open")
	o.Call(again)
	o.Call(skipped("id-5", "local", "open"))
	if r.Call("id-4").Tier != "local" || r.Call("id-2") != nil {
		t.Error("of two calls with one id the latest counts")
	}
}

func TestTheRingKeepsNoBodyAndNoForeignWords(t *testing.T) {
	o := New(Options{})
	defer o.Close()
	e := hung("id")
	e.Failure = &backstop.Failure{Code: backstop.CodeUpstreamRejected, Message: "PROMPT", Body: []byte("PROMPT")}
	e.Attempts[0].Outcome.Message, e.Attempts[0].Outcome.Body = "PROMPT", []byte("PROMPT")
	o.Call(e)
	text, err := json.Marshal(o.Recent().Call("id"))
	if err != nil || bytes.Contains(text, []byte("PROMPT")) {
		t.Errorf("%s %v", text, err)
	}
	if e.Failure.Message == "" || e.Attempts[0].Outcome.Body == nil {
		t.Error("the driver's own event was changed")
	}
}

func TestTransitionsAreNumbered(t *testing.T) {
	o := New(Options{})
	defer o.Close()
	r := o.Recent()
	_, n, changed := r.Transitions(0)
	o.Transition(toOpen("run"))
	<-changed
	list, m, _ := r.Transitions(n)
	if len(list) != 1 || m != n+1 || list[0].Cause != "run" {
		t.Fatalf("%v %d", list, m)
	}
	for range 2 * keptTransitions {
		o.Transition(toOpen("hang"))
	}
	if list, last, _ := r.Transitions(m); len(list) != keptTransitions || last != m+2*keptTransitions {
		t.Errorf("%d transitions, next %d", len(list), last)
	}
	if list, _, _ := r.Transitions(1 << 60); len(list) != 0 {
		t.Errorf("%d transitions of the future", len(list))
	}
}

func scrape(o *Observer) string {
	w := httptest.NewRecorder()
	o.Metrics().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	body, _ := io.ReadAll(w.Body)
	return string(body)
}

func TestTheMetricsOfTheContract(t *testing.T) {
	now := time.Now()
	o := New(Options{Version: "1.2.3", State: func() backstop.State {
		return backstop.State{Time: now, Upstreams: []backstop.UpstreamState{{Name: "one", Keys: 2, Inflight: 3, Budget: 9.5,
			Parked: []backstop.ParkState{{Key: 0, Model: "a"}, {Key: 0, Model: "b"}},
			Scopes: []backstop.ScopeState{{Scope: "model", Model: "a", State: "half-open"}, {Scope: "model", Model: "b", State: "open"}, {Scope: "embed", State: "half-open"}},
		}, {Name: "two", Keys: 3, Parked: []backstop.ParkState{{Key: -1}}}}}
	}})
	defer o.Close()
	o.Known(&backstop.Plan{Routes: []backstop.Route{{Model: "gpt-4o"}}, Upstreams: []backstop.Upstream{{Name: "one"}, {Name: "two"}}}, []string{"web"})
	e := hung("id")
	e.Repaired = []string{"fence"}
	o.Call(e)
	o.Call(skipped("id-2", "backup", "rate"))
	o.Transition(toOpen("hang"))
	o.Probe(backstop.Probe{Upstream: &backstop.Upstream{Name: "one"}}, backstop.Outcome{Class: backstop.Hang, InputTokens: 5, OutputTokens: -1})
	taken := skipped("id-3", "backup", "rate")
	taken.Rescued, taken.Attempts, taken.Skipped, taken.Caller = "spliced", []backstop.AttemptRecord{{Upstream: "one", Outcome: backstop.Outcome{Class: backstop.Garbled, Malformed: 3}}}, nil, "web"
	taken.Tier = "none"
	o.Call(taken)
	o.Gap("two", 20*time.Millisecond)
	o.Gap("two", 40*time.Millisecond)
	o.Reloaded(false)
	text := scrape(o)
	for _, want := range []string{
		`backstop_calls_total{caller="web",outcome="ok",route="gpt-4o",tier="backup"} 1`,
		`backstop_calls_total{caller="none",outcome="ok",route="gpt-4o",tier="backup"} 1`,
		`backstop_attempts_total{outcome="hang",upstream="one"} 1`,
		`backstop_attempts_total{outcome="ok",upstream="two"} 2`,
		`backstop_breaker_state{scope="model",upstream="one"} 1`,
		`backstop_breaker_state{scope="embed",upstream="one"} 2`,
		`backstop_breaker_state{scope="endpoint",upstream="two"} 0`,
		`backstop_breaker_transitions_total{cause="hang",scope="model",to="open",upstream="one"} 1`,
		`backstop_keys_parked{upstream="one"} 1`, `backstop_keys_parked{upstream="two"} 3`,
		`backstop_call_duration_seconds_count{route="gpt-4o",tier="backup"} 2`,
		`backstop_first_token_seconds_count{upstream="two"} 1`,
		`backstop_token_gap_seconds_count{upstream="two"} 2`,
		`backstop_rescues_total{result="spliced"} 1`, `backstop_rescues_total{result="failed"} 0`,
		`backstop_malformed_events_total{upstream="one"} 3`,
		`backstop_overhead_seconds_count 1`,
		`backstop_retry_budget_remaining{upstream="one"} 9.5`,
		`backstop_json_repairs_total{kind="fence"} 1`,
		`backstop_inflight{upstream="one"} 3`,
		`backstop_shed_total{reason="rate",upstream="one"} 1`,
		`backstop_tokens_total{direction="input",upstream="two"} 7`,
		`backstop_tokens_total{direction="output",upstream="two"} 11`,
		`backstop_tokens_total{direction="probe",upstream="one"} 5`,
		`version="1.2.3"`, `backstop_config_last_reload_successful 0`, "go_goroutines ", "process_open_fds ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
	o.Reloaded(true)
	if !strings.Contains(scrape(o), `backstop_config_last_reload_successful 1`) {
		t.Error("a good reload is not told")
	}
}

func TestCallersMakeNoSeries(t *testing.T) {
	o := New(Options{})
	defer o.Close()
	o.Known(&backstop.Plan{Routes: []backstop.Route{{Model: "*"}}, Upstreams: []backstop.Upstream{{Name: "one"}}}, []string{"web"})
	fill := func(from, to int) {
		for i := from; i < to; i++ {
			x := fmt.Sprintf("evil-%d\xff", i)
			e := hung(x)
			e.Route, e.Asked, e.Caller, e.Tier, e.Upstream, e.Model = x, x, x, x, x, x
			e.Attempts[0].Upstream, e.Repaired = x, []string{x, fmt.Sprintf("w%d", i)}
			e.Skipped = []backstop.Skip{{Upstream: x, Why: x}}
			o.Call(e)
			o.Transition(backstop.Transition{Upstream: x, Scope: x, To: x, Cause: x})
		}
	}
	fill(0, 200)
	before := strings.Count(scrape(o), "\nbackstop_")
	fill(200, 5000)
	if after := strings.Count(scrape(o), "\nbackstop_"); after != before {
		t.Errorf("%d series became %d", before, after)
	}
	if text := scrape(o); strings.Contains(text, "evil") {
		t.Error("a caller's text is a label")
	}
}

func BenchmarkCall(b *testing.B) {
	o := New(Options{Format: "json"})
	defer o.Close()
	o.Known(&backstop.Plan{Routes: []backstop.Route{{Model: "gpt-4o"}}, Upstreams: []backstop.Upstream{{Name: "one"}, {Name: "two"}}}, []string{"web"})
	e := skipped("id", "backup", "open")
	b.ReportAllocs()
	for b.Loop() {
		o.Call(e)
	}
}

func BenchmarkGap(b *testing.B) {
	o := New(Options{})
	defer o.Close()
	o.Known(&backstop.Plan{Upstreams: []backstop.Upstream{{Name: "one"}}}, nil)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			o.Gap("one", 15*time.Millisecond)
		}
	})
}
