package jsonfix

// readKey expects a key or the end of an object.
func (m *machine) readKey() verdict {
	g, n, ok := m.next()
	if !ok {
		return more
	}
	switch {
	case g == gEnd:
		return m.cutHere(-1)
	case g.quote():
		m.keyStart = m.pos
		return m.beginText(roleKey, g, n)
	case g == ',' || g == ';':
		m.extraComma(n)
		return goOn
	case g.closer():
		return m.endMembers(g, n)
	case g == gEllipsis:
		return m.ellipsis(n)
	case g == '{':
		return m.doubledBrace(n)
	case g == '[' || g == '(':
		return m.fail(AmbiguousContainer, m.pos, false)
	case g.word() || g == gBad:
		m.keyStart = m.pos
		return m.readWordKey()
	case m.foreign():
		return m.leave()
	}
	return m.fail(NotJSON, m.pos, false)
}

// doubledBrace: {{ as copied from a prompt template. One layer goes.
func (m *machine) doubledBrace(n int) verdict {
	if m.owedCloser(m.pos) {
		return goOn
	}
	if !m.safe.fresh || m.twin() {
		return m.fail(AmbiguousContainer, m.pos, false)
	}
	m.note(DoubledBrace, m.pos)
	m.edit(m.pos, m.pos+n, "")
	m.pos += n
	m.setTwin(true)
	m.settle(m.pos, m.report.n, true)
	return goOn
}

func (m *machine) extraComma(n int) {
	m.once(ExtraComma, m.pos)
	m.edit(m.pos, m.pos+n, "")
	m.pos += n
}

// ellipsis drops "..." in the place of a member or item.
func (m *machine) ellipsis(n int) verdict {
	at := m.pos
	m.ellipses = true
	m.drop(at+n, Ellipsis)
	return goOn
}

// endMembers closes a container behind a comma that nothing followed.
func (m *machine) endMembers(g glyph, n int) verdict {
	if !m.safe.fresh {
		m.back(m.pos)
		m.note(TrailingComma, m.pos)
		m.safe.notes = m.report.n
	}
	return m.readCloser(g, n)
}

// readWordKey reads a key without its opening quote.
func (m *machine) readWordKey() verdict {
	i, end := m.pos, m.pos
	for i-m.pos < maxWord {
		g, n := glyphAt(m.src, i)
		if g == gSplit || g == gEnd {
			if !m.final {
				return more
			}
			return m.cutHere(-1)
		}
		if !g.word() && g != ' ' {
			break
		}
		if i += n; g != ' ' {
			end = i
		}
	}
	from := m.pos
	code := UnquotedKey
	if g, n := glyphAt(m.src, i); g == '"' || g == '\'' {
		code = MissingQuote
		i += n
	}
	at, _ := afterBlanks(m.src, i)
	g, _ := glyphAt(m.src, at)
	if g == gEnd && at > i {
		if !m.final {
			return more
		}
		return m.cutHere(-1)
	}
	if g != ':' && (g != '=' || m.prose && !m.assigns()) {
		if (g == ',' || g == '}') && allDigits(m.src[from:end]) && !m.safe.fresh {
			return m.fail(AmbiguousNumber, from, true) // 1,234 as the value before
		}
		if g == ',' || g == '}' {
			return m.lostKey(at)
		}
		return m.fail(NotJSON, at, false)
	}
	m.bareKeys = m.bareKeys || code == UnquotedKey
	m.note(code, from)
	m.edit(from, from, `"`)
	m.edit(end, i, `"`)
	m.pos = i
	m.phase = inColon
	return goOn
}

func allDigits(b []byte) bool {
	for _, c := range b {
		if !isDigit(c) && c != '.' {
			return false
		}
	}
	return true
}

// assigns: key = value is only believed in the middle of a text when the
// object has shown to be one.
func (m *machine) assigns() bool { return !m.safe.fresh && m.values > 0 }

// lostKey: a key without colon and value, a separator or closer at offset at.
// As the first of its object it makes a set; later it is a slip.
func (m *machine) lostKey(at int) verdict {
	if m.safe.fresh || m.prose && m.values == 0 || m.phase == inColon && m.behindText() {
		return m.fail(AmbiguousContainer, at, false)
	}
	m.drop(at, MissingValue)
	return goOn
}

// behindText: the value before is a string, so that another string behind a
// comma may be the next item of a list without brackets.
func (m *machine) behindText() bool {
	for i := m.safe.at - 1; i > m.start; i-- {
		if c := m.src[i]; !isBlank(c) {
			return c == '"' || c == '\''
		}
	}
	return false
}

// readColon expects what stands between key and value.
func (m *machine) readColon() verdict {
	g, n, ok := m.next()
	if !ok {
		return more
	}
	at := m.pos
	switch {
	case g == gEnd:
		return m.cutHere(-1)
	case g == ':':
		if m.src[at] != ':' {
			m.once(FullWidth, at)
			m.edit(at, at+n, ":")
		}
		m.pos += n
	case g == '=' || g == '-' && has(m.src, at, "->"):
		if _, w := glyphAt(m.src, at+n); has(m.src, at+n, ">") {
			n += w
		}
		m.note(Separator, at)
		m.edit(at, at+n, ":")
		m.pos += n
	case g == ',' || g == ';' || g.closer():
		return m.lostKey(at)
	case g.quote() || g == '{' || g == '[' || g.digit() || g == '-' || literalAhead(m.src, at):
		m.note(MissingColon, at)
		m.edit(at, at, ":")
	case m.foreign():
		return m.leave()
	default:
		return m.fail(NotJSON, at, false)
	}
	m.phase = inMember
	return goOn
}

// readAfter expects a separator or a closer.
func (m *machine) readAfter() verdict {
	g, n, ok := m.next()
	if !ok {
		return more
	}
	at := m.pos
	switch {
	case g == gEnd:
		return m.cutHere(-1)
	case g == ',' || g == ';':
		if m.src[at] != ',' {
			code := FullWidth
			if m.src[at] == ';' {
				code = Separator
				m.semis++
			}
			m.once(code, at)
			m.edit(at, at+n, ",")
		}
		m.pos += n
		m.expectMember()
	case g.closer():
		return m.readCloser(g, n)
	case g == gEllipsis:
		return m.ellipsis(n)
	case g == ':' && !m.object():
		return m.fail(AmbiguousContainer, at, true)
	case m.object() && keyAhead(m.src, at, m.final) == no:
		if m.foreign() {
			return m.leave()
		}
		return m.fail(NotJSON, at, false)
	case m.object() || g.quote() || g == '{' || g == '[' || g.digit() || g == '-' || g.letter():
		if m.foreign() {
			return m.leave()
		}
		m.note(MissingComma, at)
		m.edit(at, at, ",")
		m.expectMember()
	case m.foreign():
		return m.leave()
	default:
		return m.fail(NotJSON, at, false)
	}
	return goOn
}

func (m *machine) expectMember() {
	m.phase = inItem
	if m.object() {
		m.phase = inKey
	}
}
