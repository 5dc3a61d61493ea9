package load

import (
	"cmp"
	"math"
	"net/http"
	"slices"
	"time"
)

// Sample is one call. Times count from the start of the run (Due) or from
// the moment the call was due (all others).
type Sample struct {
	Index      int
	Due        time.Duration // intended time of sending
	Lag        time.Duration // how late the generator itself was; part of Latency
	Latency    time.Duration // to the last byte, or to the error
	FirstByte  time.Duration // to the response header, 0 = none
	FirstToken time.Duration // to the first piece of text of a stream, 0 = none

	Status      int    // 0 = no answer
	Tier        string // x-backstop-tier, "" = not said
	Upstream    string // x-backstop-upstream
	Reason      string // x-backstop-reason
	Attempts    int    // x-backstop-attempts
	HasAttempts bool   // … was said
	Bytes       int64  // of the body
	Err         string // what was wrong, "" = nothing
}

// OK reports whether the call got a whole answer with HTTP 200.
func (s *Sample) OK() bool { return s.Status == http.StatusOK && s.Err == "" }

// Samples are calls in the order in which they were due. The methods of
// Samples never change it.
type Samples []Sample

// First is the first n calls, or all.
func (l Samples) First(n int) Samples { return l[:min(n, len(l))] }

// Between is the calls that were due from (included) to (not included); to 0
// means to the end.
func (l Samples) Between(from, to time.Duration) Samples {
	lo, _ := slices.BinarySearchFunc(l, from, func(s Sample, t time.Duration) int { return cmp.Compare(s.Due, t) })
	hi := len(l)
	if to > 0 {
		hi, _ = slices.BinarySearchFunc(l, to, func(s Sample, t time.Duration) int { return cmp.Compare(s.Due, t) })
	}
	return l[lo:max(lo, hi)]
}

// Good counts the calls that are OK.
func (l Samples) Good() int {
	n := 0
	for i := range l {
		if l[i].OK() {
			n++
		}
	}
	return n
}

// Success is the share of calls that are OK, 0 to 1; of no calls it is 0.
func (l Samples) Success() float64 { return share(l.Good(), len(l)) }

// Slower counts the calls that took longer than d.
func (l Samples) Slower(d time.Duration) int {
	n := 0
	for i := range l {
		if l[i].Latency > d {
			n++
		}
	}
	return n
}

// Statuses counts the calls by HTTP status; 0 stands for no answer.
func (l Samples) Statuses() map[int]int {
	m := map[int]int{}
	for i := range l {
		m[l[i].Status]++
	}
	return m
}

// Tiers counts the calls by the tier that answered; "" = not said.
func (l Samples) Tiers() map[string]int {
	m := map[string]int{}
	for i := range l {
		m[l[i].Tier]++
	}
	return m
}

// Errors counts the calls that have one by what was wrong.
func (l Samples) Errors() map[string]int {
	m := map[string]int{}
	for i := range l {
		if l[i].Err != "" {
			m[l[i].Err]++
		}
	}
	return m
}

// Tier is the share of calls that a tier answered, 0 to 1.
func (l Samples) Tier(name string) float64 { return share(l.Tiers()[name], len(l)) }

// MeanAttempts is the mean number of upstream requests a call, over the calls
// that said it; NaN if none did.
func (l Samples) MeanAttempts() float64 {
	sum, n := 0, 0
	for i := range l {
		if l[i].HasAttempts {
			sum, n = sum+l[i].Attempts, n+1
		}
	}
	if n == 0 {
		return math.NaN()
	}
	return float64(sum) / float64(n)
}

func share(part, all int) float64 {
	if all == 0 {
		return 0
	}
	return float64(part) / float64(all)
}
