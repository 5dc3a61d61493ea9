// Package hist counts times in a histogram whose error is below 0.1 %: values
// under 2048 ns are exact, larger ones keep eleven significant bits.
package hist

import "math/bits"

const sub = 10

// Hist counts nanoseconds. The zero value is ready to use.
type Hist struct {
	counts []uint64
	n      uint64
	max    int64
}

// Add counts one time; a negative one counts as 0.
func (h *Hist) Add(ns int64) {
	ns = max(ns, 0)
	if h.counts == nil {
		h.counts = make([]uint64, 44<<sub)
	}
	shift := max(bits.Len64(uint64(ns))-(sub+1), 0)
	at := min(shift<<sub+int(ns>>shift), len(h.counts)-1)
	h.counts[at]++
	h.n++
	h.max = max(h.max, ns)
}

// Quantile is the time at q (0 to 1): the upper edge of its bucket.
func (h *Hist) Quantile(q float64) int64 {
	want := max(uint64(q*float64(h.n)+0.5), 1)
	var seen uint64
	for at, c := range h.counts {
		if seen += c; seen < want {
			continue
		}
		if at < 2<<sub {
			return int64(at)
		}
		shift := at>>sub - 1
		edge := int64(at-shift<<sub+1)<<shift - 1
		return min(edge, h.max)
	}
	return h.max
}

// Summary is a histogram in microseconds.
type Summary struct {
	N             uint64
	P50, P99, Max float64
}

// Summary sums the histogram up.
func (h *Hist) Summary() Summary {
	us := func(ns int64) float64 { return float64(ns) / 1e3 }
	return Summary{h.n, us(h.Quantile(.5)), us(h.Quantile(.99)), us(h.max)}
}
