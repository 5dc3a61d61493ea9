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
	if n == 1 && !t.splits && t.pairs == 0 && m.plainlyEnds(i+1, g) {
		return m.endText(1)
	}
	if t.role == roleItem && t.inner == 0 {
		if at, _ := afterBlanks(m.src, i+n); at < len(m.src) && m.src[at] == ':' {
			if m.owedCloser(t.open) {
				return goOn
			}
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
		if t.unclosed() && m.splitHere() {
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

// plainlyEnds sees the usual endings of a string at a glance; the rest is for
// ends.
func (m *machine) plainlyEnds(i int, g glyph) bool {
	if i+1 >= len(m.src) {
		return false
	}
	switch c := m.src[i]; m.text.role {
	case roleKey:
		return c == ':'
	case roleMember:
		return c == ',' && plainKey(m.src, i+1)
	case roleItem:
		return c == ',' && m.src[i+1] == byte(g)
	}
	return false
}

// plainKey: a quoted key of ASCII letters and digits and its colon stand at
// i, at most one blank before.
func plainKey(src []byte, i int) bool {
	if i < len(src) && src[i] == ' ' {
		i++
	}
	if i >= len(src) || src[i] != '"' && src[i] != '\'' {
		return false
	}
	k := i + 1
	for k < len(src) && k-i < maxKey && src[k] < 0x80 && glyph(src[k]).word() {
		k++
	}
	return k+1 < len(src) && src[k] == src[i] && src[k+1] == ':'
}

// unclosed: the quotes inside do not pair, or each of them opens an item; so
// the string lacks its end.
func (t *text) unclosed() bool {
	return t.splits && (t.inner%2 == 1 || t.heads == t.inner)
}

// count keeps book of the quotes inside a string that look like pairs.
func (m *machine) count(i, n int) {
	t := &m.text
	t.inner++
	next, _ := glyphAt(m.src, i+n)
	prev, _ := glyphAt(m.src, i-1)
	switch {
	case t.quote == '\'' && next.word() && prev.word(): // an apostrophe
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
