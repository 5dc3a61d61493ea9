package jsonfix

import "bytes"

// rank orders candidates: a better one makes worse ones part of the text.
type rank uint8

const (
	rankNone   rank = iota
	rankEmpty       // {} or [] somewhere
	rankArray       // an array on a line of its own; anything in a fence of another language
	rankObject      // an object
	rankFence       // in a fence
	rankTagged      // in a fence that says json
)

// mostFinds bounds the candidates that are kept for a schema to choose from.
const mostFinds = 64

// finder looks for the value in a text.
type finder struct {
	src []byte
	report
	m       machine
	primed  bool // m stands where the strict scanner stopped
	at      int
	found   finds
	fallow  *find // a candidate that ran over the end of a think block
	region  region
	outside region // the text around the fence we are in
	fence   fence
	why     Reason // of the first candidate that could not be read
	hard    bool   // it was JSON for a while: nothing inside it counts
	cut     bool   // the text ends in a think block or a first key
	nested  bool   // the text was unescaped already
	closer  int    // offset of the last closing think tag, -2 = not looked for
	more    bool   // candidates beyond mostFinds were left out
}

// region is the text outside fences, or the content of one fence.
type region struct {
	start int
	prose bool // something stands there that is no value
	rank  rank
	dead  bool // a value could not be read: others there do not count
	seq   sequence
}

// sequence is a region of nothing but values.
type sequence struct {
	count  int
	first  int // index in found
	array  []byte
	differ bool
	cut    bool
	where  string
}

func newFinder(src []byte) *finder {
	return &finder{src: src, closer: -2}
}

// walk goes once through the text and tries what may be the value.
func (f *finder) walk() {
	for f.at < len(f.src) {
		f.m.steps++
		g, n := glyphAt(f.src, f.at)
		switch {
		case g == gNoise:
			f.once(Invisible, f.at)
			f.at += n
		case g.blank():
			f.at += n
		case f.fenceHere():
		case g == '<' || g == '[' && has(f.src, f.at, "[/THINK]") || g == '[' && has(f.src, f.at, "[THINK]") || has(f.src, f.at, "◁"):
			f.tag(n)
		case g == '{' || g == '[':
			f.try(g, n)
		case f.fallow == nil && f.atStart() && f.bare(g):
		case g == ',' && f.region.seq.count > 0 && !f.region.prose:
			f.once(ExtraComma, f.at)
			f.at += n
		case g.closer() && f.found.n > 0 && !f.region.prose:
			f.once(ExtraCloser, f.at)
			f.at += n
		case g == '/' && f.commentHere():
		default:
			f.text(g, n)
		}
	}
	f.endRegion()
	if f.fence.width > 0 {
		f.region = f.outside
		f.endRegion()
	}
}

// atStart: nothing but blanks stands before in this region.
func (f *finder) atStart() bool {
	return f.region.seq.count == 0 && !f.region.prose
}

// text passes prose up to the next character that may mean something.
func (f *finder) text(g glyph, n int) {
	if has(f.src, f.at, "data:") && !f.region.prose {
		n = 5
	}
	if !f.region.prose && !(g == ';' || g == ')' || g == '`') {
		f.impure()
	}
	code := Prose
	if g == '`' {
		code = Fence
	}
	f.once(code, f.at)
	f.at += n
	for f.at < len(f.src) && idle[f.src[f.at]] {
		f.at++
	}
}

// idle are the bytes that mean nothing in prose.
var idle = func() (t [256]bool) {
	for c := range t {
		t[c] = c >= ' ' && c < 0x7f && bytes.IndexByte([]byte("{}[]<>`~/,"), byte(c)) < 0
	}
	return t
}()

// impure: the region has more than values; so several of them are several
// answers, not a sequence.
func (f *finder) impure() {
	f.region.prose = true
	f.region.seq.array = nil
}

func (f *finder) commentHere() bool {
	kind, n, ok := commentAt(f.src, f.at)
	if !ok || f.at > 0 && !isBlank(f.src[f.at-1]) && f.src[f.at-1] != '}' && f.src[f.at-1] != ']' {
		return false
	}
	f.once(Comment, f.at)
	end := commentEnd(f.src, f.at+n, kind)
	if end < 0 {
		end = len(f.src)
	}
	f.at = end
	return true
}

// try reads the candidate that begins at f.at.
func (f *finder) try(g glyph, n int) {
	start := f.at
	if f.region.dead || f.region.rank < rankTagged && f.fence.width == 0 && f.hard {
		f.impure()
		f.at += n
		return
	}
	if !f.nested {
		if kind := escapedAhead(f.src, start); kind != "" {
			f.unescaped(kind)
			return
		}
	}
	if !f.primed || start != f.m.start {
		f.m.reset(f.src, start, true)
	}
	f.primed = false
	f.m.prose = !f.atStart()
	f.m.fence = f.fence
	v := f.m.run()
	if v == failed {
		f.failure(n)
		return
	}
	f.success(start, v, g == '{')
}

func (f *finder) failure(n int) {
	m := &f.m
	start := f.at
	if f.why == "" || m.hard && !f.hard {
		f.why = m.reason
	}
	f.hard = f.hard || m.hard
	f.region.dead = f.region.dead || m.hard
	f.impure()
	f.once(Prose, start)
	f.at = max(start+n, m.pos)
}

// success keeps what was read, if it may be meant as the value.
func (f *finder) success(start int, v verdict, object bool) {
	m := &f.m
	f.at = m.pos
	c := f.candidate(start, v, object)
	if c.rank == rankNone {
		if f.region.seq.cut {
			f.note(Cut, f.at)
			return
		}
		f.impure()
		f.once(Prose, start)
		return
	}
	if end := f.lastThink(); end > start && end < f.at && damaged(c.notes) {
		if f.fallow == nil {
			kept := c
			kept.notes = append([]RepairNote(nil), c.notes...)
			f.fallow = &kept
			m.buf = nil // it belongs to the candidate now
		}
		f.once(Think, end)
		f.at = end
		return
	}
	f.keep(c)
}

// damaged: more is wrong than that the input ends.
func damaged(notes []RepairNote) bool {
	for _, x := range notes {
		if x.Code != Cut && x.Code != CutMember && x.Code != CutNumber {
			return true
		}
	}
	return false
}

// keep adds a value to the region and to the candidates.
func (f *finder) keep(c find) {
	s := &f.region.seq
	s.count++
	switch {
	case s.count == 1:
		s.first = f.found.n
	case !f.region.prose:
		f.append(c)
	}
	if f.found.n < mostFinds {
		f.m.room = 256 // the next one may be short
		switch {
		case f.m.used && len(c.json) < f.m.room:
			c.json = append(make([]byte, 0, len(c.json)), c.json...)
		case f.m.used:
			f.m.buf = nil // it belongs to the find now
		}
		f.found.add(c)
		return
	}
	f.more = true
}

// append adds a value to the array that a pure sequence becomes.
func (f *finder) append(c find) {
	s := &f.region.seq
	if s.array == nil {
		first := f.found.at(s.first)
		s.array = append(append(make([]byte, 0, len(f.src)-first.start+64), '['), first.json...)
	}
	if !s.differ {
		s.differ = !sameValue(f.found.at(s.first).json, c.json)
	}
	s.array = append(append(s.array, ','), c.json...)
	if c.cut {
		s.cut = true
		s.where = c.where
	}
}
