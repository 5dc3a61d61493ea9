package jsonfix

// readValue expects a value: the root, behind a colon, or in an array.
func (m *machine) readValue() verdict {
	g, n, ok := m.next()
	if !ok {
		return more
	}
	at := m.pos
	if end := m.plainScalar(g); end > 0 {
		m.pos = end
		return m.done()
	}
	switch {
	case g == gEnd:
		return m.cutHere(-1)
	case g == '{' || g == '[':
		literal := ""
		if n > 1 {
			m.once(FullWidth, at)
			literal = string(rune(g))
		}
		return m.open(n, g == '{', literal)
	case g == '(' && m.phase != inRoot:
		m.note(Tuple, at)
		v := m.open(n, false, "[")
		m.setTwin(true)
		return v
	case g.quote():
		if fenceAt(m.src, at) > 0 {
			return m.leave()
		}
		return m.beginText(m.roleHere(), g, n)
	case m.phase == inItem && (g == ',' || g == ';'):
		m.extraComma(n)
		return goOn
	case m.phase == inItem && g.closer():
		return m.endMembers(g, n)
	case m.phase == inMember && (g == ',' || g == ';' || g.closer()):
		m.drop(at, MissingValue)
		return goOn
	case g == gEllipsis:
		return m.ellipsis(n)
	case g == ':' && m.phase == inMember:
		m.once(Separator, at)
		m.edit(at, at+n, "")
		m.pos += n
		return goOn
	case g == ':' || g == ')':
		return m.fail(AmbiguousContainer, at, false)
	case has(m.src, at, "<|") || has(m.src, at, "</"):
		return m.leave()
	case g == 'u' || g == 'b' || g == 'U' || g == 'B': // the prefix of a string in Python
		q, _ := glyphAt(m.src, at+1)
		if c, _ := glyphAt(m.src, at+2); (q == '\'' || q == '"') && c != ',' && c != ':' && !c.closer() && c != gEnd {
			m.once(Literal, at)
			m.edit(at, at+1, "")
			m.pos++
			return goOn
		}
	}
	return m.readBare()
}

// plainScalar is the offset behind a number or literal that is JSON as it
// stands, with a delimiter behind it that leaves no doubt; else 0.
func (m *machine) plainScalar(g glyph) int {
	end := 0
	switch {
	case g.digit() || g == '-':
		end = numberEnd(m.src, m.pos)
	case g == 't' && has(m.src, m.pos, "true"), g == 'n' && has(m.src, m.pos, "null"):
		end = m.pos + 4
	case g == 'f' && has(m.src, m.pos, "false"):
		end = m.pos + 5
	}
	if end <= 0 || end >= len(m.src) || m.phase == inRoot {
		return 0
	}
	switch c := m.src[end]; {
	case c == ']' || c == '}' || c == ',' && (m.phase == inItem || plainKey(m.src, end+1)):
		return end
	}
	return 0
}

func (m *machine) roleHere() role {
	switch m.phase {
	case inMember:
		return roleMember
	case inItem:
		return roleItem
	}
	return roleRoot
}

// readBare reads a value that is neither a container nor in quotes: a number,
// a literal, or text without quotes.
func (m *machine) readBare() verdict {
	from := m.pos
	end, stop, v := m.bareEnd()
	if v != goOn {
		return v
	}
	if stop == gEnd {
		if !m.final {
			return more
		}
		if g, _ := glyphAt(m.src, end); g == gEnd || g == gSplit {
			return m.cutBare()
		}
	}
	token := m.src[from:end]
	if stop == '"' { // its opening quote is missing
		m.note(MissingQuote, from)
		m.quoteBare(from, end)
		m.edit(end, end+1, `"`)
		m.pos = end + 1
		return m.done()
	}
	if k := m.nextMember(token); k > 0 {
		token = token[:k]
		end = from + k
	}
	return m.spell(from, end, token)
}

// spell writes the bare token src[from:end] as JSON has it.
func (m *machine) spell(from, end int, token []byte) verdict {
	if len(token) > 1 && token[0] == '+' && numberEnd2(token[1:]) == len(token)-1 {
		m.note(Number, from)
		m.edit(from, from+1, "")
		m.pos = end
		return m.done()
	}
	word, code, known := respell(token)
	switch {
	case known:
		if code != "" {
			m.note(code, from)
			m.edit(from, end, word)
		}
	case m.callAt(from, end):
		return m.readCall(from, end)
	default:
		m.note(UnquotedValue, from)
		m.unsound++
		m.quoteBare(from, end)
		m.edit(end, end, `"`)
	}
	m.pos = end
	return m.done()
}

// quoteBare opens a string and escapes what a string may not hold.
func (m *machine) quoteBare(from, end int) {
	m.edit(from, from, `"`)
	for i := from; i < end; i++ {
		switch c := m.src[i]; {
		case c == '"' || c == '\\':
			m.edit(i, i, `\`)
		case c < ' ':
			m.edit(i, i+1, controlEscape(c))
		}
	}
}

// nextMember is where the first word of the next member begins in a
// token that lacks a comma, or 0.
func (m *machine) nextMember(token []byte) int {
	if m.phase != inMember {
		return 0
	}
	for i := 1; i < len(token); i++ {
		if !isBlank(token[i]) || isBlank(token[i-1]) {
			continue
		}
		next, _ := afterBlanks(token, i)
		if g, _ := glyphAt(token, next); g.letter() && keyAhead(token, next, false) == yes {
			return i
		}
	}
	return 0
}

// cutBare ends the run at a token that src ends in.
func (m *machine) cutBare() verdict {
	from := m.pos
	token := m.src[from:max(from, wholeCharacters(m.src, len(m.src)))]
	if word, code, ok := completeLiteral(token); ok && len(token) > 0 {
		if code != "" {
			m.note(code, from)
		}
		m.edit(from, len(m.src), word)
		m.pos = len(m.src)
		m.tail = tailLast
		m.values++
		m.phase = inAfter
		m.note(Cut, m.pos)
		return cut
	}
	if g, _ := glyphAt(token, 0); !g.letter() || m.callAt(from, len(m.src)) || dropAtCut(token) {
		return m.cutHere(from)
	}
	m.note(UnquotedValue, from)
	end := from + len(token)
	m.quoteBare(from, end)
	m.flush(end)
	m.text = text{role: m.roleHere(), open: from, begin: end, high: -1}
	return m.cutText(end)
}
