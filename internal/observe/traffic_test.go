package observe

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"backstop"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func TestASecondTellsWhoAnsweredAndHowFast(t *testing.T) {
	var tr Traffic
	at := noon.Add(100 * time.Millisecond)
	for i := range 100 {
		e := &backstop.Event{Tier: "primary", Outcome: backstop.OK, Duration: time.Duration(i+1) * 10 * time.Millisecond, FirstToken: time.Duration(i+1) * time.Millisecond}
		tr.call(e, at)
	}
	tr.call(&backstop.Event{Tier: "backup", Outcome: backstop.OK, Duration: time.Millisecond, Rescued: "spliced", Repaired: []string{"fence"}}, at)
	tr.call(&backstop.Event{Tier: "local", Outcome: backstop.OK}, at)
	tr.call(&backstop.Event{Outcome: backstop.Broken}, at)
	tr.call(&backstop.Event{Outcome: backstop.Rejected}, at)
	tr.call(&backstop.Event{Outcome: backstop.Canceled}, at)
	if got := tr.Seconds(time.Time{}, at); len(got) != 0 {
		t.Errorf("a second that still runs is told: %+v", got)
	}
	got := tr.Seconds(time.Time{}, noon.Add(3*time.Second))
	if len(got) != 3 {
		t.Fatalf("%d seconds", len(got))
	}
	s := got[0]
	if !s.Time.Equal(noon) || s.Primary != 100 || s.Backup != 1 || s.Local != 1 || s.Failed != 1 || s.Other != 2 || s.Rescued != 1 || s.Repaired != 1 {
		t.Errorf("%+v", s)
	}
	near := func(name string, got, want time.Duration) {
		if got < want*94/100 || got > want*106/100 {
			t.Errorf("%s is %s, want about %s", name, got, want)
		}
	}
	near("p50", s.P50, 490*time.Millisecond)
	near("p99", s.P99, 990*time.Millisecond)
	near("first p50", s.First50, 50*time.Millisecond)
	near("first p99", s.First99, 99*time.Millisecond)
	if quiet := got[1]; quiet.P50 != 0 || quiet.Primary != 0 || !quiet.Time.Equal(noon.Add(time.Second)) {
		t.Errorf("a second without calls: %+v", quiet)
	}
	if later := tr.Seconds(noon.Add(time.Second), noon.Add(3*time.Second)); len(later) != 1 || !later[0].Time.Equal(noon.Add(2*time.Second)) {
		t.Errorf("after a second: %+v", later)
	}
}

func TestWhatIsPassedOnIsNoCall(t *testing.T) {
	o := New(Options{})
	defer o.Close()
	o.Known(&backstop.Plan{Upstreams: []backstop.Upstream{{Name: "one", Passthrough: true}}}, nil)
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, class := range []backstop.Class{backstop.OK, backstop.Hang, backstop.Rejected} {
		e := &backstop.Event{Op: backstop.OpPass, TierIndex: -1, Upstream: "one", Outcome: class, Duration: time.Minute}
		o.metrics.call(e)
		o.traffic.call(e, now)
	}
	text := scrape(o)
	if strings.Contains(text, "backstop_calls_total{") || strings.Contains(text, "backstop_call_duration_seconds_count{") ||
		!strings.Contains(text, `backstop_passthrough_total{caller="none",outcome="ok",upstream="one"} 1`) ||
		!strings.Contains(text, `backstop_passthrough_total{caller="none",outcome="hang",upstream="one"} 1`) {
		t.Errorf("metrics: %s", text)
	}
	if s := o.traffic.Seconds(time.Time{}, now.Add(time.Second)); len(s) != 1 || s[0].Failed != 0 || s[0].Other != 3 {
		t.Errorf("seconds: %+v", s)
	}
}

