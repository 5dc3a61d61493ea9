package jsonfix

// readValue expects a value: the root, behind a colon, or in an array.
func (m *machine) readValue() verdict {
	g, n, ok := m.next()
	if !ok {
		return more
	}
	at := m.pos
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
	}
	return m.readBare()
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

// bareEnd finds the end of the bare token at m.pos, without blanks, and the
// glyph that stopped it: '"' for a closing quote without an opening one.
func (m *machine) bareEnd() (end int, stop glyph, v verdict) {
	end = m.pos
	member := m.phase == inMember
	for i := m.pos; i-m.pos < maxWord; {
		g, n := glyphAt(m.src, i)
		switch {
		case g == gEnd || g == gSplit:
			return end, gEnd, goOn
		case g.blank() && !member && i == end && m.scalars(i):
			return end, g, goOn
		case g == '\n' || g == ';' || g.closer() && (g != ')' || m.parenthesis()):
			return end, g, goOn
		case g == '{' || g == '[':
			if !member && i > end {
				return end, g, goOn
			}
			return 0, g, m.fail(m.placeholder(i), i, false)
		case g == ',':
			if !member {
				return end, g, goOn
			}
			switch a := m.bareComma(i, i+n, end); a {
			case more3:
				return end, gEnd, goOn
			case ambiguous:
				return 0, g, m.fail(AmbiguousNumber, i, true)
			case yes:
				return end, g, goOn
			}
		case g == '(' && i == end && m.callName(i):
			return i, g, goOn
		case i > end && (g == '#' || g == '/') && isComment(m.src, i):
			return end, g, goOn
		case g == '"':
			switch a := m.bareQuote(i, end); a {
			case more3:
				return end, gEnd, goOn
			case yes:
				return i, '"', goOn
			case joined:
				return end, ' ', goOn
			}
		}
		i += n
		if !g.blank() {
			end = i
		}
	}
	return 0, gEnd, m.fail(NotJSON, m.pos, false)
}

// scalars: the token of an array that ends at i is one, and so is what
// follows, so that only a comma is missing.
func (m *machine) scalars(i int) bool {
	if _, _, ok := respell(m.src[m.pos:i]); !ok {
		return false
	}
	at, _ := afterBlanks(m.src, i)
	end := at
	for end < len(m.src) && end-at < maxKey && (glyph(m.src[end]).word() || m.src[end] == '+') {
		end++
	}
	_, _, ok := respell(m.src[at:end])
	return ok
}

func isComment(src []byte, i int) bool {
	_, _, ok := commentAt(src, i)
	return ok
}

// placeholder is why a bracket inside bare text cannot be read: ${x} stands
// for a value that is not there.
func (m *machine) placeholder(i int) Reason {
	if i > 0 && m.src[i-1] == '$' {
		return NoValue
	}
	return NotJSON
}

// bareComma decides whether a comma in bare text ends it: yes if a member or
// the end follows; ambiguous if it stands between digits.
func (m *machine) bareComma(i, next, end int) answer {
	at, _ := afterNoise(m.src, next)
	g, _ := glyphAt(m.src, at)
	switch {
	case g == gEnd:
		return unknown(m.final)
	case g.closer() || g == ',' || g == gEllipsis || g == '"':
		return yes
	}
	a := keyAhead(m.src, at, m.final)
	if a == no && g.digit() {
		if word, _, ok := respell(m.src[m.pos:end]); ok && len(word) > 0 && (isDigit(word[0]) || word[0] == '-') {
			return ambiguous
		}
	}
	return a
}

// bareQuote decides about a quote in bare text: yes if it closes what lacks an
// opening quote, joined if it opens what comes next.
func (m *machine) bareQuote(i, end int) answer {
	m.text = text{role: m.roleHere(), quote: '"', high: -1}
	if m.phase == inMember {
		if a := keyAhead(m.src, i, m.final); a != no {
			if a == yes {
				return joined
			}
			return a
		}
	} else if i > end {
		return joined
	}
	a := m.ends(i + 1)
	if a == joined || a == ambiguous {
		return no
	}
	return a
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
	token := m.src[from:]
	if word, code, ok := completeLiteral(token); ok {
		if code == "" {
			code = Cut
		}
		m.note(code, from)
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
	end := max(from, wholeCharacters(m.src, len(m.src)))
	m.quoteBare(from, end)
	m.flush(end)
	m.text = text{role: m.roleHere(), open: from, begin: end, high: -1}
	return m.cutText(end)
}
