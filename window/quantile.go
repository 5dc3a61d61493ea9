package window

import (
	"math/bits"
	"time"
)

const (
	parts   = 11 // ten parts of the window and the one that is being filled
	perOct  = 16 // bins per doubling: a bin is at most 1/16 wider than its lower edge
	octaves = 20
	bins    = perOct * (octaves + 1)
	unit    = time.Millisecond / perOct // width of the finest bins
)

// Quantile tracks one quantile of the durations of the last window. Durations
// are put into bins, 16 a doubling, so the answer is the upper edge of a bin:
// never below the true quantile and at most 1/16 above it (62.5 us below 1 ms).
// Durations over about 17 minutes count as 17 minutes. The zero Quantile is not
// usable, see [NewQuantile].
type Quantile struct {
	width time.Duration // of one part
	end   time.Duration // of the newest part, exclusive
	upper float64       // share of the samples that may lie above the answer
	head  int

	n     uint32 // samples in the window
	mark  int    // bin of the quantile
	above uint32 // samples in bins over mark
	all   [bins]uint32
	ring  [parts][bins]uint16 // saturating: 65,535 equal samples in one part
}

// NewQuantile makes an empty window of at least span that answers for quantile
// q, 0 < q < 1.
func NewQuantile(span time.Duration, q float64) Quantile {
	return Quantile{width: max(span/(parts-1), 1), upper: 1 - q}
}

// Add takes one duration at now.
func (w *Quantile) Add(now, d time.Duration) {
	w.Turn(now)
	i := bin(d)
	if w.ring[w.head][i] == 1<<16-1 {
		return
	}
	w.ring[w.head][i]++
	w.all[i]++
	w.n++
	if i > w.mark {
		w.above++
	}
	w.settle()
}

// Turn drops what fell out of the window at now. It reports whether the window
// moved, so whether Value may have changed.
func (w *Quantile) Turn(now time.Duration) bool {
	if now < w.end {
		return false
	}
	steps := int64((now-w.end)/w.width) + 1
	w.end += time.Duration(steps) * w.width
	for range min(steps, parts) {
		w.head = (w.head + 1) % parts
		w.drop(&w.ring[w.head])
	}
	w.mark, w.above = 0, w.n-w.all[0]
	w.settle()
	return true
}

// Value is the quantile as of the last Add or Turn and the number of samples
// it stands on; 0, 0 when there is none.
func (w *Quantile) Value() (time.Duration, int) {
	if w.n == 0 {
		return 0, 0
	}
	return edge(w.mark), int(w.n)
}

func (w *Quantile) drop(part *[bins]uint16) {
	if w.n == 0 {
		return
	}
	for i, c := range part {
		if c != 0 {
			w.all[i] -= uint32(c)
			w.n -= uint32(c)
			part[i] = 0
		}
	}
}

// settle moves the mark until no more than the upper share lies above it, and
// no lower than needed. A new sample moves it by a bin or two, so this is cheap.
func (w *Quantile) settle() {
	limit := uint32(w.upper * float64(w.n))
	for w.above > limit {
		w.mark++
		w.above -= w.all[w.mark]
	}
	for w.mark > 0 && w.above+w.all[w.mark] <= limit {
		w.above += w.all[w.mark]
		w.mark--
	}
}

// bin is the index of the bin that holds d. The first 2 x perOct bins are
// linear, one unit each; after that each doubling has perOct of them.
func bin(d time.Duration) int {
	u := uint64(max(d, 0) / unit)
	if u < 2*perOct {
		return int(u)
	}
	shift := bits.Len64(u) - 5 // leaves perOct <= u>>shift < 2*perOct
	return min(shift*perOct+int(u>>shift), bins-1)
}

// edge is the first duration over bin i.
func edge(i int) time.Duration {
	if i < 2*perOct {
		return time.Duration(i+1) * unit
	}
	shift := i/perOct - 1
	return time.Duration(i-shift*perOct+1) << shift * unit
}