func TestSecondsAreKeptForAQuarterOfAnHour(t *testing.T) {
	var tr Traffic
	one := &backstop.Event{Tier: "primary", Outcome: backstop.OK}
	for i := range 2 * keptSeconds {
		tr.call(one, noon.Add(time.Duration(i)*time.Second))
	}
	now := noon.Add(2 * keptSeconds * time.Second)
	got := tr.Seconds(time.Time{}, now)
	if len(got) != keptSeconds || !got[keptSeconds-1].Time.Equal(now.Add(-time.Second)) {
		t.Fatalf("%d seconds, the last is %s", len(got), got[len(got)-1].Time)
	}
	for i := 1; i < len(got); i++ {
		if got[i].Time.Sub(got[i-1].Time) != time.Second {
			t.Fatalf("%s follows %s", got[i].Time, got[i-1].Time)
		}
	}
	// A night without a call, and a clock that is set back by as much.
	got = tr.Seconds(time.Time{}, now.Add(9*time.Hour))
	if len(got) != keptSeconds || got[0].Primary != 0 || !got[keptSeconds-1].Time.Equal(now.Add(9*time.Hour-time.Second)) {
		t.Errorf("after a night: %d seconds, the last is %s", len(got), got[len(got)-1].Time)
	}
	tr.call(one, noon)
	if got := tr.Seconds(time.Time{}, noon); len(got) != 0 {
		t.Errorf("after a step back, what lies ahead is still told: %d seconds", len(got))
	}
}

func TestAttemptsAreTalliedByUpstreamAndClass(t *testing.T) {
	var tr Traffic
	end := func(at time.Time, id string, c backstop.Class, k backstop.Kind) {
		tr.call(&backstop.Event{ID: id, Attempts: []backstop.AttemptRecord{{Upstream: "one", Model: "m", Outcome: backstop.Outcome{Class: c, Kind: k, Status: 503}}}}, at)
	}
	end(noon, "a", backstop.Broken, backstop.KindServer)
	end(noon.Add(time.Minute), "b", backstop.Hang, backstop.KindFirstToken)
	end(noon.Add(2*time.Minute), "c", backstop.OK, "")
	end(noon.Add(2*time.Minute), "d", backstop.Rejected, "")
	got := tr.Tally("one", noon.Add(5*time.Minute+30*time.Second))
	if fmt.Sprint(got.Lately) != "map[hang:1 ok:1 rejected:1]" || fmt.Sprint(got.Since) != "map[broken:1 hang:1 ok:1 rejected:1]" {
		t.Errorf("lately %v, since %v", got.Lately, got.Since)
	}
	if got.Last.Call != "b" || got.Last.Outcome != "hang/first_token" || !got.Last.Time.Equal(noon.Add(time.Minute)) {
		t.Errorf("last trouble %+v", got.Last)
	}
	if none := tr.Tally("two", noon); len(none.Lately) != 0 || !none.Last.Time.IsZero() {
		t.Errorf("an upstream without calls: %+v", none)
	}
	for i := range 2 * mostTallies {
		tr.call(&backstop.Event{Attempts: []backstop.AttemptRecord{{Upstream: fmt.Sprint(i)}}}, noon)
	}
	if len(tr.tallies) != mostTallies {
		t.Errorf("%d upstreams are tallied", len(tr.tallies))
	}
}

func BenchmarkTraffic(b *testing.B) {
	var tr Traffic
	e := &backstop.Event{Tier: "primary", Outcome: backstop.OK, Duration: time.Second, FirstToken: time.Millisecond, Attempts: []backstop.AttemptRecord{{Upstream: "one", Outcome: backstop.Outcome{Class: backstop.OK}}}}
	for b.Loop() {
		tr.call(e, noon)
	}
}

func TestAClockThatWasAheadAndIsSetRightHidesNothing(t *testing.T) {
	one := &backstop.Event{Tier: "primary", Outcome: backstop.OK}
	for ahead, want := range map[time.Duration]int{time.Hour: 4, farAhead + 2*time.Second: 4, 3 * time.Second: 0} {
		var tr Traffic
		tr.call(one, noon.Add(ahead))
		told := tr.Seconds(time.Time{}, noon.Add(ahead+2*time.Second))
		last := told[len(told)-1].Time
		for i := range 4 {
			tr.call(one, noon.Add(time.Duration(i)*time.Second))
		}
		got := tr.Seconds(last, noon.Add(4*time.Second))
		primary := 0
		for _, s := range got {
			primary += s.Primary
			if s.Time.After(noon.Add(4 * time.Second)) {
				t.Errorf("%s ahead: %s is told", ahead, s.Time)
			}
		}
		if primary != want {
			t.Errorf("%s ahead: %d calls in %d seconds are told, want %d", ahead, primary, len(got), want)
		}
	}
}
