package sim

import "time"

// columns of a timeline: as many as fit a picture.
const columns = 240

// timeline is a run cut into equal slices.
type timeline struct {
	width int64
	cells []cell
}

// cell counts the calls that came within one slice: answered by the primary, a
// backup or a local tier, and not answered; and how long they waited.
type cell struct {
	tiers  [4]int
	spread [octaves]int
}

const octaves = 40

func newTimeline(span int64) timeline {
	n := min(columns, max(int(span/int64(time.Second)), 1))
	return timeline{width: (span + int64(n) - 1) / int64(n), cells: make([]cell, n)}
}

func (l *timeline) add(at int64, tier int, took int64) {
	c := &l.cells[min(int(at/l.width), len(l.cells)-1)]
	if tier < 0 {
		tier = 3
	}
	c.tiers[tier]++
	c.spread[octave(took)]++
}

// octave is a coarse scale of waits: two steps to a doubling, from 1 ms.
func octave(ns int64) int {
	i, edge := 0, int64(time.Millisecond)
	for i < octaves-1 && ns >= edge {
		i++
		if i%2 == 1 {
			edge += edge / 2 // about the square root of two
		} else {
			edge = edge / 3 * 4
		}
	}
	return i
}

// edgeOf is the upper end of an octave.
func edgeOf(i int) time.Duration {
	edge := int64(time.Millisecond)
	for k := 1; k <= i; k++ {
		if k%2 == 1 {
			edge += edge / 2
		} else {
			edge = edge / 3 * 4
		}
	}
	return time.Duration(edge)
}

// p95 is the wait that 95 % of the slice's calls stayed below, 0 = no calls.
func (c *cell) p95() time.Duration {
	n := 0
	for _, k := range c.spread {
		n += k
	}
	sum := 0
	for i, k := range c.spread {
		if sum += k; n > 0 && sum*100 >= n*95 {
			return edgeOf(i)
		}
	}
	return 0
}
