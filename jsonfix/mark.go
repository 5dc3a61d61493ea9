package jsonfix

// readMark is at something inside a string that may be a quote.
func (m *machine) readMark() verdict {
	t := &m.text
	g, n := glyphAt(m.src, m.pos)
	switch {
	case g == gSplit:
		if m.final {
			at := m.pos
			m.pos = len(m.src)
			return m.cutText(at)
		}
		return more
	case t.close > 0:
		return m.tripleMark(g)
	case !g.quote():
		m.pos += n
		return goOn
	}
	switch {
	case g == t.quote && (g == '"' || g == '\'' || g == '`'):
		return m.plainMark(g, n)
	case t.quote == gSmart || t.quote == gSmartOne || t.quote == gCorner:
		return m.smartMark(g, n)
	case t.quote == '"' && g == gSmart:
		return m.strayMark(n)
	case g == '"' && n == 1:
		m.innerQuote()
		return goOn
	}
	m.pos += n
	return goOn
}

// tripleMark: inside """ only """ ends.
func (m *machine) tripleMark(g glyph) verdict {
	t := &m.text
	if g != t.quote || !tripled(m.src, m.pos) {
		if g == t.quote && !m.final && m.pos+3 > len(m.src) {
			return more
		}
		if g == '"' && m.src[m.pos] == '"' {
			m.edit(m.pos, m.pos, `\`)
		}
		_, n := glyphAt(m.src, m.pos)
		m.pos += n
		return goOn
	}
	return m.endText(3)
}

// plainMark is a quote of the kind that opened the string: the end, or text.
func (m *machine) plainMark(g glyph, n int) verdict {
	t := &m.text
	i := m.pos
	if t.role == roleItem && t.inner == 0 {
		if at, _ := afterBlanks(m.src, i+n); at < len(m.src) && m.src[at] == ':' {
			return m.fail(AmbiguousContainer, at, true)
		}
	}
	switch m.ends(i + n) {
	case more3:
		return more
	case joined:
		return m.join(i, n)
	case ambiguous:
		return m.fail(AmbiguousContainer, i, true)
	case yes:
		if t.splits && t.inner%2 == 1 && m.splitHere() {
			return goOn
		}
		return m.endText(n)
	}
	if t.role == roleKey {
		if t.colon > 0 && m.splitKey() {
			return goOn
		}
	} else if v := m.missed(i, n); v != no {
		if v == more3 {
			return more
		}
		return goOn
	}
	m.count(i, n)
	if g == '"' && n == 1 {
		m.innerQuote()
	} else {
		m.pos += n
	}
	return goOn
}

// missed sees whether the quote at i opens what comes next, because the
// string lacks its end: yes if it went back to there.
func (m *machine) missed(i, n int) answer {
	t := &m.text
	at := m.before(i)
	if at < 0 {
		return no
	}
	if t.role == roleMember && t.inner == 0 && !m.holdsJSON() {
		switch k := memberAhead(m.src, i, m.final); {
		case k == more3:
			return more3
		case k == yes:
			m.noteSplit(at)
			if m.splitHere() {
				return yes
			}
		}
	}
	if !t.splits && t.role == roleItem {
		m.noteSplit(at)
	}
	return no
}

// holdsJSON: a string that begins like a document may well hold one, with its
// quotes not escaped.
func (m *machine) holdsJSON() bool {
	at, _ := afterBlanks(m.src, m.text.begin)
	return at < len(m.src) && (m.src[at] == '{' || m.src[at] == '[')
}

// before finds where a string ends if the quote at i opens the next one: in
// front of the comma or line break between them. -1 if there is neither.
func (m *machine) before(i int) int {
	k, line := i-1, false
	for k > m.text.begin && isBlank(m.src[k]) {
		line = line || m.src[k] == '\n'
		k--
	}
	switch {
	case k < m.text.begin:
		return -1
	case m.src[k] == ',':
		return k
	case k-2 >= m.text.begin && (has(m.src, k-2, "，") || has(m.src, k-2, "、")):
		return k - 2
	case line && k < i-1:
		return k + 1
	}
	return -1
}

func (m *machine) noteSplit(at int) {
	t := &m.text
	t.splits = true
	t.split = point{at: at}
}

// splitHere goes back to the remembered end. The text is read again from
// there, which the budget bounds.
func (m *machine) splitHere() bool {
	t := &m.text
	at := t.split.at
	again := m.pos - at
	if again > m.budget {
		t.splits = false
		return false
	}
	m.budget -= again
	m.restart(at)
	m.note(MissingQuote, at)
	m.edit(at, at, `"`)
	m.pos = at
	m.phase = inAfter
	m.done()
	return true
}

// restart undoes all that was done since the string opened, up to offset end,
// where it closes: the edits of its text are made again.
func (m *machine) restart(end int) {
	t := m.text
	m.undo(t)
	for m.pos < end {
		m.pos = min(plain(m.src, m.pos, t.quote), end)
		if m.pos >= end {
			return
		}
		switch c := m.src[m.pos]; {
		case c < ' ':
			m.control(c)
		case c == '\\':
			m.readEscape()
		case c == '"' && (t.quote == '"' || t.quote == '\''):
			m.innerQuote()
		default:
			_, n := glyphAt(m.src, m.pos)
			m.pos += n
		}
	}
}

// undo takes the output back to the opening quote.
func (m *machine) undo(t text) {
	m.buf = m.buf[:min(len(m.buf), t.mark.size)]
	m.from = t.mark.from
	m.report.forget(t.mark.notes)
	m.pos = t.begin
	m.text.escapes, m.text.marked = 0, false
}

// splitKey ends a key at its first colon: "name: "Bo" lacks a quote.
func (m *machine) splitKey() bool {
	t := m.text
	again := m.pos - t.colon
	if again > m.budget || m.wordKey(t.begin, t.colon) == no {
		return false
	}
	m.budget -= again
	end := t.colon
	m.undo(t)
	m.note(MissingQuote, end)
	m.edit(end, end, `"`)
	m.pos = end
	m.values++
	m.phase = inColon
	return true
}

// wordKey: the text src[i:j] is one that a key would have.
func (m *machine) wordKey(i, j int) answer {
	if j <= i || j-i > maxWord {
		return no
	}
	for i < j {
		g, n := glyphAt(m.src, i)
		if !g.word() && g != ' ' {
			return no
		}
		i += n
	}
	return yes
}

// count keeps book of the quotes inside a string that look like pairs.
func (m *machine) count(i, n int) {
	t := &m.text
	t.inner++
	next, _ := glyphAt(m.src, i+n)
	prev, _ := glyphAt(m.src, i-1)
	switch {
	case t.pairs > 0:
		t.pairs--
	case next.blank() && !prev.blank():
	default:
		t.pairs++
	}
}

func (m *machine) innerQuote() {
	if m.text.quote == '"' {
		m.note(InnerQuote, m.pos)
	}
	m.edit(m.pos, m.pos+1, `\"`)
	m.pos++
}

// join goes on in the next string of "a" + "b".
func (m *machine) join(i, n int) verdict {
	at, _ := afterBlanks(m.src, i+n)
	at, _ = afterBlanks(m.src, at+1)
	g, w := glyphAt(m.src, at)
	m.note(Concat, i)
	m.edit(i, at+w, "")
	m.pos = at + w
	t := m.text
	m.text = text{role: t.role, open: t.open, quote: g, begin: m.pos, high: -1, mark: m.here()}
	return goOn
}

// here is the present state of the output.
func (m *machine) here() point {
	return point{at: m.pos, size: len(m.buf), from: m.from, notes: m.report.n}
}

// smartMark is inside a string in typographic quotes: pairs inside balance.
func (m *machine) smartMark(g glyph, n int) verdict {
	t := &m.text
	plainOne := g == '"' && n == 1
	if g != t.quote && !plainOne && !(t.quote == gSmartOne && g == '\'') {
		m.pos += n
		return goOn
	}
	opener := opens(m.src, m.pos)
	end := m.ends(m.pos + n)
	switch {
	case end == more3:
		return more
	case g == t.quote && opener && end != yes:
		t.nest++
	case g == t.quote && t.nest > 0 && !opener:
		t.nest--
	case end == yes && t.nest == 0:
		return m.endText(n)
	case plainOne:
		m.innerQuote()
		return goOn
	}
	m.pos += n
	return goOn
}

// opens reports whether the quote at i is an opening one.
func opens(src []byte, i int) bool {
	for _, q := range []string{"“", "„", "‟", "‘", "‚", "‛", "「", "『"} {
		if has(src, i, q) {
			return true
		}
	}
	return false
}

// strayMark is a typographic quote inside plain ones: text, unless it closes
// what a plain quote opened.
func (m *machine) strayMark(n int) verdict {
	t := &m.text
	switch {
	case opens(m.src, m.pos):
		t.nest++
	case t.nest > 0:
		t.nest--
	case t.inner == 0:
		switch m.ends(m.pos + n) {
		case more3:
			return more
		case yes:
			if !m.closedLater(m.pos + n) {
				m.once(SmartQuote, m.pos)
				return m.endText(n)
			}
		}
	}
	m.pos += n
	return goOn
}

// closedLater reports whether a plain quote that would end the string follows
// directly, so that the typographic one is text.
func (m *machine) closedLater(i int) bool {
	at, _ := afterBlanks(m.src, i)
	return at < len(m.src) && m.src[at] == '"' && m.ends(at+1) == yes
}
