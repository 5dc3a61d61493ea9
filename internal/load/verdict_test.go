package load

import (
	"bytes"
	"encoding/json"
	"math"
	"net"
	"strings"
	"testing"
	"time"
)

// outage is a run at 50 calls a second: hanging until 2.3 s, then open, then
// from 8 s on healthy again.
func outage() Samples {
	var l Samples
	for i := range 500 {
		s := Sample{Index: i, Due: time.Duration(i) * 20 * time.Millisecond, Status: 200, HasAttempts: true}
		switch {
		case s.Due < 2300*time.Millisecond:
			s.Tier, s.Attempts, s.Latency = "backup", 2, 2300*time.Millisecond
		case s.Due < 8*time.Second:
			s.Tier, s.Attempts, s.Latency = "backup", 1, 2*time.Millisecond
		default:
			s.Tier, s.Attempts, s.Latency = "primary", 1, 3*time.Millisecond
		}
		l = append(l, s)
	}
	return l
}

func TestPhasesAreDerivedFromTheAnswers(t *testing.T) {
	l := outage()
	b := Derive(l)
	if b.Open != 2300*time.Millisecond || b.Recovering != 8*time.Second {
		t.Fatalf("%+v", b)
	}
	p := l.Phases(b)
	if len(p) != 3 || p[0].Name != "detecting" || p[1].Name != "open" || p[2].Name != "recovering" ||
		len(p[0].Samples) != 115 || len(p[1].Samples) != 285 || len(p[2].Samples) != 100 {
		t.Errorf("%d phases", len(p))
	}
	if p[1].MeanAttempts() != 1 || p[1].Latency().P99 != 2*time.Millisecond {
		t.Errorf("open: %v attempts, %+v", p[1].MeanAttempts(), p[1].Latency())
	}
}

func TestQuickFailoverFromABrokenPrimaryIsNotOpen(t *testing.T) {
	l := Samples{{Tier: "backup", Attempts: 2, Latency: time.Millisecond, Due: 0}, {Tier: "local", Attempts: 0, Latency: time.Millisecond, Due: 5}}
	if b := Derive(l); b.Open != 5 || b.Recovering != Never {
		t.Errorf("%+v", b)
	}
}

func TestPhasesThatNeverCameAreLeftOut(t *testing.T) {
	l := outage()
	for _, c := range []struct {
		b    Boundaries
		want string
	}{
		{Boundaries{Open: Never, Recovering: Never}, "detecting"},
		{Boundaries{Open: 0, Recovering: Never}, "open"},
		{Boundaries{Open: time.Second}, "detecting open"},
		{Boundaries{Open: time.Hour, Recovering: 2 * time.Hour}, "detecting"},
	} {
		var names []string
		n := 0
		for _, p := range l.Phases(c.b) {
			names, n = append(names, p.Name), n+len(p.Samples)
		}
		if strings.Join(names, " ") != c.want || n != len(l) {
			t.Errorf("%+v gives %v with %d calls, want %s", c.b, names, n, c.want)
		}
	}
	if p := (Samples{}).Phases(Boundaries{}); p != nil {
		t.Errorf("phases of nothing: %v", p)
	}
}

func TestQuantilesAreExact(t *testing.T) {
	var l Samples
	for i := 1; i <= 1000; i++ {
		l = append(l, Sample{Latency: time.Duration(i) * time.Millisecond})
	}
	s := l.Latency()
	if s.P50 != 500*time.Millisecond || s.P90 != 900*time.Millisecond || s.P99 != 990*time.Millisecond || s.P999 != 999*time.Millisecond || s.Max != time.Second || s.N != 1000 {
		t.Errorf("%+v", s)
	}
	if one := l.First(1).Latency(); one.P50 != time.Millisecond || one.P999 != time.Millisecond {
		t.Errorf("%+v", one)
	}
	if (Samples{}).Latency() != (Spread{}) || l.Slower(999*time.Millisecond) != 1 || l.Slower(time.Second) != 0 {
		t.Error("slower must not count what took exactly that long")
	}
	if !math.IsNaN(l.MeanAttempts()) {
		t.Error("attempts that nobody said must not be a number")
	}
}

