package breaker

import (
	"sync/atomic"
	"time"
)

// Sight says what can be seen of an attempt while it runs.
type Sight uint8

const (
	// Watched attempts show their first token, so one that does not come is
	// hang evidence.
	Watched Sight = iota
	// Blind attempts answer with one body (plain calls, embeddings). They feed
	// neither hang evidence nor first-token times.
	Blind
)

// Result is what became of an attempt.
type Result uint8

const (
	// Success: answered well to the end.
	Success Result = iota
	// Failure counts against the upstream.
	Failure
	// Neutral says nothing about the upstream; a probe's slot goes back.
	Neutral
	// Moved: left without a token, on hang evidence or because the caller went
	// away. Neutral for the rules, but the first token would have taken at
	// least as long as the attempt waited, and that counts as a sample. A
	// probe that moved has failed.
	Moved
	// Void: never started. No evidence at all; a probe's slot goes back at once.
	Void
)

type probeKind uint8

const (
	probeNone probeKind = iota
	probeLive
	probeBackground
)

// Ticket is an admission. It is a plain value; the zero Ticket is void, and all
// methods that take a ticket do nothing with it. Reports about one ticket are
// meant to come one after the other; those about different ones may race.
//
// It has three fields and 24 bytes so that it travels in registers.
type Ticket struct {
	slot *slot
	at   time.Duration // admission, since the epoch
	bits uint64        // sequence number 20 | generation 21 | sight 1 | probe 2
}

// Probe reports whether the attempt is the breaker's trial.
func (t Ticket) Probe() bool { return t.probe() != probeNone }

func (t Ticket) seq() uint64      { return t.bits >> seqAt }
func (t Ticket) gen() uint32      { return uint32(t.bits>>3) & genMask }
func (t Ticket) sight() Sight     { return Sight(t.bits >> 2 & 1) }
func (t Ticket) probe() probeKind { return probeKind(t.bits & 3) }

// slot remembers of one running attempt what must happen only once: its first
// token, its suspicion and its end. That makes tickets safe to copy and to end
// twice. The word is, from the top,
//
//	age      24 bits  admission in units of about 1 ms, wrapping after 4.9 h
//	sequence 20 bits  tells a ticket from later ones in the same slot
//	flags     4 bits
//	claims   16 bits  those who claim the slot; whoever makes it 1 has it
//
// Those who come second disturb the age for a moment, which only a scan sees.
type slot struct{ word atomic.Uint64 }

const (
	claimMask   = 1<<16 - 1
	flagToken   = 1 << 16
	flagSuspect = 1 << 17
	flagLive    = 1 << 18 // never stored: makes the flags of a running ticket non-zero
	flagMask    = 0xf << 16
	seqShift    = 20
	seqMask     = 1<<20 - 1
	ageShift    = 40
	ageUnit     = 20 // bits of a nanosecond count that the age leaves out

	seqAt      = 24 // of the sequence number in Ticket.bits
	firstSlots = 1024
	tries      = 8
	golden     = 0x9e3779b97f4a7c15
)

// issue makes a ticket. A slot is picked by hash, so that callers on different
// processors rarely meet, and claimed with one atomic addition, which costs a
// fraction of a compare-and-swap.
func (b *Breaker) issue(at time.Duration, gen uint32, sight Sight, hash uint64) Ticket {
	table := *b.slots.Load()
	claim := uint64(at)>>ageUnit<<ageShift + 1
	s := &table[(uint64(at)^hash)*golden>>32&uint64(len(table)-1)]
	w := s.word.Add(claim)
	if w&claimMask != 1 {
		s.word.Add(-claim)
		s, w = b.search(claim)
	}
	return Ticket{slot: s, at: at, bits: w>>seqShift&seqMask<<seqAt | uint64(gen)<<3 | uint64(sight&1)<<2}
}

// search tries slots at random. When all tries fail the table is rather full,
// and one of twice the size takes over; the old one lives as long as its tickets.
func (b *Breaker) search(claim uint64) (*slot, uint64) {
	for {
		p := b.slots.Load()
		table := *p
		for range tries {
			s := &table[b.spot.Add(golden)>>32&uint64(len(table)-1)]
			if s.word.Load()&claimMask != 0 {
				continue
			}
			if w := s.word.Add(claim); w&claimMask == 1 {
				return s, w
			}
			s.word.Add(-claim)
		}
		larger := make([]slot, 2*len(table))
		b.slots.CompareAndSwap(p, &larger)
	}
}

// flags are those of the ticket's slot, 0 once the attempt has ended.
func (t Ticket) flags() uint64 {
	if t.slot == nil {
		return 0
	}
	return t.of(t.slot.word.Load())
}

// of are the ticket's flags in word w of its slot.
func (t Ticket) of(w uint64) uint64 {
	if w>>seqShift&seqMask != t.seq() {
		return 0
	}
	return w&flagMask | flagLive
}

// mark sets a flag. It reports whether this call set it, and whether the
// attempt is still running.
func (t Ticket) mark(flag uint64) (first, running bool) {
	if t.slot == nil {
		return false, false
	}
	for {
		w := t.slot.word.Load()
		switch f := t.of(w); {
		case f == 0:
			return false, false
		case f&flag != 0:
			return false, true
		case t.slot.word.CompareAndSwap(w, w|flag):
			return true, true
		}
	}
}

// settle ends the ticket and frees its slot; flags are those it had, 0 if it
// had been settled before.
func (t Ticket) settle() (flags uint64) {
	if t.slot == nil {
		return 0
	}
	for {
		w := t.slot.word.Load()
		f := t.of(w)
		if f == 0 {
			return 0
		}
		// The next number, no flags, one claim and one age less.
		age := uint64(t.at) >> ageUnit << ageShift
		next := (w-age)>>ageShift<<ageShift | (t.seq()+1)&seqMask<<seqShift | (w&claimMask - 1)
		if t.slot.word.CompareAndSwap(w, next) {
			return f
		}
	}
}

// count is how many running attempts admitted at since or later have none of
// some flags: those without a token that have not waited for it suspiciously
// long may still turn out well, for example. It looks at the slots one after
// the other, so calls that come and go meanwhile may be missed, as are those in
// an outgrown table.
func (b *Breaker) count(since time.Duration, without uint64) (n int) {
	table := *b.slots.Load()
	first := uint64(since) >> ageUnit << ageShift
	for i := range table {
		w := table[i].word.Load()
		if w&claimMask != 0 && w&without == 0 && int64(w>>ageShift<<ageShift-first) >= 0 {
			n++
		}
	}
	return n
}
