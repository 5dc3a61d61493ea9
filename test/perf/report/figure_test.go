//go:build linux

package report

import (
	"strings"
	"testing"

	"backstop/test/perf/generate"
	"backstop/test/perf/hist"
	"backstop/test/perf/measure"
)

func sample(scene, gateway string, cpu, p50 float64) measure.Sample {
	return measure.Sample{Scene: scene, Gateway: gateway, CPURequest: cpu,
		Through: generate.Result{Good: 10, Seconds: 1, Answer: hist.Summary{N: 10, P50: p50}}}
}

func TestFiguresAreMediansAndRatios(t *testing.T) {
	var samples []measure.Sample
	for _, cpu := range []float64{40, 100, 50} {
		samples = append(samples, sample(measure.Saturation, measure.Rival, cpu, 0), sample(measure.Saturation, measure.Backstop, 2*cpu, 0))
	}
	got := Figures(samples, measure.Rival)[0]
	if got.Backstop != 100 || got.Rival != 50 || got.Ratio != 2 || got.Holds || got.Broken() {
		t.Errorf("got %+v", got)
	}
}

func TestMemoryMayBeWhatTheRivalUses(t *testing.T) {
	for _, c := range []struct {
		ours, rival   float64
		holds, broken bool
	}{{40, 30, true, false}, {55, 60, true, false}, {55, 50, false, false}, {100, 10, false, true}} {
		ours, rival := sample(measure.Idle, measure.Backstop, 1, 1), sample(measure.Idle, measure.Rival, 1, 1)
		ours.KiBStream, rival.KiBStream = c.ours, c.rival
		for _, f := range Figures([]measure.Sample{ours, rival}, measure.Rival) {
			if f.Absolute && (f.Holds != c.holds || f.Broken() != c.broken) {
				t.Errorf("%v KiB beside %v: got %+v", c.ours, c.rival, f)
			}
		}
	}
}

func TestTheTableNamesWhatIsAboveItsBound(t *testing.T) {
	var b strings.Builder
	samples := []measure.Sample{sample(measure.Saturation, measure.Backstop, 90, 0), sample(measure.Saturation, measure.Rival, 30, 0)}
	if err := Table(&b, measure.Rival, Figures(samples, measure.Rival)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"ReverseProxy", "3.00 x", "1.50 x", "ABOVE  CPU a request at saturation, us"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, &b)
		}
	}
}
