package jsonfix

// readCloser is at a closing delimiter.
func (m *machine) readCloser(g glyph, n int) verdict {
	object := g == '}'
	if g == ')' && !m.parenthesis() {
		return m.fail(NotJSON, m.pos, false)
	}
	if g != ')' && object != m.object() || g == ')' && m.object() {
		return m.mismatched(object, n)
	}
	return m.close(n)
}

// parenthesis reports whether a tuple is open.
func (m *machine) parenthesis() bool {
	for d := m.depth; d > 0; d-- {
		if m.twins[d>>6]>>(d&63)&1 != 0 && !m.objectAt(d) {
			return true
		}
	}
	return false
}

// close ends the innermost container with the closer at m.pos.
func (m *machine) close(n int) verdict {
	at := m.pos
	if m.depth == 1 && !m.opened && m.early(at+n, m.object()) {
		return m.closeRootEarly(n, m.safe.fresh)
	}
	if right := closerOf(m.object()); m.src[at] != right {
		if n > 1 {
			m.once(FullWidth, at)
		}
		m.edit(at, at+n, string(right))
	}
	m.pos += n
	if m.object() && m.twin() {
		m.closeTwin()
		if m.depth == 1 && m.another() {
			return m.fail(AmbiguousContainer, m.pos, true)
		}
	}
	m.pop()
	m.values--
	return m.done()
}

// closeTwin drops the second of }}.
func (m *machine) closeTwin() {
	at, _ := afterBlanks(m.src, m.pos)
	if g, n := glyphAt(m.src, at); g == '}' {
		m.edit(m.pos, at+n, "")
		m.pos = at + n
	}
}

// another: a comma and another object, where {{ was taken for a doubled brace.
func (m *machine) another() bool {
	at, _ := afterBlanks(m.src, m.pos)
	if g, n := glyphAt(m.src, at); g == ',' {
		at, _ = afterBlanks(m.src, at+n)
		g, _ = glyphAt(m.src, at)
		return g == '{'
	}
	return false
}

// early reports whether the root would close too early with the closer before
// i, because members or items of it follow.
func (m *machine) early(i int, object bool) bool {
	if m.reopened || !m.final {
		return false
	}
	at, _ := afterBlanks(m.src, i)
	g, n := glyphAt(m.src, at)
	if g != ',' {
		return false
	}
	next, _ := afterBlanks(m.src, at+n)
	if object {
		g, _ := glyphAt(m.src, next)
		return g.quote() && keyAhead(m.src, next, m.final) == yes
	}
	return valueAhead(m.src, next, m.final) == yes && m.owed(i) == 1 && lastCloser(m.src) == ']'
}

func lastCloser(src []byte) byte {
	for i := len(src) - 1; i >= 0; i-- {
		if !isBlank(src[i]) {
			return src[i]
		}
	}
	return 0
}

// closeRootEarly drops the closer at m.pos and goes on in the root. If
// another closer could be the one too many, the place of what follows would
// be a guess.
func (m *machine) closeRootEarly(n int, fresh bool) verdict {
	m.reopened = true
	if m.object() && !m.doubledCloser() && m.siblings() {
		return m.fail(AmbiguousContainer, m.pos, true)
	}
	m.note(ExtraCloser, m.pos)
	m.edit(m.pos, m.pos+n, "")
	m.pos += n
	m.phase = inAfter
	if fresh {
		m.expectMember()
	}
	m.settle(m.pos, m.report.n, fresh)
	return goOn
}

// lastInk is the offset of the last character before m.pos that is not blank.
func (m *machine) lastInk() int {
	i := m.pos - 1
	for i > m.start && isBlank(m.src[i]) {
		i--
	}
	return i
}

// doubledCloser: the closer at m.pos stands directly behind another one.
func (m *machine) doubledCloser() bool {
	c := m.src[m.lastInk()]
	return c == '}' || c == ']'
}

// siblings: before m.pos an object inside the root was closed and a comma
// followed, so that its closer could be the surplus one.
func (m *machine) siblings() bool {
	text, quoted := m.src[m.start:m.pos], false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case c == '}' && !quoted:
			at, _ := afterBlanks(text, i+1)
			if at+1 < len(text) && text[at] == ',' {
				next, _ := afterBlanks(text, at+1)
				if next < len(text) && text[next] == '"' {
					return true
				}
			}
		}
	}
	return false
}

