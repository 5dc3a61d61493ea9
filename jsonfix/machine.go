package jsonfix

// phase is what the machine expects next.
type phase uint8

const (
	inRoot   phase = iota
	inKey          // behind { or a comma in an object
	inColon        // behind a key
	inMember       // behind a colon
	inItem         // behind [ or a comma in an array
	inAfter        // behind a value
	inText         // in a string
)

// verdict is how a step or a run ended.
type verdict uint8

const (
	goOn   verdict = iota
	more           // undecided until more input comes
	whole          // the root closed at machine.pos
	cut            // the input ended, or went over to something else, inside the root
	failed         // not readable: machine.reason, machine.pos
)

// machine repairs one value. It walks over the input once and never recurses;
// everything it may have to drop again lies behind the safe point of its
// output. All fields together are its state: a run that ended with more can
// be resumed when src has grown.
type machine struct {
	output
	nest
	report
	final bool // src is all there will be
	pos   int
	start int // offset of the root
	phase phase
	text  text
	// twins marks, per depth, objects whose braces are doubled and arrays
	// written with parentheses.
	twins    [MaxDepth/64 + 1]uint64
	hasTwins bool
	opened   bool   // the opener of the root is owed
	reopened bool   // the root was already closed once too early
	reason   Reason // of a failure
	hard     bool   // a failure of something that was JSON so far
	values   int    // complete scalars and keys read by the machine
	unsound  int    // values that were only bare words, see candidate
	semis    int    // semicolons between members
	tail     tail   // what was open at the cut
	tailKey  string
	where    string // JSON Pointer of the cut
	keyStart int    // of the last key in src
	prose    bool   // text stands around: read narrowly
	fence    fence  // that the text stands in
	budget   int    // bytes that may still be looked at twice
	balance  balance
	comment  byte // inside a comment that src ends in: / * or #
	ellipses bool
	bareKeys bool // keys without quotes were seen
	calm     int  // steps until the strict scanner is tried again
	tries    int  // how long it was put off last time
	sprints  int  // 1 if the strict scanner read all in one go
	slow     slow // faster ways that are shut: tests compare
	steps    int  // taken by all runs
}

// slow says which of the faster ways are shut.
type slow struct{ sprint, lean bool }

func (m *machine) reset(src []byte, start int, final bool) {
	buf, known := m.buf[:0], m.balance
	*m = machine{final: final, pos: start, start: start, output: output{room: m.room, open: !final}, budget: 2*len(src) + 1<<16, slow: m.slow, steps: m.steps}
	m.src, m.from, m.buf, m.balance = src, start, buf, known
	m.settle(start, 0, true)
}

// run goes on until the root closed, the input ended or nothing can be read.
func (m *machine) run() verdict {
	for {
		if m.final && !m.hasTwins {
			if v := m.hurry(); v != goOn {
				return v
			}
		}
		if v := m.step(); v != goOn {
			return v
		}
	}
}

// hurry takes one of the faster ways.
func (m *machine) hurry() verdict {
	if m.calm == 0 && !m.slow.sprint {
		if m.phase == inAfter || m.phase == inRoot || m.pos == m.safe.at && m.safe.fresh {
			return m.sprint()
		}
		return goOn
	}
	m.calm = max(0, m.calm-1)
	if !m.slow.lean && (m.phase == inAfter || m.phase == inKey || m.phase == inItem) {
		m.lean()
	}
	return goOn
}

