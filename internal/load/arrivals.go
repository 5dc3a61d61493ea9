package load

import (
	"math"
	"math/rand/v2"
	"time"
)

// arrivals says when each call is due, counted from the start of the run.
type arrivals struct {
	rate  float64
	draws *rand.Rand // nil = evenly spaced
	calls int
	at    float64 // seconds, of the last call
}

func newArrivals(o *Options) *arrivals {
	a := &arrivals{rate: o.Rate}
	if o.Poisson {
		a.draws = rand.New(rand.NewPCG(o.Seed, 0x6c6f6164))
	}
	return a
}

// next is the time of the next call. Even arrivals are computed from their
// number, so that no rounding adds up.
func (a *arrivals) next() time.Duration {
	if a.draws == nil {
		a.at = float64(a.calls) / a.rate
	} else {
		a.at += a.draws.ExpFloat64() / a.rate
	}
	a.calls++
	return time.Duration(math.Round(a.at * float64(time.Second)))
}
