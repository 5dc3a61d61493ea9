package jsonfix

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// defaultMaxBytes bounds the input if Options.MaxBytes does not.
const defaultMaxBytes = 64 << 20

// Options say what is wanted. The zero value repairs syntax only.
type Options struct {
	Schema   Schema // what the document must follow; nil = JSON of any shape
	Strict   bool   // refuse repairs that lose something
	MaxBytes int    // longest input; 0 = 64 MiB
}

// Result is what became of a document.
type Result struct {
	JSON        []byte // nil if refused; the very input if it was valid
	Status      Status
	Repairs     []RepairNote // in the order of the text, at most 256
	Truncated   bool         // the input ended before its root closed, or the model left data out
	TruncatedAt string       // JSON Pointer of the innermost value that was cut; "" is the root
	Reason      Reason       // of a refusal
	Violations  []Violation  // of the schema
}

// Refusal is the error of a document that has no single reading.
type Refusal struct {
	Reason     Reason
	Violations []Violation
}

func (r *Refusal) Error() string {
	if len(r.Violations) > 0 {
		v := r.Violations[0]
		return fmt.Sprintf("json refused: %s (%d violations, first %q: %s); ask again or use another answer", r.Reason, len(r.Violations), v.Path, v.Reason)
	}
	return fmt.Sprintf("json refused: %s; ask again or use another answer", r.Reason)
}

// Repair gives the JSON that src is or was meant to be. The error is a
// [*Refusal] if there is none; then Result has the reason too, and whether
// the input was cut. Valid input that follows the schema comes back as the
// same slice, without allocation. Repair keeps no reference to src except in
// the result, which may be a part of it. It may be called concurrently.
func Repair(src []byte, o Options) (Result, error) {
	limit := o.MaxBytes
	if limit <= 0 {
		limit = defaultMaxBytes
	}
	if len(src) > limit {
		return refuse(TooLarge, false)
	}
	var n nest
	end, at, how := n.scan(src, 0, atRoot)
	switch {
	case how == toodeep:
		return refuse(TooDeep, false)
	case how == closed && blankToEnd(src, end):
		if o.Schema != nil {
			return follow([]find{{json: src}}, nil, src, o)
		}
		return Result{JSON: src, Status: StatusValid}, nil
	}
	return mend(src, &n, stop{end, at, how}, o)
}

// stop is where the first strict scan came to its end.
type stop struct {
	at    int
	place place
	how   ending
}

func refuse(why Reason, cut bool) (Result, error) {
	return Result{Status: StatusRefused, Reason: why, Truncated: cut}, &Refusal{Reason: why}
}

// mend is Repair for what is not valid.
func mend(src []byte, n *nest, s stop, o Options) (Result, error) {
	f := finder{src: src, closer: -2}
	f.prime(n, s)
	f.walk()
	return f.decide(o)
}

// prime hands the state of the strict scan over, so that a document that is
// damaged late is not scanned again.
func (f *finder) prime(n *nest, s stop) {
	start := skipBlanks(f.src, 0)
	if s.how != broken || s.place == atRoot || s.at <= start {
		return
	}
	m := &f.m
	m.reset(f.src, start, true)
	m.nest = *n
	m.pos = s.at
	if s.place == atAfter || n.depth > 1 && n.objectAt(1) {
		m.values++
	}
	m.phase = inAfter
	if s.place == atOpen {
		m.expectMember()
	}
	m.settle(s.at, 0, s.place == atOpen)
	f.primed = true
}

// decide chooses among what was found.
func (f *finder) decide(o Options) (Result, error) {
	if f.found.n == 0 && f.fallow != nil {
		f.found.add(*f.fallow)
	}
	f.setWhy(NotJSON)
	if f.found.n == 0 {
		return refuse(f.why, f.cut)
	}
	best := rankNone
	for i := range f.found.n {
		best = max(best, f.found.at(i).rank)
	}
	if f.hard && best < rankFence {
		return refuse(f.why, f.cut)
	}
	if o.Schema != nil {
		return follow(f.found.from(0), f.list(), f.src, o)
	}
	one := -1
	for i := range f.found.n {
		c := f.found.at(i)
		switch {
		case c.rank < best:
		case one < 0:
			one = i
		case !sameValue(f.found.at(one).json, c.json):
			return refuse(Multiple, false)
		default:
			f.once(Duplicate, c.start)
		}
	}
	return f.settleOn(f.found.at(one), o)
}

// settleOn makes the result of one find.
func (f *finder) settleOn(c *find, o Options) (Result, error) {
	notes := make([]RepairNote, 0, len(f.report.list())+len(c.notes))
	notes = append(append(notes, f.report.list()...), c.notes...)
	return finished(c.json, notes, c, o)
}

// brokenRepair is the reason when a repair went wrong: a mistake of this
// package that its tests look for.
const brokenRepair Reason = "not-repairable"

// finished checks what a repair made: whatever happened before, only valid
// JSON leaves this package.
func finished(doc []byte, notes []RepairNote, c *find, o Options) (Result, error) {
	if !c.strict && !utf8.Valid(doc) {
		doc = bytes.ToValidUTF8(doc, []byte("\ufffd"))
		notes = append(notes, RepairNote{InvalidUTF8, c.start})
	}
	r := Result{JSON: doc, Status: StatusRepaired, Repairs: notes, Truncated: c.cut, TruncatedAt: c.where}
	if !c.strict && !Valid(doc) {
		return refuse(brokenRepair, c.cut)
	}
	if o.Strict {
		for _, x := range notes {
			if x.Code.Lossy() {
				return refuse(Lossy, c.cut)
			}
		}
	}
	return r, nil
}
