package hist

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestQuantilesAreWithinOnePerMille(t *testing.T) {
	var h Hist
	var all []int64
	r := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		v := int64(math.Exp(r.Float64() * 23))
		all = append(all, v)
		h.Add(v)
	}
	slices.Sort(all)
	for _, q := range []float64{0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 1} {
		want := all[int(q*float64(len(all))+0.5)-1]
		if got := h.Quantile(q); math.Abs(float64(got-want)) > 0.001*float64(want)+1 {
			t.Errorf("quantile %v: got %d, want %d", q, got, want)
		}
	}
}

func TestAnEmptyHistogramIsAllZero(t *testing.T) {
	var h Hist
	if got := h.Summary(); got != (Summary{}) {
		t.Errorf("got %+v", got)
	}
}