// balance knows how many closers more than openers the rest of the input has.
type balance struct {
	known bool
	at    int
	owed  int
}

// owed counts closers minus openers behind i. Braces in strings count too:
// they mostly come in pairs. All counts together read the input once.
func (m *machine) owed(i int) int {
	b := &m.balance
	if !b.known {
		*b = balance{known: true, at: i, owed: surplus(m.src[i:])}
	}
	if i < b.at {
		b.owed += surplus(m.src[i:b.at])
	} else {
		b.owed -= surplus(m.src[b.at:i])
	}
	b.at = i
	return b.owed
}

// surplus counts closers minus openers.
func surplus(text []byte) (n int) {
	for _, c := range text {
		switch c {
		case '{', '[':
			n--
		case '}', ']':
			n++
		}
	}
	return n
}

// mismatched decides about a closer of the wrong kind. It may close what is
// open below and leave the innermost without its own (insert), stand for the
// right one (replace), or be one too many (drop). What follows must be legal;
// among those, the way that leaves as many closers due as the rest has.
func (m *machine) mismatched(object bool, n int) verdict {
	at := m.pos
	up := m.depth - 1
	for up > 0 && m.objectAt(up) != object {
		up--
	}
	best, score := 0, -1
	for way, depth := range [3]int{up - 1, m.depth - 1, m.depth} {
		if depth < 0 {
			continue
		}
		fit := m.fits(at+n, depth)*1000 - min(abs(depth-m.rest(at+n)), 900)
		if fit > score {
			best, score = way, fit
		}
	}
	m.note(MismatchedCloser, at)
	switch best {
	case 0:
		for m.depth > up {
			m.edit(at, at, string(closerOf(m.object())))
			m.pop()
		}
		m.settle(at, m.report.n, false)
		return m.close(n)
	case 1:
		return m.close(n)
	}
	m.edit(at, at+n, "")
	m.pos += n
	m.phase = inAfter
	m.settle(m.pos, m.report.n, m.safe.fresh)
	if m.safe.fresh {
		m.expectMember()
	}
	return goOn
}

// owedCloser closes the innermost container where its closer is missing: in
// front of the comma before m.safe.at, because what follows belongs to the
// container around it. It is done only if the rest has just as many closers
// as are due then.
func (m *machine) owedCloser(at int) bool {
	if !m.final || m.safe.fresh || m.depth < 2 || m.objectAt(m.depth-1) == m.object() || m.owed(at) != m.depth-1 {
		return false
	}
	object := m.object()
	m.report.forget(m.safe.notes)
	m.back(m.safe.at)
	m.note(MismatchedCloser, m.safe.at)
	m.edit(m.safe.at, m.safe.at, string(closerOf(object)))
	m.pop()
	m.pos = m.safe.at
	m.phase = inAfter
	m.settle(m.pos, m.report.n, false)
	return true
}

// rest is the number of closers that are still to come, as far as known.
func (m *machine) rest(i int) int {
	if !m.final {
		return 0
	}
	return m.owed(i)
}

func abs(n int) int { return max(n, -n) }

// fits rates how well the text at i goes on after the nesting shrank to a
// depth: 3 well, 2 possibly, 1 not.
func (m *machine) fits(i, depth int) int {
	at, _ := afterNoise(m.src, i)
	g, n := glyphAt(m.src, at)
	comma := g == ','
	if comma {
		at, _ = afterNoise(m.src, at+n)
		g, _ = glyphAt(m.src, at)
	}
	key := keyAhead(m.src, at, m.final) != no
	switch {
	case g == gEnd:
		return 3
	case depth == 0 && comma:
		return 2
	case depth == 0:
		if g.closer() {
			return 2
		}
		return 3
	case g.closer():
		if (g == '}') == m.objectAt(depth) {
			return 3
		}
		return 2
	case m.objectAt(depth):
		if key {
			return 3
		}
	case !key && valueAhead(m.src, at, m.final) != no:
		return 3
	}
	return 1
}