// sprint lets the strict scanner go on for as long as nothing is wrong.
func (m *machine) sprint() verdict {
	at := atAfter
	switch m.phase {
	case inRoot:
		at = atRoot
	case inKey, inItem:
		at = atOpen
	}
	fresh := at == atOpen && m.depth == 1
	end, at, how := m.scan(m.src, m.pos, at)
	switch how {
	case toodeep:
		return m.fail(TooDeep, end, true)
	case closed:
		return m.strictEnd(end, fresh)
	}
	if end == m.pos { // damage everywhere: try less often
		m.tries = min(2*m.tries+1, 32)
		m.calm = m.tries
		if at != atOpen {
			return goOn
		}
	} else {
		m.tries = 0
	}
	if end > m.pos && (at == atAfter || m.depth > 1 && m.objectAt(1)) {
		m.values++
	}
	m.pos = end
	fresh = at == atOpen
	m.settle(end, m.report.n, fresh)
	switch {
	case at == atRoot:
	case !fresh:
		m.phase = inAfter
	case m.object():
		m.phase = inKey
	default:
		m.phase = inItem
	}
	return goOn
}

// strictEnd takes a root that the strict scanner closed: what follows may
// show that it closed too early.
func (m *machine) strictEnd(end int, fresh bool) verdict {
	m.values++
	m.sprints++
	from := m.pos
	m.pos = end
	c := m.src[end-1]
	if c != '}' && c != ']' {
		return whole
	}
	if m.opened || !m.early(end, c == '}') {
		return whole
	}
	m.push(c == '}')
	m.pos = end - 1
	m.phase = inAfter
	m.settle(m.pos, m.report.n, false)
	if i := m.lastInk(); i >= from {
		fresh = m.src[i] == '{' || m.src[i] == '['
	}
	return m.closeRootEarly(1, fresh)
}

func (m *machine) step() verdict {
	m.steps++
	m.sprints = 2
	switch m.phase {
	case inText:
		return m.readText()
	case inKey:
		return m.readKey()
	case inColon:
		return m.readColon()
	case inAfter:
		return m.readAfter()
	}
	return m.readValue()
}

func (m *machine) fail(why Reason, at int, hard bool) verdict {
	m.reason, m.pos = why, at
	m.hard = hard || m.values > 0
	return failed
}

// next skips what has no meaning and shows the next glyph; ok is false when
// more input could change it.
func (m *machine) next() (g glyph, width int, ok bool) {
	if !m.skipNoise() {
		return gEnd, 0, false
	}
	g, width = glyphAt(m.src, m.pos)
	if !m.final {
		short := g == gSplit || g == gEnd || len(m.src)-m.pos < 3 && (g == '.' || g == '`' || g == '"' || g == '\'' || g == '=')
		return g, width, !short
	}
	if g == gSplit {
		g = gEnd
	}
	return g, width, true
}

// open begins a container. The literal replaces an opener of another spelling.
func (m *machine) open(width int, object bool, literal string) verdict {
	if !m.push(object) {
		return m.fail(TooDeep, m.pos, true)
	}
	m.setTwin(false)
	if literal != "" {
		m.edit(m.pos, m.pos+width, literal)
	}
	m.pos += width
	m.phase = inItem
	if object {
		m.phase = inKey
	}
	m.settle(m.pos, m.report.n, true)
	return goOn
}

func (m *machine) setTwin(on bool) {
	word, bit := m.depth>>6, uint64(1)<<(m.depth&63)
	m.twins[word] &^= bit
	if on {
		m.twins[word] |= bit
		m.hasTwins = true
	}
}

func (m *machine) twin() bool { return m.twins[m.depth>>6]>>(m.depth&63)&1 != 0 }

// done ends a value at m.pos.
func (m *machine) done() verdict {
	m.values++
	if m.depth == 0 {
		return whole
	}
	m.phase = inAfter
	m.settle(m.pos, m.report.n, false)
	return goOn
}

// drop undoes the member or item that was begun and goes on at offset at.
func (m *machine) drop(at int, code Code) {
	m.report.forget(m.safe.notes)
	m.back(at)
	m.note(code, at)
	m.safe.notes = m.report.n
	m.pos = at
	m.phase = inAfter
	if m.safe.fresh {
		m.phase = inItem
		if m.object() {
			m.phase = inKey
		}
	}
}
