package scenario

import (
	"strings"
	"testing"
	"time"

	"backstop/sim"
)

const good = `
name: primary hangs
seed: 7
duration: 10m
arrivals: {rate: 50/s, process: poisson, timeout: 30s, retries: 2, stream: 0.5, json: 20%}
upstreams:
  primary: {first_token: {p50: 600ms, p95: 1500ms}, tokens: {p50: 200, p95: 800}, gap: 15ms, capacity: 40, over: queue, keys: 3}
  backup: {first_token: 300ms}
faults:
  - {upstream: primary, from: 60s, to: 360s, fault: hang}
  - {upstream: backup, from: 2m, fault: "p:0.1:503", model: gpt-4o, key: 2}
expect: {answered: 100%, detect: "<= 2.3s"}
`

func TestAScenarioIsRead(t *testing.T) {
	f, err := Parse("s.yaml", []byte(good), Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := f.Scenario
	if s.Seed != 7 || s.Duration != 10*time.Minute || s.Arrivals.Rate != 50 || s.Arrivals.JSON != 0.2 || len(s.Faults) != 2 || len(s.Expect) != 2 {
		t.Errorf("%+v", s)
	}
	if u := s.Upstreams[0]; u.FirstToken != (sim.Spread{P50: 0.6, P95: 1.5}) || u.Capacity != 40 || u.Over != "queue" {
		t.Errorf("%+v", u)
	}
	if p := f.Pair(); len(p.Upstream("primary").Keys) != 3 || f.Fits(p) != nil {
		t.Error("the pair does not fit its scenario")
	}
}

func TestMistakesHaveAPlace(t *testing.T) {
	for text, want := range map[string]string{
		"duration: 10m\narrivals: {rate: 5/s}\nfault: []":                                             "s.yaml:3:1: unknown key \"fault\"",
		"duration: 10m\nduration: 5m\narrivals: {rate: 5/s}":                                          "s.yaml:2:1: key \"duration\" for the second time",
		"duration: soon\narrivals: {rate: 5/s}":                                                       "s.yaml:1:11: \"soon\" is not a duration",
		"arrivals: {rate: 5/s}":                                                                       "duration is missing",
		"duration: 1m\narrivals: {rate: 5/s}\nexpect: {detekt: 1s}":                                   "no figure is called \"detekt\"",
		"duration: 1m\narrivals: {rate: 5/s}\nfaults: [{upstream: a, fault: hagn}]":                   "unknown fault",
		"duration: 1m\narrivals: {rate: 5/s}\nfaults: [{upstream: a, fault: hang, from: 2m, to: 1m}]": "ends before it begins",
		"duration: 1m\narrivals: {process: {trace: missing.txt}}":                                     "the trace cannot be read",
		"duration: 1m\narrivals: {rate: 5/s}\nupstreams: {a: {first_token: {p50: 2s, p95: 1s}}}":      "p95 is smaller",
		"duration: 1m\narrivals: [1]":                                                                 "takes a mapping",
	} {
		_, err := Parse("s.yaml", []byte(text), Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestAFaultWithoutAKnownWordIsOneMistake(t *testing.T) {
	for fault, want := range map[string]string{"fault: hagn": "unknown fault", "fault: ": "", "fault: ''": "", "from: 1s": "has no word"} {
		_, err := Parse("s.yaml", []byte("duration: 1m\narrivals: {rate: 5/s}\nfaults:\n  - upstream: a\n    "+fault+"\n"), Options{})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Count(err.Error(), "s.yaml:") != 1 {
			t.Errorf("%q: %v, want %q", fault, err, want)
		}
	}
}

func TestAnUpstreamThatThePlanDoesNotHaveIsNamed(t *testing.T) {
	f, err := Parse("s.yaml", []byte("duration: 1m\narrivals: {rate: 1/s}\nfaults: [{upstream: openai, fault: hang}]"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Fits(sim.Pair()); err == nil || !strings.Contains(err.Error(), "s.yaml:3:21") || !strings.Contains(err.Error(), "primary backup") {
		t.Error(err)
	}
}

func TestATraceIsReadBesideItsScenario(t *testing.T) {
	read := func(path string) ([]byte, error) {
		if path != "dir/t.txt" {
			t.Errorf("read %s", path)
		}
		return []byte("# seconds\n0.5\n1\n1.25\n"), nil
	}
	f, err := Parse("dir/s.yaml", []byte("duration: 1m\narrivals: {process: {trace: t.txt}}"), Options{ReadFile: read})
	if err != nil || len(f.Scenario.Arrivals.Trace) != 3 || f.Scenario.Arrivals.Trace[2].At != 1250*time.Millisecond {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestALogIsReplayedAsItWas(t *testing.T) {
	log := `{"time":"2026-01-01T00:00:10Z","level":"INFO","msg":"call","asked":"m","outcome":"ok","attempts":1,"ms":1000,"first_token_ms":300,"tier":"primary","upstream":"primary","tries":[{"upstream":"primary","outcome":"ok","status":200,"first_token_ms":300,"ms":1000}]}
{"level":"INFO","msg":"other"}
not json
{"time":"2026-01-01T00:00:12Z","level":"INFO","msg":"call","asked":"m","outcome":"ok","attempts":2,"ms":2900,"first_token_ms":2600,"tier":"backup","upstream":"backup","tries":[{"upstream":"primary","outcome":"hang/moved","ms":2250},{"upstream":"backup","outcome":"ok","status":200,"at_ms":2250,"first_token_ms":350,"ms":650}]}
`
	rp, err := ReadLog("l.json", strings.NewReader(log))
	if err != nil {
		t.Fatal(err)
	}
	r, err := sim.Verify(sim.Pair(), rp.Scenario)
	if err != nil {
		t.Fatal(err)
	}
	if rp.Recorded.Calls != 2 || r.Calls != 2 || r.Answered != 2 || r.Tiers.Primary != 1 || r.Attempts["primary"] != 2 || rp.Skipped != 2 {
		t.Errorf("%+v, %+v", rp.Recorded, r)
	}
	if _, err := ReadLog("l.json", strings.NewReader("nothing\n")); err == nil {
		t.Error("a log without calls was accepted")
	}
}

// What the gateway refused by itself was no load on any upstream, and would be
// refused again: to replay it would show answers that nobody would get.
func TestCallsThatCameToNoRouteAreNotReplayed(t *testing.T) {
	const refused = `{"time":"2026-01-01T00:00:11Z","level":"WARN","msg":"call","op":"chat","outcome":"limited","status":429,"attempts":0,"ms":0.03,"caller":"batch","code":"rate_limited"}
{"time":"2026-01-01T00:00:12Z","level":"INFO","msg":"call","op":"chat","outcome":"rejected","status":403,"attempts":0,"ms":0.03,"caller":"web","code":"forbidden"}
`
	const served = `{"time":"2026-01-01T00:00:10Z","level":"INFO","msg":"call","route":"*","asked":"m","outcome":"ok","attempts":1,"ms":1000,"first_token_ms":300,"tier":"primary","upstream":"primary"}
{"time":"2026-01-01T00:00:13Z","level":"WARN","msg":"call","route":"*","asked":"m","outcome":"limited","attempts":0,"ms":0.1,"code":"upstreams_exhausted"}
`
	rp, err := ReadLog("l.json", strings.NewReader(refused+served))
	if err != nil {
		t.Fatal(err)
	}
	if rp.Recorded.Calls != 2 || len(rp.Scenario.Arrivals.Trace) != 2 || rp.Recorded.TurnedAway != 2 {
		t.Errorf("%+v", rp.Recorded)
	}
	if _, err := ReadLog("l.json", strings.NewReader(refused)); err == nil || !strings.Contains(err.Error(), "turned away") {
		t.Errorf("nothing but refused calls: %v", err)
	}
}

func TestWhatWasPassedOnIsNoCallOfALog(t *testing.T) {
	passed := `{"time":"2026-01-02T12:00:01Z","msg":"call","id":"p","op":"pass","outcome":"ok","status":200,"attempts":0,"ms":900,"caller":"web","upstream":"one"}` + "\n"
	call := `{"time":"2026-01-02T12:00:02Z","msg":"call","id":"c","op":"chat","outcome":"ok","status":200,"attempts":1,"ms":90,"route":"*","asked":"m","tier":"primary","upstream":"one","tries":[{"upstream":"one","outcome":"ok","ms":90}]}` + "\n"
	rp, err := ReadLog("l.json", strings.NewReader(passed+call+strings.Replace(passed, `"ok"`, `"hang"`, 1)))
	if err != nil || rp.Recorded.Calls != 1 || len(rp.Scenario.Arrivals.Trace) != 1 || rp.Recorded.TurnedAway != 0 || rp.Skipped != 2 {
		t.Errorf("%+v, %v", rp, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte("faults: [{fault: \"p:0.5:flap:1s:stall@3\"}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Parse("s.yaml", data, Options{ReadFile: func(string) ([]byte, error) { return []byte("1\n"), nil }})
		if err != nil {
			if err.Error() == "" {
				t.Fatal("an empty error")
			}
			return
		}
		_ = file.Fits(file.Pair())
	})
}

func FuzzReadLog(f *testing.F) {
	f.Add(`{"time":"2026-01-01T00:00:10Z","msg":"call","ms":1e300,"attempts":1}`)
	f.Fuzz(func(t *testing.T, text string) {
		rp, err := ReadLog("l", strings.NewReader(text))
		if err == nil && rp.Recorded.Calls < 1 {
			t.Fatal("no error and no calls")
		}
	})
}