func TestTheArticlePassesAndFails(t *testing.T) {
	l := outage()
	open := l.Between(2300*time.Millisecond, 8*time.Second)
	good := Facts{Cold: l, Open: open, OpenAttempts: 3, Probes: 3, Before: Footprint{9, 4, 0}, After: Footprint{10, 4, 0}, Slack: 1}
	v := Judge(&good, ArticleCold, ArticleOpen, OnlyProbes, Aftermath)
	if !v.OK() {
		t.Errorf("want a pass, got %+v", v)
	}
	bad := good
	bad.Cold = append(Samples(nil), l...)
	bad.Cold[3].Status = 502
	bad.Open = append(Samples(nil), open...)
	for i := range 4 {
		bad.Open[i].Latency = 30 * time.Millisecond
		bad.Open[i].Attempts = 2
	}
	bad.OpenAttempts, bad.After = 4, Footprint{11, 6, 1}
	failed := map[string]string{}
	for _, line := range Judge(&bad, ArticleCold, ArticleOpen, OnlyProbes, Aftermath) {
		if !line.OK {
			failed[line.What] = line.Got
		}
	}
	for what, got := range map[string]string{
		"cold start: answered with HTTP 200": "99.8 %", "open: p99": "30ms", "open: attempts per call": "1.0141",
		"calls to the open upstream, probes apart": "1", "afterwards: sockets in CLOSE_WAIT": "1",
		"afterwards: sockets above the start": "1", "afterwards: goroutines above the start": "1",
	} {
		if failed[what] != got {
			t.Errorf("%s: got %q, want %q to fail", what, failed[what], got)
		}
	}
	if len(failed) != 7 {
		t.Errorf("failed: %v", failed)
	}
}

func TestWhatWasNotMeasuredDoesNotPass(t *testing.T) {
	f := Facts{OpenAttempts: -1, Probes: -1, After: Footprint{0, -1, -1}}
	for _, line := range Judge(&f, ArticleCold, ArticleOpen, DeadPair, OnlyProbes) {
		if line.OK && line.Want != "" {
			t.Errorf("%+v passed without a call", line)
		}
	}
	for _, line := range Judge(&f, Aftermath[:2]) {
		if !line.OK || line.Got != "not measured" {
			t.Errorf("%+v: sockets need Linux", line)
		}
	}
	almost := make(Samples, 1_000_000)
	for i := range almost {
		almost[i].Status = 200
	}
	almost[0].Status = 503
	if line := Judge(&Facts{Open: almost}, ArticleOpen)[0]; line.OK || line.Got == "100 %" {
		t.Errorf("one in a million failed: %+v", line)
	}
}

func TestTheVerdictCanBeRead(t *testing.T) {
	l := outage()
	var b bytes.Buffer
	if err := Judge(&Facts{Cold: l}, ArticleCold).WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	if err := WritePhases(&b, l.Phases(Derive(l))); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"first 500 calls: slower than 4 s       <= 25", "115", "ok", "detecting   115", "100 %", "backup 100 %"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	p := l.Phases(Derive(l))[1]
	js, err := json.Marshal(p.Summarize())
	if err != nil || !strings.Contains(string(js), `"attempts":1,`) || !strings.Contains(string(js), `"p99":2`) {
		t.Errorf("%s %v", js, err)
	}
	empty := Phase{Name: "open"}
	if _, err := json.Marshal(empty.Summarize()); err != nil {
		t.Errorf("a phase without calls must be JSON too: %v", err)
	}
}

func TestWhatWentWrongIsSaid(t *testing.T) {
	many := Samples{{Status: 200}, {Err: ErrConnect}, {Status: 401}, {Status: 401}, {Status: 200, Err: ErrInBand}, {Status: 503, Err: ErrCut}}
	for want, l := range map[string]Samples{
		"": many[:1], "\nfailed: 1 x connect\n": many[:2], "\nfailed: 2 x HTTP 401, 1 x HTTP 503, 1 x connect, 1 x in-band\n": many,
	} {
		var b bytes.Buffer
		if err := l.WriteFailures(&b); err != nil || b.String() != want {
			t.Errorf("%q, %v, want %q", b.String(), err, want)
		}
	}
}

func TestTheFootprintSeesASocketThatWaitsForItsClose(t *testing.T) {
	base := Measure()
	if base.Sockets < 0 {
		t.Skip("no /proc/self/net/tcp")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	here, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	there, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	_ = there.Close()
	if f := Settle(t.Context(), base, 0, 50*time.Millisecond); f.CloseWait != base.CloseWait+1 || f.Sockets != base.Sockets+1 {
		t.Errorf("%+v over %+v", f, base)
	}
	_ = here.Close()
	if f := Settle(t.Context(), base, 0, 2*time.Second); f.CloseWait != 0 || f.Sockets > base.Sockets {
		t.Errorf("%+v over %+v", f, base)
	}
}
