package sim

import (
	"backstop"
)

// The faults of the connection.

func failed(class backstop.Class, kind backstop.Kind, counts backstop.Counts) backstop.Outcome {
	return backstop.Outcome{Class: class, Kind: kind, Counts: counts, NextTier: true, InputTokens: -1, OutputTokens: -1}
}

// unreached makes an act of a fault before the connection stands.
func unreached(kind backstop.Kind) act {
	o := failed(backstop.Broken, kind, backstop.CountsEndpoint)
	return func(x *strike) bool {
		if x.age > 0 {
			return false // it stands already
		}
		x.fate.dialed, x.fate.head, x.fate.token = false, -1, -1
		return x.fail(x.roundTrip(), &o)
	}
}

func dial(*spec) (act, error) {
	return func(x *strike) bool {
		if x.age > 0 {
			return false
		}
		x.fate.dialed, x.fate.head = false, -1
		return x.silence()
	}, nil
}

func refuse(*spec) (act, error)    { return unreached(backstop.KindDial), nil }
func dns(*spec) (act, error)       { return unreached(backstop.KindDNS), nil }
func handshake(*spec) (act, error) { return unreached(backstop.KindTLS), nil }

func reset(s *spec) (act, error) {
	if n := s.tokensOf(0); n > 0 {
		return after(n, failed(backstop.Broken, backstop.KindReset, backstop.CountsModel)), nil
	}
	o := failed(backstop.Broken, backstop.KindReset, backstop.CountsEndpoint)
	o.RetrySame = true
	return spoils(o), nil
}

func cut(s *spec) (act, error) {
	n := s.tokensOf(40)
	o := failed(backstop.Garbled, backstop.KindCut, backstop.CountsModel)
	if n == 0 {
		o = failed(backstop.Broken, backstop.KindReset, backstop.CountsModel)
		o.RetrySame = true
	}
	o.Status = 200
	return after(n, o), nil
}

func noFinish(s *spec) (act, error) {
	o := failed(backstop.Garbled, backstop.KindCut, backstop.CountsModel)
	o.RetrySame, o.Status = true, 200
	return after(s.tokensOf(5), o), nil
}

func malformed(s *spec) (act, error) {
	o := failed(backstop.Garbled, backstop.KindProtocol, backstop.CountsModel)
	o.Status = 200
	return after(s.tokensOf(10), o), nil
}
