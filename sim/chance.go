package sim

import (
	"math"
	"time"
)

// dice is a stream of random numbers (SplitMix64; Steele, Lea, Flood 2014). It
// is a plain value: each call, attempt and fault rolls dice of its own, seeded
// by what it is, so that another configuration does not change what the
// upstreams would have done to the rest.
type dice struct{ state uint64 }

const golden = 0x9e3779b97f4a7c15

// roll makes dice from a seed and the names of who rolls them.
func roll(seed uint64, names ...uint64) dice {
	x := seed
	for _, n := range names {
		x = stir(x + golden + stir(n+golden))
	}
	return dice{x}
}

func stir(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

func (d *dice) next() uint64 {
	d.state += golden
	return stir(d.state)
}

// unit is evenly spread over the open interval (0, 1).
func (d *dice) unit() float64 { return (float64(d.next()>>11) + 0.5) * (1.0 / (1 << 53)) }

// between is evenly spread over low..high.
func (d *dice) between(low, high time.Duration) time.Duration {
	if high <= low {
		return low
	}
	return low + time.Duration(d.next()%uint64(high-low+1))
}

// normal is a standard normal deviate (Marsaglia's polar method, 1964).
func (d *dice) normal() float64 {
	for {
		x, y := float64(2*d.unit())-1, float64(2*d.unit())-1
		s := float64(x*x) + float64(y*y)
		if s < 1 && s > 0 {
			return x * math.Sqrt(float64(-2*ln(s))/s)
		}
	}
}

// wait is exponential with a mean: the gaps of a Poisson process.
func (d *dice) wait(mean float64) float64 { return -mean * ln(d.unit()) }

// z95 is the 95 % quantile of the standard normal distribution.
const z95 = 1.6448536269514722

// Spread is a lognormal distribution, given by two of its quantiles. Equal
// quantiles are a constant.
type Spread struct{ P50, P95 float64 }

// The products below are converted to float64 on purpose: that keeps compilers
// from fusing them with the sums around them, which some processors can and
// others cannot, and which rounds differently. The standard library's Log and
// Exp give no such promise.

const (
	ln2High = 6.93147180369123816490e-01 // ln 2 with trailing zeros, so that k x ln2High is exact
	ln2Low  = 1.90821492927058770002e-10 // the rest
)

// ln is the natural logarithm of a positive number: ln m as the series of
// 2 artanh((m-1)/(m+1)) with m in [0.7, 1.4), plus k ln 2.
func ln(x float64) float64 {
	m, k := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, k = 2*m, k-1
	}
	s := (m - 1) / (m + 1)
	q := float64(s * s)
	sum := 0.0
	for n := 21; n >= 1; n -= 2 {
		sum = float64(sum*q) + 1/float64(n)
	}
	return float64(float64(k)*ln2High) + (float64(2*float64(s*sum)) + float64(float64(k)*ln2Low))
}

// exp is e to the x, for |x| < 700: 2^k times the Taylor series of the rest.
func exp(x float64) float64 {
	k := math.Floor(float64(x/math.Ln2) + 0.5)
	r := x - float64(k*ln2High) - float64(k*ln2Low)
	sum := 1.0
	for n := 14.0; n >= 1; n-- {
		sum = 1 + float64(float64(sum*r)/n)
	}
	return math.Ldexp(sum, int(k))
}
