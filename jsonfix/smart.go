package jsonfix

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
