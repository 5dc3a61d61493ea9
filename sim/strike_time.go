package sim

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

// The faults of time: silence, lateness, and faults that come and go.

func hang(*spec) (act, error) {
	return func(x *strike) bool { return x.silence() }, nil
}

func headOnly(*spec) (act, error) {
	return func(x *strike) bool {
		x.fate.head = x.roundTrip()
		return x.silence()
	}, nil
}

func slow(s *spec) (act, error) {
	d, err := s.duration(20 * time.Second)
	return func(x *strike) bool {
		f := x.fate
		if f.token < 0 {
			return false
		}
		late := max(int64(d), x.age) - f.token
		if late <= 0 {
			return false
		}
		f.token += late
		f.end += late
		return true
	}, err
}

func queued(s *spec) (act, error) {
	d, err := s.duration(10 * time.Second)
	return func(x *strike) bool {
		x.fate.head = x.roundTrip()
		if x.fate.token >= 0 {
			x.fate.token += int64(d)
		}
		if x.fate.end >= 0 {
			x.fate.end += int64(d)
		}
		return true
	}, err
}

func stall(s *spec) (act, error) {
	n := s.tokensOf(20)
	return func(x *strike) bool {
		f := x.fate
		if n == 0 || f.token < 0 || x.plain {
			return x.silence()
		}
		if f.token+int64(n)*f.gap >= f.end {
			return false
		}
		f.beat, f.end = 0, -1
		return true
	}, nil
}

func drip(s *spec) (act, error) {
	d, err := s.duration(2 * time.Second)
	return func(x *strike) bool {
		f := x.fate
		if f.token < 0 || f.gap <= 0 || f.end < f.token {
			return false
		}
		tokens := (f.end - f.token) / f.gap
		f.gap, f.beat, f.bytes = int64(d), int64(d), bytesPerToken
		f.end = f.token + tokens*int64(d)
		return true
	}, err
}

func flap(s *spec) (act, error) {
	if len(s.args) == 0 {
		return nil, errors.New("a duration is wanted")
	}
	d, err := time.ParseDuration(s.args[0])
	if err != nil || d <= 0 {
		return nil, fmt.Errorf("%q is no duration above zero", s.args[0])
	}
	if err := s.nested(1, "status:503"); err != nil {
		return nil, err
	}
	bad := s.inner.act
	return func(x *strike) bool {
		return x.since/int64(d)%2 == 1 && bad != nil && bad(x)
	}, nil
}

func chance(s *spec) (act, error) {
	if len(s.args) < 2 {
		return nil, errors.New("a probability and a fault are wanted")
	}
	p, err := strconv.ParseFloat(s.args[0], 64)
	if err != nil || !(p >= 0 && p <= 1) {
		return nil, fmt.Errorf("%q is no probability from 0 to 1", s.args[0])
	}
	if err := s.nested(1, ""); err != nil {
		return nil, err
	}
	s.inner.weight *= p
	bad := s.inner.act
	return func(x *strike) bool {
		token := x.fate.token
		if x.dice.unit() >= p || bad == nil || !bad(x) {
			return false
		}
		if f := x.fate; x.age > 0 && f.token < 0 && f.end >= 0 {
			// What only some attempts suffer does not strike all of them in one
			// moment: those under way find out when their token would have come.
			f.end = max(f.end, token)
		}
		return true
	}, nil
}
