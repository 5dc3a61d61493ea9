package server

import (
	"math"
	"slices"
	"time"

	"backstop"
	"backstop/limit"
	"backstop/secret"
)

// Caller is an application in front of us.
type Caller struct {
	Name     string
	Keys     []secret.Value // any of them is this caller
	Models   []string       // names or globs it may ask for; none = all
	Rate     float64        // calls per second, 0 = no limit
	Inflight int            // calls at the same time, 0 = no limit
	Local    bool           // false: it gets an error rather than a local answer
}

// caller is a Caller with the memory of its limits.
type caller struct {
	Caller
	rate     *limit.Rate
	inflight *limit.Inflight
}

// newCaller takes the memory over from before, the same caller in the plane
// that goes, as far as the limits are the same.
func newCaller(c *Caller, before *caller, epoch time.Time) *caller {
	out := &caller{Caller: *c}
	if before != nil && before.Rate == c.Rate {
		out.rate = before.rate
	} else {
		// One second's worth may come at once.
		burst := int(math.Ceil(min(max(c.Rate, 1), 1e6)))
		out.rate = limit.NewRate(c.Rate, burst, epoch)
	}
	if before != nil && before.Inflight == c.Inflight {
		out.inflight = before.inflight
	} else {
		out.inflight = limit.NewInflight(c.Inflight)
	}
	return out
}

// enter takes a place for one call, or says why there is none. Each success is
// followed by one leave. The nil caller has no limits.
func (c *caller) enter(now time.Time) *backstop.Failure {
	if c == nil {
		return nil
	}
	if !c.inflight.Acquire() {
		return overLimit("as many calls of this caller are running as it may have; wait for one to end", time.Second)
	}
	if !c.rate.Allow(now) {
		wait := c.rate.Wait(now)
		c.inflight.Release()
		return overLimit("this caller is over its rate", wait)
	}
	return nil
}

func (c *caller) leave() {
	if c != nil {
		c.inflight.Release()
	}
}

func overLimit(message string, wait time.Duration) *backstop.Failure {
	f := deny(backstop.CodeRateLimited, message)
	f.RetryAfter, f.Retryable = wait, true
	return f
}

// allows reports whether the caller may ask for a model.
func (c *caller) allows(model string) bool {
	if c == nil || len(c.Models) == 0 {
		return true
	}
	for _, pattern := range c.Models {
		if backstop.MatchModel(pattern, model) {
			return true
		}
	}
	return false
}

// unbound reports whether the caller may ask for every model.
func (c *caller) unbound() bool {
	return c == nil || len(c.Models) == 0 || slices.Contains(c.Models, "*")
}

func (c *caller) name() string {
	if c == nil {
		return ""
	}
	return c.Name
}
