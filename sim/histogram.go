package sim

import (
	"math/bits"
	"time"
)

// histogram counts durations in bins that are at most 1/128 wide. Its
// arithmetic is whole numbers only.
type histogram struct {
	bins  []uint32
	count uint64
	most  int64
}

const (
	fineBits = 7
	fine     = 1 << fineBits
	grain    = 1000 // ns in the unit of the bins
)

func slotOf(ns int64) int {
	u := uint64(max(ns, 0)) / grain
	if u < 2*fine {
		return int(u)
	}
	shift := bits.Len64(u) - fineBits - 1
	return shift*fine + int(u>>shift)
}

// upper is the largest value of a bin.
func upper(slot int) int64 {
	if slot < 2*fine {
		return int64(slot+1)*grain - 1
	}
	shift := slot/fine - 1
	return int64(slot-shift*fine+1)<<shift*grain - 1
}

func (h *histogram) add(ns int64) {
	i := slotOf(ns)
	for i >= len(h.bins) {
		h.bins = append(h.bins, make([]uint32, 1024)...)
	}
	h.bins[i]++
	h.count++
	h.most = max(h.most, ns)
}

// quantile is the least value that at least so many of a thousand reach, to
// within the width of a bin.
func (h *histogram) quantile(permille uint64) time.Duration {
	rank, sum := (h.count*permille+999)/1000, uint64(0)
	for i, n := range h.bins {
		if sum += uint64(n); sum >= rank && rank > 0 {
			return time.Duration(min(upper(i), h.most))
		}
	}
	return 0
}

func (h *histogram) merge(o *histogram) {
	for len(h.bins) < len(o.bins) {
		h.bins = append(h.bins, make([]uint32, 1024)...)
	}
	for i, n := range o.bins {
		h.bins[i] += n
	}
	h.count += o.count
	h.most = max(h.most, o.most)
}
