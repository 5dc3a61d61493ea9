package sim

import (
	"time"

	"backstop"
)

// fate is what becomes of an attempt, in ns since it began; -1 = never.
type fate struct {
	dialed  bool  // the connection stands from the start
	head    int64 // response headers, where they come before everything else
	token   int64 // first meaningful token
	beat    int64 // tokens are reported that often
	bytes   int   // with each beat
	end     int64
	outcome *backstop.Outcome // at the end
	gap     int64             // between two tokens
}

// strike is one attempt that a fault may spoil.
type strike struct {
	fate  *fate
	dice  *dice
	since int64 // age of the fault
	age   int64 // of the attempt: 0, or more if it was under way when the fault began

	json    bool // the answer was promised to be JSON
	mends   bool // promised JSON is repaired
	passes  bool // truncated JSON is passed on, marked
	plain   bool
	stream  bool // the caller wants a stream
	without []string
}

// act spoils an attempt and reports whether it did. It is nil for faults that
// do no harm.
type act func(x *strike) bool

// Time of an error answer: instant, but not for free.
const (
	quickest = 20 * time.Millisecond
	slowest  = 60 * time.Millisecond
)

func (x *strike) roundTrip() int64 { return x.age + int64(x.dice.between(quickest, slowest)) }

// fail ends the attempt at a time.
func (x *strike) fail(at int64, o *backstop.Outcome) bool {
	f := x.fate
	f.end, f.outcome = at, o
	if f.token < 0 || f.token >= at {
		f.token, f.beat = -1, 0
	}
	return true
}

// midway is when n tokens are out, at least after the first.
func (x *strike) midway(n int) int64 { return x.fate.token + int64(n)*x.fate.gap + 1 }

// silence is no token for ever.
func (x *strike) silence() bool {
	x.fate.token, x.fate.end, x.fate.beat = -1, -1, 0
	return true
}

func harmless(*spec) (act, error) { return nil, nil }

// spoils makes an act of an error answer that comes at once.
func spoils(o backstop.Outcome) act {
	return func(x *strike) bool {
		x.fate.head, x.fate.token = -1, -1
		return x.fail(x.roundTrip(), &o)
	}
}

// after makes an act of a fault that shows when n tokens are out; with 0 it
// shows at once and may be asked again.
func after(n int, o backstop.Outcome) act {
	late := o
	late.RetrySame = false
	return func(x *strike) bool {
		if n == 0 || x.fate.token < 0 || x.plain {
			return x.fail(x.roundTrip(), &o)
		}
		at := x.midway(n)
		if at >= x.fate.end {
			return false // the answer was shorter
		}
		return x.fail(at, &late)
	}
}

// tokensOf is the number after the @, or a default.
func (s *spec) tokensOf(otherwise int) int {
	if s.at >= 0 {
		return s.at
	}
	return otherwise
}
